/* capture.h - turns the call stack of a hook's caller into a number: a site for an allocation, a
 * node of the context tree for any other call.
 *
 * There are three ways, fastest first: the stack cache knows the stack (stack_cache.h); the stack
 * shares outer frames with the last stack of its thread, so only the other frames are unwound
 * (unwind.h); the whole stack is unwound. With site_stacks=off there is one site for each kind.
 * Allocations made while recording is disabled, in a thread or in all threads, have a separate site
 * for each kind.
 *
 * Tags are names that the program gives to the allocations of a thread for a while. Each thread has
 * a stack of tags; struct guard has the top one, which becomes part of the sort of the thread's
 * sites (context_tree.h). A small table in the recording file numbers the names; it only grows, so
 * a number keeps its meaning, also in a fork child. Programs without tags pay nothing: hooks read
 * the tag only after the first tag was pushed.
 */
#ifndef PRELOAD_HEAP_CAPTURE_H
#define PRELOAD_HEAP_CAPTURE_H

#include "preload/interpose/modules.h"
#include "preload/options/options.h"
#include "preload/heap/threads.h"

extern struct capture_state {
    /* Number of reasons for which a hook cannot simply capture the C stack: recording is disabled
     * (in a thread or in all), site_stacks=off, tags are used, Python runs. If it is 0, hooks check
     * none of them. */
    uint32_t reasons;
    /* True if recording was ever disabled in some thread: then there may be sites of blocks that
     * were allocated while it was disabled. */
    bool disabled_ever;
} capture_state HIDDEN;
/* Bit of "reasons" for site_stacks=off. If it is the only reason, hooks use one site for each kind
 * without further checks. */
#define CAPTURE_FLAT (1u << 31)

/* Called once, after the options are read. */
void capture_start(void);
/* Stops reading Python frames, if the Python interpreter was in this range of addresses, which was
 * unloaded. */
void capture_forget_objects(uintptr_t start, uintptr_t end);
void capture_fork_child(void);
/* Disable or enable recording: capture_disable_all and capture_enable_all in all threads,
 * capture_disable in the calling thread only; calls of capture_disable nest. False: nothing has
 * changed. */
bool capture_disable_all(bool disable);
void capture_enable_all(void);
bool capture_disable(struct guard *guard, bool disable);

/* Returns the site that stands for the blocks from before libleak was loaded of one size, or of a
 * class of sizes whose largest is "size". */
uint32_t capture_older_site(struct guard *guard, struct thread *thread, uint64_t size);

/* The slower ways to find a site, which capture_site uses: capture_other_site if
 * capture_state.reasons is not 0, capture_walked_site if the stack cache does not know the stack.
 * sort: the kind, and in the bits above it the tag (context_tree.h). */
uint32_t capture_other_site(struct guard *guard, struct thread *thread, const struct frame *caller,
                            enum leak_kind kind);
uint32_t capture_walked_site(struct guard *guard, struct thread *thread, const struct frame *caller,
                             unsigned sort);

static ALWAYS_INLINE uint32_t capture_usual_site(struct guard *guard, struct thread *thread,
                                                 const struct frame *caller, unsigned sort)
{
    uint32_t site = stack_cache_find(&thread->stack_cache, thread->bounds.low, caller, sort);
    return likely(site) ? site : capture_walked_site(guard, thread, COPY_OF(caller), sort);
}

/* Returns the site of an allocation; 0: no memory. */
static ALWAYS_INLINE uint32_t capture_site(struct guard *guard, struct thread *thread,
                                           const struct frame *caller, enum leak_kind kind)
{
    uint32_t reasons = capture_state.reasons;
    if (unlikely(reasons)) {
        if (likely(reasons == CAPTURE_FLAT && thread->flat_sites[kind]))
            return thread->flat_sites[kind];
        return capture_other_site(guard, thread, COPY_OF(caller), kind);
    }
    return capture_usual_site(guard, thread, caller, kind);
}

/* Returns the context tree node of the innermost frame of a call stack, or the tree's root if there
 * are no frames; 0: no memory. */
uint32_t capture_node(struct guard *guard, struct thread *thread, const struct frame *caller);

/* Returns the context tree node of a call stack, for callers that have no struct thread. *thread
 * becomes the calling thread; NULL: no memory, and then the result is 0. wanted false: captures no
 * stack, and returns the node that means "stacks are not captured". */
uint32_t capture_call(struct guard *guard, const struct frame *caller, bool wanted,
                      const struct thread **thread);

/* ---- Tags ------------------------------------------------------------------------------------ */

#define TAGS_DEPTH 32 /* largest depth of a thread's stack of tags */

/* Pushes a tag. Each push needs a pop, also a push that failed, after which the previous tag stays
 * in force. False: the stack of tags is too deep, the name is empty, or the table of tags is
 * full. */
bool tags_push(struct guard *guard, const char *name);
/* Pops the newest tag of the thread. False: there is none. */
bool tags_pop(struct guard *guard);
/* Returns the number of the tag with this name; 0: it was never pushed. */
unsigned tags_find(const char *name);

/* Checks that every tag name is found under its number, and that no two names are the same. */
bool tags_check(void);

/* Copies the names of the parent's tags to the child's recording file, under the same numbers.
 * False: no memory. */
bool tags_fork_child(void);

#endif
