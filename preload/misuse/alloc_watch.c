#include "preload/misuse/alloc_watch.h"
#include "preload/misuse/break_at.h"
#include "preload/misuse/eventlog.h"
#include "preload/unwind/unwind_check.h"
#include "preload/unwind/sites.h"

static uint32_t sooner(uint32_t a, uint32_t b)
{
    return !a || (b && b < a) ? b : a;
}

static uint32_t next(const struct thread *thread)
{
    uint32_t count = thread->record->allocations;
    if (eventlog_level)
        return count + 1;
    return sooner(oracle_next(count), breaks_next(thread->serial, count));
}

void watch_start(struct guard *guard)
{
    threads_watch_from = eventlog_level || oracle_next(0) || breaks_any();
    if (!guard->thread)
        return;
    guard->thread->watch_at = threads_watch_from;
    guard->thread->stop_at = 0;
}

void watch_allocation(struct guard *guard, struct thread *thread, const struct frame *caller,
                      const struct block *block)
{
    if (oracle_wants(block->count) && block->site)
        oracle_compare(guard, &thread->oracle, &thread->bounds, caller, sites_node(block->site));
    if (eventlog_level)
        eventlog_came(guard, caller, thread, block);
    if (block->site && !thread->stand_in) /* for that one a lock is held */
        breaks_meet(guard, caller, block);
    thread->watch_at = next(thread); /* a handler may have allocated meanwhile */
}
