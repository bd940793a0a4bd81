#include "preload/heap/capture.h"
#include "preload/base/base.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/unwind/context_tree.h"
#include "preload/unwind/unwind.h"

uint32_t capture_reasons;
bool capture_disabled_ever;
static bool all_disabled, tags_heeded;
static bool never_enabled; /* it began disabled, and is so still */

void capture_start(void)
{
    if (options_current.unwind == UNWIND_FP)
        unwind_by_fp();
    if (!options_current.site_stacks)
        capture_reasons |= CAPTURE_FLAT;
    if (!options_current.start || options_current.start_after || *options_current.start_at) {
        capture_disable_all(true);
        never_enabled = true;
        store_set_flag(LEAK_FLAG_NEVER_ENABLED);
    }
}

void capture_fork_child(void)
{
    if (never_enabled)
        store_set_flag(LEAK_FLAG_NEVER_ENABLED);
}

/* The store of a child that has none yet is its parent's. */
static void note_enabled(void)
{
    never_enabled = false;
    if (store_header && store_header->pid == sys_getpid())
        store_clear_flag(LEAK_FLAG_NEVER_ENABLED);
}

void capture_heed_tags(void)
{
    if (unlikely(!load_relaxed(&tags_heeded)) && !exchange_relaxed(&tags_heeded, true))
        add_relaxed(&capture_reasons, 1);
}

bool capture_disable_all(bool disable)
{
    if (exchange_relaxed(&all_disabled, disable) == disable)
        return false;
    capture_disabled_ever = true;
    add_relaxed(&capture_reasons, disable ? 1 : -1);
    if (!disable && never_enabled)
        note_enabled();
    return true;
}

void capture_enable_all(void)
{
    capture_disable_all(false);
}

/* A thread that ends disabled leaves its reason behind, which costs the others a call. */
bool capture_disable(struct guard *guard, bool disable)
{
    if (disable ? guard->disabled == UINT16_MAX : !guard->disabled)
        return false;
    guard->disabled += disable ? 1 : -1;
    capture_disabled_ever = true;
    add_relaxed(&capture_reasons, disable ? 1 : -1);
    return true;
}

/* A site without a stack, one for each kind; for tags there are none at hand. */
static uint32_t bare_site(struct guard *guard, struct thread *thread, unsigned sort,
                          uint32_t *sites, enum leak_root root)
{
    struct unwind_trace *trace = &thread->trace;
    bool at_hand = sort < LEAK_KIND_MAX;
    if (likely(at_hand && sites[sort]))
        return sites[sort];
    trace->depth = trace->shared = 0;
    trace->end = root;
    uint32_t site = tree_site(guard, trace, sort);
    if (at_hand)
        sites[sort] = site;
    return site;
}

NOINLINE uint32_t capture_other_site(struct guard *guard, struct thread *thread,
                                     const struct frame *caller, enum leak_kind kind)
{
    unsigned sort = kind + ((unsigned)guard->tag << LEAK_TAG_SHIFT);
    if (load_relaxed(&all_disabled) || guard->disabled)
        return bare_site(guard, thread, sort, thread->disabled_sites, LEAK_ROOT_DISABLED);
    if (!options_current.site_stacks)
        return bare_site(guard, thread, sort, thread->flat_sites, LEAK_ROOT_NO_STACKS);
    return capture_usual_site(guard, thread, caller, sort);
}

static void walk(struct guard *guard, struct thread *thread, const struct frame *caller,
                 unsigned sort)
{
    struct unwind_trace *trace = &thread->trace;
    unsigned limit = options_current.depth;
    unwind_open(trace);
    unwind_find(guard, &thread->bounds, caller, limit, trace);
    tree_expect(trace, sort);
    unwind_settle(&thread->bounds, limit, trace);
    bump(&thread->record->walks, 1);
    bump(&thread->record->frames_walked, trace->depth - trace->shared);
    bump(&thread->record->frames_shared, trace->shared);
}

NOINLINE uint32_t capture_walked_site(struct guard *guard, struct thread *thread,
                                      const struct frame *caller, unsigned sort)
{
    struct unwind_trace *trace = &thread->trace;
    walk(guard, thread, caller, sort);
    uint32_t site = tree_site(guard, trace, sort);
    unwind_close(trace);
    if (likely(site))
        leaves_keep(&thread->leaves, trace, sort, site);
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
    walk(guard, thread, caller, LEAK_PC_FREE);
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
