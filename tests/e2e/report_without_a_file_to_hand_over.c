// An account in memory only is handed to leakreport as a file in memory. Where a filter refuses that, or the file takes
// no more, one line says so, nothing is started, and the program ends with its own status; else there is a report.
// RUN: run() { LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=report=exit:dir=/proc/none %t "$@" 2>&1; echo "$1=$?"; }
// RUN: LD_PRELOAD= ; run refused; run full; echo ----; run allowed
// EXPECT: ^libleak: no report: the recording needs a file in memory for leakreport, and there is none$
// EXPECT: ^refused=5$
// EXPECT: ^libleak: no report: the recording cannot be copied for leakreport: no space left$
// EXPECT: ^full=5$
// REFUSE: damaged|cut off
// EXPECT: lost=1234/1/1
// EXPECT: ^allowed=5$

#include "../filter.h"

#include <stdlib.h>
#include <string.h>

#define LONG_WRITES_FIND_NO_ROOM                                                                   \
    FILTER_UNLESS(SYS_write, 3), FILTER_LOAD(args[2]),                                             \
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 1 << 16, 0, 1),                                        \
        FILTER_RETURN(SECCOMP_RET_ERRNO | ENOSPC)

static void *volatile sink;

__attribute__((noinline)) static void lose(void)
{
    sink = malloc(1234);
    sink = NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "refused") == 0 &&
        !FILTER_SET(FILTER_REFUSE(SYS_memfd_create, EPERM)))
        return 1;
    if (argc > 1 && strcmp(argv[1], "full") == 0 && !FILTER_SET(LONG_WRITES_FIND_NO_ROOM))
        return 1;
    lose();
    return 5;
}
