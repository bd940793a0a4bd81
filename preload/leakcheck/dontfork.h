/* dontfork.h - memory that a child would not get: madvise(MADV_DONTFORK) and MADV_WIPEONFORK.
 *
 * Programs use them for buffers that devices write to, and they may hold the only pointers to
 * something. So the picture of a process is given a copy, at the same addresses. More than
 * UNFORKED_MOST of such memory is left out.
 */
#ifndef PRELOAD_LEAKCHECK_DONTFORK_H
#define PRELOAD_LEAKCHECK_DONTFORK_H

#include "preload/base/base.h"

#define UNFORKED_MOST (256ull << 20)

/* The program has given advice about its memory. */
void unforked_note(uintptr_t start, size_t size, int advice);
/* Before the copy of the process, when nobody can give advice: takes what it will not get. After
 * it, in the parent: gives that memory back. In the child, before anything else is mapped: puts it
 * where it was. What the program has unmapped since, and what is ours by now, is left alone. */
void unforked_save(void);
void unforked_drop(void);
void unforked_restore(void);

void unforked_fork_lock(void);
void unforked_fork_unlock(void);

#endif
