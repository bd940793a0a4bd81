/* hook_thread.c - pthread_create: a thread is known from its first instruction.
 *
 * Its number is given here, in the order of creation, so it is the same in every run. The start
 * routine is entered by a jump: no frame of ours stands on the new thread's stack, and no token is
 * held.
 *
 * And pthread_join and its kin: a thread that nobody waits for and nobody detaches keeps its stack.
 */
#include "preload/belongings.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/threads.h"

#include <errno.h>

struct call {
    void *(*routine)(void *);
    void *argument;
};

/* Before its first instruction: it may detach itself. */
static void note_joinable(struct guard *guard, const struct thread_start *start)
{
    struct news news = {.type = LEAK_RESOURCE_THREAD,
                        .form = LEAK_FORM_THREAD,
                        .id = pthread_self(),
                        .bytes = start->serial,
                        .fd = -1};
    if (start->made.node)
        belongings_came(guard, &news, start->made);
}

static NOINLINE struct call come_to_life(const struct thread_start *note)
{
    struct thread_start start = *note;
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    if (guard) {
        threads_forget(guard, (struct thread_start *)note);
        threads_begin(guard, &start);
        note_joinable(guard, &start);
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

static bool is_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes)
        pthread_attr_getdetachstate(attributes, &state);
    return state == PTHREAD_CREATE_DETACHED;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*routine)(void *), void *argument)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    struct thread_start *start = guard ? threads_announce(guard) : NULL;
    if (start) {
        guard->calling_real = true;
        start->routine = routine;
        start->argument = argument;
        start->stack_size = stack_size_of(attributes);
        guard->calling_real = false;
        start->made = (struct leak_mark){0};
        if (records_track(LEAK_RESOURCE_THREAD) && !is_detached(attributes))
            start->made = records_mark(guard, &caller);
    }
    if (guard)
        guard_leave(guard);
    if (!start)
        return real.pthread_create(thread, attributes, routine, argument);
    int error = real.pthread_create(thread, attributes, begin_thread, start);
    if (error && (guard = process_enter(&caller))) {
        threads_forget(guard, start);
        guard_leave(guard);
    }
    return error;
}

/* Its number is another thread's as soon as the real function has done: so it is looked up before.
 */
static struct belonging find_thread(const struct frame *caller, pthread_t thread)
{
    struct belonging found = {.number = 0};
    struct guard *guard = process_enter(caller);
    if (!guard)
        return found;
    found = belongings_find(LEAK_RESOURCE_THREAD, thread);
    guard_leave(guard);
    return found;
}

static void forget_thread(const struct frame *caller, const struct belonging *found)
{
    struct guard *guard = process_enter(caller);
    if (!guard)
        return;
    belongings_went(guard, found);
    guard_leave(guard);
}

#define SETTLED(call)                                                                              \
    ({                                                                                             \
        real_find();                                                                               \
        int error_;                                                                                \
        if (records_track(LEAK_RESOURCE_THREAD)) {                                                 \
            struct frame caller_ = CALLER_FRAME();                                                 \
            struct belonging found_ = find_thread(&caller_, thread);                               \
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
