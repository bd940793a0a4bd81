/* hook_dl.c - what the tail jumps of arch/<cpu>/tail.S ask before they jump.
 *
 * Each notice answers the address to go on at. Nothing is tracked here: the loader's own word (see
 * modules.h) tells of changes in the main namespace; these calls add what it cannot know, another
 * namespace and RTLD_DEEPBIND.
 */
#include "preload/base.h"
#include "preload/modules.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/store.h"

#include <dlfcn.h>

__attribute__((used)) void *hook_dlopen_notice(const char *path, int flags);
__attribute__((used)) void *hook_dlmopen_notice(long space, const char *path, int flags);
__attribute__((used)) void *hook_dlclose_notice(void *handle);

static void note_flags(int flags)
{
    real_find();
    if ((flags & RTLD_DEEPBIND) && *process_alive)
        store_untracked(LEAK_UNTRACKED_DEEPBIND, 1);
}

void *hook_dlopen_notice(const char *path UNUSED, int flags)
{
    note_flags(flags);
    return (void *)real.dlopen;
}

void *hook_dlmopen_notice(long space UNUSED, const char *path UNUSED, int flags)
{
    note_flags(flags);
    modules_change();
    return (void *)real.dlmopen;
}

void *hook_dlclose_notice(void *handle UNUSED)
{
    real_find();
    modules_change();
    return (void *)real.dlclose;
}
