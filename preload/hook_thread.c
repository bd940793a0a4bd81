/* hook_thread.c - pthread_create: a thread is known from its first instruction.
 *
 * Its number is given here, in the order of creation, so it is the same in every run. The start routine is
 * entered by a jump: no frame of ours stands on the new thread's stack, and no token is held.
 */
#include "preload/process.h"
#include "preload/real.h"
#include "preload/store.h"
#include "preload/threads.h"
#include "arch.h"

#include <errno.h>

struct start {
    void *(*routine)(void *);
    void *argument;
    size_t stack_size;
    uint32_t serial;
};

/* The block comes from the real allocator, unseen by the account, and goes the same way. */
static void *begin(void *argument)
{
    struct start start = *(struct start *)argument;
    struct frame caller = CALLER_FRAME();
    struct guard *guard = process_enter(&caller);
    real.free(argument);
    if (guard) {
        threads_begin(guard, start.serial, start.stack_size);
        guard_leave(guard);
    }
    return start.routine(start.argument);
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
    struct guard *guard = process_enter(&caller);
    struct start *start = NULL;
    if (guard) {
        guard->calling_real = true; /* what libc allocates meanwhile it frees again */
        start = real.malloc(sizeof *start);
        if (start)
            *start =
                (struct start){routine, argument, stack_size_of(attributes), threads_announce()};
        guard->calling_real = false;
        guard_leave(guard);
    }
    if (!start)
        return real.pthread_create(thread, attributes, routine, argument);
    int error = real.pthread_create(thread, attributes, begin, start);
    if (error)
        real.free(start);
    return error;
}
