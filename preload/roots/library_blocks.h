/* library_blocks.h - blocks that the C and C++ libraries use for themselves, and that hold nothing
 * of the program.
 *
 * The buffer of stdout is a recycled block: behind what was printed it still has the words of the
 * block before, and these would hold whatever they point to. So does every buffer that libc and the
 * loader never clear. A block counts as theirs if one of the functions that called malloc, from the
 * innermost one to the last that is a library's, is known to keep no pointer of the program in what
 * it allocates. All other blocks of these libraries are scanned, because the program put pointers
 * into them, or may have: the lists of atexit, values of thread keys, environ, nodes of tsearch and
 * tables of hcreate, streams (setvbuf, fopencookie), glob and wordexp (reserved slots), fts (a
 * field of the caller's), timers, exceptions, facets of a locale; and thread-local storage, which
 * is told by the vectors (DTV) that lead to it.
 *
 * For the process of a leak check only. The words are cleared, so that no pass has to know.
 */
#ifndef PRELOAD_ROOTS_LIBRARY_BLOCKS_H
#define PRELOAD_ROOTS_LIBRARY_BLOCKS_H

#include "preload/roots/roots.h"

/* Clears every word of these blocks that does not point to another one of them. Call between
 * roots_find and reach_mark. Without memory nothing is cleared. */
void library_blocks_clear(const struct roots_input *input, const struct roots *roots);
/* Is this site theirs? Its blocks owned nothing when they were freed, whatever was in them. */
bool library_blocks_are_of(uint32_t site);

#endif
