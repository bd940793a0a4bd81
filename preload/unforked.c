#include "preload/unforked.h"
#include "preload/arena.h"
#include "preload/lock.h"
#include "preload/sys.h"
#include "leak_store.h"

#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif

#define RANGES_MOST 512

static struct lock lock; /* guards what follows */
static struct range {
    uintptr_t start, end;
} ranges[RANGES_MOST];
static uint32_t count;

static char *saved;
static size_t saved_size;

/* What of the range has other advice by now. */
static void forget(uintptr_t start, uintptr_t end)
{
    for (uint32_t i = count; i--;) {
        struct range *range = &ranges[i], rest = {end, range->end};
        if (range->start >= end || range->end <= start)
            continue;
        if (range->start < start) {
            range->end = start;
            if (rest.start < rest.end && count < RANGES_MOST)
                ranges[count++] = rest;
        } else if (rest.start < rest.end) {
            *range = rest;
        } else {
            *range = ranges[--count];
        }
    }
}

void unforked_note(uintptr_t start, size_t size, int advice)
{
    bool kept = advice == MADV_DONTFORK || advice == MADV_WIPEONFORK;
    if (!kept && advice != MADV_DOFORK && advice != MADV_KEEPONFORK)
        return;
    struct locked locked = lock_take(&lock);
    uintptr_t end = start + round_up(size, sys_page_size());
    forget(start, end);
    if (kept && count < RANGES_MOST)
        ranges[count++] = (struct range){start, end};
    lock_give(&locked);
}

/* Pages that are not there any more stay zero. */
void unforked_save(void)
{
    size_t size = 0, at = 0;
    for (uint32_t i = 0; i < count; i++)
        size += ranges[i].end - ranges[i].start;
    if (!size || size > UNFORKED_MOST || !(saved = arena_map(size)))
        return;
    saved_size = size;
    for (uint32_t i = 0; i < count; i++)
        for (uintptr_t page = ranges[i].start; page < ranges[i].end; page += LEAK_PAGE) {
            sys_peek(page, saved + at, LEAK_PAGE);
            at += LEAK_PAGE;
        }
}

void unforked_drop(void)
{
    arena_unmap(saved, saved_size);
    saved = NULL;
}

void unforked_restore(void)
{
    size_t at = 0;
    for (uint32_t i = 0; saved && i < count; i++) {
        size_t size = ranges[i].end - ranges[i].start;
        if (sys_map_zeros((void *)ranges[i].start, size))
            memcpy((void *)ranges[i].start, saved + at, size);
        at += size;
    }
}
