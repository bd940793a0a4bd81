/* free_lists.h - finds the free chunks that malloc keeps for its next calls, and that look like
 * chunks in use.
 *
 * A thread's cache (tcache) is a block of malloc with 64 counts of 16 bits and 64 pointers to
 * lists of blocks; list i has chunks of 32 + 16 i bytes, in a 32-bit program of 16 + 16 i bytes.
 * Since glibc 2.42 there are 12 more lists, the first with chunks from 1,024 bytes on, each with
 * chunks of up to twice that size, and a count says how many more blocks its list takes. Nothing
 * outside of libc says where a cache is. It is recognized by its size and by its lists, each of
 * which must have as many blocks of the right size as it counts. The second word of a block in a
 * cache is a key, which malloc clears; by the key, blocks are found whose list changed while it
 * was read.
 *
 * The fast bins of an arena are ten lists of chunks of 32 + 16 i bytes, in a 32-bit program
 * eleven lists of chunks of 16 + 8 i bytes.
 *
 * Since glibc 2.32 the links are mangled: link = next ^ (address of the link >> 12). Both forms
 * are tried, and the one that leads from chunk to chunk is right. */
#ifndef SCAN_FREE_LISTS_H
#define SCAN_FREE_LISTS_H

#include "scan/heap/heap_map.h"

#define FREE_LISTS_FAST_BINS 11

/* Finds all thread caches, and marks them and the chunks in them. Returns the number of caches. */
unsigned free_lists_mark_caches(struct heap_map *chunks);

/* Marks the chunks in the fast bins of an arena. False: a list is damaged, or changed while it
 * was read. */
bool free_lists_mark_fast(struct heap_map *chunks, const uint64_t bins[FREE_LISTS_FAST_BINS]);

#endif
