// A program that reads all it needs, works, and exits without freeing: no leak, no growth, exit status 0, and what was
// alive at once is one line.
// RUN: %run --error-exitcode=9 --errors-for=lost,possible,growing,errors %t
// EXIT: 0
// EXPECT: ^no leaks \([0-9,]+ allocations\)$
// EXPECT: ^9[0-9] % of all blocks ever allocated were alive at once: read_line, never freed\.$
// REFUSE: (grew|growing [+])
// REFUSE: ^ *1\.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **volatile lines;

static __attribute__((noinline)) char *read_line(int n)
{
    char text[40];
    snprintf(text, sizeof text, "line %030d", n * 7919 % 20000);
    return strdup(text);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(void)
{
    lines = malloc(20000 * sizeof *lines);
    for (int i = 0; i < 20000; i++) {
        lines[i] = read_line(i);
        if (i % 100 == 0) { // a word on the way
            char *volatile word = malloc(30);
            free(word);
        }
    }
    qsort(lines, 20000, sizeof *lines, compare);
    puts(lines[0]);
    return 0;
}
