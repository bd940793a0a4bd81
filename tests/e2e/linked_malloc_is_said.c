// If a malloc that is linked into the program cannot be redirected to libleak, one line says why, the program is
// unchanged, and it is counted as not tracked: a sandbox that forbids writing to code or mapping new code; quarantine=;
// two functions of one name. If no symbol names the malloc, libleak prints nothing.
// CFLAGS: -O2 -g -fno-builtin
// BUILD: echo 'int free(int n) { return n + 1; }' >%d/other.c; cc -w -O2 -fno-builtin -fvisibility=hidden -c -o %d/other.o %d/other.c; objcopy --localize-hidden %d/other.o
// BUILD: cc -w -D_GNU_SOURCE -O2 -g -fno-builtin -fvisibility=hidden -o %d/two %s %d/other.o -pthread
// BUILD: cc -w -D_GNU_SOURCE -O2 -g -fno-builtin -fvisibility=hidden -o %d/hidden %s -pthread
// BUILD: strip -o %d/bare %d/hidden
// RUN: for how in allow write new; do %leak %t $how || exit 1; done; %leak %d/two two; %leak %d/bare bare; %leak %d/hidden hidden; LIBLEAK_OPTIONS=quarantine=1m; %leak %t quarantine
// EXPECT: ^libleak: the program's own malloc is not tracked: this process may not change its code$
// EXPECT: ^libleak: the program's own malloc is not tracked: this process may not create executable code$
// EXPECT: ^libleak: the program's own malloc is not tracked: free: two functions have that name$
// EXPECT: ^libleak: the program's own malloc is not tracked: quarantine= works with the C library's malloc only$
// EXPECT: ^allow: well$
// EXPECT: ^write: well$
// EXPECT: ^new: well$
// EXPECT: ^two: well$
// EXPECT: ^bare: well$
// EXPECT: ^hidden: well$
// EXPECT: ^quarantine: well$
// JSON: len([q for q in procs if len(q.argv) == 2 and q.end.how == "exit"]) == 4
// JSON: {q.argv[1]: (of("lose", q).blocks, "OWN_ALLOCATOR" in str(q.coverage.untracked)) for q in procs if len(q.argv) == 3 or q.argv[1] in ("two", "bare", "hidden", "quarantine")} == {"allow": (1, False), "write": (0, True), "new": (0, True), "two": (0, True), "bare": (0, False), "hidden": (1, False), "quarantine": (0, True)}

#include "lib/linked_malloc.c"

#include "../filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline, noclone)) static void lose(void)
{
    sink = malloc(100);
    sink = NULL;
}

/* mprotect with exactly that access. */
static int forbid(int access)
{
    return FILTER_SET(FILTER_UNLESS(SYS_mprotect, 3), FILTER_LOAD(args[2]), FILTER_UNLESS(access, 1),
                      FILTER_RETURN(SECCOMP_RET_ERRNO | EACCES));
}

/* Nobody's but the kernel's: what is run and has no file. */
static int has_nameless_code(void)
{
    char line[512], access[5], name[256];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        found |= sscanf(line, "%*s %4s %*s %*s %*s %255s", access, name) == 1 && access[2] == 'x';
    fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    int tracked = !strcmp(how, "allow") || !strcmp(how, "hidden");
    if (argc == 2 && strlen(how) <= 5 && strcmp(how, "two") && strcmp(how, "bare")) {
        if (!strcmp(how, "write") && !forbid(PROT_READ | PROT_WRITE | PROT_EXEC))
            return 2;
        if (!strcmp(how, "new") && !forbid(PROT_READ | PROT_EXEC))
            return 2;
        execl("/proc/self/exe", argv[0], how, "again", NULL);
        return 3;
    }
    lose();
    free(realloc(calloc(10, 10), 1000));
    if (!getenv("LD_PRELOAD") || has_nameless_code() == tracked)
        printf("%s: well\n", how);
    return 0;
}
