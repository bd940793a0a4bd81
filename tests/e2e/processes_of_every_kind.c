// Hard case 29b: fork, daemon(), raw clone, vfork with a failed and a good exec, posix_spawn, system:
// each process an account of its own before it writes, the parent's account untouched.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t && sleep 0.3
// EXPECT: spawned ran
// EXPECT: vfork exec failed and came back
// JSON: all(q.coverage.unknown_frees == 0 for q in procs)
// JSON: of("parent_leak").blocks == 100 and of("child_leak").blocks == 0
// JSON: sorted(of("forked_leak", q).blocks for q in procs)[-1] == 1 and sum(of("forked_leak", q).blocks for q in procs) == 1
// JSON: sum(of("cloned_leak", q).blocks for q in procs) == 1 and of("cloned_leak").blocks == 0
// JSON: sum(of("daemon_leak", q).blocks for q in procs) == 1 and of("daemon_leak").blocks == 0
// JSON: of("after_vfork").blocks == 1
// JSON: of("inside_vfork").blocks == 2
// JSON: sum(of("spawned_leak", q).blocks for q in procs) == 3
// JSON: sum(of("parent_leak", q).blocks for q in procs) == 100
// JSON: p.end.how == "exit" and p.end.value == 0
// JSON: all(q.end.how in ("exit", "exec") for q in procs)

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
void *volatile sink;
void *shared[100];
extern char **environ;

FAR void parent_leak(void) { for (int i = 0; i < 100; i++) shared[i] = malloc(10); }
FAR void child_leak(void) { sink = malloc(11); }
FAR void forked_leak(void) { sink = malloc(11); }
FAR void cloned_leak(void) { sink = malloc(11); }
FAR void daemon_leak(void) { sink = malloc(11); }
FAR void inside_vfork(void) { sink = malloc(12); }
FAR void after_vfork(void) { sink = malloc(12); }
FAR void spawned_leak(void) { sink = malloc(13); write(1, "spawned ran\n", 12); }

static void child_frees(void)
{
    for (int i = 0; i < 100; i++)
        free(shared[i]);
}

int main(int argc, char **argv)
{
    char self[4096] = { 0 }, *args[] = { self, "spawned", NULL };
    int status;
    pid_t pid;

    if (argc > 1) {
        spawned_leak();
        return 0;
    }
    readlink("/proc/self/exe", self, sizeof self - 1);
    parent_leak();
    if (!(pid = fork())) {
        child_frees();
        forked_leak();
        return 0;
    }
    waitpid(pid, &status, 0);

    pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!pid) {
        child_frees();
        cloned_leak();
        _exit(0);
    }
    waitpid(pid, &status, 0);

    if (!(pid = fork())) {
        if (daemon(1, 1)) _exit(1);
        child_frees();
        daemon_leak();
        exit(0);
    }
    waitpid(pid, &status, 0);

    if (!(pid = vfork())) {
        inside_vfork();
        execl("/no/such/program", "x", NULL);
        write(1, "vfork exec failed and came back\n", 32);
        _exit(3);
    }
    waitpid(pid, &status, 0);
    if (!(pid = vfork())) {
        inside_vfork();
        execv(self, args);
        _exit(3);
    }
    waitpid(pid, &status, 0);
    after_vfork();

    posix_spawn(&pid, self, NULL, NULL, args, environ);
    waitpid(pid, &status, 0);
    strcat(self, " spawned");
    return system(self);
}
