// Hard case 29d, 32, promise 3.3: where there is no library for 32-bit programs, a 32-bit child runs as ever, without
// noise of the loader; leakrun of a 32-bit program says so in a line and ends with 126.
// NEEDS: /lib/ld-linux.so.2 /lib32/libc.so.6
// BUILD: gcc -m32 -nostdlib -fno-pic -no-pie -fno-stack-protector -w -o %d/small %S/lib/small32.c /lib32/libc.so.6 -Wl,--dynamic-linker=/lib/ld-linux.so.2
// BUILD: cp %O/libleak.so %d/libleak.so
// RUN: env LD_PRELOAD=%d/libleak.so LIBLEAK_OPTIONS=dir=%d/store %t %d/small; %run --with-library=%d/libleak.so -- %d/small; echo "leakrun: $?"
// EXPECT: 32 bits here
// EXPECT: child ended with 32
// EXPECT: ^leakrun: 126
// EXPECT: (32-bit|class)
// REFUSE: ERROR: ld\.so
// JSON: of("parent").blocks == 1

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;
__attribute__((noinline)) void parent(void) { sink = malloc(10); sink = NULL; }

int main(int argc, char **argv)
{
    int status;

    parent();
    if (!fork())
        execl(argv[1], argv[1], NULL);
    wait(&status);
    printf("child ended with %d\n", WEXITSTATUS(status));
    return 0;
}
