/* preexisting_heap.h - the heap of a process that ran before us: what in it holds nothing.
 *
 * Between the blocks that are known lie others that are not, and these may hold pointers to known
 * ones: so a heap is a root, but for the known blocks, which are reached or not, and for what glibc
 * has free. Its chunks lie one behind the other, each with its size in front, and one that is free
 * is marked in the next. A walk over them begins at the heap's start and anew behind each known
 * block; where it does not come out right the rest holds. What waits in a thread's cache is not
 * marked so, but has a number in its second word that is drawn for each process.
 */
#ifndef PRELOAD_ROOTS_PREEXISTING_HEAP_H
#define PRELOAD_ROOTS_PREEXISTING_HEAP_H

#include "preload/roots/heap_ranges.h"

/* Finds out that number, once, before anybody looks. */
void older_learn(void);

/* Ranges that hold nothing by themselves, ascending, apart. */
void older_each_known(const struct heaps *heaps, const struct reach *reach, bool glibc,
                      void (*visit)(uintptr_t start, size_t size, void *context), void *context);

#endif
