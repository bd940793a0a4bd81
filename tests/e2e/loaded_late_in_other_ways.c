// Promise 4.41: libleak comes with a library that needs it, opened late or linked; a program whose handlers, streams or descriptors were
// there before runs unchanged, as do its children; dlopen in a preloaded process returns the same libleak; enabled=0 redirects nothing.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: cp %O/libleak.so %d; gcc -w -shared -fPIC -o %d/needs.so -x c /dev/null -Wl,--no-as-needed -L%d -l:libleak.so -Wl,-rpath,%d
// BUILD: gcc -w -O1 -g -fno-builtin -o %d/linked %s -Wl,--no-as-needed -L%d -l:needs.so -Wl,-rpath,%d -Wl,-rpath-link,%d
// ENV: LIBLEAK_OPTIONS=dir=%d/store
// RUN: %t ./needs.so; %t ./libleak.so fork; %t ./libleak.so handler; LD_PRELOAD=%d/libleak.so %t ./libleak.so; %d/linked ./libleak.so; LIBLEAK_OPTIONS=enabled=0 %t ./libleak.so
// JSON: len(procs) == 6 and all(q.end.value == 0 and not q.errors for q in procs)
// JSON: all((of("lose_after", q).blocks, of("lose_after", q).bytes) == (1, 100) for q in procs)
// JSON: len([q for q in procs if any("loaded late" in n for n in q.notes)]) == 5

#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;
static volatile int calls;

__attribute__((noinline)) static void lose_after(void)
{
    sink = malloc(100);
    sink = NULL;
}

/* Allocates, which a program may if it knows what it interrupts. */
static void handle(int number)
{
    free(malloc(number));
    calls++;
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[2] : "";
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, now;
    int status = 0;
    sigaction(SIGUSR1, &action, NULL);
    FILE *stream = fopen("/dev/null", "r");
    DIR *folder = opendir(".");
    int fd = dup(0);
    char *line = NULL;
    size_t size = 0;
    if (!dlopen(argv[1], RTLD_NOW))
        return printf("%s\n", dlerror()), 1;
    if (!strcmp(how, "fork") && fork() == 0) {
        lose_after();
        exit(0);
    }
    wait(&status);
    if (!strcmp(how, "handler")) {
        sigaction(SIGUSR1, NULL, &now);
        for (int i = 0; i < 100; i++)
            raise(SIGUSR1);
        if (now.sa_handler != handle || now.sa_flags & SA_SIGINFO || calls != 100)
            return 2;
    }
    getline(&line, &size, stream);
    free(line);
    fclose(stream);
    closedir(folder);
    close(fd);
    lose_after();
    return status;
}
