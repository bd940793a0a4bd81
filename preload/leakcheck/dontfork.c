#include "preload/leakcheck/dontfork.h"
#include "preload/base/arena.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"
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

/* Page by page, in the order of the ranges: first all flags, then all pages. */
static struct {
    uint8_t *there; /* the page was read, and is the program's */
    char *pages;
    size_t size;
} saved;

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

/* Whose places are in the list of ours? */
static void leave_out(uintptr_t start, size_t size, void *context UNUSED)
{
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uintptr_t page = ranges[i].start; page < ranges[i].end; page += LEAK_PAGE, at++)
            if (page < start + size && start < page + LEAK_PAGE)
                saved.there[at] = 0;
}

void unforked_save(void)
{
    size_t pages = 0, at = 0;
    for (uint32_t i = 0; i < count; i++)
        pages += (ranges[i].end - ranges[i].start) / LEAK_PAGE;
    if (!pages || pages * LEAK_PAGE > UNFORKED_MOST)
        return;
    size_t flags = round_up(pages, LEAK_PAGE);
    saved.size = flags + pages * LEAK_PAGE;
    saved.there = sys_map(saved.size);
    if (!saved.there)
        return;
    saved.pages = (char *)saved.there + flags;
    for (uint32_t i = 0; i < count; i++)
        for (uintptr_t page = ranges[i].start; page < ranges[i].end; page += LEAK_PAGE, at++)
            saved.there[at] = sys_peek(page, saved.pages + at * LEAK_PAGE, LEAK_PAGE);
    arena_each_range(leave_out, NULL);
}

void unforked_drop(void)
{
    if (saved.there)
        sys_unmap(saved.there, saved.size);
    saved.there = NULL;
}

void unforked_restore(void)
{
    size_t at = 0;
    for (uint32_t i = 0; saved.there && i < count; i++)
        for (uintptr_t page = ranges[i].start; page < ranges[i].end; page += LEAK_PAGE, at++)
            if (saved.there[at] && sys_map_zeros((void *)page, LEAK_PAGE))
                memcpy((void *)page, saved.pages + at * LEAK_PAGE, LEAK_PAGE);
    if (saved.there)
        arena_register(saved.there, saved.size); /* not the program's: it would be read twice */
}

LOCK_FOR_FORK(unforked, &lock)
