/* prefetch_ring.h - from words to nodes, without waiting for each.
 *
 * The ring makes the misses of the caches overlap: a word that may be a pointer waits once for its
 * word of the index, once for its node, while those behind it come in. It is first in, first out:
 * nodes are met in exactly the order in which the words were put.
 *
 *     put -> [ wait for the index word ] -> [ wait for the node ] -> met
 */
#ifndef PRELOAD_MARK_PREFETCH_RING_H
#define PRELOAD_MARK_PREFETCH_RING_H

#include "preload/mark/pointer_filter.h"
#include "preload/mark/mark_nodes.h"

#define RING 64
#define RING_WAIT 12 /* so many words wait at each place */

struct ring {
    uint32_t in, near, out; /* out <= near <= in */
    bool eager;             /* the content is wanted as soon as the node is known */
    const char *beside;     /* a row by node that is wanted with it; any address if none */
    size_t beside_each;
    struct {
        uintptr_t pointer; /* or 0: to the start of the node, which is known */
        const struct places_word *word;
        uint32_t node; /* or, while word is not NULL, nothing yet */
        uint32_t from, at;
    } place[RING];
};

/* Called for each pointer to a node: to its start, its inside, or just behind it. */
typedef void ring_met(void *context, uintptr_t pointer, uint32_t node, uint32_t from, uint32_t at);

/* Where a block that begins here leads to: fetched while its node comes in. Only as far as its
 * first line of the cache, which is there if its first byte is. */
static ALWAYS_INLINE void ring_run_ahead(const struct reach *reach, uintptr_t pointer)
{
    const uintptr_t *word = (const uintptr_t *)pointer;
    do {
        uint32_t rank;
        uintptr_t next = node_pointer(*word);
        if (next - reach->low > reach->span)
            continue;
        __builtin_prefetch(places_word(&reach->places, next, &rank));
        __builtin_prefetch((const void *)next);
    } while ((uintptr_t)++word % 64);
}

static ALWAYS_INLINE void ring_come_near(struct ring *ring, const struct reach *reach)
{
    typeof(&ring->place[0]) place = &ring->place[ring->near++ % RING];
    if (likely(place->word))
        place->node = places_rank(place->word, place->pointer) - 1;
    if (likely(place->node != NOBODY)) {
        __builtin_prefetch(&reach->nodes[place->node], 1);
        __builtin_prefetch(ring->beside + place->node * ring->beside_each, 1);
        if (ring->eager && place->word && places_begins(place->word, place->pointer))
            ring_run_ahead(reach, place->pointer);
    }
}

static ALWAYS_INLINE void ring_take(struct ring *ring, const struct reach *reach, ring_met *met,
                                    void *context)
{
    typeof(&ring->place[0]) place = &ring->place[ring->out++ % RING];
    if (unlikely(place->node == NOBODY))
        return;
    const struct node *node = &reach->nodes[place->node];
    if (!place->pointer) {
        met(context, node->address, place->node, place->from, place->at);
    } else if (place->pointer - node->address <= node_size(node)) {
        met(context, place->pointer, place->node, place->from, place->at);
    } else if (unlikely(reach->outer)) {
        uint32_t around = node_around(reach, place->node, place->pointer);
        if (around != NOBODY)
            met(context, place->pointer, around, place->from, place->at);
    }
}

/* Another one was put: those that have waited long enough come nearer. */
static ALWAYS_INLINE void ring_turn(struct ring *ring, const struct reach *reach, ring_met *met,
                                    void *context)
{
    if (ring->in - ring->near > RING_WAIT)
        ring_come_near(ring, reach);
    if (ring->near - ring->out > RING_WAIT)
        ring_take(ring, reach, met, context);
}

/* Where no block begins far around, one that began before has it, or nobody. Programs that get
 * memory elsewhere as well have many pointers to such places, and all ask of the same few blocks.
 */
static ALWAYS_INLINE bool ring_is_beside(const struct reach *reach, uint32_t rank,
                                         uintptr_t pointer)
{
    const struct node *node = &reach->nodes[rank - 1];
    return !rank || (!reach->outer && pointer - node->address > node_size(node));
}

static ALWAYS_INLINE void ring_put(struct ring *ring, const struct reach *reach, uintptr_t pointer,
                                   uint32_t from, uint32_t at, ring_met *met, void *context)
{
    uint32_t rank = 0;
    const struct places_word *word = places_word(&reach->places, pointer, &rank);
    if (unlikely(!word) && ring_is_beside(reach, rank, pointer))
        return;
    typeof(&ring->place[0]) place = &ring->place[ring->in++ % RING];
    place->pointer = pointer;
    place->from = from;
    place->at = at;
    place->word = word;
    place->node = rank - 1;
    __builtin_prefetch(word);
    if (ring->eager)
        __builtin_prefetch((const void *)pointer);
    ring_turn(ring, reach, met, context);
}

/* A node that is known already, by the start of its block. Where it leads to is wanted soon. */
static ALWAYS_INLINE void ring_put_lead(struct ring *ring, const struct reach *reach, uint32_t node,
                                        uint32_t from, ring_met *met, void *context)
{
    typeof(&ring->place[0]) place = &ring->place[ring->in++ % RING];
    place->pointer = 0;
    place->word = NULL;
    place->node = node;
    place->from = from;
    place->at = AT_LEAD;
    __builtin_prefetch(&reach->lead[node]);
    ring_turn(ring, reach, met, context);
}

/* All that wait. */
static ALWAYS_INLINE void ring_drain(struct ring *ring, const struct reach *reach, ring_met *met,
                                     void *context)
{
    while (ring->near != ring->in)
        ring_come_near(ring, reach);
    while (ring->out != ring->in)
        ring_take(ring, reach, met, context);
}

/* Many words in a row: the processor fetches what lies ahead, but not across pages. */
static ALWAYS_INLINE void ring_fetch_ahead(const uintptr_t *words, uint64_t i, uint64_t count)
{
    const uint64_t page = LEAK_PAGE / sizeof *words;
    if (count - i > page)
        __builtin_prefetch(words + i + page);
}

/* Puts those of the words that may point to a block. first_at: of which number the first one is. */
static ALWAYS_INLINE void ring_scan(struct ring *ring, const struct reach *reach,
                                    const uintptr_t *words, uint64_t count, uint64_t first_at,
                                    uint32_t from, ring_met *met, void *context)
{
    const uintptr_t low = reach->low, span = reach->span;
    uint64_t i = 0;
    /* Most words of most memory are none: four at a time, with one jump. */
    for (; i + 4 <= count; i += 4) {
        const uintptr_t *four = words + i;
        ring_fetch_ahead(words, i, count);
        uintptr_t first = node_pointer(four[0]), second = node_pointer(four[1]);
        uintptr_t third = node_pointer(four[2]), fourth = node_pointer(four[3]);
        if (likely(!((first - low <= span) | (second - low <= span) | (third - low <= span) |
                     (fourth - low <= span))))
            continue;
        for (unsigned k = 0; k < 4; k++)
            if (node_pointer(four[k]) - low <= span)
                ring_put(ring, reach, node_pointer(four[k]), from, node_at(first_at + i + k), met,
                         context);
    }
    for (; i < count; i++)
        if (node_pointer(words[i]) - low <= span)
            ring_put(ring, reach, node_pointer(words[i]), from, node_at(first_at + i), met,
                     context);
}

/* So many bytes of a block are its alone: another may begin in it. */
static ALWAYS_INLINE uintptr_t ring_inside(const struct reach *reach, uint32_t number)
{
    const struct node *node = &reach->nodes[number];
    uintptr_t apart = number + 1 < reach->count ? node[1].address - node->address : UINTPTR_MAX;
    return apart < node_size(node) ? apart : node_size(node);
}

/* Likewise, of words of a block, "from". Each is asked once what it may be; most are no pointer in
 * any form. What is said of them is NODE_PLAIN, and NODE_BARE if none can be a pointer in disguise.
 * Where to the block itself they point says nothing: arenas and lists of free places are full of
 * these. */
static ALWAYS_INLINE unsigned ring_read_words(struct ring *ring, const struct reach *reach,
                                              const struct disguise *is,
                                              const struct node_words *own, uint32_t from,
                                              ring_met *met, void *context)
{
    const uintptr_t *words = own->at, low = reach->low, span = reach->span;
    const uintptr_t self = reach->nodes[from].address, inside = ring_inside(reach, from);
    unsigned state = NODE_PLAIN | NODE_BARE;
    for (uint64_t i = 0, count = own->count; i < count; i += 4) {
        unsigned some = count - i < 4 ? count - i : 4;
        unsigned may_be = disguise_of_words(is, words + i, some);
        if (likely(!may_be))
            continue;
        state &= may_be & DISGUISE_OTHER ? 0 : NODE_BARE;
        for (unsigned k = 0; k < some; k++) {
            uintptr_t pointer = node_pointer(words[i + k]);
            if (pointer - low <= span && pointer - self >= inside)
                ring_put(ring, reach, pointer, from, node_at(own->first + i + k), met, context);
        }
    }
    return state;
}

/* The words of a node that are its own. */
static ALWAYS_INLINE void ring_scan_node(struct ring *ring, const struct reach *reach,
                                         uint32_t number, uint32_t from, ring_met *met,
                                         void *context)
{
    struct node_words words = node_words(reach, number);
    do
        ring_scan(ring, reach, words.at, words.count, words.first, from, met, context);
    while (node_words_next(reach, number, &words));
}

/* A block that lives has what it lies in live, too. */
static ALWAYS_INLINE bool ring_put_outer(struct ring *ring, const struct reach *reach,
                                         uint32_t number, uint32_t from, ring_met *met,
                                         void *context)
{
    if (likely(!reach->outer) || reach->outer[number] == NOBODY)
        return false;
    ring_put(ring, reach, reach->nodes[reach->outer[number]].address, from, 0, met, context);
    return true;
}

#endif
