/* reachability.h - marks the blocks that the roots reach, and records by which path: the main part
 * of a leak check.
 *
 * The heap does not change, because the leak check runs in a copy of the process. Blocks are nodes,
 * numbered by address; a word that points to a block is an edge. The caller adds the blocks, then
 * every range of memory outside the heap as roots; every block to which a path leads from a root is
 * reachable. Later passes find the possible and the hidden blocks among the rest; leak_graph.h
 * divides the remaining ones into lost and indirectly lost.
 *
 *     rank_index.h      address -> node without a search
 *     prefetch_ring.h   overlaps the cache misses
 *     mark_passes.h     reads small blocks once in address order; finds encoded pointers
 *     scan_arena.h      the memory, and its limit
 *
 * Nothing here calls libc or knows threads: memory comes from sys_map, and reads are plain loads (a
 * fault handler of the leak check maps pages that are missing). */
#ifndef PRELOAD_MARK_REACHABILITY_H
#define PRELOAD_MARK_REACHABILITY_H

#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "leak_store.h"

#define REACH_NONE UINT32_MAX

/* What the caller knows about a block before marking. */
enum reach_prior {
    REACH_NEW, /* nothing is known about the block */
    /* An earlier check found the block lost or indirectly lost: no root can revive it. */
    REACH_WAS_LOST,
    /* An earlier check found the block reachable: if this one does not, its last pointer was
     * dropped since. */
    REACH_WAS_REACHABLE,
    /* An earlier check found the block possible or hidden: it is at least that now. */
    REACH_WAS_POSSIBLE,
    REACH_WAS_HIDDEN,
    REACH_IGNORED, /* the program ignores the block: it counts as a root */
};

/* The keys with which pointers may be encoded; 0: that encoding is not tried. */
struct reach_encodings {
    /* Key of setjmp and atexit in glibc: a pointer is xored with it and rotated by 17 bits. */
    uint64_t guard;
    /* The value of the option xor=: the program stores pointers xored with it. */
    uint64_t xor_key;
};

/* The type of a function that says whether a C++ virtual table begins at the address `word`. */
typedef bool reach_is_vtable(uintptr_t word);

/* The type of a function that writes at most `most` return addresses of a site's call stack to pcs,
 * innermost first, and returns how many it has written. */
typedef unsigned reach_callers(uint32_t site, uint64_t *pcs, unsigned most);

/* The type of a function that says whether at this offset of a block an object begins that has a
 * pointer to its type (typed_objects.h: Python, GObject). */
typedef bool reach_is_typed_object(uintptr_t block, uint64_t offset, uint64_t size);

/* The type of a function that says whether the address is in the code of the C library. */
typedef bool reach_is_in_libc(uintptr_t pc);

/* The functions by which the search for header idioms asks the caller of reach_mark. */
struct reach_idiom_questions {
    reach_callers *callers;
    /* NULL: objects with a pointer to their type are not recognised */
    reach_is_typed_object *is_typed_object;
    reach_is_in_libc *is_in_libc;
};

struct reach; /* the state of a leak check, in a scan_arena of its own */

/* Begins a leak check with capacity for `blocks` blocks; adding more makes reach_build_index fail.
 * memory_most: limit of its memory in bytes, including that of leak_graph.h. NULL: the limit is too
 * low. */
struct reach *reach_begin(uint64_t blocks, uint64_t memory_most);
void reach_end(struct reach *reach);

/* Visits every live block as blocks_each does, but regions of the open table in address order; the
 * caller adds the blocks with reach_add_block. If they came in the order of the hash table, writing
 * to each array of the leak check would miss the cache at every region. Blocks within a region are
 * not sorted. Sorting needs 32 bytes a region; if that exceeds memory_most nothing is sorted. */
void address_order_each_block(uint64_t memory_most, blocks_visit *visit, void *context);

/* The type of a function that looks up a block in the block table by its address. */
typedef bool reach_find_block(uintptr_t address, struct block *out);
/* Sets a function that looks up blocks; may be called, before the first block is added, if no block
 * is nested. Then data that marking does not need is looked up by address, which saves 12 bytes a
 * block. */
void reach_look_up(struct reach *reach, reach_find_block *find);

/* Adds a block; the order does not matter. Addresses 0, 2^48 and above, and those not divisible by
 * 8 are skipped. If two blocks have one address, the one that was added last counts. */
void reach_add_block(struct reach *reach, const struct block *block, enum reach_prior prior);
/* Builds the rank index; called after the last block and before the first root is added. False:
 * there is no memory. */
bool reach_build_index(struct reach *reach);

enum reach_root_kind {
    REACH_ROOT_DATA,
    REACH_ROOT_VARIABLES, /* data that consists of static variables only */
    /* Data of an allocator, which also points to memory between and behind blocks: only pointers to
     * the start of a block count. */
    REACH_ROOT_STARTS,
    /* A stack, which is a root even inside a nested block. Of other roots, memory in nested blocks
     * is left out. */
    REACH_ROOT_STACK,
};
/* Makes every aligned word of [start, end) a root. range: the caller's number for this range,
 * returned in struct reach_word. The memory must not change until reach_mark has read it. */
void reach_add_root(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range,
                    enum reach_root_kind kind);
/* Makes reach_mark find header idioms, so that blocks which the program always holds behind a
 * header become reachable, not possible (header_idioms.h). Called before reach_mark. */
void reach_find_idioms(struct reach *reach, const struct reach_idiom_questions *questions);
/* Runs all passes; called once. Afterwards every node has a verdict, but LOST also stands for
 * indirectly lost (leak_graph.h finds these). is_vtable may be NULL: then objects held by a second
 * base class are not recognised. False: there was no memory, so the verdicts are invalid. */
bool reach_mark(struct reach *reach, const struct reach_encodings *codes,
                reach_is_vtable *is_vtable);

/* ---- Results of marking ---------------------------------------------------------------------- */

uint32_t reach_count(const struct reach *reach);
/* Reads the block of a node. Nodes are numbered in address order. */
void reach_read_block(const struct reach *reach, uint32_t node, struct block *out);
/* Returns the block of a node, for code that reads few blocks: copying a structure that was just
 * written in parts stalls the CPU for 10 ns. */
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
/* The flags of a node: a set of LEAK_FOUND_DROPPED, LEAK_FOUND_IGNORED, LEAK_FOUND_TAGGED and
 * LEAK_FOUND_HEADER. */
unsigned reach_flags(const struct reach *reach, uint32_t node);
/* Says whether a block lies inside another one (nested_blocks.h). */
bool reach_is_nested(const struct reach *reach, uint32_t node);

/* Finds the node with the pointer by which a held node was found first. *offset, unless offset is
 * NULL, is set to the position of that pointer in bytes from the start of the returned node (beyond
 * 32 GiB: a lower bound). REACH_NONE: a root word has the pointer (reach_root_word), or there is
 * none: the node is dropped, ignored, or known only from an earlier check. */
uint32_t reach_parent(const struct reach *reach, uint32_t node, uint64_t *offset);
/* Returns the distance in bytes from the start of a held node to the address in the pointer by
 * which it was found; 0: the pointer leads to the start, or is not known. */
uint64_t reach_pointer_offset(const struct reach *reach, uint32_t node);
/* reach_marked_count returns the number of held nodes. reach_marked returns the held node that was
 * marked as number `turn`, from 0: each node is marked after its parent. */
uint32_t reach_marked_count(const struct reach *reach);
uint32_t reach_marked(const struct reach *reach, uint32_t turn);
/* Prefetches the data that reach_parent and reach_root_word read for the node. */
void reach_prefetch(const struct reach *reach, uint32_t node);
/* A root word that points to a node. reach_root_word finds the one by which a node without a parent
 * was found; false: there is none. */
struct reach_word {
    uintptr_t address;
    uint32_t range;
    /* Index among the root words by which nodes were found, below reach_root_words. Some of these
     * words hold no node any more, because a better pointer to the node was found. */
    uint32_t index;
};
bool reach_root_word(const struct reach *reach, uint32_t node, struct reach_word *out);
uint32_t reach_root_words(const struct reach *reach);

/* Returns the number of the first node at or above an address; reach_count() if there is none. */
uint32_t reach_lower_bound(const struct reach *reach, uintptr_t address);
/* Finds the node of the block to which a pointer refers: to its start, its interior or the byte
 * behind its end. REACH_NONE: there is no such block. */
uint32_t reach_find_node(const struct reach *reach, uintptr_t pointer);

#endif
