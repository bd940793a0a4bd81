/* prefetch_ring.h - follows pointers to nodes while their cache misses overlap.
 *
 * A word that may be a pointer waits for its word of the rank index and then for its node.
 * Meanwhile the ring prefetches for the words behind it. The ring is first in, first out: nodes are
 * visited in exactly the order in which the words were pushed.
 *
 *     push -> [ wait for the index word ] -> [ wait for the node ] -> visit */
#ifndef PRELOAD_MARK_PREFETCH_RING_H
#define PRELOAD_MARK_PREFETCH_RING_H

#include "preload/mark/pointer_filter.h"
#include "preload/mark/mark_nodes.h"

#define RING_SLOTS 64
#define RING_DELAY 12 /* number of words that wait at each of the ring's two stages */

struct prefetch_ring {
    /* Numbers of words that passed each stage: popped <= resolved <= pushed. */
    uint32_t pushed, resolved, popped;
    bool eager; /* true: prefetch the content of a block as soon as its node is known */
    /* Array by node of which the function `visit` reads the node's element, so that the ring
     * prefetches it; if there is no such array, any address. */
    const char *row;
    size_t row_size;
    struct {
        /* Address in the node; 0: the start of the node whose number is in `node`. */
        uintptr_t pointer;
        const struct rank_index_word *word;
        uint32_t node; /* number of the node; undefined until the word of the rank index is read */
        uint32_t from, at;
    } slot[RING_SLOTS];
};

/* The type of a function that is called for each pointer to a node: to its start, its interior or
 * the byte behind its end. from: the node or root range that contains the pointer; at: index of the
 * word in it. */
typedef void ring_visit(void *context, uintptr_t pointer, uint32_t node, uint32_t from,
                        uint32_t at);

/* Prefetches the blocks to which the first cache line of a block points, with their words of the
 * rank index, while the block's own node is fetched. The ring has prefetched that cache line
 * already. */
static ALWAYS_INLINE void ring_prefetch_targets(const struct reach *reach, uintptr_t pointer)
{
    const uintptr_t *word = (const uintptr_t *)pointer;
    do {
        uint32_t rank;
        uintptr_t next = node_pointer(*word);
        if (next - reach->low > reach->span)
            continue;
        __builtin_prefetch(rank_index_word(&reach->index, next, &rank));
        __builtin_prefetch((const void *)next);
    } while ((uintptr_t)++word % 64);
}

static ALWAYS_INLINE void ring_resolve(struct prefetch_ring *ring, const struct reach *reach)
{
    typeof(&ring->slot[0]) slot = &ring->slot[ring->resolved++ % RING_SLOTS];
    if (likely(slot->word))
        slot->node = rank_index_rank_in(slot->word, slot->pointer) - 1;
    if (likely(slot->node != NODE_NONE)) {
        __builtin_prefetch(&reach->nodes[slot->node], 1);
        __builtin_prefetch(ring->row + slot->node * ring->row_size, 1);
        if (ring->eager && slot->word && rank_index_is_start(slot->word, slot->pointer))
            ring_prefetch_targets(reach, slot->pointer);
    }
}

static ALWAYS_INLINE void ring_pop(struct prefetch_ring *ring, const struct reach *reach,
                                   ring_visit *visit, void *context)
{
    typeof(&ring->slot[0]) slot = &ring->slot[ring->popped++ % RING_SLOTS];
    if (unlikely(slot->node == NODE_NONE))
        return;
    const struct mark_node *node = &reach->nodes[slot->node];
    if (!slot->pointer) {
        visit(context, node_address(node), slot->node, slot->from, slot->at);
    } else if (slot->pointer - node_address(node) <= node_size(reach, node)) {
        visit(context, slot->pointer, slot->node, slot->from, slot->at);
    } else if (unlikely(reach->outer)) {
        uint32_t around = node_enclosing(reach, slot->node, slot->pointer);
        if (around != NODE_NONE)
            visit(context, slot->pointer, around, slot->from, slot->at);
    }
}

/* Called after each push: moves words that have waited long enough at one stage of the ring to the
 * next one, and visits those that leave the ring. */
static ALWAYS_INLINE void ring_advance(struct prefetch_ring *ring, const struct reach *reach,
                                       ring_visit *visit, void *context)
{
    if (ring->pushed - ring->resolved > RING_DELAY)
        ring_resolve(ring, reach);
    if (ring->resolved - ring->popped > RING_DELAY)
        ring_pop(ring, reach, visit, context);
}

/* Says whether no block contains the address in a pointer, if no block begins in the same MiB of
 * addresses: only the last block that begins before it, number rank - 1, can contain it. So
 * pointers to memory that the program has mapped itself, which may be many, do not enter the
 * ring. */
static ALWAYS_INLINE bool ring_misses_blocks(const struct reach *reach, uint32_t rank,
                                             uintptr_t pointer)
{
    const struct mark_node *node = &reach->nodes[rank - 1];
    return !rank || (!reach->outer && pointer - node_address(node) > node_size(reach, node));
}

static ALWAYS_INLINE void ring_push(struct prefetch_ring *ring, const struct reach *reach,
                                    uintptr_t pointer, uint32_t from, uint32_t at,
                                    ring_visit *visit, void *context)
{
    uint32_t rank = 0;
    const struct rank_index_word *word = rank_index_word(&reach->index, pointer, &rank);
    if (unlikely(!word) && ring_misses_blocks(reach, rank, pointer))
        return;
    typeof(&ring->slot[0]) slot = &ring->slot[ring->pushed++ % RING_SLOTS];
    slot->pointer = pointer;
    slot->from = from;
    slot->at = at;
    slot->word = word;
    slot->node = rank - 1;
    __builtin_prefetch(word);
    if (ring->eager)
        __builtin_prefetch((const void *)pointer);
    ring_advance(ring, reach, visit, context);
}

/* Pushes a node whose number is known into the ring, and prefetches its targets, which are needed
 * next. */
static ALWAYS_INLINE void ring_push_node(struct prefetch_ring *ring, const struct reach *reach,
                                         uint32_t node, uint32_t from, ring_visit *visit,
                                         void *context)
{
    typeof(&ring->slot[0]) slot = &ring->slot[ring->pushed++ % RING_SLOTS];
    slot->pointer = 0;
    slot->word = NULL;
    slot->node = node;
    slot->from = from;
    slot->at = LINK_BY_SCAN;
    __builtin_prefetch(&reach->targets_of[node]);
    ring_advance(ring, reach, visit, context);
}

/* Visits all words that are waiting in the ring. */
static ALWAYS_INLINE void ring_drain(struct prefetch_ring *ring, const struct reach *reach,
                                     ring_visit *visit, void *context)
{
    while (ring->resolved != ring->pushed)
        ring_resolve(ring, reach);
    while (ring->popped != ring->pushed)
        ring_pop(ring, reach, visit, context);
}

/* Prefetches the next page of an array of words while it is read: the processor prefetches
 * sequential reads, but not across pages. */
static ALWAYS_INLINE void ring_prefetch_words(const uintptr_t *words, uint64_t i, uint64_t count)
{
    const uint64_t page = LEAK_PAGE / sizeof *words;
    if (count - i > page)
        __builtin_prefetch(words + i + page);
}

/* Pushes those of the words into the ring that may point to a block. first_at: index of words[0] in
 * its node or root range. */
static ALWAYS_INLINE void ring_scan_words(struct prefetch_ring *ring, const struct reach *reach,
                                          const uintptr_t *words, uint64_t count, uint64_t first_at,
                                          uint32_t from, ring_visit *visit, void *context)
{
    const uintptr_t low = reach->low, span = reach->span;
    uint64_t i = 0;
    /* Most words are no pointers: test four words with one branch. */
    for (; i + 4 <= count; i += 4) {
        const uintptr_t *four = words + i;
        ring_prefetch_words(words, i, count);
        uintptr_t first = node_pointer(four[0]), second = node_pointer(four[1]);
        uintptr_t third = node_pointer(four[2]), fourth = node_pointer(four[3]);
        if (likely(!((first - low <= span) | (second - low <= span) | (third - low <= span) |
                     (fourth - low <= span))))
            continue;
        for (unsigned k = 0; k < 4; k++)
            if (node_pointer(four[k]) - low <= span)
                ring_push(ring, reach, node_pointer(four[k]), from,
                          node_word_index(first_at + i + k), visit, context);
    }
    for (; i < count; i++)
        if (node_pointer(words[i]) - low <= span)
            ring_push(ring, reach, node_pointer(words[i]), from, node_word_index(first_at + i),
                      visit, context);
}

/* Returns the number of bytes from the start of a block to its end, or to the start of the next
 * block if that is nested in it. */
static ALWAYS_INLINE uintptr_t ring_own_bytes(const struct reach *reach, uint32_t number)
{
    const struct mark_node *node = &reach->nodes[number];
    uintptr_t apart =
        number + 1 < reach->count ? node_address(&node[1]) - node_address(node) : UINTPTR_MAX;
    return apart < node_size(reach, node) ? apart : node_size(reach, node);
}

/* Pushes the words of block "from" that may be pointers into the ring, and tests every word only
 * once. Returns the flags that the node gets: NODE_NO_POINTER, and NODE_NO_ENCODED too if no word
 * can be an encoded pointer. Pointers of the block to itself are skipped: arenas and free lists are
 * full of them. */
static ALWAYS_INLINE unsigned ring_scan_filtered(struct prefetch_ring *ring,
                                                 const struct reach *reach,
                                                 const struct pointer_filter *filter,
                                                 const struct node_words *own, uint32_t from,
                                                 ring_visit *visit, void *context)
{
    const uintptr_t *words = own->at, low = reach->low, span = reach->span;
    const uintptr_t self = node_address(&reach->nodes[from]), inside = ring_own_bytes(reach, from);
    unsigned state = NODE_NO_POINTER | NODE_NO_ENCODED;
    for (uint64_t i = 0, count = own->count; i < count; i += 4) {
        unsigned some = count - i < 4 ? count - i : 4;
        unsigned may_be = pointer_filter_test(filter, words + i, some);
        if (likely(!may_be))
            continue;
        state &= may_be & POINTER_FILTER_ENCODED ? 0 : NODE_NO_ENCODED;
        for (unsigned k = 0; k < some; k++) {
            uintptr_t pointer = node_pointer(words[i + k]);
            if (pointer - low <= span && pointer - self >= inside)
                ring_push(ring, reach, pointer, from, node_word_index(own->first + i + k), visit,
                          context);
        }
    }
    return state;
}

/* Pushes into the ring the words of a node that may be pointers, but no words of its nested
 * blocks. */
static ALWAYS_INLINE void ring_scan_node(struct prefetch_ring *ring, const struct reach *reach,
                                         uint32_t number, uint32_t from, ring_visit *visit,
                                         void *context)
{
    struct node_words words = node_words_first(reach, number);
    do
        ring_scan_words(ring, reach, words.at, words.count, words.first, from, visit, context);
    while (node_words_next(reach, number, &words));
}

/* Pushes the outer block of a nested one into the ring, because a live nested block keeps its outer
 * block alive. False: the node is not nested. */
static ALWAYS_INLINE bool ring_push_outer(struct prefetch_ring *ring, const struct reach *reach,
                                          uint32_t number, uint32_t from, ring_visit *visit,
                                          void *context)
{
    if (likely(!reach->outer) || reach->outer[number] == NODE_NONE)
        return false;
    ring_push(ring, reach, node_address(&reach->nodes[reach->outer[number]]), from, 0, visit,
              context);
    return true;
}

#endif
