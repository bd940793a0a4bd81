#include "preload/misuse/misuse.h"
#include "preload/base/atomic.h"
#include "preload/misuse/events.h"
#include "preload/interpose/static_malloc.h"
#include "preload/interpose/operator_override.h"
#include "preload/heap/pools.h"
#include "preload/misuse/on_error.h"
#include "preload/heap/sample.h"
#include "preload/store/store.h"
#include "preload/misuse/address_kind.h"
#include "preload/misuse/live_error.h"
#include "preload/misuse/error_text.h"
#include "preload/base/strbuf.h"
#include "arch.h"

/* What a program releases by the thousand, and nobody knows of, is another allocator's. From then
 * on a pointer beside such a one is not looked at; and in the end none is, so much would looking
 * cost. */
#define FOREIGN_FEW 4096
#define FOREIGN_MOST 65536
#define BESIDE_BITS 16
#define BESIDES 1024 /* a power of two: 64 MiB of another heap */
/* An array of objects with destructors has their number before them, in 8 bytes or in 16. */
#define COOKIES 2

static bool live_lines;
static uint32_t foreign;         /* that were looked at */
static uint64_t beside[BESIDES]; /* where the last one was, and 1 more: 0 is nowhere */

void misuse_start(const char *on_error, bool live)
{
    live_lines = live;
    if (live)
        tell_start();
    reactions_start(on_error);
}

static struct leak_event event_of(const struct misuse *call, enum leak_event_type type)
{
    return (struct leak_event){.type = type,
                               .form = release_form(call->how),
                               .address = call->address,
                               .pc = call->caller->pc,
                               .node = call->node,
                               .thread = call->thread ? call->thread->serial : 0,
                               .tick = store_header->epoch};
}

static void add_block(struct leak_event *event, const struct block *block)
{
    event->site = block->site;
    event->size = block->size;
    event->offset = (int64_t)(event->address - block->address);
    event->block_thread = block->thread;
    event->block_count = block->count;
}

/* In the store first; then what the user wants to hear and to happen at once. */
static bool met(struct guard *guard, const struct misuse *call, const struct leak_event *event)
{
    bool fresh = events_add(guard, event);
    if (fresh && live_lines)
        tell(guard, event);
    if (reactions_only_report(event->type))
        return false;
    char words[160];
    struct text text = TEXT_ON(words);
    tell_words(event, &text);
    return reactions_act(guard, call->caller, event->type, words);
}

/* ---- A block, and the wrong call ------------------------------------------------------------ */

static bool is_of_operators(const struct misuse *call, const struct block *block)
{
    return release_form(call->how) >= LEAK_FORM_DELETE ||
           !(RELEASE_BY_FREE >> (block->kind & BLOCKS_KIND) & 1);
}

static const struct release_frame *said_of(const struct misuse *call)
{
    return (const struct release_frame *)call->caller;
}

static bool is_aligned_as_said(const struct misuse *call, const struct block *block)
{
    uint64_t right = blocks_alignment(block->kind), said = said_of(call)->alignment;
    return right ? said == right
                 : __builtin_popcountll(said) == 1 && !(block->address & (said - 1));
}

/* NONE: all is well. */
static enum leak_event_type type_of(const struct misuse *call, const struct block *block)
{
    uint32_t how = call->how;
    if (!release_fits(how, block->kind & BLOCKS_KIND))
        return release_form(how) == LEAK_FORM_REALLOC ? LEAK_EVENT_BAD_REALLOC
                                                      : LEAK_EVENT_MISMATCHED_FREE;
    if (how & RELEASE_SIZED && said_of(call)->size != block->size)
        return LEAK_EVENT_SIZE_MISMATCH;
    if (how & RELEASE_ALIGNED && !is_aligned_as_said(call, block))
        return LEAK_EVENT_ALIGNMENT_MISMATCH;
    return LEAK_EVENT_NONE;
}

bool misuse_is_right(const struct misuse *call, const struct block *block)
{
    return type_of(call, block) == LEAK_EVENT_NONE;
}

bool misuse_of_block(struct guard *guard, const struct misuse *call, const struct block *block)
{
    struct leak_event event = event_of(call, type_of(call, block));
    if (operators_replaced() && is_of_operators(call, block))
        return false;
    add_block(&event, block);
    if (event.type == LEAK_EVENT_SIZE_MISMATCH) {
        event.said = said_of(call)->size;
    } else if (event.type == LEAK_EVENT_ALIGNMENT_MISMATCH) {
        event.said = said_of(call)->alignment;
        event.right = blocks_alignment(block->kind);
    }
    return met(guard, call, &event);
}

/* ---- Blocks of the program's own allocators ------------------------------------------------- */

static void add_carved(struct guard *guard, struct leak_event *event, const struct carved *block)
{
    add_block(event, &block->block);
    event->block_pool = pools_tell(guard, block->pool);
}

static bool is_inside_of_carved(struct guard *guard, const struct misuse *call,
                                struct leak_event *event)
{
    struct carved carved;
    if (!load_relaxed(&carved_count) || !carved_find_around(guard, call->address, &carved))
        return false;
    *event = event_of(call, LEAK_EVENT_INTERIOR_FREE);
    add_carved(guard, event, &carved);
    return true;
}

bool misuse_of_carved(struct guard *guard, const struct misuse *call, const struct carved *block,
                      uint32_t pool)
{
    bool moves = release_form(call->how) == LEAK_FORM_REALLOC;
    struct leak_event event =
        event_of(call, moves ? LEAK_EVENT_BAD_REALLOC : LEAK_EVENT_MISMATCHED_FREE);
    add_carved(guard, &event, block);
    event.call_pool = pools_tell(guard, pool);
    return met(guard, call, &event);
}

bool misuse_of_member(struct guard *guard, const struct misuse *call, const struct carved *block)
{
    struct leak_event event = event_of(call, LEAK_EVENT_POOL_LEAK);
    add_carved(guard, &event, block);
    event.call_pool = event.block_pool;
    return met(guard, call, &event);
}

/* ---- A pointer that no block begins at ------------------------------------------------------ */

static uint64_t untracked(enum leak_untracked why)
{
    return load_relaxed(&store_header->untracked[why]);
}

/* Does every block pass by us, when it comes and when it goes? */
static bool sees_all(void)
{
    return !sample_bytes && !(load_relaxed(&store_header->flags) & LEAK_FLAG_LATE) &&
           !untracked(LEAK_UNTRACKED_NESTED) && !untracked(LEAK_UNTRACKED_DEEPBIND) &&
           !untracked(LEAK_UNTRACKED_OWN_ALLOCATOR) && !untracked(LEAK_UNTRACKED_ABANDONED) &&
           !linked_home;
}

/* And is it in the table? */
static bool keeps_all(void)
{
    return !untracked(LEAK_UNTRACKED_FILTERED) && !untracked(LEAK_UNTRACKED_NO_MEMORY);
}

static bool was_freed(struct guard *guard, const struct misuse *call, struct leak_event *event)
{
    struct leak_recent_free last;
    uint32_t thread = 0;
    if (!keeps_all() || !freed_find(guard, call->thread ? &call->thread->freed : NULL,
                                    call->address, &last, &thread))
        return false;
    *event = event_of(call, LEAK_EVENT_DOUBLE_FREE);
    event->site = last.site;
    event->freed_pc = last.pc;
    event->freed_node = last.node;
    event->freed_thread = thread;
    event->freed_tick = last.tick;
    event->freed_form = last.size_form & 0xff;
    return true;
}

static bool is_inside(struct guard *guard, const struct misuse *call, struct leak_event *event)
{
    struct block block;
    if (is_inside_of_carved(guard, call, event))
        return true;
    if (!blocks_find_around(guard, call->address, &block))
        return false;
    *event = event_of(call, LEAK_EVENT_INTERIOR_FREE);
    add_block(event, &block);
    return true;
}

/* delete[] of one object with a destructor looks for the number of objects before it. */
static bool is_before(struct guard *guard, const struct misuse *call, struct leak_event *event)
{
    struct block block;
    if (!(call->how & RELEASE_ARRAY) || operators_replaced())
        return false;
    for (unsigned i = 1; i <= COOKIES; i++)
        if (blocks_find_around(guard, call->address + 8 * i, &block) &&
            block.address == call->address + 8 * i &&
            RELEASE_OF(NEW) >> (block.kind & BLOCKS_KIND) & 1) {
            *event = event_of(call, LEAK_EVENT_MISMATCHED_FREE);
            add_block(event, &block);
            return true;
        }
    return false;
}

static bool is_wild(const struct misuse *call, struct leak_event *event)
{
    enum leak_place place = strays_place(call->thread, call->address);
    if (place == LEAK_PLACE_NONE)
        return false;
    *event = event_of(call, LEAK_EVENT_INVALID_FREE);
    event->place = place;
    return true;
}

static uint64_t *beside_of(uintptr_t address)
{
    return &beside[(address >> BESIDE_BITS) % BESIDES];
}

static bool is_foreigners(uintptr_t address)
{
    uint32_t before = load_relaxed(&foreign);
    return before >= FOREIGN_MOST || (before >= FOREIGN_FEW && load_relaxed(beside_of(address)) ==
                                                                   (address >> BESIDE_BITS) + 1);
}

bool misuse_of_pointer(struct guard *guard, const struct misuse *call)
{
    struct leak_event event;
    if (is_foreigners(call->address))
        return false;
    bool certain = sees_all() && (was_freed(guard, call, &event) ||
                                  is_inside(guard, call, &event) || is_before(guard, call, &event));
    if (!certain && !is_wild(call, &event)) {
        add_relaxed(&foreign, 1);
        store_relaxed(beside_of(call->address), ((uint64_t)call->address >> BESIDE_BITS) + 1);
        return false;
    }
    met(guard, call, &event);
    return true;
}

/* malloc's, which the allocator would take for its own? */
static bool is_mallocs(struct guard *guard, const struct misuse *call, struct leak_event *event)
{
    struct block block;
    if (!blocks_find(guard, call->address, &block))
        return false;
    *event = event_of(call, LEAK_EVENT_MISMATCHED_FREE);
    add_block(event, &block);
    return true;
}

void misuse_of_carving(struct guard *guard, const struct misuse *call, uint32_t pool)
{
    struct leak_event event;
    if (!keeps_all()) /* it may be one of those that were left out */
        return;
    if (!is_mallocs(guard, call, &event) && !was_freed(guard, call, &event) &&
        !is_inside_of_carved(guard, call, &event)) {
        event = event_of(call, LEAK_EVENT_INVALID_FREE);
        event.place = LEAK_PLACE_NO_BLOCK;
    }
    event.call_pool = pools_tell(guard, pool);
    met(guard, call, &event);
}

void misuse_of_waiting(struct guard *guard, const struct misuse *call,
                       const struct waiting *waiting)
{
    struct leak_event event = event_of(call, LEAK_EVENT_DOUBLE_FREE);
    add_block(&event, &waiting->block);
    event.freed_pc = waiting->pc;
    event.freed_node = waiting->node;
    event.freed_thread = waiting->thread;
    event.freed_tick = waiting->tick;
    event.freed_form = waiting->form;
    met(guard, call, &event);
}
