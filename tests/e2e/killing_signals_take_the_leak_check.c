// Every signal whose default action is to kill, but crashes and SIGKILL: the leak check is taken first, by a process
// that waits, one whose other threads allocate, and one that the signal meets in malloc; then the process dies of
// that signal, with the status and the core flag of a run without libleak. Nothing else is lost.
// RUN: ulimit -c 0; %t bare >want; %leak %t >got; s=$?; diff want got && exit $s
// JSON: len(procs) > 80 and all(q.end.how == "signal" for q in procs if len(q.argv) > 1)
// JSON: all(q.snapshot.occasion == "before a signal killed the process" for q in procs if len(q.argv) > 1)
// JSON: all(verdict("dropped", q) == {"lost": (3, 120)} and q.summary.lost.blocks == 3 for q in procs if len(q.argv) > 1)

#include "lib/verdicts.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

LOSE(dropped, 40)
extern char **environ;

static void *allocate(void *argument)
{
    void *volatile kept[16] = {0};
    for (unsigned i = 0;; i++) {
        free(kept[i % 16]);
        kept[i % 16] = malloc(i * 7919 % 5000);
    }
    return argument;
}

static void victim(const char *how)
{
    sigset_t all;
    pthread_t t;
    dropped(), dropped(), dropped();
    scrub();
    if (!strcmp(how, "threads"))
        for (int i = 0; i < 3; i++)
            pthread_create(&t, NULL, allocate, NULL);
    sigfillset(&all);
    write(1, "", 1);
    if (!strcmp(how, "malloc"))
        allocate(NULL);
    for (;;)
        pause();
}

/* In a process of its own: its status, when that signal kills it. */
static int kill_one(char *program, char *how, int number, int twice)
{
    int status = -1, ready[2];
    char c, word[8], *argv[] = {program, how, word, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    sprintf(word, "%d", number);
    pipe(ready);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ready[1], 1);
    posix_spawn_file_actions_addclose(&actions, ready[0]);
    posix_spawn(&pid, program, &actions, NULL, argv, environ);
    close(ready[1]);
    read(ready[0], &c, 1);
    usleep(number * 100);
    kill(pid, number);
    if (twice) /* as timeout(1) does */
        kill(pid, number), kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    close(ready[0]);
    return status;
}

int main(int argc, char **argv)
{
    static char *hows[] = {"waits", "threads", "malloc"};
    static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,   SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT, SIGXCPU,
                                  SIGXFSZ, SIGPROF, SIGIO,   SIGPWR,  SIGVTALRM, 34,      47,      61,      63,        64};
    if (argc == 3)
        victim(argv[1]);
    for (int h = 0; h < 3; h++)
        for (int i = 0; i < sizeof numbers / sizeof *numbers; i++)
            printf("%s %d: %x\n", hows[h], numbers[i], kill_one(argv[0], hows[h], numbers[i], 0));
    for (int i = 0; i < 24; i++)
        printf("again: %x\n", kill_one(argv[0], hows[i % 3], SIGTERM, 1));
    return 0;
}
