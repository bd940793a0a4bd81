// The report of a fork child lists the descriptors it left open itself, not those it inherited; the child's closes
// leave its parent's recording unchanged. What exec hands on is named as inherited. A vfork child closes
// and copies descriptors of its own: its parent's are open still.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// RUN: %leak %t && %leak sh -c 'exec 9</etc/group; exec %d/t exec'
// JSON: opened("parents", procs[0]) == {"fd": 2, "file": 1} and opened("childs", procs[0]) == {}
// JSON: [opened("childs", q) for q in procs if q.ppid == procs[0].pid and opened("childs", q)] == [{"fd": 1}]
// JSON: [q for q in procs if q.ppid == procs[0].pid and opened("parents", q)] == []
// JSON: opened("", procs[0]) == {"fd": 3, "file": 1} and opened("keeps", procs[0]) == {"fd": 1}
// JSON: [(i.descriptor, i.name) for q in procs for i in q.inherited if q.argv[-1:] == ["exec"] and i.descriptor == 9] == [(9, "/etc/group")]
// JSON: [opened("", q) for q in procs if q.argv[-1:] == ["exec"]] == [{}]
// JSON: [r for q in procs for r in q.resources if r.type.endswith("close")] == []

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

static FILE *stream;
FAR int parents(void)
{
    stream = fopen("/etc/passwd", "r");
    open("/etc/group", O_RDONLY);
    return open("/etc/passwd", O_RDONLY);
}
FAR void childs(void) { open("/dev/null", O_RDONLY); }
FAR int keeps(void) { return open("/dev/null", O_RDWR); }

static void wait_for(pid_t child)
{
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return 0;
    int fd = parents(), kept = keeps();
    pid_t child = fork();
    if (child == 0) {
        close(fd);
        fclose(stream);
        childs();
        return 0;
    }
    wait_for(child);
    if (!(child = fork())) /* straight to exec */
        execl("/bin/true", "true", NULL);
    wait_for(child);
    for (int i = 0; i < 3; i++) {
        child = vfork();
        if (child == 0) {
            dup2(kept, 1);
            close(kept);
            close(fd);
            open("/dev/null", O_RDONLY);
            execl("/bin/true", "true", NULL);
            _exit(1);
        }
        wait_for(child);
    }
    close(keeps()); /* its number is reported correctly again */
    return 0;
}
