#include "preload/misuse/address_kind.h"
#include "preload/interpose/static_malloc.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/sys.h"

static bool is_on_stack(const struct thread *thread, uintptr_t address)
{
    const struct unwind_bounds *bounds = &thread->bounds;
    return address - bounds->low < bounds->high - bounds->low;
}

struct search {
    uintptr_t address;
    bool found;
};

static void visit(const struct thread *thread, void *context)
{
    struct search *search = context;
    search->found |= is_on_stack(thread, search->address);
}

static bool is_unmapped(uintptr_t address)
{
    char byte, probe = 0;
    return !sys_peek(address, &byte, 1) && sys_peek((uintptr_t)&probe, &byte, 1);
}

enum leak_place strays_place(const struct thread *thread, uintptr_t address)
{
    struct search search = {.address = address};
    /* First, for the bounds of a stack may reach further than what is mapped of it. */
    if (is_unmapped(address))
        return LEAK_PLACE_UNMAPPED;
    if (thread && is_on_stack(thread, address))
        return LEAK_PLACE_STACK;
    threads_each(visit, &search);
    if (search.found)
        return LEAK_PLACE_OTHER_STACK;
    /* An allocator's pool may be in its own data. */
    if (modules_around(address) && !modules_same((uintptr_t)real.free, address) &&
        !(linked_home && modules_same(linked_home, address)))
        return LEAK_PLACE_OBJECT;
    return LEAK_PLACE_NONE;
}
