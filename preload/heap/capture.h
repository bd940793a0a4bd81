/* capture.h - the stack of a hook's caller becomes a number: a site for a block that comes, a node
 * for anything else.
 *
 * Three ways, from the fast one down: the thread has met that very stack lately (stack_cache.h), it
 * shares frames with the last one (unwind.h), it is walked. With site_stacks=off there is one site
 * a kind; another one has what is made while libleak is disabled, in a thread or in all.
 */
#ifndef PRELOAD_HEAP_CAPTURE_H
#define PRELOAD_HEAP_CAPTURE_H

#include "preload/interpose/modules.h"
#include "preload/options/options.h"
#include "preload/heap/threads.h"

/* How many reasons there are to take no stack, or to look for a tag, for some thread or for all:
 * with none a hook asks no further. */
extern uint32_t capture_reasons HIDDEN;
/* One of them stands by itself: site_stacks=off. Where it is the only one a kind has one site. */
#define CAPTURE_FLAT (1u << 31)
/* Somebody was, or is: there may be sites of such blocks. */
extern bool capture_disabled_ever HIDDEN;
/* Once the options are read. */
void capture_start(void);
/* From here on hooks ask for the tag of their thread. */
void capture_heed_tags(void);
void capture_fork_child(void);
/* All threads, or this one; the latter nests. False: so it was before, or was not. */
bool capture_disable_all(bool disable);
void capture_enable_all(void);
bool capture_disable(struct guard *guard, bool disable);

/* What capture_site does not find at once. sort: the kind and, above it, the tag, as in a leaf of
 * the tree. */
uint32_t capture_other_site(struct guard *guard, struct thread *thread, const struct frame *caller,
                            enum leak_kind kind);
uint32_t capture_walked_site(struct guard *guard, struct thread *thread, const struct frame *caller,
                             unsigned sort);

static ALWAYS_INLINE uint32_t capture_usual_site(struct guard *guard, struct thread *thread,
                                                 const struct frame *caller, unsigned sort)
{
    modules_refresh(guard);
    uint32_t site = leaves_find(&thread->leaves, thread->bounds.low, caller, sort);
    return likely(site) ? site : capture_walked_site(guard, thread, COPY_OF(caller), sort);
}

/* 0 when there is no memory. */
static ALWAYS_INLINE uint32_t capture_site(struct guard *guard, struct thread *thread,
                                           const struct frame *caller, enum leak_kind kind)
{
    uint32_t reasons = capture_reasons;
    if (unlikely(reasons)) {
        if (likely(reasons == CAPTURE_FLAT && thread->flat_sites[kind]))
            return thread->flat_sites[kind];
        return capture_other_site(guard, thread, COPY_OF(caller), kind);
    }
    return capture_usual_site(guard, thread, caller, kind);
}

/* The innermost frame's node, or a root; 0 when there is no memory. */
uint32_t capture_node(struct guard *guard, struct thread *thread, const struct frame *caller);

/* The same for who has no thread at hand yet: *thread gets it, NULL = no memory, and then 0 is
 * answered. wanted: or just the root that says that there are no stacks. */
uint32_t capture_call(struct guard *guard, const struct frame *caller, bool wanted,
                      const struct thread **thread);

#endif
