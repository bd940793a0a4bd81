/* hook_dl.c - what the tail jumps of arch/<cpu>/tail.S ask before they jump.
 *
 * Each notice answers the address to go on at. Nothing is tracked here: the loader's own word (see
 * modules.h) tells of changes in the main namespace; these calls add what it cannot know, another
 * namespace and RTLD_DEEPBIND (see got_patch.h). With track=dl an opening is noted before it is
 * known to succeed: the next call here, or the end of the process, asks where the library is.
 */
#include "preload/base/base.h"
#include "preload/resources/handle_table.h"
#include "preload/interpose/got_patch.h"
#include "preload/interpose/late_load.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/operator_override.h"
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"
#include "preload/resources/resource_records.h"
#include "preload/heap/sample.h"
#include "preload/store/store.h"

#include <dlfcn.h>

__attribute__((used)) void *hook_dlopen_notice(const char *path, int flags);
__attribute__((used)) void *hook_dlmopen_notice(long space, const char *path, int flags);
__attribute__((used)) void *hook_dlclose_notice(void *handle);

/* Its constructors may wait for a thread. */
static NOINLINE void settle_operators(const struct frame *caller)
{
    struct guard *guard = process_enter(caller);
    operators_settle(guard);
    if (guard)
        guard_leave(guard);
}

/* In a sample the loader's allocations pass by us, and with them the moment to lead the object. */
static void note_flags(int flags, bool ours, const struct frame *caller)
{
    real_find();
    if (operators_replaced())
        settle_operators(caller);
    bool deep = (flags & RTLD_DEEPBIND || late_is()) && *process_state.recording;
    got_expect(deep && ours && !sample_state.bytes);
    if (deep && (!ours || sample_state.bytes))
        store_count_untracked(LEAK_UNTRACKED_DEEPBIND, 1);
}

/* Handles are told of the main namespace. */
static void note_library(const struct frame *caller, const char *path)
{
    static uint32_t openings;
    struct news news = {.type = LEAK_RESOURCE_DL,
                        .sort = LEAK_SORT_LIBRARY,
                        .flags = LEAK_RESOURCE_PENDING,
                        .name = path,
                        .id = add_relaxed(&openings, 1) + 1, /* no address yet */
                        .fd = -1};
    struct guard *guard = path && *path ? process_enter(caller) : NULL;
    if (!guard)
        return;
    resources_resolve_libraries();
    handle_table_add(guard, &news, resource_mark_caller(guard, caller));
    guard_leave(guard);
}

static void note_closing(const struct frame *caller, void *handle)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    resources_resolve_libraries();
    struct handle_ref library = handle_table_find(LEAK_RESOURCE_DL, (uintptr_t)handle);
    if (library.number)
        handle_table_unref(guard, &library);
    guard_leave(guard);
}

void *hook_dlopen_notice(const char *path, int flags)
{
    struct frame caller = CALLER_FRAME();
    note_flags(flags, true, &caller);
    if (resource_is_tracked(LEAK_RESOURCE_DL))
        note_library(&caller, path);
    return (void *)real.dlopen;
}

void *hook_dlmopen_notice(long space, const char *path, int flags)
{
    struct frame caller = CALLER_FRAME();
    note_flags(flags, space == LM_ID_BASE, &caller);
    if (resource_is_tracked(LEAK_RESOURCE_DL) && space == LM_ID_BASE)
        note_library(&caller, path);
    modules_change();
    return (void *)real.dlmopen;
}

void *hook_dlclose_notice(void *handle)
{
    real_find();
    if (resource_is_tracked(LEAK_RESOURCE_DL)) {
        struct frame caller = CALLER_FRAME();
        note_closing(&caller, handle);
    }
    modules_change();
    return (void *)real.dlclose;
}
