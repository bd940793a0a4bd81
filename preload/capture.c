#include "preload/capture.h"
#include "preload/atomic.h"
#include "preload/tree.h"
#include "preload/unwind.h"

NOINLINE uint32_t capture_flat_site(struct guard *guard, struct thread *thread, enum leak_kind kind)
{
    struct unwind_trace *trace = &thread->trace;
    trace->depth = trace->shared = 0;
    trace->end = LEAK_ROOT_NO_STACKS;
    return thread->flat_sites[kind] = tree_site(guard, trace, kind);
}

static void walk(struct guard *guard, struct thread *thread, const struct frame *caller)
{
    struct unwind_trace *trace = &thread->trace;
    unwind_open(trace);
    unwind(guard, &thread->bounds, caller, track_options.depth, trace);
    bump(&thread->record->walks, 1);
    bump(&thread->record->frames_walked, trace->depth - trace->shared);
    bump(&thread->record->frames_shared, trace->shared);
}

NOINLINE uint32_t capture_walked_site(struct guard *guard, struct thread *thread,
                                      const struct frame *caller, enum leak_kind kind)
{
    struct unwind_trace *trace = &thread->trace;
    walk(guard, thread, caller);
    uint32_t site = tree_site(guard, trace, kind);
    unwind_close(trace);
    if (likely(site))
        leaves_keep(&thread->leaves, trace, kind, site);
    return site;
}

NOINLINE uint32_t capture_node(struct guard *guard, struct thread *thread,
                               const struct frame *caller)
{
    struct unwind_trace *trace = &thread->trace;
    freed_captured(&thread->freed);
    modules_refresh(guard);
    uint32_t node = leaves_find(&thread->leaves, thread->bounds.low, caller, LEAVES_FREE);
    if (node)
        return node;
    walk(guard, thread, caller);
    node = tree_free_node(guard, trace);
    unwind_close(trace);
    if (node)
        leaves_keep(&thread->leaves, trace, LEAVES_FREE, node);
    return node;
}

uint32_t capture_call(struct guard *guard, const struct frame *caller, bool wanted,
                      const struct thread **thread)
{
    struct locked shared;
    struct thread *self = threads_self(guard, &shared);
    *thread = self;
    if (unlikely(!self))
        return 0;
    uint32_t node = wanted ? capture_node(guard, self, caller) : LEAK_ROOT_NO_STACKS;
    threads_done(self, &shared);
    return node;
}
