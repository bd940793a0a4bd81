// Children that have changed user, or that are in a sandbox, can make no recording file: they say nothing, and the
// report of their nearest ancestor with a file counts them, and the programs that they start. Of a folder that was
// wrong from the beginning the first process of a tree says one line, at verbosity=1 each one does. A program that
// starts below a filter that forbids new files says nothing either.
// NEEDS: root setpriv containers
// CFLAGS: -O1 -g -fno-builtin
// RUN: chmod 755 .; chmod 700 store; cp %O/libleak.so .; LD_PRELOAD=%d/libleak.so LIBLEAK_OPTIONS=dir=%d/store %t user 2>told; echo "user: $? $(grep -c . told)"
// RUN: LD_PRELOAD=%d/libleak.so LIBLEAK_OPTIONS=dir=%d/store sh -c '%t; setpriv --reuid=65534 --clear-groups %t; setpriv --reuid=65534 --clear-groups sh -c "%t; %t"; true' 2>told; echo "exec: $? $(grep -c . told)"
// RUN: LD_PRELOAD=%d/libleak.so LIBLEAK_OPTIONS=dir=%d/store unshare -m sh -c 'mount -t tmpfs -o ro none store; %t; true' 2>told; echo "sandbox: $? $(grep -c . told)"
// RUN: filter() { LD_PRELOAD=%d/libleak.so LIBLEAK_OPTIONS=dir=%d/store$1 %t filter 2>told; echo "filter$1: $? $(grep -c . told)"; }
// RUN: filter ''; filter :verbosity=1 | sed 's/ [1-9][0-9]*$/ said/'
// RUN: %run --keep=kept.leak -o report sh -c '%t; setpriv --reuid=65534 --clear-groups %t; exit 4' 2>told; echo "leakrun: $? $(grep -c . told)"; sed -n 's/^Not tracked in processes not listed: \(1 programs started without libleak\).*/report: \1/p' report
// RUN: try() { LD_PRELOAD=%d/libleak.so LIBLEAK_OPTIONS=dir=/proc/none$1 sh -c '%t; %t; true' 2>told; echo "wrong$1: $? $(grep -c '^libleak: no recording file in /proc/none: ' told)"; }
// RUN: try ''; try :verbosity=1
// EXPECT: ^user: 0 0$
// EXPECT: ^exec: 0 0$
// EXPECT: ^sandbox: 0 0$
// EXPECT: ^filter: 0 0$
// EXPECT: ^filter:verbosity=1: 0 said$
// EXPECT: ^leakrun: 4 0$
// EXPECT: ^report: 1 programs started without libleak$
// EXPECT: ^wrong: 0 1$
// EXPECT: ^wrong:verbosity=1: 0 3$
// JSON: [untracked.get("UNRECORDED"), untracked.get("PROGRAMS")] == [3, 1]
// JSON: [sum(u.count for q in procs[1:] for u in q.coverage.untracked if u.what == what) for what in ("UNRECORDED", "PROGRAMS")] == [0, 3]

#include "../filter.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;

static void wait_for(pid_t child)
{
    waitpid(child, NULL, 0);
}

/* Three processes that could make no file, the last of which starts a program. */
static void change_user(char *self)
{
    setuid(65534);
    sink = malloc(20);
    wait_for(fork() ?: (sink = malloc(30), exit(0), 0));
    pid_t child = fork();
    if (!child) {
        sink = malloc(40);
        execl(self, self, NULL);
    }
    wait_for(child);
    exit(0);
}

/* As man(1) does before it starts a formatter: from now on no file can be made. */
static void start_below_filter(char *self)
{
    if (!FILTER_SET(FILTER_UNLESS(SYS_openat, 3), FILTER_LOAD(args[2]),
                    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 0, 1), FILTER_RETURN(SECCOMP_RET_ERRNO | ENOSYS)))
        exit(1);
    execl(self, self, NULL);
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "filter"))
        start_below_filter(argv[0]);
    sink = malloc(10);
    pid_t child = argc > 1 ? fork() : 0;
    if (argc > 1 && !child)
        change_user(argv[0]);
    if (child)
        wait_for(child);
    return 0;
}
