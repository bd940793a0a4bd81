/* hook_thread.c - pthread_create: a thread is known from its first instruction.
 *
 * Its number is given here, in the order of creation, so it is the same in every run. The start
 * routine is entered by a jump: no frame of ours stands on the new thread's stack, and no token is
 * held.
 */
#include "preload/altstack.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/threads.h"

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

static NOINLINE struct call come_to_life(const struct thread_start *note)
{
    struct thread_start start = *note;
    struct frame caller = CALLER_FRAME();
    bool account;
    struct guard *guard = enter(&caller, &account);
    if (guard) {
        threads_forget(guard, (struct thread_start *)note);
        if (account)
            threads_begin(guard, &start);
        altstack_begin(guard);
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
    struct thread_start *start = guard ? threads_announce(guard) : NULL;
    if (start) {
        guard->calling_real = true;
        start->routine = routine;
        start->argument = argument;
        start->stack_size = stack_size_of(attributes);
        guard->calling_real = false;
    }
    if (guard)
        guard_leave(guard);
    if (!start)
        return real.pthread_create(thread, attributes, routine, argument);
    int error = real.pthread_create(thread, attributes, begin_thread, start);
    if (error && (guard = enter(&caller, &account))) {
        threads_forget(guard, start);
        guard_leave(guard);
    }
    return error;
}
