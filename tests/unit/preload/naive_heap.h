/* naive_heap.h - small random heaps, and the verdicts of a leak check on them, found in the most
 * obvious way.
 *
 * Many heaps lie side by side in one buffer and go through one leak check; no pointer leads from
 * one to another, so each is judged alone. Here blocks are searched linearly, passes run until
 * nothing changes, and what a block retains is found by taking it away.
 */
#ifndef TESTS_NAIVE_HEAP_H
#define TESTS_NAIVE_HEAP_H

#include "tests/unit/preload/unit.h"
#include "preload/graph/leak_graph.h"

#define BLOCKS_MOST 14
#define ROOTS_MOST 6
#define STRIDE (64ull << 10) /* from heap to heap; each 16th crosses a page of the index */

struct heap {
    struct block block[BLOCKS_MOST];
    enum reach_prior before[BLOCKS_MOST];
    int blocks, roots;
    uintptr_t root[ROOTS_MOST];
    struct reach_encodings codes;

    enum leak_verdict verdict[BLOCKS_MOST];
    bool dropped[BLOCKS_MOST], alone[BLOCKS_MOST]; /* alone: possible, and nothing leads to it */
};

/* The only address at which these heaps have a virtual table. */
static const uintptr_t vtable = 0x40;

static bool is_vtable(uintptr_t word)
{
    return word == vtable;
}

/* ---- Meaning of a word ----------------------------------------------------------------------- */

static inline int words_of(const struct heap *heap, int i)
{
    return (int)(heap->block[i].size / 8);
}

static inline uintptr_t word_of(const struct heap *heap, int i, int word)
{
    return ((const uintptr_t *)heap->block[i].address)[word];
}

/* The block that a pointer refers to; -1: none. */
static inline int pointed_to(const struct heap *heap, uintptr_t pointer)
{
    int best = -1;
    for (int i = 0; i < heap->blocks; i++)
        if (heap->block[i].address <= pointer &&
            (best < 0 || heap->block[i].address > heap->block[best].address))
            best = i;
    return best >= 0 && pointer <= heap->block[best].address + heap->block[best].size ? best : -1;
}

/* A hash table of Rust behind its buckets: each control byte is repeated where bucket + n is, for
 * as many as a group has; a byte is 0 to 0x80, or 0xff, and at least one is 0xff. */
static inline bool is_naive_table(const unsigned char *byte, uint64_t offset, uint64_t size)
{
    const uint64_t group = ARCH_HASH_GROUP;
    for (uint64_t n = 4, empty = 0; offset + n + group <= size; n *= 2, empty = 0) {
        bool right = offset + n + group == size && offset % (n < group ? group : n) == 0;
        for (uint64_t i = 0; i < n + group && right; i++) {
            unsigned char at = byte[offset + i];
            uint64_t twin = n < group ? group + i : n + i;
            empty += at == 0xff;
            right = at <= 0x80 || at == 0xff;
            if (i < n && i < group)
                right = right && at == byte[offset + twin];
            else if (n < group && i < group)
                right = right && at == 0xff;
        }
        if (right && offset >= n && empty > (n < group ? group - n : 0))
            return true;
    }
    return false;
}

/* A pointer to its start, or to the end of a known container header. */
static inline bool holds(const struct heap *heap, uintptr_t pointer, int i)
{
    const uintptr_t *head = (const uintptr_t *)heap->block[i].address;
    uint64_t offset = pointer - heap->block[i].address, size = heap->block[i].size;
    if (offset == 0)
        return true;
    if (offset == 8 && head[0] == 0 && size == 8)
        return true;
    if (offset == 8 && head[0] != 0 && size > 8 && head[0] <= size - 8 && (size - 8) % head[0] == 0)
        return true;
    for (uint64_t width = 1; width <= 4; width *= 2)
        if (offset == 24 && head[0] <= head[1] && head[1] < 1u << 30 &&
            24 + (head[1] + 1) * width == size)
            return true;
    if (is_naive_table((const unsigned char *)head, offset, size))
        return true;
    return offset % 8 == 0 && offset + 8 <= size && is_vtable(head[0]) &&
           is_vtable(head[offset / 8]);
}

/* True if the word is an encoded pointer to exactly this start. */
static inline bool decodes(const struct heap *heap, uintptr_t word, int i)
{
    uintptr_t start = heap->block[i].address;
    const struct reach_encodings *codes = &heap->codes;
    if ((word & 0xfffffffffff0) == start || (word & 0xfffffffffff8) == start)
        return true;
    for (int k = 1; k <= 4; k++)
        if ((start >> k) << k == start && word == start >> k)
            return true;
    uintptr_t mangled = start ^ codes->guard;
    if (codes->guard && word == (mangled << 17 | mangled >> 47))
        return true;
    return word == ~start || (codes->xor_key && word == (start ^ codes->xor_key));
}

/* ---- Verdicts ------------------------------------------------------------------------------- */

static inline bool is_held(const struct heap *heap, int i)
{
    return heap->verdict[i] >= LEAK_VERDICT_POSSIBLE;
}

enum how { BY_HOLDER, BY_ANY, BY_DECODING };

static inline bool leads_to(const struct heap *heap, uintptr_t word, int i, enum how how)
{
    if (how == BY_DECODING && decodes(heap, word, i))
        return true;
    uintptr_t pointer = arch_address((const void *)word);
    return pointed_to(heap, pointer) == i && (how != BY_HOLDER || holds(heap, pointer, i));
}

/* From the roots, and from held blocks: the passes before this one have given all of them a
 * verdict. */
static inline bool is_led_to(const struct heap *heap, int i, enum how how)
{
    for (int r = 0; r < heap->roots; r++)
        if (leads_to(heap, heap->root[r], i, how))
            return true;
    for (int from = 0; from < heap->blocks; from++)
        for (int word = 0; is_held(heap, from) && word < words_of(heap, from); word++)
            if (leads_to(heap, word_of(heap, from, word), i, how))
                return true;
    return false;
}

static inline void spread(struct heap *heap, enum leak_verdict verdict, enum how how)
{
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < heap->blocks; i++)
            if (!heap->verdict[i] && heap->before[i] != REACH_WAS_LOST && is_led_to(heap, i, how)) {
                heap->verdict[i] = verdict;
                more = true;
            }
    }
}

static inline void start_with(struct heap *heap, enum reach_prior before, enum leak_verdict verdict)
{
    for (int i = 0; i < heap->blocks; i++)
        if (!heap->verdict[i] && heap->before[i] == before) {
            heap->verdict[i] = verdict;
            heap->dropped[i] = before == REACH_WAS_REACHABLE;
            heap->alone[i] = before == REACH_WAS_POSSIBLE;
        }
}

static inline void judge(struct heap *heap)
{
    memset(heap->verdict, 0, sizeof heap->verdict);
    memset(heap->dropped, 0, sizeof heap->dropped);
    memset(heap->alone, 0, sizeof heap->alone);
    start_with(heap, REACH_IGNORED, LEAK_VERDICT_REACHABLE);
    spread(heap, LEAK_VERDICT_REACHABLE, BY_HOLDER);
    start_with(heap, REACH_WAS_REACHABLE, LEAK_VERDICT_REACHABLE);
    spread(heap, LEAK_VERDICT_REACHABLE, BY_HOLDER);
    spread(heap, LEAK_VERDICT_POSSIBLE, BY_ANY);
    start_with(heap, REACH_WAS_POSSIBLE, LEAK_VERDICT_POSSIBLE);
    spread(heap, LEAK_VERDICT_POSSIBLE, BY_ANY);
    start_with(heap, REACH_WAS_HIDDEN, LEAK_VERDICT_HIDDEN);
    spread(heap, LEAK_VERDICT_HIDDEN, BY_DECODING);
    for (int i = 0; i < heap->blocks; i++)
        if (!heap->verdict[i])
            heap->verdict[i] = LEAK_VERDICT_LOST;
}

/* ---- Random heaps --------------------------------------------------------------------------- */

static inline uint64_t dice(uint64_t *state, uint64_t sides)
{
    return unit_random(state) % sides;
}

static inline uint64_t random_size(uint64_t *state)
{
    static const uint8_t sizes[] = {0, 1, 7, 8, 8, 9, 16, 16, 20, 24, 25, 32, 32, 40, 48, 64};
    return sizes[dice(state, sizeof sizes)];
}

/* A word for a block (or the roots: size 0) of this heap. */
static inline uintptr_t random_word(const struct heap *heap, uint64_t size, uint64_t *state)
{
    const struct block *to = &heap->block[dice(state, heap->blocks)];
    uintptr_t mangled = to->address ^ heap->codes.guard;
    switch (dice(state, 40)) {
    case 0: /* fall through */
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        return to->address;
    case 6:
    case 7:
        return to->address + dice(state, to->size + 1);
    case 8:
        return to->address + to->size;
    case 9:
        return to->address + 8;
    case 10:
        return to->address + 24;
    case 11:
        return to->address + 1 + dice(state, 15);
    case 12:
        return size < 8 ? 1 : size - 8;
    case 13:
        return dice(state, 24);
    case 14:
    case 15:
        return vtable;
    case 16:
        return (to->address + dice(state, 16)) | dice(state, 65536) << 48;
    case 17:
        return to->address >> (1 + dice(state, 5));
    case 18:
        return ~to->address;
    case 19:
        return mangled << 17 | mangled >> 47;
    case 20:
        return to->address ^ heap->codes.xor_key;
    case 21:
        return to->address - 1 - dice(state, 8);
    case 22:
        return unit_random(state);
    default:
        return 0;
    }
}

/* A heap in the memory at base. Most blocks are new: results of earlier checks are the exception.
 */
static inline void make_heap(struct heap *heap, uintptr_t base, const struct reach_encodings *codes,
                             uint64_t *state)
{
    bool overlapping = dice(state, 16) == 0, news = dice(state, 3) == 0;
    uintptr_t at = base;
    memset(heap, 0, sizeof *heap);
    heap->codes = *codes;
    heap->blocks = 1 + (int)dice(state, BLOCKS_MOST);
    heap->roots = (int)dice(state, ROOTS_MOST + 1);
    for (int i = 0; i < heap->blocks; i++) {
        heap->block[i] = (struct block){.address = at,
                                        .size = random_size(state),
                                        .site = 1 + dice(state, 4),
                                        .thread = dice(state, 3),
                                        .count = dice(state, 4),
                                        .tick = dice(state, 2),
                                        .kind = 1};
        heap->before[i] = news || dice(state, 3) ? REACH_NEW : dice(state, REACH_IGNORED + 1);
        at += overlapping ? 8 : 8 * ((heap->block[i].size + 7) / 8 + dice(state, 3));
        at += at == heap->block[i].address ? 8 : 0;
    }
    for (int i = 0; i < heap->blocks; i++)
        for (int word = 0; word < words_of(heap, i); word++)
            ((uintptr_t *)heap->block[i].address)[word] =
                random_word(heap, heap->block[i].size, state);
    for (int i = 0; i < heap->roots; i++)
        heap->root[i] = random_word(heap, 0, state);
}

/* Many heaps in a buffer of their own. */
static inline uintptr_t make_heaps(struct heap *heaps, int count, uint64_t *state)
{
    static uintptr_t buffer;
    if (!buffer) {
        void *map = mmap(NULL, (count + 18) * STRIDE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(map, MAP_FAILED);
        buffer = ((uintptr_t)map + (1 << 20) + 4096) >> 20 << 20;
    }
    struct reach_encodings codes = {.guard = dice(state, 2) ? unit_random(state) : 0,
                                    .xor_key = dice(state, 2) ? unit_random(state) : 0};
    for (int i = 0; i < count; i++)
        make_heap(&heaps[i], buffer + i * STRIDE - 8 * dice(state, 64), &codes, state);
    return buffer;
}

/* One check of all; blocks are added in no order. NULL when memory_most is too little. */
static inline struct reach *mark_heaps(const struct heap *heaps, int count, uint64_t memory_most)
{
    uint64_t blocks = 0;
    for (int i = 0; i < count; i++)
        blocks += heaps[i].blocks;
    struct reach *reach = reach_begin(blocks, memory_most);
    if (!reach)
        return NULL;
    for (int i = 0; i < count; i++) {
        const struct heap *heap = &heaps[i * 7 % count];
        for (int k = heap->blocks; k--;)
            reach_add_block(reach, &heap->block[k], heap->before[k]);
    }
    if (reach_build_index(reach)) {
        for (int i = 0; i < count; i++)
            reach_add_root(reach, (uintptr_t)heaps[i].root,
                           (uintptr_t)(heaps[i].root + heaps[i].roots), i, REACH_ROOT_DATA);
        if (reach_mark(reach, &heaps[0].codes, is_vtable))
            return reach;
    }
    reach_end(reach);
    return NULL;
}

static inline void show_heap(const struct heap *heap)
{
    for (int i = 0; i < heap->roots; i++)
        printf("root %#" PRIxPTR "\n", heap->root[i]);
    for (int i = 0; i < heap->blocks; i++) {
        printf("block %d at %#" PRIxPTR " size %" PRIu64 " site %u before %d verdict %d:", i,
               heap->block[i].address, heap->block[i].size, heap->block[i].site, heap->before[i],
               heap->verdict[i]);
        for (int word = 0; word < words_of(heap, i); word++)
            printf(" %#" PRIxPTR, word_of(heap, i, word));
        printf("\n");
    }
    printf("guard %#" PRIx64 " xor %#" PRIx64 "\n", heap->codes.guard, heap->codes.xor_key);
    fflush(stdout);
}

#endif
