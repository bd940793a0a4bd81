// PID 1: the kernel does not do what a signal's default action would be, unless the process has met it itself. So a
// signal that is sent is no crash: the program goes on, as without libleak, and its recording ends with its exit. A
// fault and abort kill it as usual and are reported; a breakpoint kills it too and is not reported.
// NEEDS: containers
// CFLAGS: -O1 -g
// RUN: as() { unshare --pid --fork sh -c 'exec "$@"' sh env %t $1; echo "alone $1: $?"; (unshare --pid --fork sh -c 'exec %leak %t '$1); echo "leak $1: $?"; }
// RUN: as sent; as thread; as fault; as abort; as trap; as child
// EXPECT: ^alone sent: 3$
// EXPECT: ^leak sent: 3$
// EXPECT: ^alone thread: 3$
// EXPECT: ^leak thread: 3$
// EXPECT: ^alone fault: 139$
// EXPECT: ^leak fault: 139$
// EXPECT: ^alone abort: (139|134|132|133)$
// EXPECT: ^leak abort: (139|134|132|133)$
// EXPECT: ^alone trap: 133$
// EXPECT: ^leak trap: 133$
// EXPECT: ^alone child: 3$
// EXPECT: ^leak child: 3$
// JSON: [(q.end.how, q.end.value) for q in procs[:2]] == [("exit", 3)] * 2
// JSON: all(not [e for e in q.errors if e.type == "crash"] for q in procs[:2])
// JSON: [(q.end.how, [e.crash.signal for e in q.errors]) for q in procs[2:4]] == [("signal", [11])] * 2
// JSON: (procs[4].end.how, procs[4].errors) == ("lost", []) and procs[5].end.how == "exit" and procs[6].errors[0].crash.signal == 11

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *send(void *passed)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (int i = 0; i < 7; i++) {
        raise(signals[i]);
        kill(getpid(), signals[i]);
    }
    return passed;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int status;

    if (getpid() != 1)
        return 99;
    if (!strcmp(argv[1], "sent")) {
        send(NULL);
    } else if (!strcmp(argv[1], "thread")) {
        pthread_create(&thread, NULL, send, NULL);
        pthread_join(thread, NULL);
    } else if (!strcmp(argv[1], "fault")) {
        *(volatile int *)8 = 1;
    } else if (!strcmp(argv[1], "abort")) {
        abort();
    } else if (!strcmp(argv[1], "trap")) {
#ifdef __x86_64__
        __asm__ volatile("int3");
#else
        __asm__ volatile("brk #0");
#endif
    } else { /* not the first one: what is sent kills */
        if (fork() == 0)
            raise(SIGSEGV);
        wait(&status);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
            return 98;
    }
    return 3;
}
