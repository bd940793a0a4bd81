// Hard case 29d: libleak in a folder with spaces, LD_PRELOAD set already: both work, the program sees
// its own LD_PRELOAD still there, argv, stdin and the status untouched.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: r="%d/a b"; mkdir -p "$r/build" "$r/scripts"; cp %S/../../scripts/leakrun "$r/scripts/"; cp %O/libleak.so %O/leakreport %O/leakwatch "$r/build/"; gcc -w -shared -fPIC -o %d/libother.so %S/lib/other.c
// RUN: cd "%d/a b" && printf 'typed in' | LD_PRELOAD=%d/libother.so "%d/a b/scripts/leakrun" -o "%d/report" -- %t 'one arg' '' '*' --help; s=$?; cat %d/report; exit $s
// EXIT: 21
// EXPECT: other preload is here
// EXPECT: argv: \[one arg\] \[\] \[\*\] \[--help\]
// EXPECT: stdin: typed in
// EXPECT: cwd: .*/a b$
// EXPECT: in_main
// EXPECT: ^libleak: pid=[0-9]+ lost=10/1/1 .*unfreed=0/0/0
// REFUSE: cannot be preloaded|ld\.so

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *volatile sink;
__attribute__((noinline)) void in_main(void) { sink = malloc(10); sink = NULL; }

int main(int argc, char **argv)
{
    char text[100] = "", cwd[4096];
    const char *preload = getenv("LD_PRELOAD");

    in_main();
    printf("argv:");
    for (int i = 1; i < argc; i++)
        printf(" [%s]", argv[i]);
    read(0, text, sizeof text - 1);
    printf("\nstdin: %s\ncwd: %s\n", text, getcwd(cwd, sizeof cwd));
    return preload && strstr(preload, "libother.so") ? 21 : 1;
}
