/* capture.h - where does a hook's call come from? The caller's stack becomes a number: a site for
 * an allocation, a node of the context tree for anything else.
 *
 * Three ways, fastest first: the stack cache has the stack (stack_cache.h); the stack shares frames
 * with the thread's last one (unwind.h); it is walked. With site_stacks=off there is one site a
 * kind; allocations made while libleak is disabled, in a thread or in all, also have one site a
 * kind.
 *
 * Tags: names that the program gives to what its threads allocate for a while. Each thread has a
 * stack of tags; the top one is stored in the guard and becomes part of the sort of its sites
 * (context_tree.h). Names are numbers in a small table in the recording file; it only grows, so a
 * number keeps its meaning, in a fork child too. Programs without tags pay nothing: hooks read the
 * guard's tag only after the first tag was pushed.
 */
#ifndef PRELOAD_HEAP_CAPTURE_H
#define PRELOAD_HEAP_CAPTURE_H

#include "preload/interpose/modules.h"
#include "preload/options/options.h"
#include "preload/heap/threads.h"

extern struct capture_state {
    /* The number of reasons to take no stack, or to read the tag, in some thread or in all: at 0 a
     * hook checks nothing else. */
    uint32_t reasons;
    /* True if recording was ever disabled in some thread: then there may be sites of such
     * blocks. */
    bool disabled_ever;
} capture_state HIDDEN;
/* The reason site_stacks=off has a bit of its own: if it is the only one, a kind has one site. */
#define CAPTURE_FLAT (1u << 31)

/* Call after the options are read. */
void capture_start(void);
/* Objects in this range were unloaded. */
void capture_forget_objects(uintptr_t start, uintptr_t end);
void capture_fork_child(void);
/* Disables or enables all threads, or the calling one; the latter nests. False: nothing changed. */
bool capture_disable_all(bool disable);
void capture_enable_all(void);
bool capture_disable(struct guard *guard, bool disable);

/* The site of blocks from before libleak was loaded, of at most so many bytes. */
uint32_t capture_older_site(struct guard *guard, struct thread *thread, uint64_t size);

/* The slower ways of capture_site. sort: the kind and, above it, the tag, as in
 * context_tree.h. */
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

/* The site of an allocation; 0 when there is no memory. */
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

/* The node of the innermost frame, or a root; 0 when there is no memory. */
uint32_t capture_node(struct guard *guard, struct thread *thread, const struct frame *caller);

/* The same for callers without a struct thread: *thread gets it, NULL = no memory, and then the
 * result is 0. wanted false: returns the root that stands for "no stacks". */
uint32_t capture_call(struct guard *guard, const struct frame *caller, bool wanted,
                      const struct thread **thread);

/* ---- Tags ------------------------------------------------------------------------------------ */

#define TAGS_DEPTH 32 /* of a thread's stack of tags */

/* Each push has its pop, also a refused push: then the tag below stays in force. False: the stack
 * is too deep, or the name is empty, or the table is full. */
bool tags_push(struct guard *guard, const char *name);
/* Pops the thread's newest tag. False: there is none. */
bool tags_pop(struct guard *guard);
/* The number of a name, 0 = never pushed. */
unsigned tags_find(const char *name);

/* Every name is found under its number, and no two are the same. */
bool tags_check(void);

/* Copies the parent's names to the child's recording file, under the same numbers; false: no
 * memory. */
bool tags_fork_child(void);

#endif
