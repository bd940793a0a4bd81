#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/sys.h"
#include "leak_store.h"

static uint64_t limit, used;

void arena_limit(uint64_t bytes)
{
    limit = bytes;
}

bool arena_charge(uint64_t bytes)
{
    uint64_t before = add_relaxed(&used, bytes);
    if (likely(!limit || before + bytes <= limit))
        return true;
    sub_relaxed(&used, bytes);
    return false;
}

void arena_discharge(uint64_t bytes)
{
    sub_relaxed(&used, bytes);
}

void *arena_map(size_t size)
{
    size = round_up(size, LEAK_PAGE);
    if (!arena_charge(size))
        return NULL;
    void *memory = sys_map(size);
    if (!memory)
        sub_relaxed(&used, size);
    return memory;
}

void arena_unmap(void *memory, size_t size)
{
    if (!memory)
        return;
    size = round_up(size, LEAK_PAGE);
    sys_unmap(memory, size);
    sub_relaxed(&used, size);
}

uint64_t arena_used(void)
{
    return load_relaxed(&used);
}
