#include "preload/process/stack_scrub.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "leak_store.h"

#define SCRUBBED_MOST 65536
#define NEAR 256 /* below sp: may be in use by a function that calls none */

/* Zeros from here downwards, to the end of the stack or of what of it is mapped. */
static NOINLINE void scrub_far(uintptr_t end)
{
    uintptr_t high = (arch_stack_pointer() & -LEAK_PAGE), low = high;
    char byte;
    while (high - low < SCRUBBED_MOST && low - LEAK_PAGE >= end &&
           sys_peek(low - LEAK_PAGE, &byte, 1))
        low -= LEAK_PAGE;
    for (volatile uintptr_t *word = (uintptr_t *)low; (uintptr_t)word < high; word++)
        *word = 0;
    /* What is left of this page, above the frame that does it. */
    if (high < end)
        high = end;
    for (volatile uintptr_t *word = (uintptr_t *)high;
         (uintptr_t)word + NEAR < arch_stack_pointer(); word++)
        *word = 0;
}

/* What the frame of that had lain upon. */
static NOINLINE void scrub_near(void)
{
    volatile uintptr_t zone[128];
    for (size_t i = 0; i < ARRAY_LENGTH(zone); i++)
        zone[i] = 0;
}

void scrub_stack(void)
{
    const struct thread *thread = guard_self.thread;
    uintptr_t sp = arch_stack_pointer();
    if (!thread || sp >= thread->bounds.high || sp < thread->bounds.low + LEAK_PAGE)
        return;
    scrub_far(thread->bounds.low);
    scrub_near();
}
