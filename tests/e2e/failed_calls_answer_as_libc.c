// Hard case 24: impossible requests get exactly libc's answer and errno; a failed realloc keeps the block.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %t >want; %leak %t >got; s=$?; cat got; diff want got && exit $s
// EXPECT: malloc: null 12
// EXPECT: kept: yes
// EXPECT: errno stays 77
// JSON: (of("keep_old").blocks, of("keep_old").bytes) == (1, 4321)
// JSON: (of("keep_old_array").blocks, of("keep_old_array").bytes) == (1, 1234)
// JSON: of("impossible").blocks == 0
// JSON: p.coverage.unknown_frees == 0 and p.errors == []

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const char *what, void *p)
{
    printf("%s: %s %d\n", what, p ? "block" : "null", errno);
    free(p);
    errno = 0;
}

__attribute__((noinline)) void impossible(void)
{
    volatile size_t all = (size_t)-1, big = SIZE_MAX / 2;
    void *p = (void *)&all;

    show("malloc", malloc(all));
    show("malloc PTRDIFF_MAX + 1", malloc((size_t)PTRDIFF_MAX + 1));
    show("calloc", calloc(big, 3));
    show("calloc all", calloc(all, all));
    show("realloc null", realloc(NULL, all));
    show("reallocarray", reallocarray(NULL, big, 3));
    show("aligned_alloc 3", aligned_alloc(3, 100));
    show("aligned_alloc 0", aligned_alloc(0, 100));
    show("aligned_alloc huge", aligned_alloc(64, all - 100));
    show("memalign huge", memalign(64, all - 100));
    show("memalign half", memalign(((size_t)1 << 63) + 1, 10));
    show("valloc", valloc(all));
    show("pvalloc", pvalloc(all));
    printf("posix_memalign 3: %d errno %d\n", posix_memalign(&p, 3, 100), errno);
    printf("posix_memalign 0: %d errno %d\n", posix_memalign(&p, 0, 100), errno);
    printf("posix_memalign 24: %d errno %d\n", posix_memalign(&p, 24, 100), errno);
    printf("posix_memalign huge: %d errno %d\n", posix_memalign(&p, 64, all - 100), errno);
    printf("pointer untouched: %s\n", p == (void *)&all ? "yes" : "no");
}

__attribute__((noinline)) char *keep_old(void) { return malloc(4321); }
__attribute__((noinline)) char *keep_old_array(void) { return reallocarray(NULL, 1234, 1); }

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    impossible();
    char *p = keep_old(), *q = keep_old_array();
    strcpy(p, "content"), strcpy(q, "content");
    errno = 0;
    show("realloc", realloc(p, (size_t)-1));
    show("reallocarray", reallocarray(q, SIZE_MAX / 2, 3));
    printf("kept: %s\n", strcmp(p, "content") || strcmp(q, "content") ? "no" : "yes");
    errno = 77;
    free(malloc(10));
    free(calloc(10, 10));
    free(realloc(malloc(10), 1000));
    free(aligned_alloc(64, 64));
    printf("errno stays %d\n", errno);
    return 0;
}
