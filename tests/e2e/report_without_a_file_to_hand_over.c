// An account in memory only is handed to leakreport as a file in memory. Where a filter refuses that, one line says so,
// nothing is started, and the program ends with its own status; without the filter there is a report.
// RUN: run() { LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=report=exit:dir=/proc/none %t "$@" 2>&1; echo "$1=$?"; }
// RUN: LD_PRELOAD= ; run refused; echo ----; run allowed
// EXPECT: ^libleak: no report: there is no file in memory to hand it over$
// EXPECT: ^refused=5$
// EXPECT: lost=1234/1/1
// EXPECT: ^allowed=5$

#include "../filter.h"

#include <stdlib.h>
#include <string.h>

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
    lose();
    return 5;
}
