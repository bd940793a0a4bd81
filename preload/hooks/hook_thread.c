/* hook_thread.c - pthread_create: a thread is known from its first instruction.
 *
 * Its number is given here, in the order of creation, so it is the same in every run. The start
 * routine is entered by a jump: no frame of ours stands on the new thread's stack, and no token is
 * held.
 *
 * And pthread_join and its kin: a thread that nobody waits for and nobody detaches keeps its stack.
 */
#include "preload/signals/altstack.h"
#include "preload/resources/handle_table.h"
#include "preload/interpose/operator_override.h"
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"

#include <errno.h>

struct call {
    void *(*routine)(void *);
    void *argument;
};

/* The token, also where there is no account but an alternate stack for each thread. */
static struct guard *enter(const struct frame *caller, bool *account)
{
    struct guard *guard = process_enter(caller);
    *account = guard;
    return guard || !altstack_wanted() ? guard : guard_enter(caller);
}

/* ---- Joinable threads -------------------------------------------------------------------------
 *
 * A thread may detach itself before pthread_create returns, and its creator may wait for it before
 * it has begun. So it is noted before it is made, as unborn, and whoever is first of the two says
 * what it is called. */

static uint64_t unborn(uint32_t serial)
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

static void note_unborn(struct guard *guard, const struct frame *caller, uint32_t serial,
                        const pthread_attr_t *attributes)
{
    struct news news = {.type = LEAK_RESOURCE_THREAD,
                        .sort = LEAK_SORT_THREAD,
                        .id = unborn(serial),
                        .bytes = serial,
                        .fd = -1};
    if (resource_is_tracked(LEAK_RESOURCE_THREAD) && !is_detached(attributes))
        handle_table_add(guard, &news, resource_mark_caller(guard, caller));
}

/* Where its name was put may be gone with the thread itself. */
static NOINLINE void note_born(const struct frame *caller, uint32_t serial, const pthread_t *thread)
{
    pthread_t name;
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    if (handle_table_find(LEAK_RESOURCE_THREAD, unborn(serial)).number &&
        sys_peek((uintptr_t)thread, &name, sizeof name))
        handle_table_move(guard, LEAK_RESOURCE_THREAD, unborn(serial), name);
    guard_leave(guard);
}

static void forget_unborn(struct guard *guard, uint32_t serial)
{
    struct handle_ref thread = handle_table_find(LEAK_RESOURCE_THREAD, unborn(serial));
    handle_table_remove(guard, &thread);
}

/* ---- Beginning ------------------------------------------------------------------------------ */

static NOINLINE struct call come_to_life(const struct thread_start *note)
{
    struct thread_start start = *note;
    struct frame caller = CALLER_FRAME();
    bool account;
    struct guard *guard = enter(&caller, &account);
    if (guard) {
        threads_free_start(guard, (struct thread_start *)note);
        if (account)
            threads_enter(guard, &start);
        altstack_begin(guard);
        if (account && resource_is_tracked(LEAK_RESOURCE_THREAD))
            handle_table_move(guard, LEAK_RESOURCE_THREAD, unborn(start.serial), pthread_self());
        guard_leave(guard);
    }
    return (struct call){start.routine, start.argument};
}

/* Ends in a jump when optimised: then no frame of ours is below the program's. */
static void *begin_thread(void *note)
{
    struct call call = come_to_life(note);
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
    bool account;
    struct guard *guard = enter(&caller, &account);
    struct thread_start *start = guard ? threads_prepare_start(guard) : NULL;
    uint32_t serial = 0;
    operators_settle(guard);
    if (start) {
        guard->calling_real = true;
        start->routine = routine;
        start->argument = argument;
        start->stack_size = stack_size_of(attributes);
        guard->calling_real = false;
        serial = start->serial;
        note_unborn(guard, &caller, serial, attributes);
    }
    if (guard)
        guard_leave(guard);
    if (!start)
        return real.pthread_create(thread, attributes, routine, argument);
    int error = real.pthread_create(thread, attributes, begin_thread, start);
    if (error && (guard = enter(&caller, &account))) {
        threads_free_start(guard, start);
        forget_unborn(guard, serial);
        guard_leave(guard);
    }
    if (!error && resource_is_tracked(LEAK_RESOURCE_THREAD))
        note_born(&caller, serial, thread);
    return error;
}

/* ---- The end -------------------------------------------------------------------------------- */

/* Its name is another thread's as soon as the real function has done: so it is looked up before.
 */
static struct handle_ref find_thread(const struct frame *caller, pthread_t thread)
{
    struct handle_ref found = {.number = 0};
    struct guard *guard = process_enter(caller);
    if (!guard)
        return found;
    found = handle_table_find(LEAK_RESOURCE_THREAD, thread);
    guard_leave(guard);
    return found;
}

static void forget_thread(const struct frame *caller, const struct handle_ref *found)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    handle_table_remove(guard, found);
    guard_leave(guard);
}

#define SETTLED(call)                                                                              \
    ({                                                                                             \
        real_find();                                                                               \
        int error_;                                                                                \
        if (resource_is_tracked(LEAK_RESOURCE_THREAD)) {                                                 \
            struct frame caller_ = CALLER_FRAME();                                                 \
            struct handle_ref found_ = find_thread(&caller_, thread);                               \
            error_ = call;                                                                         \
            if (error_ == 0)                                                                       \
                forget_thread(&caller_, &found_);                                                  \
        } else {                                                                                   \
            error_ = call;                                                                         \
        }                                                                                          \
        error_;                                                                                    \
    })

EXPORT int pthread_join(pthread_t thread, void **result)
{
    return SETTLED(real.pthread_join(thread, result));
}

EXPORT int pthread_tryjoin_np(pthread_t thread, void **result)
{
    return SETTLED(real.pthread_tryjoin_np(thread, result));
}

EXPORT int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
    return SETTLED(real.pthread_timedjoin_np(thread, result, until));
}

EXPORT int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
                                const struct timespec *until)
{
    real_find();
    if (!real.pthread_clockjoin_np) /* glibc before 2.31 */
        return ENOSYS;
    return SETTLED(real.pthread_clockjoin_np(thread, result, clock, until));
}

EXPORT int pthread_detach(pthread_t thread)
{
    return SETTLED(real.pthread_detach(thread));
}
