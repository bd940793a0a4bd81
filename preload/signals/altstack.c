#include "preload/signals/altstack.h"
#include "preload/base/arena.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/lock.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/sys.h"
#include "leak_store.h"

#include <pthread.h>
#include <sys/auxv.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
#define FRAME_LEAST 4096 /* where the kernel does not say */
#define ROOM (32u << 10)
#define SLAB 8 /* stacks of one mapping */

static struct lock lock; /* guards what follows */
static struct place {
    struct place *next;
    uintptr_t low;
} * free_places;
static struct place *row; /* places that were never used: the rest of a page */
static unsigned row_left;

static size_t size; /* of a stack; 0: nobody gets one */
static pthread_key_t key;

bool altstack_wanted(void)
{
    return size != 0;
}

/* The lock is held. */
static void make_places(void)
{
    char *slab = arena_map(SLAB * size);
    if (slab && row_left < SLAB) {
        row = arena_map(LEAK_PAGE);
        row_left = row ? LEAK_PAGE / sizeof *row : 0;
    }
    for (unsigned i = 0; slab && i < SLAB && row_left; i++, row_left--, row++) {
        *row = (struct place){free_places, (uintptr_t)slab + i * size};
        free_places = row;
    }
}

static struct place *take_place(void)
{
    struct locked locked = lock_take(&lock);
    if (!free_places)
        make_places();
    struct place *place = free_places;
    if (place)
        free_places = place->next;
    lock_give(&locked);
    return place;
}

static void give_place(struct place *place)
{
    struct locked locked = lock_take(&lock);
    place->next = free_places;
    free_places = place;
    lock_give(&locked);
}

/* The program has none. */
static void put(uintptr_t low)
{
    const stack_t ours = {.ss_sp = (void *)low, .ss_size = size};
    sys_signal_stack(&ours, NULL);
}

static bool is_ours(const stack_t *stack)
{
    return handlers_stack.size && (uintptr_t)stack->ss_sp == handlers_stack.low;
}

/* At the end of a thread. What it still does runs without; the program's own stays. A call of the
 * kernel here and one at the beginning are what a thread pays. */
static void leave(void *argument)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    struct place *place = argument;
    stack_t before;
    if (sys_signal_stack(&none, &before) < 0)
        return; /* it ends on one: nobody may have ours again */
    if (!is_ours(&before))
        sys_signal_stack(&before, NULL);
    handlers_stack.size = 0;
    give_place(place);
}

void altstack_begin(struct guard *guard UNUSED)
{
    struct place *place = size ? take_place() : NULL;
    if (!place)
        return;
    handlers_stack = (struct handlers_stack){place->low, size};
    put(place->low);
    pthread_setspecific(key, place);
}

void altstack_start(struct guard *guard)
{
    size_t frame = getauxval(AT_MINSIGSTKSZ);
    stack_t now;
    size = round_up((frame > FRAME_LEAST ? frame : FRAME_LEAST) + ROOM, sys_page_size());
    if (pthread_key_create(&key, leave) != 0) /* every thread's would be lost */
        size = 0;
    if (sys_signal_stack(NULL, &now) >= 0 && now.ss_flags & SS_DISABLE)
        altstack_begin(guard);
}

/* The kernel answers first, so that its errors are the program's. */
int altstack_change(const stack_t *stack, stack_t *old)
{
    stack_t now, given;
    if (stack && stack == old) { /* a swap */
        given = *stack;
        stack = &given;
    }
    bool ours = handlers_stack.size && sys_signal_stack(NULL, &now) >= 0 && is_ours(&now);
    int result = old ? real.sigaltstack(NULL, old) : 0;
    if (result == 0 && stack)
        result = real.sigaltstack(stack, NULL);
    if (result == 0 && stack && stack->ss_flags & SS_DISABLE && handlers_stack.size)
        put(handlers_stack.low);
    if (result == 0 && old && ours)
        *old = (stack_t){.ss_flags = SS_DISABLE};
    return result;
}

LOCK_FOR_FORK(altstack, &lock)

void altstack_fork_child(void)
{
    lock.word = 0;
}
