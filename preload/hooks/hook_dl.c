/* hook_dl.c - notices calls of dlopen, dlmopen and dlclose. The hooks themselves are in
 * arch/<cpu>/tail.S; they call a function here and then jump to the real function.
 *
 * Each function here returns the address to jump to. libleak learns of most changes to the list of
 * modules from the loader's own state (modules.h); the functions here notice what that state does
 * not show, other namespaces and RTLD_DEEPBIND (got_patch.h). With track=dl an opened library is
 * recorded before it is known whether dlopen succeeds: the next call of such a function, or the end
 * of the process, finds out where the library is.
 */
#include "preload/hooks/hooks.h"
#include "preload/base/base.h"
#include "preload/resources/handle_table.h"
#include "preload/interpose/got_patch.h"
#include "preload/interpose/operator_override.h"
#include "preload/resources/resource_records.h"
#include "preload/store/store.h"

#include <dlfcn.h>

__attribute__((used)) void *hook_dlopen_notice(const char *path, int flags);
__attribute__((used)) void *hook_dlmopen_notice(long space, const char *path, int flags);
__attribute__((used)) void *hook_dlclose_notice(void *handle);

/* Finds the original operators new and delete before the constructors of the library run, because
 * such a constructor may wait for a thread (operator_override.h). */
static NOINLINE void resolve_operators(const struct frame *caller)
{
    WITH_TOKEN_FOR(caller, operator_override_resolve(guard));
}

/* Prepares for an object that the loader is about to open, whose calls must be redirected to the
 * hooks (got_patch.h). With sample= the hooks skip most allocations of the loader, and so would
 * miss the moment at which calls can be redirected; then the object counts as untracked. */
static void note_flags(int flags, bool main_namespace, const struct frame *caller)
{
    real_functions_find();
    if (operator_override_any())
        resolve_operators(caller);
    bool deep = (flags & RTLD_DEEPBIND || real_functions_loaded_late()) && *process_state.recording;
    got_patch_expect_open(deep && main_namespace && !sample_state.bytes);
    if (deep && (!main_namespace || sample_state.bytes))
        store_count_untracked(LEAK_UNTRACKED_DEEPBIND, 1);
}

/* Records that a library is opened. Called only if it is opened in the main namespace (dlopen), not
 * by dlmopen in another. */
static void note_library(const struct frame *caller, const char *path)
{
    static uint32_t openings;
    /* A number in place of the library's address, which is not known yet. */
    struct news news = {.type = LEAK_RESOURCE_DL,
                        .sort = LEAK_SORT_LIBRARY,
                        .flags = LEAK_RESOURCE_PENDING,
                        .name = path,
                        .id = add_relaxed(&openings, 1) + 1,
                        .fd = -1};
    if (path && *path)
        WITH_TOKEN_FOR(caller, resources_resolve_libraries();
                       handle_table_add(guard, &news, resource_mark_caller(guard, caller)));
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
    modules_note_change();
    return (void *)real.dlmopen;
}

void *hook_dlclose_notice(void *handle)
{
    real_functions_find();
    if (resource_is_tracked(LEAK_RESOURCE_DL)) {
        struct frame caller = CALLER_FRAME();
        note_closing(&caller, handle);
    }
    modules_note_change();
    return (void *)real.dlclose;
}
