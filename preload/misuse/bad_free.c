#include "preload/misuse/bad_free.h"
#include "preload/base/base.h"
#include "preload/heap/capture.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/operator_override.h"
#include "preload/interpose/real_functions.h"
#include "preload/interpose/static_malloc.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/sample.h"
#include "preload/misuse/errors.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"
#include "arch.h"

/* When a program releases thousands of pointers at which libleak knows no block, they belong to
 * another allocator, and examining each costs too much. After FOREIGN_FEW such pointers, a pointer
 * into a 64 KiB area in which an earlier one lay is not examined; after FOREIGN_MAX no such pointer
 * is. */
#define FOREIGN_FEW 4096
#define FOREIGN_MAX 65536
#define FOREIGN_AREA_BITS 16
/* Number of remembered 64 KiB areas with a pointer at which libleak knew no block; a power of
 * two. */
#define FOREIGN_AREAS 1024
/* new[] stores the number of objects before an array of objects with destructors, in 8 bytes or in
 * 16. ARRAY_COOKIES counts these two possibilities. */
#define ARRAY_COOKIES 2

/* A call that releases a block wrongly. */
struct bad_call {
    const struct frame *caller;
    uintptr_t address;
    uint32_t how;                /* the form of the free (free_form.h) */
    uint32_t node;               /* context tree node of the call's stack; 0: none */
    const struct thread *thread; /* the calling thread; NULL: libleak has no state for it */
};

static bool live_lines;
/* number of released pointers at which libleak knew no block, and that were examined */
static uint32_t foreign_count;
/* One entry for each hash of an area: number + 1 of the area that last had a pointer at which
 * libleak knew no block; 0: none. */
static uint64_t foreign_areas[FOREIGN_AREAS];

void bad_free_start(const char *on_error, bool live)
{
    live_lines = live;
    if (live)
        live_error_start();
    on_error_start(on_error);
}

static struct bad_call capture_bad_call(struct guard *guard, const struct frame *caller,
                                        uintptr_t address, uint32_t how)
{
    struct bad_call call = {caller, address, how, 0, NULL};
    call.node = capture_call(guard, caller, true, &call.thread);
    return call;
}

/* ---- Filling in the event -------------------------------------------------------------------- */

static struct leak_event make_event(const struct bad_call *call, enum leak_event_type type)
{
    return (struct leak_event){.type = type,
                               .form = free_form_of(call->how),
                               .address = call->address,
                               .pc = call->caller->pc,
                               .node = call->node,
                               .thread = call->thread ? call->thread->serial : 0,
                               .tick = store_header->epoch};
}

static void add_block_to_event(struct leak_event *event, const struct block *block)
{
    event->site = block->site;
    event->size = block->size;
    event->offset = (int64_t)(event->address - block->address);
    event->block_thread = block->thread;
    event->block_count = block->count;
}

static void add_suballoc_to_event(struct guard *guard, struct leak_event *event,
                                  const struct suballoc_block *block)
{
    add_block_to_event(event, &block->block);
    event->block_pool = pools_store_name(guard, block->pool);
}

/* Records the event first, then writes its line and performs its action as the options select.
 * True: during the action a signal handler of the program has forked, and the call continues in the
 * child, which has a recording of its own (on_error_perform). */
static bool handle_event(struct guard *guard, const struct bad_call *call,
                         const struct leak_event *event)
{
    bool fresh = error_table_add(guard, event);
    if (fresh && live_lines)
        live_error_write(guard, event);
    if (on_error_only_reports(event->type))
        return false;
    char words[160];
    struct strbuf text = STRBUF_ON(words);
    error_text_describe(event, &text);
    return on_error_handle(guard, call->caller, event->type, words);
}

/* Counts the block as inherited by this fork child, after handle_event returned true. The child has
 * counted the blocks in its table as inherited, but this block was already out of the table. */
static void count_as_inherited(const struct block *block)
{
    uint64_t blocks = sample_state.bytes ? sample_count(block, true) : 1;
    sites_add_inherited(block->site, blocks, blocks * block->size);
    add_relaxed(&store_header->live_bytes, blocks * block->size);
}

/* ---- A block is known, but the call does not fit it ------------------------------------------ */

static bool involves_operators(uint32_t how, const struct block *block)
{
    return free_form_of(how) >= LEAK_FORM_DELETE ||
           !(FREE_FORM_MALLOC_KINDS >> (block->kind & BLOCKS_KIND) & 1);
}

static const struct free_form_frame *frame_with_size(const struct frame *caller)
{
    return (const struct free_form_frame *)caller;
}

static bool is_aligned_as_stated(const struct frame *caller, const struct block *block)
{
    uint64_t right = blocks_alignment(block->kind), stated = frame_with_size(caller)->alignment;
    return right ? stated == right
                 : __builtin_popcountll(stated) == 1 && !(block->address & (stated - 1));
}

/* Compares the form of the release with the block, and returns the type of error. LEAK_EVENT_NONE:
 * the release is right. */
static enum leak_event_type classify_release(const struct frame *caller, const struct block *block,
                                             uint32_t how)
{
    if (!free_form_fits(how, block->kind & BLOCKS_KIND))
        return free_form_of(how) == LEAK_FORM_REALLOC ? LEAK_EVENT_BAD_REALLOC
                                                      : LEAK_EVENT_MISMATCHED_FREE;
    if (how & FREE_FORM_SIZED && frame_with_size(caller)->size != block->size)
        return LEAK_EVENT_SIZE_MISMATCH;
    if (how & FREE_FORM_ALIGNED && !is_aligned_as_stated(caller, block))
        return LEAK_EVENT_ALIGNMENT_MISMATCH;
    return LEAK_EVENT_NONE;
}

void bad_free_check_block(struct guard *guard, const struct frame *caller,
                          const struct block *block, uint32_t how)
{
    enum leak_event_type type = classify_release(caller, block, how);
    if (type == LEAK_EVENT_NONE)
        return;
    struct bad_call call = capture_bad_call(guard, caller, block->address, how);
    if (operator_override_any() && involves_operators(how, block))
        return;
    struct leak_event event = make_event(&call, type);
    add_block_to_event(&event, block);
    if (type == LEAK_EVENT_SIZE_MISMATCH) {
        event.said = frame_with_size(caller)->size;
    } else if (type == LEAK_EVENT_ALIGNMENT_MISMATCH) {
        event.said = frame_with_size(caller)->alignment;
        event.right = blocks_alignment(block->kind);
    }
    if (handle_event(guard, &call, &event))
        count_as_inherited(block);
}

/* ---- Blocks of the program's own allocators -------------------------------------------------- */

void bad_free_of_suballoc(struct guard *guard, const struct frame *caller,
                          const struct suballoc_block *block, uint32_t how, uint32_t pool)
{
    struct bad_call call = capture_bad_call(guard, caller, block->block.address, how);
    bool moves = free_form_of(how) == LEAK_FORM_REALLOC;
    struct leak_event event =
        make_event(&call, moves ? LEAK_EVENT_BAD_REALLOC : LEAK_EVENT_MISMATCHED_FREE);
    add_suballoc_to_event(guard, &event, block);
    event.call_pool = pools_store_name(guard, pool);
    if (handle_event(guard, &call, &event))
        count_as_inherited(&block->block);
}

void bad_free_of_pool_member(struct guard *guard, const struct frame *caller,
                             const struct suballoc_block *block)
{
    struct bad_call call =
        capture_bad_call(guard, caller, block->block.address, FREED_BY_POOL_DESTROY);
    struct leak_event event = make_event(&call, LEAK_EVENT_POOL_LEAK);
    add_suballoc_to_event(guard, &event, block);
    event.call_pool = event.block_pool;
    if (handle_event(guard, &call, &event))
        count_as_inherited(&block->block);
}

static bool is_inside_suballoc(struct guard *guard, const struct bad_call *call,
                               struct leak_event *event)
{
    struct suballoc_block carved;
    if (!load_relaxed(&suballoc_count) || !suballoc_find_containing(guard, call->address, &carved))
        return false;
    *event = make_event(call, LEAK_EVENT_INTERIOR_FREE);
    add_suballoc_to_event(guard, event, &carved);
    return true;
}

/* ---- A pointer at which no block begins ------------------------------------------------------ */

static uint64_t untracked_count(enum leak_untracked why)
{
    return load_relaxed(&store_header->untracked[why]);
}

/* Says whether libleak sees every allocation and every free of this process. */
static bool sees_all_blocks(void)
{
    return !sample_state.bytes && !(load_relaxed(&store_header->flags) & LEAK_FLAG_LATE) &&
           !untracked_count(LEAK_UNTRACKED_NESTED) && !untracked_count(LEAK_UNTRACKED_DEEPBIND) &&
           !untracked_count(LEAK_UNTRACKED_OWN_ALLOCATOR) &&
           !untracked_count(LEAK_UNTRACKED_ABANDONED) && !static_malloc_address();
}

/* Says whether every allocated block that libleak sees is in the table. */
static bool keeps_all_blocks(void)
{
    return !untracked_count(LEAK_UNTRACKED_FILTERED) && !untracked_count(LEAK_UNTRACKED_NO_MEMORY);
}

static bool is_double_free(struct guard *guard, const struct bad_call *call,
                           struct leak_event *event)
{
    struct leak_recent_free last;
    uint32_t thread = 0;
    if (!keeps_all_blocks() ||
        !free_history_find_recent(guard, call->thread ? &call->thread->freed : NULL, call->address,
                                  &last, &thread))
        return false;
    *event = make_event(call, LEAK_EVENT_DOUBLE_FREE);
    event->site = last.site;
    event->freed_pc = last.pc;
    event->freed_node = last.node;
    event->freed_thread = thread;
    event->freed_tick = last.tick;
    event->freed_form = last.size_form & 0xff;
    return true;
}

static bool is_interior_free(struct guard *guard, const struct bad_call *call,
                             struct leak_event *event)
{
    struct block block;
    if (is_inside_suballoc(guard, call, event))
        return true;
    if (!blocks_find_containing(guard, call->address, &block))
        return false;
    *event = make_event(call, LEAK_EVENT_INTERIOR_FREE);
    add_block_to_event(event, &block);
    return true;
}

/* Detects delete[] of a single object with a destructor. delete[] expects the number of objects in
 * 8 or 16 bytes before its array, so the pointer that it frees is that far before the block. */
static bool is_array_delete_of_object(struct guard *guard, const struct bad_call *call,
                                      struct leak_event *event)
{
    struct block block;
    if (!(call->how & FREE_FORM_ARRAY) || operator_override_any())
        return false;
    for (unsigned i = 1; i <= ARRAY_COOKIES; i++)
        if (blocks_find_containing(guard, call->address + WORD * i, &block) &&
            block.address == call->address + WORD * i &&
            FREE_FORM_KIND(NEW) >> (block.kind & BLOCKS_KIND) & 1) {
            *event = make_event(call, LEAK_EVENT_MISMATCHED_FREE);
            add_block_to_event(event, &block);
            return true;
        }
    return false;
}

static bool is_on_stack(const struct thread *thread, uintptr_t address)
{
    const struct unwind_bounds *bounds = &thread->bounds;
    return address - bounds->low < bounds->high - bounds->low;
}

struct stack_search {
    uintptr_t address;
    bool found;
};

static void search_stack(const struct thread *thread, void *context)
{
    struct stack_search *search = context;
    search->found |= is_on_stack(thread, search->address);
}

static bool is_unmapped(uintptr_t address)
{
    char byte, probe = 0;
    return !sys_peek(address, &byte, 1) && sys_peek((uintptr_t)&probe, &byte, 1);
}

/* Finds out where an address lies, if no allocator can have returned it: on a stack, in the code or
 * data of an object, or in no memory. LEAK_PLACE_NONE: other memory, which may be the heap of an
 * allocator that libleak does not see. */
static enum leak_place find_address_place(const struct thread *thread, uintptr_t address)
{
    struct stack_search search = {.address = address};
    /* This test comes first, because the bounds of a stack may reach further than its mapped
     * part. */
    if (is_unmapped(address))
        return LEAK_PLACE_UNMAPPED;
    if (thread && is_on_stack(thread, address))
        return LEAK_PLACE_STACK;
    threads_each(search_stack, &search);
    if (search.found)
        return LEAK_PLACE_OTHER_STACK;
    /* libc and an allocator linked into the program are left out: an allocator may have a pool in
     * the data of its object. */
    if (modules_has_object(address) && !modules_same_object((uintptr_t)real.free, address) &&
        !(static_malloc_address() && modules_same_object(static_malloc_address(), address)))
        return LEAK_PLACE_OBJECT;
    return LEAK_PLACE_NONE;
}

static bool is_invalid_free(const struct bad_call *call, struct leak_event *event)
{
    enum leak_place place = find_address_place(call->thread, call->address);
    if (place == LEAK_PLACE_NONE)
        return false;
    *event = make_event(call, LEAK_EVENT_INVALID_FREE);
    event->place = place;
    return true;
}

static uint64_t *foreign_area(uintptr_t address)
{
    return &foreign_areas[(address >> FOREIGN_AREA_BITS) % FOREIGN_AREAS];
}

static bool is_foreign(uintptr_t address)
{
    uint32_t before = load_relaxed(&foreign_count);
    uint64_t area = ((uint64_t)address >> FOREIGN_AREA_BITS) + 1;
    return before >= FOREIGN_MAX ||
           (before >= FOREIGN_FEW && load_relaxed(foreign_area(address)) == area);
}

/* Handles a release of an address at which no block begins. False: it is not certainly an error. */
static bool handle_unknown(struct guard *guard, const struct bad_call *call)
{
    struct leak_event event;
    if (is_foreign(call->address))
        return false;
    bool certain = sees_all_blocks() &&
                   (is_double_free(guard, call, &event) || is_interior_free(guard, call, &event) ||
                    is_array_delete_of_object(guard, call, &event));
    if (!certain && !is_invalid_free(call, &event)) {
        add_relaxed(&foreign_count, 1);
        store_relaxed(foreign_area(call->address),
                      ((uint64_t)call->address >> FOREIGN_AREA_BITS) + 1);
        return false;
    }
    handle_event(guard, call, &event);
    return true;
}

void bad_free_of_unknown(struct guard *guard, const struct frame *caller, uintptr_t address,
                         uint32_t how)
{
    struct bad_call call = capture_bad_call(guard, caller, address, how);
    /* With filters or sampling the number of unknown frees would mean nothing: blocks that they
     * leave out are unknown, too. */
    if (!handle_unknown(guard, &call) && !options_current.min_size && !options_current.max_size &&
        !sample_state.bytes)
        add_relaxed(&store_header->unknown_frees, 1);
}

/* Detects a block of malloc that is released through an allocator of the program. */
static bool is_malloc_block(struct guard *guard, const struct bad_call *call,
                            struct leak_event *event)
{
    struct block block;
    if (!blocks_find(guard, call->address, &block))
        return false;
    *event = make_event(call, LEAK_EVENT_MISMATCHED_FREE);
    add_block_to_event(event, &block);
    return true;
}

void bad_free_by_suballocator(struct guard *guard, const struct frame *caller, uintptr_t address,
                              uint32_t how, uint32_t pool)
{
    struct bad_call call = capture_bad_call(guard, caller, address, how);
    struct leak_event event;
    /* If a filter or lack of memory keeps blocks out of the table, the block may be one of these:
     * then no error is certain. */
    if (!keeps_all_blocks())
        return;
    if (!is_malloc_block(guard, &call, &event) && !is_double_free(guard, &call, &event) &&
        !is_inside_suballoc(guard, &call, &event)) {
        event = make_event(&call, LEAK_EVENT_INVALID_FREE);
        event.place = LEAK_PLACE_NO_BLOCK;
    }
    event.call_pool = pools_store_name(guard, pool);
    handle_event(guard, &call, &event);
}

/* ---- Quarantine ------------------------------------------------------------------------------ */

/* A block in the quarantine was freed, and libc has not got its memory back: releasing it is
 * certainly a double free. */
bool bad_free_of_quarantined(struct guard *guard, const struct frame *caller, uintptr_t address,
                             uint32_t how)
{
    struct quarantined waiting;
    if (!quarantine_is_on() || !quarantine_find(guard, address, how == FREED_BY_REALLOC, &waiting))
        return false;
    struct bad_call call = capture_bad_call(guard, caller, address, how);
    struct leak_event event = make_event(&call, LEAK_EVENT_DOUBLE_FREE);
    add_block_to_event(&event, &waiting.block);
    event.freed_pc = waiting.pc;
    event.freed_node = waiting.node;
    event.freed_thread = waiting.thread;
    event.freed_tick = waiting.tick;
    event.freed_form = waiting.form;
    handle_event(guard, &call, &event);
    return true;
}

bool bad_free_quarantine(struct guard *guard, const struct frame *caller, void *pointer,
                         const struct block *block, uint32_t how)
{
    struct bad_call call = capture_bad_call(guard, caller, block->address, how);
    struct quarantined waiting = {pointer,
                                  *block,
                                  caller->pc,
                                  call.node,
                                  call.thread ? call.thread->serial : 0,
                                  store_header->epoch,
                                  free_form_of(how)};
    if (!quarantine_add(guard, &waiting))
        return false;
    guard->calling_real = true;
    while ((pointer = quarantine_pop_surplus(guard)))
        /* real.free is right for each block: a process with two mallocs has no quarantine. */
        real.free(pointer);
    guard->calling_real = false;
    return true;
}
