// Hard case 29d: a child started with an environment of its own: lost with follow=inherit, tracked with
// follow=force, and never with follow=none; its environment as the program sees it is what it was given.
// CFLAGS: -O1 -g -fno-builtin
// RUN: mkdir store/i store/f store/n; for f in inherit force none; do env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/store/$(printf %.1s $f):follow=$f %t e; env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/store/$(printf %.1s $f):follow=$f %t o; done
// RUN: for f in i f n; do echo "$f: $(ls store/$f | wc -l) stores"; done
// RUN: mv store/f/* store/
// EXPECT: ^i: 3 stores$
// EXPECT: ^f: 4 stores$
// EXPECT: ^n: 2 stores$
// EXPECT: child has own=1, [0-3] others
// EXPECT: child has own=0, [0-3] others
// JSON: sum(of("in_child", q).blocks for q in procs) == 2

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
void *volatile sink;
__attribute__((noinline)) void in_child(void) { sink = malloc(10); sink = NULL; }

int main(int argc, char **argv)
{
    char *none[] = { NULL };

    if (argc > 1 && argv[1][0] != 'c') {
        if (!fork()) {
            if (argv[1][0] == 'e')
                execle("/proc/self/exe", argv[0], "child", NULL, none);
            execl("/proc/self/exe", argv[0], "child", NULL);
        }
        wait(NULL);
        return 0;
    }
    in_child();
    int n = 0, own = 0;
    for (char **e = environ; *e; e++)
        if (!strncmp(*e, "PATH=", 5))
            own = 1;
        else if (!strncmp(*e, "LD_PRELOAD=", 11) || !strncmp(*e, "LIBLEAK_", 8))
            n++;
    printf("child has own=%d, %d others\n", own, n);
    return 0;
}
