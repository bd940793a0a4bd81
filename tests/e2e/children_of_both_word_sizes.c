// Promise 3.3: with a library for 32-bit programs beside the other, leakrun and the hooks of exec follow from 64 to 32
// bits and back, and each process is reported, also where the library was preloaded by its path alone.
// NEEDS: %O/32/libleak.so
// BUILD: gcc -m32 -idirafter /usr/include/x86_64-linux-gnu -O1 -g -w -o %d/narrow %s
// RUN: %leak %t %d/narrow %t %d/narrow 3>>%d/words && %run -- %d/narrow %t 3>>%d/words; echo "ended with $?"
// RUN: echo "words of $(cat %d/words)bytes"
// EXPECT: ^words of 4 8 4 8 8 4 bytes$
// EXPECT: lose .*children_of_both_word_sizes\.c:24
// EXPECT: ^libleak: pid=[0-9]+ lost=200/2/2
// EXPECT: ^ended with 0$
// REFUSE: ERROR: ld\.so
// JSON: len(procs) == 4 and all(verdict("lose", q) == {"lost": (1, 100)} for q in procs)
// JSON: all(q.coverage.untracked == [] for q in procs)

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline)) static void lose(void)
{
    sink = malloc(100);
    sink = NULL;
}

/* The child, which is another program, ends first. The last of all has no argument. */
int main(int argc, char **argv)
{
    int status = 0;
    lose();
    if (argc > 1 && !fork())
        execv(argv[1], argv + 1);
    if (argc > 1)
        wait(&status);
    dprintf(3, "%d ", (int)sizeof(void *));
    return status != 0;
}
