// A program that rewrites the beginnings of its functions while it runs, malloc and free among them, as -fpatchable-
// function-entry and XRay prepare it: what it writes stays and runs, the blocks are tracked before, meanwhile and
// afterwards, and what was allocated before and is freed meanwhile is no leak.
// NEEDS: /lib64/ld-linux-x86-64.so.2
// CFLAGS: -O2 -g -fno-builtin -fpatchable-function-entry=16
// CFLAGS: -O2 -g -fno-builtin -fpatchable-function-entry=16 %protect
// CFLAGS: -O1 -g -fno-builtin -fpatchable-function-entry=24,8 -DHIDDEN -fvisibility=hidden
// CFLAGS: -O2 -g -fno-builtin -fpatchable-function-entry=16 -no-pie
// RUN: export LIBLEAK_OPTIONS=verbosity=1; %t >want && cat want && %leak %t >got && diff want got
// EXPECT: ^entered as often as called$
// EXPECT: the program's own malloc is tracked
// JSON: verdict("lose") == {"lost": (3, 300)} and verdict("keep") == {"reachable": (2, 128)}
// JSON: of("come_and_go").blocks == 0 and not p.errors and p.coverage.unknown_frees == 0

#include "lib/linked_malloc.c"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FAR __attribute__((noinline, noclone, noipa, patchable_function_entry(0)))

static void *volatile sink, *volatile kept[2];

FAR static void lose(void)
{
    sink = malloc(100);
    sink = NULL;
}

FAR static void keep(int which)
{
    kept[which] = malloc(64);
}

FAR static void *come_and_go(void *old)
{
    for (int i = 0; i < 100; i++) {
        void *p = malloc(i + 1);
        p = realloc(p, 300);
        free(p);
    }
    free(old);
    return malloc(40);
}

FAR static int work(int n)
{
    return n * 3 + 1;
}
__attribute__((noinline, noclone, noipa)) static int other(int n)
{
    return work(n) + 1;
}

/* ---- Patching: "add $1 to a counter" in the place of the nops ---- */

static long entered[3];
static unsigned char before[3][16];
static unsigned char *const functions[] = {(void *)malloc, (void *)free, (void *)other};

static unsigned char *sled_of(unsigned i)
{
    return functions[i] + (memcmp(functions[i], "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0);
}

static void write_sled(unsigned i, const void *code)
{
    uintptr_t page = (uintptr_t)sled_of(i) & -4096;
    mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(sled_of(i), code, 16);
    mprotect((void *)page, 8192, PROT_READ | PROT_EXEC);
}

FAR static void patch(unsigned i)
{
    unsigned char code[16] = {0x48, 0x83, 0x05, 0, 0, 0, 0, 1, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
    int32_t way = (char *)&entered[i] - (char *)(sled_of(i) + 8); /* addq $1,way(%rip) */
    memcpy(code + 3, &way, 4);
    memcpy(before[i], sled_of(i), 16);
    write_sled(i, code);
}

int main(void)
{
    void *p = come_and_go(NULL);

    lose();
    keep(0);
    for (unsigned i = 0; i < 3; i++)
        patch(i);
    p = come_and_go(p);
    lose();
    int result = other(7);
    for (unsigned i = 0; i < 3; i++)
        write_sled(i, before[i]);
    result -= other(7);
    p = come_and_go(p);
    lose();
    keep(1);
    free(p);
    long wanted[] = {202, 201, 1};
    puts(memcmp(entered, wanted, sizeof wanted) || result ? "entered too rarely" : "entered as often as called");
    printf("%ld %ld %ld\n", entered[0], entered[1], entered[2]);
    return 0;
}
