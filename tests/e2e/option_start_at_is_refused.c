// Promise 4.14: in a process that may not make its code writable, one line says that start_at= has no effect, and it runs as without it.
// RUN: for how in forbid allow; do LIBLEAK_OPTIONS=start_at=begin; export LIBLEAK_OPTIONS; %leak %t $how || exit 1; done
// EXPECT: ^libleak: start_at=begin: this process may not change its code, so the call is not noticed$
// EXPECT: ^forbid: 43$
// EXPECT: ^allow: 43$
// JSON: [q.summary.lost.bytes for q in procs if len(q.argv) == 3] == [0, 100]
// JSON: ["never enabled" in " ".join(q.notes) for q in procs if len(q.argv) == 3] == [True, False]

#include "../filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline)) static int begin(int n)
{
    __asm__ volatile("");
    return n + 1;
}

/* mprotect of what is to be written to and run. */
static bool forbid(void)
{
    return FILTER_SET(FILTER_UNLESS(SYS_mprotect, 3), FILTER_LOAD(args[2]),
                      FILTER_REFUSE(PROT_READ | PROT_WRITE | PROT_EXEC, EACCES));
}

int main(int argc, char **argv)
{
    if (argc == 2) { /* once more, in the sandbox */
        if (!strcmp(argv[1], "forbid") && !forbid())
            return 2;
        execl("/proc/self/exe", argv[0], argv[1], "again", NULL);
        return 3;
    }
    printf("%s: %d\n", argv[1], begin(42));
    sink = malloc(100);
    sink = NULL;
    return 0;
}
