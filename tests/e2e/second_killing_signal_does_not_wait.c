// The leak check before SIGTERM hangs (its process is stopped): a second SIGTERM kills at once, with the status of the
// first. Without it the process would wait for as long as exit_budget, here an hour.
// ENV: LIBLEAK_OPTIONS=exit_budget=1h
// RUN: %leak %t
// EXPECT: ^killed by 15 after two signals$
// JSON: [q.end.how for q in procs if q.argv[1:]] == ["signal"]

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile last;

static int child_of(int pid)
{
    char path[64];
    int child = 0;
    sprintf(path, "/proc/%d/task/%d/children", pid, pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file)
        fclose(file);
    return child;
}

int main(int argc, char **argv)
{
    int ready[2], status = 0, check = 0;
    char c;
    if (argc > 1) {
        for (int i = 0; i < 1000000; i++)
            last = malloc(24);
        write(1, "", 1);
        for (;;)
            pause();
    }
    pipe(ready);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ready[1], 1);
        execl(argv[0], argv[0], "victim", NULL);
    }
    read(ready[0], &c, 1);
    kill(pid, SIGTERM);
    while (!check)
        check = child_of(pid);
    kill(check, SIGSTOP);
    usleep(300000);
    int ended = waitpid(pid, &status, WNOHANG);
    kill(pid, SIGTERM);
    waitpid(pid, &status, 0);
    kill(check, SIGKILL);
    printf("killed by %d after %s\n", WTERMSIG(status), ended ? "one signal" : "two signals");
    return 0;
}
