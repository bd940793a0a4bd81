// fill=BYTE,BYTE fills new blocks, whatever allocates them and however large, and freed ones; calloc's blocks are zero
// and realloc keeps what there was. fill=auto clears, fill=off leaves everything as it is. A value that is none of these
// is refused in one line, and the default stays. Blocks that sample= or min_size= leave out are not filled at random: all
// that is recorded is.
// CFLAGS: -O1 -g -fno-builtin -std=c++17
// RUN: for o in fill=0xa5,0x5a fill=0xa5,90:quarantine=1m fill=0xa5,0x5a:sample=1 fill=0xa5,0x5a:min_size=8 fill=0xa5,0x5a:log=1; do (export LIBLEAK_OPTIONS=$o; %leak %t a5 5a) || exit; done; (export LIBLEAK_OPTIONS=fill=165; %leak %t a5 -) && %leak %t 00 - && (export LIBLEAK_OPTIONS=fill=0; %leak %t 00 -) && (export MALLOC_PERTURB_=90; %leak %t a5 -) && (export GLIBC_TUNABLES=glibc.malloc.perturb=90; %leak %t a5 -) && (export LIBLEAK_OPTIONS=fill=0x100; %leak %t 00 -) && (export LIBLEAK_OPTIONS=fill=auto,auto; %leak %t 00 -) && (export LIBLEAK_OPTIONS=fill=off; %leak %t 11 11)
// EXPECT: fill=0x100
// EXPECT: fill=auto,auto
// REFUSE: ^wrong
// JSON: len(procs) == 13 and all(q.end.value == 0 and not misuse(q) for q in procs)
#include <malloc.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

static int failures;
static unsigned char fresh, freed;

static void check(const char *what, const void *at, size_t size, unsigned char byte)
{
    const volatile unsigned char *bytes = (const volatile unsigned char *)at;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != byte) {
            printf("wrong: %s, byte %zu is %02x\n", what, i, bytes[i]);
            failures++;
            return;
        }
}

/* Leaves a block of 0x11, of the size that the next one has. */
static void *used(size_t size)
{
    void *block = memset(malloc(size), 0x11, size);
    free(block);
    return block;
}

static void check_new_blocks(size_t size)
{
    void *wall = malloc(size > 1000 ? 1040 : 24), *p;
    used(size);
    check("malloc", p = malloc(size), size, fresh);
    free(p);
    used(size);
    check("operator new", p = operator new(size), size, fresh);
    operator delete(p);
    used(size);
    check("operator new[]", p = operator new[](size), size, fresh);
    operator delete[](p);
    used(size + 128);
    check("aligned new", p = operator new(size, std::align_val_t(64)), size, fresh);
    operator delete(p, std::align_val_t(64));
    used(size + 128);
    check("memalign", p = memalign(64, size), size, fresh);
    free(p);
    used(size + 128);
    if (posix_memalign(&p, 64, size) == 0)
        check("posix_memalign", p, size, fresh);
    free(p);
    used(size);
    check("calloc", p = calloc(1, size), size, 0);
    free(p);
    free(wall);
}

static void check_realloc(void)
{
    char *p = (char *)memset(malloc(100), 0x22, 100);
    size_t usable = malloc_usable_size(p);
    memset(p, 0x22, usable);
    used(5000);
    p = (char *)realloc(p, 5000);
    check("realloc keeps", p, usable, 0x22);
    check("realloc adds", p + usable, 5000 - usable, fresh);
    free(p);
    std::vector<char> bytes(100, 0x22);
    used(9000);
    bytes.reserve(9000);
    check("a vector's content", bytes.data(), 100, 0x22);
    check("a vector's reserve", bytes.data() + 100, 8900, fresh);
}

int main(int, char **argv)
{
    fresh = strtoul(argv[1], NULL, 16);
    freed = strtoul(argv[2], NULL, 16);
    if (fresh != 0x11)
        for (size_t size : {24, 40, 100, 128, 136, 1000, 4096, 5000, 60000, 120000})
            check_new_blocks(size);
    if (fresh != 0x11)
        check_realloc();
    if (*argv[2] != '-') {
        void *wall = malloc(24), *p = used(1000);
        check("freed", (char *)p + 32, 900, freed); /* libc keeps words at the start */
        free(wall);
    }
    if (fresh == 0x11) { /* fill=off */
        used(1000);
        check("malloc", (char *)malloc(1000) + 32, 900, 0x11);
    }
    return failures != 0;
}
