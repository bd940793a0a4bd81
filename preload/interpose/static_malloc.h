/* static_malloc.h - redirects an allocator that is linked into the program to the hooks.
 *
 * Calls of such a malloc do not go through the loader, or the loader finds the program's malloc
 * before the hook. If the program's symbol table names the functions, libleak writes a jump to the
 * hook over the beginning of each function. The original function continues in a copy (displace.h),
 * on a page near the program's code:
 *
 *     program --call--> malloc: jump --> page: far jump --> hook
 *     hook    --call--> page: copy --> rest of malloc
 *
 * Either all functions of the family that exist are redirected, or none: a block allocated through
 * one path and freed through the other would be a false leak or a false mismatch. The functions are
 * searched among the exports of the program or, when it neither exports nor imports these names, in
 * its .symtab; static functions do not count.
 *
 * This happens once, at the start, while there is one thread: no thread runs the code that is
 * changed. Code pages of the program are writable only during the change; the new page is
 * executable afterwards, and not writable.
 */
#ifndef PRELOAD_INTERPOSE_STATIC_MALLOC_H
#define PRELOAD_INTERPOSE_STATIC_MALLOC_H

#include "preload/base/base.h"

#include <link.h>

#define STATIC_MALLOC_MAX 40 /* largest number of functions of an allocator in the program */

struct static_malloc_hook {
    const char *name;
    uintptr_t hook;
    /* The variable into which the address of the function's copy is written, before the hook can be
     * called. */
    uintptr_t *next;
};
/* The first two rows of a table of hooks are malloc and free: an allocator must have both. */
#define STATIC_MALLOC_REQUIRED 2

struct static_malloc_function {
    const struct static_malloc_hook *hook;
    uintptr_t address, end; /* end: where the next function begins; 0: not known */
    size_t size;
};

struct static_malloc {
    struct static_malloc_function function[STATIC_MALLOC_MAX];
    unsigned count;
    /* The program exports the allocator, so libraries that import malloc use it, too. */
    bool exported;
    const char *reason; /* why the allocator cannot be redirected; NULL: it can */
    const char *which;  /* the function that the reason is about; NULL: all functions */
};

/* Says whether the program itself contains an allocator, and finds its functions. count: number of
 * rows of "hooks". */
bool static_malloc_find(const struct static_malloc_hook *hooks, unsigned count,
                        struct static_malloc *out);
/* Redirects an allocator that is linked into the program. False: it cannot be redirected, nothing
 * has changed, and found->reason says why. */
bool static_malloc_redirect(struct static_malloc *found);

/* Returns the address of the allocator that was redirected; 0: none was. Constant after the
 * start. */
uintptr_t static_malloc_address(void);

#endif
