#include "preload/misuse/bad_free.h"
#include "preload/base/atomic.h"
#include "preload/heap/capture.h"
#include "preload/interpose/real_functions.h"
#include "preload/heap/sample.h"
#include "preload/unwind/sites.h"
#include "preload/store/store.h"

/* Left-out blocks are unknown as well: then the number would mean nothing. */
static void count_unknown(void)
{
    if (!track_options.min_size && !track_options.max_size && !sample_bytes)
        add_relaxed(&store_header->unknown_frees, 1);
}

static void see(struct guard *guard, struct misuse *call)
{
    call->node = capture_call(guard, call->caller, true, &call->thread);
}

/* A fork child counts what it finds in its table, and this block was out of it. */
static void inherit(const struct block *block)
{
    uint64_t blocks = sample_bytes ? sample_count(block, true) : 1;
    sites_inherit(block->site, blocks, blocks * block->size);
    add_relaxed(&store_header->live_bytes, blocks * block->size);
}

void wrongs_of_block(struct guard *guard, const struct frame *caller, const struct block *block,
                     uint32_t how)
{
    struct misuse call = {caller, block->address, how, 0, NULL};
    if (misuse_is_right(&call, block))
        return;
    see(guard, &call);
    if (misuse_of_block(guard, &call, block))
        inherit(block);
}

void wrongs_of_carved(struct guard *guard, const struct frame *caller, const struct carved *block,
                      uint32_t how, uint32_t pool)
{
    struct misuse call = {caller, block->block.address, how, 0, NULL};
    see(guard, &call);
    if (misuse_of_carved(guard, &call, block, pool))
        inherit(&block->block);
}

void wrongs_of_carving(struct guard *guard, const struct frame *caller, uintptr_t address,
                       uint32_t how, uint32_t pool)
{
    struct misuse call = {caller, address, how, 0, NULL};
    see(guard, &call);
    misuse_of_carving(guard, &call, pool);
}

void wrongs_of_member(struct guard *guard, const struct frame *caller, const struct carved *block)
{
    struct misuse call = {caller, block->block.address, BY_POOL_DESTROY, 0, NULL};
    see(guard, &call);
    if (misuse_of_member(guard, &call, block))
        inherit(&block->block);
}

void wrongs_of_unknown(struct guard *guard, const struct frame *caller, uintptr_t address,
                       uint32_t how)
{
    struct misuse call = {caller, address, how, 0, NULL};
    see(guard, &call);
    if (!misuse_of_pointer(guard, &call))
        count_unknown();
}

bool wrongs_of_waiting(struct guard *guard, const struct frame *caller, uintptr_t address,
                       uint32_t how)
{
    struct misuse call = {caller, address, how, 0, NULL};
    struct waiting waiting;
    if (!quarantine_is_on() || !quarantine_find(guard, address, how == BY_REALLOC, &waiting))
        return false;
    see(guard, &call);
    misuse_of_waiting(guard, &call, &waiting);
    return true;
}

bool wrongs_put_off(struct guard *guard, const struct frame *caller, void *pointer,
                    const struct block *block, uint32_t how)
{
    struct misuse call = {caller, block->address, how, 0, NULL};
    see(guard, &call);
    struct waiting waiting = {pointer,
                              *block,
                              caller->pc,
                              call.node,
                              call.thread ? call.thread->serial : 0,
                              store_header->epoch,
                              release_form(how)};
    if (!quarantine_put(guard, &waiting))
        return false;
    guard->calling_real = true;
    while ((pointer = quarantine_surplus(guard)))
        real.free(pointer); /* there is but one allocator then: hook_linked.c */
    guard->calling_real = false;
    return true;
}
