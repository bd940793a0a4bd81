/* nodes.h - the nodes of a look, and how words become nodes: what marking, decoding and the graphs
 * share.
 *
 * A node is 16 bytes that every pass reads, and two cold rows beside them: the link by which it was
 * met, and what only a report wants. Everything is found by a word that somebody holds, so nearly
 * every access misses the caches. The ring makes the misses overlap: a word that may be a pointer
 * waits once for its word of the index, once for its node, while those behind it come in. It is
 * first in, first out: nodes are met in exactly the order in which the words were put.
 *
 *     put -> [ wait for the index word ] -> [ wait for the node ] -> met
 */
#ifndef PRELOAD_NODES_H
#define PRELOAD_NODES_H

#include "preload/blocks.h"
#include "preload/places.h"
#include "leak_store.h"

#define NOBODY UINT32_MAX

/* The state in a node's upper bits; enum leak_verdict is in the low three, 0 = not met yet. */
#define NODE_VERDICT 7u
#define NODE_CANDIDATE 8u   /* something points inside: possible, unless better is found */
#define NODE_BY_ROOT 16u    /* the link is a root word's number */
#define NODE_BEFORE 32      /* enum reach_before times this: three bits */
#define NODE_FLAGS 256      /* enum leak_found_flag times this: DROPPED, IGNORED, TAGGED */
#define NODE_PLAIN 0x8000u  /* it was read, and no word of it can be a pointer … */
#define NODE_BARE 0x4000u   /* … nor one in another form */
#define NODE_ROOTED 0x0100u /* a root word points to it: where CYCLE, no flag of a node, would be  \
                             */
#define NODE_CARVED 0x2000u /* blocks lie in it that the program's own allocators carve */

struct node {
    uint64_t address;
    uint64_t size_state; /* size (48), state (16) */
};

/* By which word a node was met. */
struct node_link {
    uint32_t from; /* the node that holds the word, a root word's number, or NOBODY */
    uint32_t at;   /* which of its words; UINT32_MAX: that one or one behind it */
};

struct node_cold {
    uint32_t site, count, tick_kind; /* tick (24), kind (8) */
    uint16_t thread;
    uint16_t reserved;
};

struct root_range {
    uintptr_t start;
    uint32_t words, range;
    bool starts_only; /* what points inside of a block here is not about the block */
};

struct root_word {
    uintptr_t address;
    uint32_t range;
    uint32_t reserved;
};

/* A pointer in disguise: another edge. from: a node, or the number behind the last for a root. */
struct decoded {
    uint32_t from, to;
    uint32_t next; /* edges.c's: another one from there, + 1 */
};

struct reach {
    struct room room;
    struct places places;
    struct node *nodes;
    struct node_link *links;
    struct node_cold *cold;
    uint32_t count;
    uintptr_t low, span;  /* pointers to blocks are low .. low + span */
    uint32_t *queue;      /* every marked node, in the order in which they were marked */
    uint32_t head, tail;  /* of it: [0, head) were scanned */
    uint64_t added, fits; /* before the index */
    unsigned before;      /* a set: 1 << enum reach_before of each */
    struct incoming *incoming;
    struct pile ranges;    /* struct root_range */
    struct pile words;     /* struct root_word */
    struct pile decodings; /* struct decoded: those that lead to hidden blocks */
    struct pile met;       /* uint32_t: whom the scanned ones point to, in the order of the queue */
    uint32_t *met_first;   /* of each in the queue: its first of these; NULL: they were not noted */
    uint32_t met_turn;     /* whose are being noted */
    uint32_t met_end;      /* of [0, met_end) of the queue they were */
    uint32_t *outer;       /* by node: which one it lies in, or NOBODY; NULL: none lies in another */
    struct pile rests;     /* nesting.c's: arenas that begin later than they did */
    uint32_t carved;       /* blocks of the program's own allocators */
    bool failed;           /* memory ran out */
};

static ALWAYS_INLINE uint32_t node_at(uint64_t word)
{
    return word < UINT32_MAX ? word : UINT32_MAX;
}

static ALWAYS_INLINE uint64_t node_size(const struct node *node)
{
    return node->size_state & BLOCKS_SIZE_MOST;
}

static ALWAYS_INLINE unsigned node_state(const struct node *node)
{
    return node->size_state >> 48;
}

static ALWAYS_INLINE unsigned node_verdict(const struct node *node)
{
    return node_state(node) & NODE_VERDICT;
}

static ALWAYS_INLINE unsigned node_before(const struct node *node)
{
    return node_state(node) / NODE_BEFORE % 8;
}

static ALWAYS_INLINE void node_change(struct node *node, unsigned clear, unsigned set)
{
    node->size_state = (node->size_state & ~((uint64_t)clear << 48)) | (uint64_t)set << 48;
}

/* Is it of one of the program's own allocators? */
static inline bool node_is_carved(const struct reach *reach, uint32_t node)
{
    return (reach->cold[node].tick_kind >> 24 & BLOCKS_KIND) == LEAK_KIND_CUSTOM;
}

/* REACHABLE, POSSIBLE or HIDDEN. */
static ALWAYS_INLINE bool node_is_held(const struct node *node)
{
    return node_verdict(node) >= LEAK_VERDICT_POSSIBLE;
}

/* Gives a node its verdict, and a place in the queue; it had none. */
static ALWAYS_INLINE void node_put(struct reach *reach, uint32_t node, enum leak_verdict verdict,
                                   unsigned flags)
{
    node_change(&reach->nodes[node], NODE_VERDICT | LEAK_FOUND_TAGGED * NODE_FLAGS,
                verdict | flags * NODE_FLAGS);
    reach->queue[reach->tail++] = node;
}

static ALWAYS_INLINE void node_link(struct reach *reach, uint32_t node, uint32_t from, uint32_t at)
{
    reach->links[node] = (struct node_link){.from = from, .at = at};
    node_change(&reach->nodes[node], NODE_BY_ROOT, 0);
}

/* It is met by word "at" of a range of roots. */
static inline void node_link_root(struct reach *reach, uint32_t node, uint32_t range, uint32_t at)
{
    const struct root_range *roots = (const struct root_range *)reach->ranges.at + range;
    struct root_word *word = pile_add(&reach->room, &reach->words, sizeof *word);
    if (!word) {
        reach->failed = true;
        return;
    }
    *word = (struct root_word){.address = roots->start + 8ull * at, .range = roots->range};
    reach->links[node].from = (uint32_t)(reach->words.count - 1);
    node_change(&reach->nodes[node], 0, NODE_BY_ROOT);
}

static inline void node_forget_edges(struct reach *reach)
{
    room_unmap(&reach->room, reach->met_first);
    pile_end(&reach->room, &reach->met);
    reach->met_first = NULL;
}

/* A block that was read points to another. This takes no more than a quarter of the memory that is
 * left: where there is not enough, edges.c reads the blocks once more. */
static ALWAYS_INLINE void node_note_edge(struct reach *reach, uint32_t from, uint32_t to)
{
    struct pile *met = &reach->met;
    if (unlikely(!reach->met_first) || to == from)
        return;
    while (reach->queue[reach->met_turn] != from)
        reach->met_first[++reach->met_turn] = (uint32_t)met->count;
    bool grows = unlikely(met->count == met->fits);
    if (grows && (met->count >= UINT32_MAX / 2 ||
                  met->count * 2 * sizeof to > (reach->room.most - reach->room.used) / 4)) {
        node_forget_edges(reach);
        return;
    }
    uint32_t *place = pile_add(&reach->room, met, sizeof *place);
    if (likely(place))
        *place = to;
    else
        node_forget_edges(reach);
}

/* The blocks that come up soon in the queue: first their nodes, then their content. Of a large heap
 * it takes longer to find a page than to fetch from it, its page table being in no cache. Only
 * searches that begin close together overlap: there the content is asked for in batches. */
#define LOOK_AHEAD 8
#define LOOK_AHEAD_BATCH 32
#define MANY (1u << 22) /* blocks: their page table takes a megabyte and more */

#define FETCH_MOST 512 /* bytes of a block; behind these the processor sees what comes */

static ALWAYS_INLINE void node_fetch_content(const struct node *node)
{
    const char *line = (const char *)node->address;
    const char *end = line + (node_size(node) < FETCH_MOST ? node_size(node) : FETCH_MOST);
    do
        __builtin_prefetch(line);
    while ((line += 64) < end);
}

static ALWAYS_INLINE void node_look_ahead(const struct reach *reach, uint32_t at)
{
    const uint32_t *next = &reach->queue[at];
    if (likely(reach->count < MANY)) {
        if (reach->tail - at <= 2 * LOOK_AHEAD)
            return;
        __builtin_prefetch(&reach->nodes[next[2 * LOOK_AHEAD]]);
        node_fetch_content(&reach->nodes[next[LOOK_AHEAD]]);
        return;
    }
    if (at % LOOK_AHEAD_BATCH || reach->tail - at <= 3 * LOOK_AHEAD_BATCH)
        return;
    for (unsigned i = LOOK_AHEAD_BATCH; i < 2 * LOOK_AHEAD_BATCH; i++)
        node_fetch_content(&reach->nodes[next[i]]);
    for (unsigned i = 2 * LOOK_AHEAD_BATCH; i < 3 * LOOK_AHEAD_BATCH; i++)
        __builtin_prefetch(&reach->nodes[next[i]]);
}

/* The words of a node that are its own: all, or those between the blocks that are carved from it. */
struct node_words {
    const uintptr_t *at;
    uint64_t count, first; /* first: which of the node's words the first one is */
    uint32_t next;         /* the node whose block is behind these, if any; NOBODY: these are the last */
};

static NOINLINE UNUSED bool node_words_more(const struct reach *reach, uint32_t number,
                                            struct node_words *words)
{
    const struct node *node = &reach->nodes[number], *in;
    uintptr_t at = (uintptr_t)(words->at + words->count), end = node->address + node_size(node);
    if (words->next == NOBODY)
        return false;
    for (; words->next < reach->count; words->next++) {
        in = &reach->nodes[words->next];
        if (in->address > at)
            break;
        if (in->address + node_size(in) > at)
            at = round_up(in->address + node_size(in), 8);
    }
    bool is_last = words->next == reach->count || reach->nodes[words->next].address >= end;
    uintptr_t stop = is_last ? end : reach->nodes[words->next].address;
    words->at = (const uintptr_t *)at;
    words->count = stop > at ? (stop - at) / 8 : 0;
    words->first = (at - node->address) / 8;
    if (is_last)
        words->next = NOBODY;
    return true;
}

/* The first of them; node_words_next has the others. */
static ALWAYS_INLINE struct node_words node_words(const struct reach *reach, uint32_t number)
{
    const struct node *node = &reach->nodes[number];
    struct node_words words = {.at = (const uintptr_t *)node->address, .next = NOBODY};
    if (likely(!(node_state(node) & NODE_CARVED))) {
        words.count = node_size(node) / 8;
    } else {
        words.next = number + 1;
        node_words_more(reach, number, &words);
    }
    return words;
}

static ALWAYS_INLINE bool node_words_next(const struct reach *reach, uint32_t number,
                                          struct node_words *words)
{
    return unlikely(words->next != NOBODY) && node_words_more(reach, number, words);
}

/* The block around a node's that a pointer behind it is in; NOBODY: none. */
static NOINLINE UNUSED uint32_t node_around(const struct reach *reach, uint32_t node,
                                            uintptr_t pointer)
{
    while ((node = reach->outer[node]) != NOBODY)
        if (pointer - reach->nodes[node].address <= node_size(&reach->nodes[node]))
            break;
    return node;
}

/* ---- The ring ------------------------------------------------------------------------------- */

/* Where a word points, if anywhere. */
static ALWAYS_INLINE uintptr_t node_pointer(uintptr_t word)
{
    return arch_address((const void *)word);
}

#define RING 64
#define RING_WAIT 12 /* so many words wait at each place */

struct ring {
    uint32_t in, near, out; /* out <= near <= in */
    bool eager;             /* the content is wanted as soon as the node is known */
    const char *beside;     /* a row by node that is wanted with it; any address if none */
    size_t beside_each;
    struct {
        uintptr_t pointer;
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
    if (place->pointer - node->address <= node_size(node)) {
        met(context, place->pointer, place->node, place->from, place->at);
    } else if (unlikely(reach->outer)) {
        uint32_t around = node_around(reach, place->node, place->pointer);
        if (around != NOBODY)
            met(context, place->pointer, around, place->from, place->at);
    }
}

static ALWAYS_INLINE void ring_put(struct ring *ring, const struct reach *reach, uintptr_t pointer,
                                   uint32_t from, uint32_t at, ring_met *met, void *context)
{
    typeof(&ring->place[0]) place = &ring->place[ring->in++ % RING];
    uint32_t rank = 0;
    place->pointer = pointer;
    place->from = from;
    place->at = at;
    place->word = places_word(&reach->places, pointer, &rank);
    place->node = rank - 1;
    __builtin_prefetch(place->word);
    if (ring->eager)
        __builtin_prefetch((const void *)pointer);
    if (ring->in - ring->near > RING_WAIT)
        ring_come_near(ring, reach);
    if (ring->near - ring->out > RING_WAIT)
        ring_take(ring, reach, met, context);
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
