// A program that is killed while it opens and closes: the report lists what was open then, with names.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// RUN: LIBLEAK_OPTIONS=track=fd,file,mmap; %leak %t; true
// JSON: opened("leaves") == {"fd": 3, "file": 2, "mmap": 1} and p.end.how == "lost"
// JSON: set(names("leaves")) == {"/dev/null", "/etc/group", "/etc/passwd", "anonymous memory"}
// JSON: sum(r.count for r in p.resources) <= 7

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) void leaves(void)
{
    open("/etc/passwd", O_RDONLY);
    open("/etc/group", O_RDONLY);
    open("/dev/null", O_RDONLY);
    fopen("/etc/passwd", "r");
    fopen("/etc/group", "r");
    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void *work(void *unused)
{
    for (;;)
        close(open("/dev/null", O_RDONLY));
}

int main(void)
{
    pthread_t thread;
    leaves();
    pthread_create(&thread, NULL, work, NULL);
    usleep(100000);
    kill(getpid(), SIGKILL);
    pause();
}
