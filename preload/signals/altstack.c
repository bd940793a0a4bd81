#include "preload/signals/altstack.h"
#include "preload/memory/arena.h"
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
#define MIN_FRAME 4096 /* size of a signal frame, if the kernel does not provide AT_MINSIGSTKSZ */
#define ROOM (32u << 10)
#define SLAB 8 /* number of stacks in one mapping */

static struct lock lock; /* guards free_slots, unused and unused_count */
static struct slot {
    struct slot *next;
    uintptr_t low;
} * free_slots;
static struct slot *unused; /* slots that were never used: the rest of a page */
static unsigned unused_count;

static size_t size; /* size in bytes of a stack; 0: threads get no alternate stack */
static pthread_key_t key;

bool altstack_is_enabled(void)
{
    return size != 0;
}

/* Maps memory for SLAB stacks, and adds them to the free ones; the caller holds the lock. */
static void map_slab(void)
{
    char *slab = arena_map(SLAB * size);
    if (slab && unused_count < SLAB) {
        unused = arena_map(LEAK_PAGE);
        unused_count = unused ? LEAK_PAGE / sizeof *unused : 0;
    }
    for (unsigned i = 0; slab && i < SLAB && unused_count; i++, unused_count--, unused++) {
        *unused = (struct slot){free_slots, (uintptr_t)slab + i * size};
        free_slots = unused;
    }
}

static struct slot *pop_slot(void)
{
    struct locked locked = lock_take(&lock);
    if (!free_slots)
        map_slab();
    struct slot *slot = free_slots;
    if (slot)
        free_slots = slot->next;
    lock_give(&locked);
    return slot;
}

static void push_slot(struct slot *slot)
{
    struct locked locked = lock_take(&lock);
    slot->next = free_slots;
    free_slots = slot;
    lock_give(&locked);
}

static void install_stack(uintptr_t low)
{
    const stack_t ours = {.ss_sp = (void *)low, .ss_size = size};
    sys_signal_stack(&ours, NULL);
}

static bool is_ours(const stack_t *stack)
{
    return trampoline_thread.altstack.size &&
           (uintptr_t)stack->ss_sp == trampoline_thread.altstack.low;
}

/* Removes the stack at the end of a thread, whose last destructors run without it; an alternate
 * stack of the program stays installed. A thread costs one system call here and one at its
 * beginning. */
static void end_thread(void *argument)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    struct slot *slot = argument;
    stack_t before;
    if (sys_signal_stack(&none, &before) < 0)
        return; /* the thread ends on its alternate stack: keep the memory mapped and unused */
    if (!is_ours(&before))
        sys_signal_stack(&before, NULL);
    trampoline_thread.altstack.size = 0;
    push_slot(slot);
}

void altstack_begin_thread(struct guard *guard UNUSED)
{
    struct slot *slot = size ? pop_slot() : NULL;
    if (!slot)
        return;
    trampoline_thread.altstack = (struct trampoline_altstack){slot->low, size};
    install_stack(slot->low);
    pthread_setspecific(key, slot);
}

void altstack_start(struct guard *guard)
{
    size_t frame = getauxval(AT_MINSIGSTKSZ);
    stack_t now;
    size = round_up((frame > MIN_FRAME ? frame : MIN_FRAME) + ROOM, sys_page_size());
    /* If there is no key, threads get no stack: the stacks of ended threads would leak. */
    if (pthread_key_create(&key, end_thread) != 0)
        size = 0;
    if (sys_signal_stack(NULL, &now) >= 0 && now.ss_flags & SS_DISABLE)
        altstack_begin_thread(guard);
}

/* Does what sigaltstack does. The kernel is called first, so that the program gets its errors. */
int altstack_set(const stack_t *stack, stack_t *old)
{
    stack_t now, given;
    if (stack && stack == old) { /* the program uses one variable for both */
        given = *stack;
        stack = &given;
    }
    bool ours =
        trampoline_thread.altstack.size && sys_signal_stack(NULL, &now) >= 0 && is_ours(&now);
    int result = old ? real.sigaltstack(NULL, old) : 0;
    if (result == 0 && stack)
        result = real.sigaltstack(stack, NULL);
    if (result == 0 && stack && stack->ss_flags & SS_DISABLE && trampoline_thread.altstack.size)
        install_stack(trampoline_thread.altstack.low);
    if (result == 0 && old && ours)
        *old = (stack_t){.ss_flags = SS_DISABLE};
    return result;
}

LOCK_FOR_FORK(altstack, &lock)

void altstack_fork_child(void)
{
    lock.word = 0;
}
