#include "preload/leakcheck/exit_callbacks.h"
#include "preload/base/arena.h"
#include "preload/base/lock.h"
#include "leak_store.h"

#define MOST (LEAK_PAGE / sizeof(void (*)(void)))

static struct lock lock; /* guards what follows */
static void (**callbacks)(void);
static uint32_t count;

bool farewell_add(struct guard *guard UNUSED, void (*callback)(void))
{
    struct locked locked = lock_take(&lock);
    if (!callbacks)
        callbacks = arena_map(LEAK_PAGE);
    bool room = callbacks && count < MOST;
    if (room)
        callbacks[count++] = callback;
    lock_give(&locked);
    return room;
}

void farewell_call(void)
{
    for (;;) {
        struct locked locked = lock_take(&lock);
        void (*callback)(void) = count ? callbacks[--count] : NULL;
        lock_give(&locked);
        if (!callback)
            return;
        callback();
    }
}

LOCK_FOR_FORK(farewell, &lock)
