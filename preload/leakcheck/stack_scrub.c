/* stack_scrub.c - clears the dead part of the stack below the stack pointer. */
#include "preload/leakcheck/stack_scrub.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "leak_store.h"

#include <signal.h>

#define SCRUBBED_MAX 65536
#define RED_ZONE 256 /* bytes below the stack pointer that a leaf function may use */

/* Clears up to SCRUBBED_MAX bytes of the stack below this frame, but not beyond "end", nor pages
 * that are not mapped. */
static NOINLINE void scrub_far(uintptr_t end)
{
    uintptr_t high = (arch_stack_pointer() & -LEAK_PAGE), low = high;
    char byte;
    while (high - low < SCRUBBED_MAX && low - LEAK_PAGE >= end &&
           sys_peek(low - LEAK_PAGE, &byte, 1))
        low -= LEAK_PAGE;
    for (volatile uintptr_t *word = (uintptr_t *)low; (uintptr_t)word < high; word++)
        *word = 0;
    /* Clears the rest of this page, up to the red zone of this frame. */
    if (high < end)
        high = end;
    for (volatile uintptr_t *word = (uintptr_t *)high;
         (uintptr_t)word + RED_ZONE < arch_stack_pointer(); word++)
        *word = 0;
}

NOINLINE void stack_scrub_near(void)
{
    volatile uintptr_t zone[128];
    for (size_t i = 0; i < ARRAY_LENGTH(zone); i++)
        zone[i] = 0;
}

void stack_scrub_idle_signal_stack(void)
{
    stack_t stack;
    char byte;
    if (sys_signal_stack(NULL, &stack) < 0 || stack.ss_flags & (SS_DISABLE | SS_ONSTACK))
        return;
    uintptr_t low = round_up((uintptr_t)stack.ss_sp, sizeof(uintptr_t));
    uintptr_t high = (uintptr_t)stack.ss_sp + stack.ss_size;
    for (uintptr_t at = low; at + sizeof(uintptr_t) <= high; at += sizeof(uintptr_t)) {
        volatile uintptr_t *word = (uintptr_t *)at;
        if ((at == low || at % LEAK_PAGE == 0) && !sys_peek(at, &byte, 1))
            return;
        if (*word)
            *word = 0;
    }
}

void stack_scrub(void)
{
    const struct thread *thread = guard_self.thread;
    uintptr_t sp = arch_stack_pointer();
    if (!thread || sp >= thread->bounds.high || sp < thread->bounds.low + LEAK_PAGE)
        return;
    scrub_far(thread->bounds.low);
    /* Clears the part of the stack where the frame of scrub_far was. */
    stack_scrub_near();
}
