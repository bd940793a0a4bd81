// A failed exec of every kind: errno as ever, the account goes on; a good one ends it as "exec" and the
// new program starts its own.
// CFLAGS: -O1 -g -fno-builtin
// EXPECT: errnos 2 2 2 2 2 2 13 2 
// EXPECT: second program
// EXIT: 5
// JSON: len(procs) == 2 and procs[0].pid == procs[1].pid
// JSON: [q.end.how for q in procs] == ["exec", "exit"] and procs[1].end.value == 5
// JSON: of("after_failures", procs[0]).blocks == 1 and of("in_second", procs[1]).blocks == 1

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;
void *volatile sink;
__attribute__((noinline)) void after_failures(void) { sink = malloc(10); }
__attribute__((noinline)) void in_second(void) { sink = malloc(11); }

int main(int argc, char **argv)
{
    char *none = "/no/such", *args[] = { none, NULL };
    pid_t pid;

    if (argc > 1) {
        in_second();
        puts("second program");
        return 5;
    }
    printf("errnos");
    execv(none, args), printf(" %d", errno);
    execve(none, args, environ), printf(" %d", errno);
    execvp("no-such-program", args), printf(" %d", errno);
    execvpe("no-such-program", args, environ), printf(" %d", errno);
    execl(none, none, NULL), printf(" %d", errno);
    execle(none, none, NULL, environ), printf(" %d", errno);
    fexecve(open("/etc/passwd", O_RDONLY), args, environ), printf(" %d", errno);
    printf(" %d \n", posix_spawn(&pid, none, NULL, NULL, args, environ));
    fflush(stdout);
    after_failures();
    execl("/proc/self/exe", argv[0], "second", NULL);
    return 1;
}
