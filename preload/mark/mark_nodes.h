/* mark_nodes.h - the nodes of a leak check, shared by marking, decoding and the leak graph.
 *
 * A node has 16 bytes that every pass reads, and a struct mark_link for the pointer by which it was
 * found. Data that only reports need is looked up by address (reach_look_up), or kept in a struct
 * mark_cold. Nodes are found through pointers, so nearly every access misses the cache: a pass over
 * nodes must prefetch. */
#ifndef PRELOAD_MARK_MARK_NODES_H
#define PRELOAD_MARK_MARK_NODES_H

#include "preload/blocks/blocks.h"
#include "preload/mark/rank_index.h"
#include "leak_store.h"

#define NODE_NONE UINT32_MAX

/* The state of a node is in the 16 upper bits of address_state; the low three bits of the state
 * hold enum leak_verdict, 0: not marked yet. */
#define NODE_VERDICT 7u
/* An interior pointer to the block was found: the block becomes possible, unless a better pointer
 * is found. With the verdict REACHABLE: container_heuristics.h has recognised what an interior
 * pointer leads to. */
#define NODE_CANDIDATE 8u
#define NODE_BY_ROOT 16u /* the node's struct mark_link contains the number of a root word */
/* Factor that moves a value of enum reach_prior to its three bits of the state. */
#define NODE_PRIOR 32
/* Factor that moves a set of enum leak_found_flag to its bits of the state. */
#define NODE_FLAGS 256
/* The block was read, and no word of it can be a pointer that is not encoded. */
#define NODE_NO_POINTER 0x8000u
/* The block was read, and no word of it can be an encoded pointer. */
#define NODE_NO_ENCODED 0x4000u
/* A root word points to the block. It is the bit that LEAK_FOUND_CYCLE would have (NODE_FLAGS);
 * that flag is never set in the state of a node. */
#define NODE_ROOT_TARGET 0x0100u
#define NODE_HAS_NESTED 0x2000u /* suballocated blocks lie in the block */
/* A pointer behind a header makes the block reachable. It is the bit that LEAK_FOUND_SHARED would
 * have (NODE_FLAGS); that flag is never set in the state of a node. */
#define NODE_BY_HEADER 0x0800u

struct mark_node {
    uint64_t address_state; /* address in the lower 48 bits, state in the upper 16 */
    /* Size of the block in bytes; NODE_LARGE: a struct large_node has it. */
    uint32_t size;
    uint32_t site;
};

#define NODE_LARGE UINT32_MAX

/* The size of a block of 4 GiB or more, of which there are few. */
struct large_node {
    uintptr_t address;
    uint64_t size;
};

/* The word that holds the pointer by which a node was found. */
struct mark_link {
    /* The node that contains the word; with NODE_BY_ROOT in the state: the number of a root word;
     * NODE_NONE: there is no such word. */
    uint32_t from;
    /* Index of the word in the node, from 0; UINT32_MAX: this or a higher index; LINK_BY_SCAN: the
     * first word that points to the start of the found node. */
    uint32_t at;
};

/* Value of mark_link.at: the index is not stored, and pointer_scan_find_word finds it when a report
 * needs it. */
#define LINK_BY_SCAN (UINT32_MAX - 1)

/* The blocks to which the words of a block point (mark_passes.h). */
struct pointer_targets {
    /* If count is 1, the number of the target node; otherwise the index of the first target in the
     * array reach.targets. */
    uint32_t first;
    /* The number of targets; TARGETS_READ + that number: first is an index even for one target;
     * SCAN_UNREAD: the targets are not known. */
    uint32_t count;
};

#define TARGETS_READ (1u << 31)
#define SCAN_UNREAD UINT32_MAX

struct mark_cold {
    uint32_t count, tick_kind; /* tick_kind: tick in the lower 24 bits, kind in the upper 8 */
    uint16_t thread;
    uint16_t reserved;
};

/* The lowest and the highest offset to which interior pointers to a node lead; 0: there are
 * none. */
struct interior {
    uint32_t low, high;
    uint32_t high_reachable; /* highest offset of the pointers in reachable memory */
};

struct root_range {
    uintptr_t start;
    uint32_t words, range;
    bool starts_only; /* interior pointers in this range are ignored */
    bool variables;   /* the range has static variables only */
};

struct root_word {
    uintptr_t address;
    uint32_t range;
    uint32_t reserved;
};

/* The most recently recorded edges, hashed by target. A block may point to another one many times
 * (an arena whose free slots are chained); nearly all repetitions are recognised here. */
struct recent_edges {
    struct {
        uint32_t from, to;
    } edge[512];
};

/* An edge that an encoded pointer makes. from: the number of a node; the number of all nodes stands
 * for a root. */
struct encoded_edge {
    uint32_t from, to;
    uint32_t next; /* used by edge_list.c: index of the next edge from the same node, + 1 */
};

struct reach {
    struct scan_arena arena;
    struct rank_index index;
    struct mark_node *nodes;
    struct mark_link *links;
    struct scan_array large; /* array of struct large_node */
    uint32_t count;
    struct mark_cold *cold; /* array by node; NULL: "find" looks up the rest of a block */
    /* Looks up a block in the block table by its address (reach_look_up). */
    bool (*find)(uintptr_t address, struct block *out);
    /* Array by node; NULL: no interior pointer was found, or header idioms are not used. */
    struct interior *interior;
    uint32_t site_most; /* the highest site number of all blocks */
    /* Returns the call stack of a site (reach_callers in reachability.h); NULL: header idioms are
     * not used. */
    unsigned (*callers)(uint32_t site, uint64_t *pcs, unsigned most);
    /* Says whether at this offset of a block an object begins that has a pointer to its type
     * (typed_objects.h: Python, GObject); NULL: such objects are not recognised. */
    bool (*is_typed_object)(uintptr_t block, uint64_t offset, uint64_t size);
    bool (*is_in_libc)(uintptr_t pc); /* says whether an address is in the C library */
    uintptr_t low, span;              /* all pointers to blocks are in [low, low + span] */
    uint32_t *queue;                  /* numbers of all marked nodes, in the order of marking */
    /* Indices of the queue: the words of the nodes before head were followed; the next marked node
     * is written at tail. */
    uint32_t head, tail;
    uint64_t added, capacity; /* number of blocks in "pending", and for how many it has room */
    unsigned priors;          /* bit i is set: enum reach_prior has the value i for some block */
    /* Blocks in the order in which they were added, until the rank index is built; their state is
     * enum reach_prior. */
    struct mark_node *pending;
    struct mark_cold *pending_cold; /* the struct mark_cold of pending[i] is element i */
    struct scan_array ranges;       /* array of struct root_range */
    struct scan_array words;        /* array of struct root_word */
    /* Array of struct encoded_edge: the edges that lead to hidden blocks. */
    struct scan_array encoded_edges;
    /* Array by node; NULL: there was no pointer scan, blocks are read when they leave the queue. */
    struct pointer_targets *targets_of;
    /* array of uint32_t: node numbers; targets_of says which belong to a node */
    struct scan_array targets;
    uint32_t targets_source; /* the node whose targets are being appended to "targets" */
    struct recent_edges targets_recent;
    bool targets_lost; /* for lack of memory, some targets were not recorded */
    /* Array by node: the block around a nested one, or NODE_NONE; NULL: no block is nested. */
    uint32_t *outer;
    struct scan_array trimmed; /* array of struct trimmed_block (nested_blocks.c) */
    uint32_t nested_count;     /* number of blocks that the program's own allocators carved */
    bool failed;               /* the check ran out of memory */
};

static ALWAYS_INLINE uint32_t node_word_index(uint64_t word)
{
    return word < LINK_BY_SCAN ? word : UINT32_MAX;
}

static ALWAYS_INLINE uintptr_t node_address(const struct mark_node *node)
{
    return node->address_state & (RANK_INDEX_END - 1);
}

static NOINLINE UNUSED uint64_t node_large_size(const struct reach *reach,
                                                const struct mark_node *node)
{
    const struct large_node *large =
        (const struct large_node *)reach->large.at + reach->large.count;
    do
        large--;
    while (large->address != node_address(node));
    return large->size;
}

static ALWAYS_INLINE uint64_t node_size(const struct reach *reach, const struct mark_node *node)
{
    return likely(node->size != NODE_LARGE) ? node->size : node_large_size(reach, node);
}

static ALWAYS_INLINE unsigned node_state(const struct mark_node *node)
{
    return node->address_state >> 48;
}

static ALWAYS_INLINE unsigned node_verdict(const struct mark_node *node)
{
    return node_state(node) & NODE_VERDICT;
}

static ALWAYS_INLINE unsigned node_prior(const struct mark_node *node)
{
    return node_state(node) / NODE_PRIOR % 8;
}

static ALWAYS_INLINE void node_change_state(struct mark_node *node, unsigned clear, unsigned set)
{
    node->address_state = (node->address_state & ~((uint64_t)clear << 48)) | (uint64_t)set << 48;
}

/* Says whether the block was carved by one of the program's own allocators. */
static inline bool node_is_nested(const struct reach *reach, uint32_t node)
{
    return reach->cold && (reach->cold[node].tick_kind >> 24 & BLOCKS_KIND) == LEAK_KIND_CUSTOM;
}

/* Says whether the program can still use the block: it is REACHABLE, POSSIBLE or HIDDEN. */
static ALWAYS_INLINE bool node_is_held(const struct mark_node *node)
{
    return node_verdict(node) >= LEAK_VERDICT_POSSIBLE;
}

/* Gives an unmarked node its verdict and appends it to the queue. */
static ALWAYS_INLINE void node_mark(struct reach *reach, uint32_t node, enum leak_verdict verdict,
                                    unsigned flags)
{
    unsigned candidate = verdict == LEAK_VERDICT_REACHABLE ? NODE_CANDIDATE : 0;
    node_change_state(&reach->nodes[node],
                      NODE_VERDICT | LEAK_FOUND_TAGGED * NODE_FLAGS | candidate,
                      verdict | flags * NODE_FLAGS);
    reach->queue[reach->tail++] = node;
}

static ALWAYS_INLINE void node_set_parent(struct reach *reach, uint32_t node, uint32_t from,
                                          uint32_t at)
{
    reach->links[node] = (struct mark_link){.from = from, .at = at};
    node_change_state(&reach->nodes[node], NODE_BY_ROOT, 0);
}

/* Records that the word with index `at`, from 0, of a root range points to the node. */
static inline void node_set_root(struct reach *reach, uint32_t node, uint32_t range, uint32_t at)
{
    const struct root_range *roots = (const struct root_range *)reach->ranges.at + range;
    struct root_word *word = scan_array_push(&reach->arena, &reach->words, sizeof *word);
    if (!word) {
        reach->failed = true;
        return;
    }
    *word = (struct root_word){.address = roots->start + WORD * at, .range = roots->range};
    reach->links[node].from = (uint32_t)(reach->words.count - 1);
    node_change_state(&reach->nodes[node], 0, NODE_BY_ROOT);
}

/* Records an edge between two different nodes. False: the same edge was recorded recently. */
static ALWAYS_INLINE bool recent_edges_add(struct recent_edges *lately, uint32_t from, uint32_t to)
{
    typeof(&lately->edge[0]) edge = &lately->edge[to % ARRAY_LENGTH(lately->edge)];
    if (edge->to == to && edge->from == from)
        return false;
    edge->from = from;
    edge->to = to;
    return true;
}

/* Appends an edge of a block that pointer_scan.c did not read. All edges of a block are appended
 * one after the other; if a block is read again, its edges are recorded already. The edges may take
 * at most a quarter of the memory that is left; further ones are dropped (targets_lost). */
static NOINLINE UNUSED void node_append_edge(struct reach *reach, uint32_t from, uint32_t to)
{
    struct scan_array *targets = &reach->targets;
    struct pointer_targets *row = &reach->targets_of[from];
    if (reach->targets_source != from && row->count != SCAN_UNREAD)
        return;
    if (reach->targets_source != from)
        *row = (struct pointer_targets){(uint32_t)targets->count, TARGETS_READ};
    reach->targets_source = from;
    uint64_t more = 2 * targets->count * sizeof to;
    bool fits =
        targets->count < targets->capacity ||
        (targets->count < UINT32_MAX / 2 && more <= (reach->arena.most - reach->arena.used) / 4);
    uint32_t *place = fits ? scan_array_push(&reach->arena, targets, sizeof *place) : NULL;
    if (place)
        *place = to;
    row->count += place != NULL;
    reach->targets_lost |= !place;
}

/* Records that a block points to another one, unless pointer_scan.c has recorded it. */
static ALWAYS_INLINE void node_record_edge(struct reach *reach, uint32_t from, uint32_t to)
{
    if (unlikely(!reach->targets_of) || to == from ||
        !recent_edges_add(&reach->targets_recent, from, to))
        return;
    if (unlikely(reach->targets_of[from].count & TARGETS_READ))
        node_append_edge(reach, from, to);
}

/* Distances of the prefetch for the blocks that follow in the queue: first their nodes are fetched,
 * then their content. In a large heap a TLB miss costs more than the fetch, because the page table
 * is in no cache. Only page walks that begin close together overlap, so in a large heap the content
 * is prefetched in batches. */
#define PREFETCH_DISTANCE 8
#define PREFETCH_BATCH 32
/* Number of blocks from which on batches are used: the page table takes a megabyte or more. */
#define PREFETCH_BATCH_FROM (1u << 22)

/* Bytes of a block that are prefetched; the hardware prefetcher fetches the rest. */
#define PREFETCH_BYTES 512

static ALWAYS_INLINE void node_prefetch_content(const struct mark_node *node)
{
    const char *line = (const char *)node_address(node);
    const char *end = line + (node->size < PREFETCH_BYTES ? node->size : PREFETCH_BYTES);
    do
        __builtin_prefetch(line);
    while ((line += 64) < end);
}

static ALWAYS_INLINE void node_prefetch(const struct reach *reach, uint32_t at)
{
    const uint32_t *next = &reach->queue[at];
    if (likely(reach->count < PREFETCH_BATCH_FROM)) {
        if (reach->tail - at <= 2 * PREFETCH_DISTANCE)
            return;
        __builtin_prefetch(&reach->nodes[next[2 * PREFETCH_DISTANCE]]);
        node_prefetch_content(&reach->nodes[next[PREFETCH_DISTANCE]]);
        return;
    }
    if (at % PREFETCH_BATCH || reach->tail - at <= 3 * PREFETCH_BATCH)
        return;
    for (unsigned i = PREFETCH_BATCH; i < 2 * PREFETCH_BATCH; i++)
        node_prefetch_content(&reach->nodes[next[i]]);
    for (unsigned i = 2 * PREFETCH_BATCH; i < 3 * PREFETCH_BATCH; i++)
        __builtin_prefetch(&reach->nodes[next[i]]);
}

/* Returns the address in a word that is taken for a pointer. */
static ALWAYS_INLINE uintptr_t node_pointer(uintptr_t word)
{
    return arch_address((const void *)word);
}

/* Returns the distance in bytes from the start of a held node or candidate to the address in the
 * pointer by which it was found. 0: the pointer leads to the start, or is not known. */
static NOINLINE UNUSED uint64_t node_pointer_offset(const struct reach *reach, uint32_t number)
{
    const struct mark_node *node = &reach->nodes[number];
    const struct mark_link *link = &reach->links[number];
    const uintptr_t *word = NULL;
    if (link->from == NODE_NONE)
        return 0;
    if (node_state(node) & NODE_BY_ROOT)
        word = (const uintptr_t *)((const struct root_word *)reach->words.at)[link->from].address;
    else if (link->at < LINK_BY_SCAN)
        word = (const uintptr_t *)node_address(&reach->nodes[link->from]) + link->at;
    uint64_t offset = word ? node_pointer(*word) - node_address(node) : 0;
    return offset <= node_size(reach, node) ? offset : 0;
}

/* An iterator over the words that belong to a node itself: all of its words, or the runs between
 * its nested blocks. */
struct node_words {
    const uintptr_t *at;
    /* count: number of words of this run; first: index of its first word within the node, from
     * 0. */
    uint64_t count, first;
    uint32_t next; /* the nested block behind this run; NODE_NONE: this is the last run */
};

static NOINLINE UNUSED bool node_words_advance(const struct reach *reach, uint32_t number,
                                               struct node_words *words)
{
    const struct mark_node *node = &reach->nodes[number], *in;
    uintptr_t at = (uintptr_t)(words->at + words->count);
    uintptr_t end = node_address(node) + node_size(reach, node);
    if (words->next == NODE_NONE)
        return false;
    for (; words->next < reach->count; words->next++) {
        in = &reach->nodes[words->next];
        if (node_address(in) > at)
            break;
        if (node_address(in) + node_size(reach, in) > at)
            at = round_up(node_address(in) + node_size(reach, in), WORD);
    }
    bool is_last = words->next == reach->count || node_address(&reach->nodes[words->next]) >= end;
    uintptr_t stop = is_last ? end : node_address(&reach->nodes[words->next]);
    words->at = (const uintptr_t *)at;
    words->count = stop > at ? (stop - at) / WORD : 0;
    words->first = (at - node_address(node)) / WORD;
    if (is_last)
        words->next = NODE_NONE;
    return true;
}

/* Returns the first run of words that belong to the node itself, and not to a nested block;
 * node_words_next iterates over the other runs. */
static ALWAYS_INLINE struct node_words node_words_first(const struct reach *reach, uint32_t number)
{
    const struct mark_node *node = &reach->nodes[number];
    struct node_words words = {.at = (const uintptr_t *)node_address(node), .next = NODE_NONE};
    if (likely(!(node_state(node) & NODE_HAS_NESTED))) {
        words.count = node_size(reach, node) / WORD;
    } else {
        words.next = number + 1;
        node_words_advance(reach, number, &words);
    }
    return words;
}

static ALWAYS_INLINE bool node_words_next(const struct reach *reach, uint32_t number,
                                          struct node_words *words)
{
    return unlikely(words->next != NODE_NONE) && node_words_advance(reach, number, words);
}

/* Finds the innermost block around a node that contains a pointer to memory behind that node;
 * NODE_NONE: there is none. */
static NOINLINE UNUSED uint32_t node_enclosing(const struct reach *reach, uint32_t node,
                                               uintptr_t pointer)
{
    while ((node = reach->outer[node]) != NODE_NONE)
        if (pointer - node_address(&reach->nodes[node]) <= node_size(reach, &reach->nodes[node]))
            break;
    return node;
}

#endif
