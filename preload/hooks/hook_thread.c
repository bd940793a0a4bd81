/* hook_thread.c - hooks of pthread_create and of the functions that join or detach a thread.
 *
 * A thread is recorded from its first instruction. The creating thread assigns its number, in the
 * order of creation, so the number is the same in every run. The start routine is entered by a
 * jump: no frame of libleak stands on the new thread's stack, and no token is held.
 *
 * A thread that is neither joined nor detached keeps its stack: a leak, which the hooks of
 * pthread_join and similar functions find.
 */
#include "preload/hooks/hooks.h"
#include "preload/signals/altstack.h"
#include "preload/resources/handle_table.h"
#include "preload/interpose/operator_override.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"

#include <errno.h>

struct start_routine {
    void *(*routine)(void *);
    void *argument;
};

/* Takes the token. In a process that is not recorded it does so only if libleak gives threads
 * alternate signal stacks. *recorded: the process is recorded. NULL: the token was not taken. */
static struct guard *enter_hook(const struct frame *caller, bool *recorded)
{
    struct guard *guard = process_enter(caller);
    *recorded = guard;
    return guard || !altstack_is_enabled() ? guard : guard_enter(caller);
}

/* ---- Recording joinable threads --------------------------------------------------------------
 *
 * A thread may detach itself before pthread_create returns, and its creator may join it before it
 * has started. So it is recorded before its creation, under a provisional name. The creator or the
 * new thread, whichever runs first, replaces this name by the pthread_t. */

static uint64_t provisional_name(uint32_t serial)
{
    return 1ull << 63 | serial;
}

static bool is_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes)
        pthread_attr_getdetachstate(attributes, &state);
    return state == PTHREAD_CREATE_DETACHED;
}

static void note_provisional(struct guard *guard, const struct frame *caller, uint32_t serial,
                             const pthread_attr_t *attributes)
{
    struct news news = {.type = LEAK_RESOURCE_THREAD,
                        .sort = LEAK_SORT_THREAD,
                        .id = provisional_name(serial),
                        .bytes = serial,
                        .fd = -1};
    if (resource_is_tracked(LEAK_RESOURCE_THREAD) && !is_detached(attributes))
        handle_table_add(guard, &news, resource_mark_caller(guard, caller));
}

/* Replaces the provisional name of a thread by its pthread_t. The variable to which pthread_create
 * has written the pthread_t may be freed by the new thread, so it is read by sys_peek, which never
 * faults. */
static NOINLINE void note_created(const struct frame *caller, uint32_t serial,
                                  const pthread_t *thread)
{
    pthread_t name;
    uint64_t id = provisional_name(serial);
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    if (handle_table_find(LEAK_RESOURCE_THREAD, id).number &&
        sys_peek((uintptr_t)thread, &name, sizeof name))
        handle_table_move(guard, LEAK_RESOURCE_THREAD, id, name);
    guard_leave(guard);
}

static void forget_provisional(struct guard *guard, uint32_t serial)
{
    struct handle_ref thread = handle_table_find(LEAK_RESOURCE_THREAD, provisional_name(serial));
    handle_table_remove(guard, &thread);
}

/* ---- The first instructions of a thread ------------------------------------------------------ */

static NOINLINE struct start_routine begin_recording(const struct thread_start *note)
{
    struct thread_start start = *note;
    struct frame caller = CALLER_FRAME();
    bool recorded;
    struct guard *guard = enter_hook(&caller, &recorded);
    if (guard) {
        threads_free_start(guard, (struct thread_start *)note);
        if (recorded)
            threads_enter(guard, &start);
        altstack_begin_thread(guard);
        if (recorded && resource_is_tracked(LEAK_RESOURCE_THREAD))
            handle_table_move(guard, LEAK_RESOURCE_THREAD, provisional_name(start.serial),
                              pthread_self());
        guard_leave(guard);
    }
    return (struct start_routine){start.routine, start.argument};
}

/* Starts a thread. The optimiser makes the last call a jump, so that no frame of libleak stands
 * below the frames of the program. */
static void *run_thread(void *note)
{
    struct start_routine call = begin_recording(note);
    return call.routine(call.argument);
}

static size_t stack_size_of(const pthread_attr_t *attributes)
{
    pthread_attr_t defaults;
    size_t size = 0;
    if (attributes) {
        pthread_attr_getstacksize(attributes, &size);
    } else if (pthread_getattr_default_np(&defaults) == 0) {
        pthread_attr_getstacksize(&defaults, &size);
        pthread_attr_destroy(&defaults);
    }
    return size;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*routine)(void *), void *argument)
{
    struct frame caller = CALLER_FRAME();
    bool recorded;
    struct guard *guard = enter_hook(&caller, &recorded);
    struct thread_start *start = guard ? threads_prepare_start(guard) : NULL;
    uint32_t serial = 0;
    operator_override_resolve(guard);
    if (start) {
        guard->calling_real = true;
        start->routine = routine;
        start->argument = argument;
        start->stack_size = stack_size_of(attributes);
        guard->calling_real = false;
        serial = start->serial;
        note_provisional(guard, &caller, serial, attributes);
    }
    if (guard)
        guard_leave(guard);
    if (!start)
        return real.pthread_create(thread, attributes, routine, argument);
    int error = real.pthread_create(thread, attributes, run_thread, start);
    if (error && (guard = enter_hook(&caller, &recorded))) {
        threads_free_start(guard, start);
        forget_provisional(guard, serial);
        guard_leave(guard);
    }
    if (!error)
        sandbox_note_child();
    if (!error && resource_is_tracked(LEAK_RESOURCE_THREAD))
        note_created(&caller, serial, thread);
    return error;
}

/* ---- Joining and detaching threads ----------------------------------------------------------- */

/* Finds the record of a thread. Called before the real pthread_join or pthread_detach, after which
 * a new thread may get the same pthread_t. */
static struct handle_ref find_thread(const struct frame *caller, pthread_t thread)
{
    struct handle_ref found = {.number = 0};
    WITH_TOKEN_FOR(caller, found = handle_table_find(LEAK_RESOURCE_THREAD, thread));
    return found;
}

static void forget_thread(const struct frame *caller, const struct handle_ref *found)
{
    struct guard *guard = found->number ? process_enter(caller) : NULL;
    if (!guard)
        return;
    struct leak_mark mark = resource_mark_caller(guard, caller);
    handle_table_release(guard, found, &mark);
    guard_leave(guard);
}

#define DISPOSE(name, parameters, arguments)                                                       \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        real_functions_find();                                                                     \
        if (!real.name) /* glibc before 2.31 lacks pthread_clockjoin_np */                         \
            return ENOSYS;                                                                         \
        if (!resource_is_tracked(LEAK_RESOURCE_THREAD))                                            \
            return real.name arguments;                                                            \
        struct frame caller = CALLER_FRAME();                                                      \
        struct handle_ref found = find_thread(&caller, thread);                                    \
        int error = real.name arguments;                                                           \
        if (error == 0)                                                                            \
            forget_thread(&caller, &found);                                                        \
        return error;                                                                              \
    }

DISPOSE(pthread_join, (pthread_t thread, void **result), (thread, result))
DISPOSE(pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result))
DISPOSE(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
        (thread, result, until))
DISPOSE(pthread_clockjoin_np,
        (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
        (thread, result, clock, until))
DISPOSE(pthread_detach, (pthread_t thread), (thread))
