/* reachability.h - which blocks the roots reach, and by which path: the marking of a leak check.
 *
 * The heap is frozen: the process of the leak check has a copy of its own. Blocks are nodes,
 * numbered by address; a word that points to a block is an edge. The caller adds the blocks, then
 * every range outside the heap as roots; everything they reach, breadth first, is reachable. Later
 * passes find the possible and the hidden blocks among the rest; leak_graph.h divides what remains
 * into lost and indirectly lost.
 *
 *     rank_index.h      address -> node without a search
 *     prefetch_ring.h   overlaps the cache misses
 *     mark_passes.h     reads small blocks once in address order; finds encoded pointers
 *     scan_arena.h      the memory, and its limit
 *
 * Nothing here calls libc or knows threads: memory comes from sys_map, and reads are plain loads
 * (a fault handler of the leak check maps pages that are missing).
 */
#ifndef PRELOAD_MARK_REACHABILITY_H
#define PRELOAD_MARK_REACHABILITY_H

#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "leak_store.h"

#define REACH_NONE UINT32_MAX

/* What the caller knows of a block before marking. */
enum reach_prior {
    REACH_NEW,           /* nothing */
    REACH_WAS_LOST,      /* an earlier check found it lost or indirect: no root can revive it */
    REACH_WAS_REACHABLE, /* an earlier check reached it: if this one does not, it was dropped since */
    REACH_WAS_POSSIBLE, /* an earlier check found it possible or hidden: it is at least that */
    REACH_WAS_HIDDEN,
    REACH_IGNORED, /* the program ignores it: it is a root itself */
};

/* The keys of encoded pointers; 0: that encoding is not tried. */
struct reach_encodings {
    uint64_t guard;   /* glibc's setjmp and atexit xor pointers with it and rotate them by 17 */
    uint64_t xor_key; /* the option */
};

/* Tells from a module's memory whether a virtual table begins at the address. */
typedef bool reach_is_vtable(uintptr_t word);

/* Writes at most so many return addresses of a site's call stack, innermost first; returns their
 * number. */
typedef unsigned reach_callers(uint32_t site, uint64_t *pcs, unsigned most);

struct reach; /* allocated in an arena of its own */

/* Capacity for so many blocks; adding more makes reach_build_index fail. memory_most: limit in
 * bytes, leak_graph.h included. NULL: above the limit. */
struct reach *reach_begin(uint64_t blocks, uint64_t memory_most);
void reach_end(struct reach *reach);

/* Visits every live block like blocks_each, but region after region in address order; the caller
 * adds them with reach_add_block. The block table is hashed by region: in its order every table
 * built here would miss the cache at each region. Blocks of one region, and those not yet in the
 * table, come as they are. Sorting needs 32 bytes a region; if that exceeds memory_most the order
 * is the table's. */
void address_order_each_block(uint64_t memory_most, blocks_visit *visit, void *context);

/* Answers from the block table what a block at an address is. */
typedef bool reach_find_block(uintptr_t address, struct block *out);
/* Call before the first block, if none is nested: what marking does not need is asked for by address
 * instead of being kept, 12 bytes a block. */
void reach_look_up(struct reach *reach, reach_find_block *find);

/* Adds a block; the order does not matter. Addresses 0, 2^48 and above, and those not divisible by
 * 8 are skipped. Of two blocks at one address, the one added last counts. */
void reach_add_block(struct reach *reach, const struct block *block, enum reach_prior prior);
/* Call after the last block and before the first root. False: no memory. */
bool reach_build_index(struct reach *reach);

enum reach_root_kind {
    REACH_ROOT_DATA,
    REACH_ROOT_VARIABLES, /* data that has static variables only */
    REACH_ROOT_STARTS,    /* data of an allocator, which also points to the space between and behind
                          blocks: only pointers to the start of a block count */
    REACH_ROOT_STACK,     /* a root even inside a nested block; of other roots, what nested blocks
                          cover is left out */
};
/* Makes every aligned word of [start, end) a root. "range" is the caller's number for it. The
 * memory must stay unchanged until reach_mark has read it. */
void reach_add_root(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range,
                    enum reach_root_kind kind);
/* Call before reach_mark: blocks that the program always holds behind a header are reachable
 * (header_idioms.h). Without this call they are possible. */
void reach_find_idioms(struct reach *reach, reach_callers *callers);
/* Runs all passes; call once. Afterwards every node has a verdict; lost and indirect nodes both
 * have LOST (leak_graph.h tells them apart). is_vtable may be NULL: then no second base class is
 * recognized. False: out of memory, the verdicts are invalid. */
bool reach_mark(struct reach *reach, const struct reach_encodings *codes,
                reach_is_vtable *is_vtable);

/* ---- Results -------------------------------------------------------------------------------- */

uint32_t reach_count(const struct reach *reach);
/* Nodes are numbered in address order. */
void reach_read_block(const struct reach *reach, uint32_t node, struct block *out);
/* The same for code that reads few blocks: to copy what was just written in parts stalls the CPU, 10 ns a
 * block. */
static inline struct block reach_block(const struct reach *reach, uint32_t node)
{
    struct block block;
    reach_read_block(reach, node, &block);
    return block;
}

uint64_t reach_size(const struct reach *reach, uint32_t node);
uint32_t reach_site(const struct reach *reach, uint32_t node);
uintptr_t reach_address(const struct reach *reach, uint32_t node);
enum leak_verdict reach_verdict(const struct reach *reach, uint32_t node);
/* DROPPED, IGNORED, TAGGED, HEADER */
unsigned reach_flags(const struct reach *reach, uint32_t node);
/* True for a block that lies inside another one (nested_blocks.h). */
bool reach_is_nested(const struct reach *reach, uint32_t node);

/* The node that holds the pointer by which a held node was found first, and, if wanted, the offset
 * of that word (beyond 32 GiB: a lower bound). REACH_NONE: a root word holds it (reach_root_word),
 * or no word does: dropped, ignored, or known only from an earlier check. */
uint32_t reach_parent(const struct reach *reach, uint32_t node, uint64_t *offset);
/* How far behind the start of a held node the pointer points by which it was found; 0: to the
 * start, or unknown. */
uint64_t reach_pointer_offset(const struct reach *reach, uint32_t node);
/* The held nodes in the order in which they were marked, each after its parent: number "turn" of
 * reach_marked_count. */
uint32_t reach_marked_count(const struct reach *reach);
uint32_t reach_marked(const struct reach *reach, uint32_t turn);
/* Prefetches what reach_parent and reach_root_word read for the node. */
void reach_prefetch(const struct reach *reach, uint32_t node);
/* The root word of a node without a parent; false: there is none. */
struct reach_word {
    uintptr_t address;
    uint32_t range;
    uint32_t index; /* among the root words that nodes were found by, below reach_root_words; some
                       of these no longer belong to a node */
};
bool reach_root_word(const struct reach *reach, uint32_t node, struct reach_word *out);
uint32_t reach_root_words(const struct reach *reach);

/* The first node at or above an address; reach_count if there is none. */
uint32_t reach_lower_bound(const struct reach *reach, uintptr_t address);
/* The node of the block that a pointer refers to: to its start, its interior or the byte behind its
 * end. REACH_NONE: no block. */
uint32_t reach_find_node(const struct reach *reach, uintptr_t pointer);

#endif
