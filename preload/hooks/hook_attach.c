/* hook_attach.c - what leakctl attach and leakctl detach call in a running process.
 *
 * leakctl makes one thread call these functions, at a place where it holds no lock of libc or the
 * loader, on a stack of leakctl's; all other threads run. The library was loaded by way of a
 * descriptor, and then its constructor does nothing. It stays loaded for ever: threads may be
 * inside of hooks, and the program may have kept a hook's address.
 */
#include "preload/hooks/hooks.h"
#include "preload/memory/arena.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/interpose/got_patch.h"
#include "preload/process/process.h"
#include "preload/store/store.h"

#include <unistd.h>

#define VARIABLES_MAX 4096
#define ATTACHED_ALREADY ((const char *)1)

/* The offsets, from the thread pointer of any thread, at which leakctl finds whether the thread is
 * inside the runtime (world_thread_is_busy). A thread that waits in a hook may be outside. */
EXPORT struct libleak_thread {
    intptr_t sp;      /* a word, 0 = outside */
    intptr_t held;    /* 32 bits, likewise */
    intptr_t put_off; /* a byte, likewise */
} libleak_thread;

static void tell_places(void)
{
    uintptr_t block = arch_thread_block();
    libleak_thread = (struct libleak_thread){(intptr_t)((uintptr_t)&guard_self.sp - block),
                                             (intptr_t)((uintptr_t)&lock_thread.held - block),
                                             (intptr_t)((uintptr_t)&lock_thread.put_off - block)};
}

/* Begins recording in a running process. environment: LIBLEAK_OPTIONS=..., which replaces the
 * program's own. Returns the path of the recording file, "" if it is in memory only; NULL: libleak
 * does not record. */
EXPORT const char *libleak_attach(char *environment);
/* The path likewise; NULL: it was not attached. */
EXPORT const char *libleak_detach(void);

EXPORT const char *libleak_attach(char *environment)
{
    size_t size = VARIABLES_MAX * sizeof(char *), count = 1;
    char **variables = arena_map(size);
    if (!variables)
        return NULL;
    tell_places();
    log_mute(!strstr(environment, "verbosity=")); /* leakctl says what there is to say */
    variables[0] = environment;
    for (char **at = environ; at && *at && count + 1 < VARIABLES_MAX; at++)
        variables[count++] = *at;
    bool begun = process_attach(variables);
    arena_unmap(variables, size);
    if (!begun)
        return ATTACHED_ALREADY;
    hook_main_redirect();
    return *process_state.recording ? store_path() : NULL;
}

EXPORT const char *libleak_detach(void)
{
    if (!process_detach())
        return NULL;
    late_load_restore();
    return store_path();
}
