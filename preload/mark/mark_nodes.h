/* mark_nodes.h - the nodes of a look: what marking, decoding and the graphs share.
 *
 * A node is 16 bytes that every pass reads, and two cold rows beside them: the link by which it was
 * met, and what only a report wants. Everything is found by a word that somebody holds, so nearly
 * every access misses the caches: whoever walks over nodes has to look ahead.
 */
#ifndef PRELOAD_MARK_MARK_NODES_H
#define PRELOAD_MARK_MARK_NODES_H

#include "preload/heap/blocks.h"
#include "preload/heap/rank_index.h"
#include "leak_store.h"

#define NOBODY UINT32_MAX

/* The state in a node's upper bits; enum leak_verdict is in the low three, 0 = not met yet. */
#define NODE_VERDICT 7u
#define NODE_CANDIDATE 8u  /* something points inside: possible, unless better is found */
#define NODE_BY_ROOT 16u   /* the link is a root word's number */
#define NODE_BEFORE 32     /* enum reach_before times this: three bits */
#define NODE_FLAGS 256     /* enum leak_found_flag times this: DROPPED, IGNORED, TAGGED */
#define NODE_PLAIN 0x8000u /* it was read, and no word of it can be a pointer … */
#define NODE_BARE 0x4000u  /* … nor one in another form */
#define NODE_ROOTED                                                                                \
    0x0100u                 /* a root word points to it: where CYCLE, no flag of a node, would be  \
                             */
#define NODE_CARVED 0x2000u /* blocks lie in it that the program's own allocators carve */

struct node {
    uint64_t address;
    uint64_t size_state; /* size (48), state (16) */
};

/* By which word a node was met. */
struct node_link {
    uint32_t from; /* the node that holds the word, a root word's number, or NOBODY */
    uint32_t at;   /* which of its words; UINT32_MAX: that one or one behind it; or AT_LEAD */
};

#define AT_LEAD (UINT32_MAX - 1) /* the first that points to the start: leads_at finds it again */

/* Whom a block's words point to: pointer_scan.h. */
struct lead {
    uint32_t first, count; /* count 1: the node itself; more: from there in "leads"; or UNREAD */
};

#define UNREAD UINT32_MAX

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

/* The edges that were noted lately, by where they lead to. A block may point to another one many
 * times: arenas do, of which the free places are chained. Nearly all repetitions are found here. */
struct edges_lately {
    struct {
        uint32_t from, to;
    } edge[512];
};

/* A pointer in disguise: another edge. from: a node, or the number behind the last for a root. */
struct decoded {
    uint32_t from, to;
    uint32_t next; /* edge_list.c's: another one from there, + 1 */
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
    struct lead *lead;     /* by node; NULL: blocks are read when it is their turn */
    struct pile leads;     /* uint32_t: nodes */
    struct pile met;       /* uint32_t: whom the scanned ones point to, in the order of the queue */
    uint32_t *met_first;   /* of each in the queue: its first of these; NULL: they were not noted */
    uint32_t met_turn;     /* whose are being noted */
    uint32_t met_end;      /* of [0, met_end) of the queue they were */
    struct edges_lately met_lately;
    uint32_t *outer;   /* by node: which one it lies in, or NOBODY; NULL: none lies in another */
    struct pile rests; /* nested_blocks.c's: arenas that begin later than they did */
    uint32_t carved;   /* blocks of the program's own allocators */
    bool failed;       /* memory ran out */
};

static ALWAYS_INLINE uint32_t node_at(uint64_t word)
{
    return word < AT_LEAD ? word : UINT32_MAX;
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

/* False: that one was noted lately. Else it is now; the two are not the same. */
static ALWAYS_INLINE bool edges_are_new(struct edges_lately *lately, uint32_t from, uint32_t to)
{
    typeof(&lately->edge[0]) edge = &lately->edge[to % ARRAY_LENGTH(lately->edge)];
    if (edge->to == to && edge->from == from)
        return false;
    edge->from = from;
    edge->to = to;
    return true;
}

/* A block that was read points to another. This takes no more than a quarter of the memory that is
 * left: where there is not enough, edge_list.c reads the blocks once more. */
static ALWAYS_INLINE void node_note_edge(struct reach *reach, uint32_t from, uint32_t to)
{
    struct pile *met = &reach->met;
    if (unlikely(!reach->met_first) || to == from || !edges_are_new(&reach->met_lately, from, to))
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

/* Where a word points, if anywhere. */
static ALWAYS_INLINE uintptr_t node_pointer(uintptr_t word)
{
    return arch_address((const void *)word);
}

/* The words of a node that are its own: all, or those between the blocks that are carved from it.
 */
struct node_words {
    const uintptr_t *at;
    uint64_t count, first; /* first: which of the node's words the first one is */
    uint32_t next; /* the node whose block is behind these, if any; NOBODY: these are the last */
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

#endif
