/* free_lists.h - the chunks that malloc keeps for the next call: they look like ones in use.
 *
 * A thread's cache (tcache) is a block of malloc with 64 counts of 16 bits and 64 pointers to lists
 * of blocks; list i has chunks of 32 + 16 i bytes (16 + 16 i in a 32-bit program). Since glibc 2.42 there are 12 more lists, the first one
 * of chunks from 1,024 bytes on and each of up to twice as large ones, and what is counted is how
 * many more blocks a list takes. Nothing outside libc says where a cache is; it
 * is recognized by its size and by its lists: each one has as many members as is counted, all of
 * the right size. The second word of a block in a cache is a key that malloc removes; it tells the
 * members of lists that changed while they were read. The fast bins of an arena are ten lists of chunks of 32 + 16 i bytes
 * (in a 32-bit program eleven of 16 + 8 i).
 *
 * Since glibc 2.32 the links are mangled: link = next ^ (address of the link >> 12). Both forms are
 * tried, and the one counts that leads from chunk to chunk.
 */
#ifndef SCAN_FREE_LISTS_H
#define SCAN_FREE_LISTS_H

#include "scan/heap/heap_map.h"

#define FREE_LISTS_FAST_BINS 11

/* Finds all caches, and marks them and the chunks in them; returns how many caches there are. */
unsigned free_lists_mark_caches(struct heap_map *chunks);

/* Marks the chunks in the fast bins; false: a list is damaged, or it was changed meanwhile. */
bool free_lists_mark_fast(struct heap_map *chunks, const uint64_t bins[FREE_LISTS_FAST_BINS]);

#endif
