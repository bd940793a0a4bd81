/* heap.h - a heap of glibc as the tests of scan/ build it: libc's data with main_arena, one heap, one
 * stack, and the cache of one thread, which is the first chunk.
 */
#ifndef TESTS_UNIT_SCAN_HEAP_H
#define TESTS_UNIT_SCAN_HEAP_H

#include "scan/heap/glibc_heap.h"

/* In a 32-bit program the lower half of each address. */
#define HEAP_START 0x555555000000u
#define HEAP_DATA 0x7f0070000000u
#define HEAP_DATA_SIZE 0x4000u
#define HEAP_ARENA (HEAP_DATA + 0x460)
#define HEAP_GLOBAL (HEAP_DATA + 0x3000) /* a variable; only pointers to starts count there */
#define HEAP_STACK 0x7fff80000000u
#define HEAP_LOCAL (HEAP_STACK + 0x900) /* a variable on the stack */
#define HEAP_DEAD (HEAP_STACK + 0x100)  /* below the stack pointer */

#define HEAP_CACHED 16 /* blocks that a list takes */

struct heap {
    struct image image;
    struct image_thread *thread;
    struct objects objects;
    struct object libc;
    uint64_t next, previous_in_use;
    unsigned word; /* bytes: 8 or 4 */
    bool newer;
    uint8_t bytes[0x40000], data[HEAP_DATA_SIZE], stack[0x2000];
};

/* As glibc 2.30 to 2.41 has it, and 2.43, and as the older ones have it in a 32-bit program. */
void heap_begin(struct heap *heap);
void heap_begin_newer(struct heap *heap);
void heap_begin_32(struct heap *heap);
void heap_end(struct heap *heap);
/* One of the addresses above, in this program. */
uint64_t heap_address(const struct heap *heap, uint64_t address);
/* A word of any of the three mappings. */
void heap_put(struct heap *heap, uint64_t address, uint64_t word);
/* Return what malloc would. */
uint64_t heap_add(struct heap *heap, uint64_t size);
uint64_t heap_add_free(struct heap *heap, uint64_t size);
/* The rest becomes the top chunk. */
void heap_finish(struct heap *heap);
/* Links blocks into a list of the thread's cache (HEAP_CACHED at most in the newer one), or into a fast bin. */
void heap_cache(struct heap *heap, unsigned list, const uint64_t *blocks, unsigned count,
                bool mangled);
void heap_fast(struct heap *heap, unsigned bin, const uint64_t *blocks, unsigned count);

#endif
