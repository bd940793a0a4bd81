// If a malloc that is linked into the program cannot be redirected to libleak, one line says why, the program is
// unchanged, and it is counted as not tracked: a sandbox that forbids writing to code or mapping new code; quarantine=;
// two functions of one name. If no symbol names the malloc, libleak prints nothing.
// CFLAGS: -O2 -g -fno-builtin
// BUILD: echo 'int free(int n) { return n + 1; }' >%d/other.c; cc -w -O2 -fno-builtin -fvisibility=hidden -c -o %d/other.o %d/other.c; objcopy --localize-hidden %d/other.o
// BUILD: cc -w -D_GNU_SOURCE -O2 -g -fno-builtin -fvisibility=hidden -o %d/two %s %d/other.o -pthread
// BUILD: cc -w -D_GNU_SOURCE -O2 -g -fno-builtin -fvisibility=hidden -o %d/hidden %s -pthread
// BUILD: strip -o %d/bare %d/hidden
// RUN: for how in allow write new; do %leak %t $how || exit 1; done; %leak %d/two two; %leak %d/bare bare; %leak %d/hidden hidden; LIBLEAK_OPTIONS=quarantine=1m; %leak %t quarantine
// EXPECT: ^libleak: the program's own malloc is not tracked: this process may not change its code$
// EXPECT: ^libleak: the program's own malloc is not tracked: this process may not create executable code$
// EXPECT: ^libleak: the program's own malloc is not tracked: free: two functions have that name$
// EXPECT: ^libleak: the program's own malloc is not tracked: quarantine= works with the C library's malloc only$
// EXPECT: ^allow: well$
// EXPECT: ^write: well$
// EXPECT: ^new: well$
// EXPECT: ^two: well$
// EXPECT: ^bare: well$
// EXPECT: ^hidden: well$
// EXPECT: ^quarantine: well$
// JSON: len([q for q in procs if len(q.argv) == 2 and q.end.how == "exit"]) == 4
// JSON: {q.argv[1]: (of("lose", q).blocks, "OWN_ALLOCATOR" in str(q.coverage.untracked)) for q in procs if len(q.argv) == 3 or q.argv[1] in ("two", "bare", "hidden", "quarantine")} == {"allow": (1, False), "write": (0, True), "new": (0, True), "two": (0, True), "bare": (0, False), "hidden": (1, False), "quarantine": (0, True)}

#include "lib/linked_malloc.c"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline, noclone)) static void lose(void)
{
    sink = malloc(100);
    sink = NULL;
}

/* mprotect with exactly that access. */
static int forbid(int access)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, access, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Nobody's but the kernel's: what is run and has no file. */
static int has_nameless_code(void)
{
    char line[512], access[5], name[256];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        found |= sscanf(line, "%*s %4s %*s %*s %*s %255s", access, name) == 1 && access[2] == 'x';
    fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    int tracked = !strcmp(how, "allow") || !strcmp(how, "hidden");
    if (argc == 2 && strlen(how) <= 5 && strcmp(how, "two") && strcmp(how, "bare")) {
        if (!strcmp(how, "write") && !forbid(PROT_READ | PROT_WRITE | PROT_EXEC))
            return 2;
        if (!strcmp(how, "new") && !forbid(PROT_READ | PROT_EXEC))
            return 2;
        execl("/proc/self/exe", argv[0], how, "again", NULL);
        return 3;
    }
    lose();
    free(realloc(calloc(10, 10), 1000));
    if (!getenv("LD_PRELOAD") || has_nameless_code() == tracked)
        printf("%s: well\n", how);
    return 0;
}
