/* static_malloc.h - an allocator that is linked into the program itself: its functions are led to
 * our hooks.
 *
 * Such a malloc is called without the loader, or the loader finds it before ours. Where the
 * program's symbol table names it, a jump to our hook is written over its beginning, and what it
 * was goes on in a copy (displace.h), on a page of ours near the program's code:
 *
 *     program --call--> malloc: jump --> page: far jump --> our hook --> page: copy --> rest of
 * malloc
 *
 * malloc, free and whatever else of the family there is are led together, or none: a block that
 * comes by one way and goes by another would be a leak, or a mistake, of ours. Found is what the
 * program exports, or, when it neither exports nor imports these names, what its .symtab has; never
 * what is static there.
 *
 * At the start alone, while there is one thread: nobody runs the code that is written. Pages of
 * code are writable while it is, and never again; ours is executable from then on, and no more
 * writable.
 */
#ifndef PRELOAD_INTERPOSE_STATIC_MALLOC_H
#define PRELOAD_INTERPOSE_STATIC_MALLOC_H

#include "preload/base/base.h"

#include <link.h>

#define LINKED_MOST 40 /* of the family */

struct linked_hook {
    const char *name;
    uintptr_t hook;
    uintptr_t *next; /* written before anybody comes to the hook: the function as it was */
};
#define LINKED_NEEDED 2 /* the first ones of a table: malloc and free. Without them there is none  \
                         */

struct linked_function {
    const struct linked_hook *hook;
    uintptr_t address, end; /* end: where the next function begins; 0: nobody knows */
    size_t size;
};

struct linked {
    struct linked_function function[LINKED_MOST];
    unsigned count;
    bool exported;     /* others get it by its name as well */
    const char *why;   /* it cannot be led; else NULL */
    const char *which; /* of its functions; NULL: all of them */
};

/* Has the program one? */
bool linked_find(const struct linked_hook *hooks, unsigned count, struct linked *out);
/* False: it cannot be, and nothing has changed; linked->why says the reason. */
bool linked_lead(struct linked *linked);

/* Where the allocator is that was led to us; 0: none was. Constant after the start. */
extern uintptr_t linked_home HIDDEN;

#endif
