/* library_blocks.h - finds blocks that the C and C++ libraries use for themselves, and keeps leak
 * checks from taking old words in them for pointers.
 *
 * The buffer of stdout is a recycled block: behind the printed text it still contains the words of
 * an earlier block, and a leak check would take these for pointers. That applies to every buffer
 * that libc and the loader never clear. A block is such a buffer if one of the functions that
 * called malloc, from the innermost one to the last that belongs to a library, is known to store no
 * pointer of the program in its blocks. All other blocks of these libraries are scanned, because
 * the program put pointers into them, or may have: the lists of atexit, values of thread keys,
 * environ, nodes of tsearch and tables of hcreate, streams (setvbuf, fopencookie), glob and wordexp
 * (reserved slots), fts (a field of the caller's), timers, exceptions, facets of a locale; and
 * thread-local storage, to which vectors of the loader (DTV) point.
 *
 * The words are cleared, so that the passes of the leak check need no special case. That happens
 * only in the process copy in which the leak check runs. */
#ifndef PRELOAD_ROOTS_LIBRARY_BLOCKS_H
#define PRELOAD_ROOTS_LIBRARY_BLOCKS_H

#include "preload/roots/roots.h"

/* Clears, in the blocks that libraries use for themselves, each word that cannot be a pointer that
 * the library has stored. Called between roots_find and reach_mark. Without memory for its tables
 * it clears nothing. */
void library_blocks_clear(const struct roots_input *input, const struct roots *roots);
/* Says whether blocks of this site hold no pointer of the program, so that the free of such a block
 * cannot have made another block lost. */
bool library_blocks_are_of(uint32_t site);

#endif
