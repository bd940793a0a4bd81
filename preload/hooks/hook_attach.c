/* hook_attach.c - the functions that leakctl attach and leakctl detach call in a running process.
 *
 * leakctl makes one thread of the program call these functions, at a moment when this thread holds
 * no lock of libc or the loader, on a stack that leakctl has made; all other threads run. leakctl
 * loads the library from a path /proc/self/fd/N, and then its constructor does nothing. It stays
 * loaded for ever: threads may be inside of hooks, and the program may have stored the address of a
 * hook.
 */
#include "preload/hooks/hooks.h"
#include "preload/memory/arena.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/interpose/got_patch.h"
#include "preload/process/process.h"
#include "preload/signals/stop_the_world.h"
#include "preload/store/store.h"

#include <unistd.h>

#define VARIABLES_MAX 4096
#define ATTACHED_ALREADY ((const char *)1)

/* Tells leakctl where three variables of each thread are, so that leakctl can see whether a thread
 * is inside the runtime. They are offsets from the thread pointer, the same for all threads. */
EXPORT struct libleak_thread {
    /* offset of guard_self.sp, a word that is 0 while the thread is outside the runtime */
    intptr_t sp;
    intptr_t
        held; /* offset of lock_thread.held, 32 bits that are 0 while the thread holds no lock */
    intptr_t
        put_off; /* offset of lock_thread.put_off, a byte that is 1 after a signal was deferred */
} libleak_thread;

static void tell_places(void)
{
    uintptr_t block = arch_thread_block();
    libleak_thread = (struct libleak_thread){(intptr_t)((uintptr_t)&guard_self.sp - block),
                                             (intptr_t)((uintptr_t)&lock_thread.held - block),
                                             (intptr_t)((uintptr_t)&lock_thread.put_off - block)};
}

/* Begins recording in a running process. environment: a string "LIBLEAK_OPTIONS=...", used instead
 * of the variable in the program's environment. call: the system call that leakctl has interrupted.
 * Returns the path of the recording file, "" if the recording is in memory only; NULL: libleak does
 * not record. */
EXPORT const char *libleak_attach(char *environment, const struct syscall_interrupted *call);
/* Ends recording that libleak_attach began. Returns the path of the recording file, "" if the
 * recording is in memory only; NULL: libleak was not attached. */
EXPORT const char *libleak_detach(void);

EXPORT const char *libleak_attach(char *environment, const struct syscall_interrupted *call)
{
    size_t size = VARIABLES_MAX * sizeof(char *), count = 1;
    char **variables = arena_map(size);
    if (!variables)
        return NULL;
    tell_places();
    if (call)
        world_note_calls(call);
    log_mute(!strstr(environment, "verbosity=")); /* leakctl writes the messages, not the program */
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
