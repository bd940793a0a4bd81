// A filter that was installed before exec cannot be read. One that kills for what libleak calls and the program does not:
// the program ends as without libleak, its blocks are counted; below a shell under the same filter there is a leak check, too.
// Where it also kills for clone nothing is tried out, and a program without threads and children has no leak check.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak sh -c '%t some sh -c "%t; echo status \$?"'
// RUN: %report --format=json store/t.* >/dev/null && %report store/t.* | grep -o 'lost=[0-9/]*'
// RUN: mkdir alone; %t clone env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/alone %t; echo status $?; %report alone/t.* | grep -oE 'no leak check was made: a seccomp filter|^40 bytes in 1 block'
// EXPECT: ^status 9$
// EXPECT: ^lost=40/1/1$
// EXPECT: ^no leak check was made: a seccomp filter$
// EXPECT: ^40 bytes in 1 block$
// REFUSE: status (159|1|2)$

#include "../filter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *volatile sink;
__attribute__((noinline)) static void dropped(void) { sink = malloc(40); sink = NULL; }

#define KILLS(call) FILTER_UNLESS(SYS_##call, 1), FILTER_RETURN(SECCOMP_RET_KILL_PROCESS)
#define RARE                                                                                                           \
    KILLS(process_vm_readv), KILLS(memfd_create), KILLS(timer_create), KILLS(rt_tgsigqueueinfo), KILLS(sched_setscheduler), \
        KILLS(fallocate), KILLS(fstatfs), KILLS(getpeername), KILLS(close_range), KILLS(rt_sigtimedwait), KILLS(sigaltstack)

int main(int count, char **argument)
{
    if (count > 2) {
        bool done = !strcmp(argument[1], "clone") ? FILTER_SET(RARE, KILLS(clone), KILLS(clone3), KILLS(vfork), KILLS(fork),
                                                               KILLS(ftruncate), KILLS(madvise), KILLS(prctl), KILLS(mkdirat))
                                                  : FILTER_SET(RARE);
        if (!done)
            return 1;
        execvp(argument[2], argument + 2);
        return 2;
    }
    dropped();
    for (int i = 0; i < 20000; i++)
        free(malloc(i % 700));
    return 9;
}
