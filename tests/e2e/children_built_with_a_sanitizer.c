// Hard case 29d: a child built with AddressSanitizer, ThreadSanitizer or MemorySanitizer, its runtime a library or linked
// in, runs as it does alone: those cannot begin behind a library that is preloaded. It is counted as not tracked; one
// built with UndefinedBehaviorSanitizer, which leaves the allocator alone, has an account like any other.
// CFLAGS: -O1 -g
// BUILD: cd %d; printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { char *volatile p = malloc(10); puts(p ? "said" : ""); free(p); return 3; }\n' >c.c
// BUILD: cd %d; mkdir apart; gcc -w -fsanitize=address -o apart/a c.c; gcc -w -fsanitize=address -static-libasan -o apart/b c.c; gcc -w -fsanitize=thread -o apart/c c.c; gcc -w -fsanitize=thread -static-libtsan -o apart/d c.c; clang -w -fsanitize=address -o apart/e c.c; clang -w -fsanitize=thread -o apart/f c.c; clang -w -fsanitize=memory -o apart/g c.c; gcc -w -fsanitize=undefined -o undefined c.c
// RUN: export ASAN_OPTIONS=detect_leaks=0; ls apart | wc -l; %leak %t apart/*; %leak %t ./undefined
// EXPECT: ^7$
// EXPECT: ^7 said and ended with 3$
// EXPECT: ^1 said and ended with 3$
// JSON: sum(u.count for q in procs for u in q.coverage.untracked if u.what == "PROGRAMS") == 7
// JSON: [q.end.value for q in procs if q.exe.endswith("/undefined") and q.totals.allocations >= 1] == [3]
// JSON: not any("/apart/" in q.exe for q in procs)

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int runs_as_ever(const char *program)
{
    int out[2], status;
    char said[80] = {0};

    if (pipe(out) != 0)
        return 0;
    if (fork() == 0) {
        dup2(out[1], 1);
        dup2(out[1], 2);
        close(out[0]);
        close(out[1]);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    size_t length = 0;
    for (ssize_t n; (n = read(out[0], said + length, sizeof said - 1 - length)) > 0;)
        length += n;
    close(out[0]);
    wait(&status);
    return strcmp(said, "said\n") == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

int main(int argc, char **argv)
{
    int count = 0;

    for (int i = 1; i < argc; i++) {
        if (runs_as_ever(argv[i]))
            count++;
        else
            printf("not as ever: %s\n", argv[i]);
    }
    printf("%d said and ended with 3\n", count);
    return 0;
}
