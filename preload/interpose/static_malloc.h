/* static_malloc.h - redirects an allocator that is linked into the program to the hooks.
 *
 * Calls of such a malloc do not go through the loader, or the loader resolves its name before the
 * hook's. Where the program's symbol table names the functions, a jump to the hook is written over
 * the beginning of each, and the original continues in a copy (displace.h), on a page near the
 * program's code:
 *
 *     program --call--> malloc: jump --> page: far jump --> hook
 *     hook    --call--> page: copy --> rest of malloc
 *
 * All functions of the family that exist are redirected, or none: a block allocated through one
 * path and freed through the other would be a false leak or a false mismatch. Searched are the
 * exports of the program or, when it neither exports nor imports these names, its .symtab; static
 * functions never count.
 *
 * This happens once, at the start, while there is one thread: no thread runs the code that is
 * written. Code pages of the program are writable only meanwhile; the new page is executable
 * afterwards, and not writable.
 */
#ifndef PRELOAD_INTERPOSE_STATIC_MALLOC_H
#define PRELOAD_INTERPOSE_STATIC_MALLOC_H

#include "preload/base/base.h"

#include <link.h>

#define STATIC_MALLOC_MAX 40 /* functions of the family */

struct static_malloc_hook {
    const char *name;
    uintptr_t hook;
    uintptr_t *next; /* gets the copy of the original, before the hook can be called */
};
/* The first rows of a table of hooks, malloc and free: an allocator has both. */
#define STATIC_MALLOC_REQUIRED 2

struct static_malloc_function {
    const struct static_malloc_hook *hook;
    uintptr_t address, end; /* end: where the next function begins; 0: not known */
    size_t size;
};

struct static_malloc {
    struct static_malloc_function function[STATIC_MALLOC_MAX];
    unsigned count;
    bool exported;      /* libraries that import malloc get it, too */
    const char *reason; /* why it cannot be redirected; NULL: it can */
    const char *which;  /* the function that the reason is about; NULL: all of them */
};

/* Does the program contain an allocator? */
bool static_malloc_find(const struct static_malloc_hook *hooks, unsigned count,
                        struct static_malloc *out);
/* Redirects an allocator that is linked into the program. False: it cannot be redirected, nothing
 * has changed, and found->reason says why. */
bool static_malloc_redirect(struct static_malloc *found);

/* Address of the allocator that was redirected; 0: none. Constant after the start. */
uintptr_t static_malloc_address(void);

#endif
