/* reachability.h - which blocks can still be reached, and how: the marking of a look.
 *
 * Picture: the heap is frozen (the look's child has a copy of its own). Blocks are nodes, numbered
 * by address; a word that points to one is an edge. The caller adds the blocks, then offers every
 * range that is no heap as roots; what they point to, breadth first, is reachable. Passes over what
 * is left then find the possible and the hidden, and leak_graph.h makes lost and indirect of the
 * rest.
 *
 * From an address to its node without a search: rank_index.h. How a cache miss is spent:
 * prefetch_ring.h. What blocks point to is read once, in the order of addresses: pointer_scan.h.
 * What a pointer in another form is: encoded_pointers.h. How the memory of it all is counted:
 * scan_arena.h.
 *
 * Nothing here calls into libc or knows of threads: memory comes from sys_map, and all that is read
 * is plain memory (the child's fault handler answers for pages that are not there).
 */
#ifndef PRELOAD_MARK_REACHABILITY_H
#define PRELOAD_MARK_REACHABILITY_H

#include "preload/base/base.h"
#include "preload/heap/blocks.h"
#include "leak_store.h"

#define REACH_NOBODY UINT32_MAX

/* What the caller knows of a block beforehand. */
enum reach_before {
    REACH_NEW,          /* nothing */
    REACH_WAS_LOST,     /* an earlier look says lost or indirect: no root can save it */
    REACH_WAS_HELD,     /* an earlier look reached it: if this one does not, it was dropped since */
    REACH_WAS_POSSIBLE, /* an earlier look called it possible, or hidden: it is at least that */
    REACH_WAS_HIDDEN,
    REACH_IGNORED, /* the program said so: a root itself */
};

/* What decoding may find pointers that are kept in another form; 0 = not tried. */
struct reach_codes {
    uint64_t guard; /* of glibc's setjmp and atexit: pointers are xored with it and rotated by 17 */
    uint64_t xor ;  /* the option */
};

/* What reading a module's memory may say of a word: does a virtual table begin there? */
typedef bool reach_is_vtable(uintptr_t word);

struct reach; /* the whole of it, in memory of its own */

/* Room for so many blocks; with more there is no index. memory_most: bytes it may ever take,
 * leak_graph.h's included. NULL: no. */
struct reach *reach_begin(uint64_t blocks, uint64_t memory_most);
void reach_end(struct reach *reach);

/* In any order. No block is at address 0, at 2^48 or above, or where 8 does not divide the address:
 * those are left out. Of two at one address the one added last counts. */
void reach_add(struct reach *reach, const struct block *block, enum reach_before before);
/* After the last block, before the first root; false when there is no memory. */
bool reach_index(struct reach *reach);

/* Every aligned word of [start, end) is a root. "range" is the caller's name for it. Read by
 * reach_mark: it has to stay as it is until then. */
void reach_root(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range);
/* The same, where only pointers to the start of a block count: an allocator's own data tells of
 * what lies between and behind the blocks. */
void reach_root_starts(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range);
/* The same of a stack, which may lie in a block: of one that a program has carved as well. Else
 * what lies in such a block is no root. */
void reach_root_stack(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range);
/* All passes, once; then every node has a verdict, and those that are lost or indirect have LOST
 * (leak_graph.h tells them apart). is_vtable may be NULL: no second base classes. False when memory
 * ran out: no verdict is to be believed. */
bool reach_mark(struct reach *reach, const struct reach_codes *codes, reach_is_vtable *is_vtable);

/* ---- What was found ------------------------------------------------------------------------- */

uint32_t reach_count(const struct reach *reach);
/* In order of address. */
struct block reach_block(const struct reach *reach, uint32_t node);
uint64_t reach_size(const struct reach *reach, uint32_t node);
uintptr_t reach_address(const struct reach *reach, uint32_t node);
enum leak_verdict reach_verdict(const struct reach *reach, uint32_t node);
unsigned reach_flags(const struct reach *reach, uint32_t node); /* DROPPED, IGNORED, TAGGED */

/* The node that holds the pointer by which a reachable (or possible, or hidden) one was first met,
 * and, if that is asked for, where in it (behind 32 GiB: at least there); REACH_NOBODY: a root word
 * does (reach_root_word), or nobody: dropped, ignored, or what an earlier look said is all there
 * is. */
uint32_t reach_parent(const struct reach *reach, uint32_t node, uint64_t *offset);
/* All nodes that are reachable, possible or hidden, each behind its parent: the turn-th of
 * reach_met_count. */
uint32_t reach_met_count(const struct reach *reach);
uint32_t reach_met(const struct reach *reach, uint32_t turn);
/* What reach_parent and reach_root_word will be asked of soon. */
void reach_look_ahead(const struct reach *reach, uint32_t node);
/* The word of a node without a parent; false: there is none. */
struct reach_word {
    uintptr_t address;
    uint32_t range;
    uint32_t index; /* of this word among the root words that a node was met by: below
                       reach_root_words. Some of these are no node's any more */
};
bool reach_root_word(const struct reach *reach, uint32_t node, struct reach_word *out);
uint32_t reach_root_words(const struct reach *reach);

/* Is it of one of the program's own allocators? */
bool reach_is_carved(const struct reach *reach, uint32_t node);

/* The node whose block a pointer points to: its start, its inside or just behind it; or NOBODY. */
uint32_t reach_find(const struct reach *reach, uintptr_t pointer);

#endif
