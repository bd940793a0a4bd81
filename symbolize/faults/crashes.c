/* crashes.c - describes the signal that killed the process; described in faults.h.
 *
 * The stack is resolved with the modules in the crash record, which were loaded at the time of the
 * crash. The crashed process recorded the live block near the fault address; here a freed block is
 * searched in the rings of the last frees.
 */
#include "symbolize/faults/faults.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"
#include "common/sites/signature.h"

/* number of frames up to which a repeated part of the stack is written out */
#define EXPANDED_MOST 16

struct crash_builder {
    struct arena *mem;
    const struct store *store;
    const struct store_crash *record;
    struct signatures signatures;
    struct crash *crash;
    const struct frame **frames; /* the frames collected so far */
    size_t count, capacity;
};

/* ---- The stack of the crash ------------------------------------------------------------------ */

static const struct store_module *crash_module_at(const struct store_crash *record,
                                                  uint64_t address)
{
    size_t cursor = record->module_spans.count;
    uint32_t found = interval_map_next(&record->module_spans, address, &cursor);

    return found == INTERVAL_NONE ? NULL : &record->modules[found];
}

static void add_pc(struct crash_builder *filling, uint64_t pc)
{
    const struct store_module *module = crash_module_at(filling->record, pc - 1);
    const struct resolved_place *place =
        module ? signatures_place_in_module(&filling->signatures, module, pc)
               : signatures_place_at_pc(&filling->signatures, pc);

    for (size_t i = 0; i < place->count; i++) {
        if (classify_is_libleak_frame(&place->frames[i]) && filling->count)
            /* hides libleak's frames around main; a crash in libleak itself keeps its innermost
             * frame */
            continue;
        filling->frames = array_grow(filling->frames, &filling->capacity, filling->count + 1,
                                     sizeof(*filling->frames));
        filling->frames[filling->count++] = &place->frames[i];
    }
}

/* Writes out a short repetition of frames; of a long one, records only which frames repeat and how
 * often. */
static void add_repeat(struct crash_builder *filling, const struct leak_crash_frame *last,
                       const size_t *starts, size_t index)
{
    struct crash *crash = filling->crash;
    size_t first = starts[index + 1 - last->period];

    if ((uint64_t)last->period * last->times > EXPANDED_MOST) {
        crash->repeats[crash->repeat_count++] = (struct crash_repeat){
            .end = filling->count, .frames = filling->count - first, .times = last->times};
        return;
    }
    for (uint32_t round = 0; round < last->times; round++)
        for (uint32_t i = last->period; i; i--)
            add_pc(filling, filling->record->head.frames[index + 1 - i].pc);
}

static void fill_stack(struct crash_builder *filling)
{
    const struct leak_crash *head = &filling->record->head;
    struct crash *crash = filling->crash;
    size_t starts[LEAK_CRASH_FRAMES];
    const struct frame **kept;

    crash->repeats = arena_alloc_array(filling->mem, head->frame_count, sizeof(*crash->repeats));
    for (size_t i = 0; i < head->frame_count; i++) {
        starts[i] = filling->count;
        add_pc(filling, head->frames[i].pc);
        if (head->frames[i].times)
            add_repeat(filling, &head->frames[i], starts, i);
    }
    crash->left_out = head->left_out;
    crash->left_out_at = filling->count;
    for (size_t i = 0; i < head->outer_count; i++)
        add_pc(filling, head->outer[i]);
    kept = arena_alloc_array(filling->mem, filling->count, sizeof(*kept));
    if (filling->count)
        memcpy(kept, filling->frames, filling->count * sizeof(*kept));
    free(filling->frames);
    crash->stack = (struct stack){kept, filling->count, head->ending};
    crash->depth = head->depth;
}

/* ---- The blocks near the fault address ------------------------------------------------------- */

/* Finds the last free of a block that contained the address; NULL: none is recorded. */
static const struct store_recent *freed_around(const struct store *store, uint64_t address)
{
    for (size_t i = 0; i < store->recent_count; i++) {
        const struct store_recent *recent = &store->recent[i];

        if (address - recent->address < (recent->size_most ? recent->size_most : 1))
            return recent;
    }
    return NULL;
}

static bool fill_freed(struct crash_builder *filling, uint64_t address, struct crash_block *block)
{
    const struct store *store = filling->store;
    const struct store_recent *recent = freed_around(store, address);

    if (!recent)
        return false;
    block->start = recent->address;
    block->size = recent->size_most;
    block->about = true;
    block->offset = address - recent->address;
    block->was_freed = true;
    block->freed_by = stack_thread(filling->mem, store, recent->thread);
    block->freed_ns = store_time_of_tick(store, recent->tick);
    block->freed_whole = recent->node != LEAK_ROOT_NONE;
    block->freed = block->freed_whole
                       ? stack_from_node(filling->mem, &filling->signatures, recent->node)
                       : stack_from_pc(filling->mem, &filling->signatures, recent->pc);
    if (recent->site != STORE_NO_SITE) {
        block->kind = store->sites[recent->site].kind;
        block->allocated =
            stack_from_node(filling->mem, &filling->signatures, store->sites[recent->site].node);
    }
    return true;
}

/* Describes the block near an address. Prefers a live block around the address, then a freed one,
 * then a live block before the address. */
static void add_near_block(struct crash_builder *filling, size_t index, const char *register_name)
{
    const struct leak_crash_near *near = &filling->record->head.near[index];
    uint32_t site = filling->record->near_site[index];
    uint64_t offset = near->address - near->block;
    struct crash_block block = {.register_name = register_name};
    bool lives = site != STORE_NO_SITE;

    if (!near->address)
        return;
    if (!(lives && offset < near->size) && !fill_freed(filling, near->address, &block)) {
        if (!lives)
            return;
    }
    if (!block.was_freed) {
        block.start = near->block;
        block.size = near->size;
        block.offset = offset;
        block.kind = near->kind < LEAK_KIND_MAX ? near->kind : 0;
        block.allocated =
            stack_from_node(filling->mem, &filling->signatures, filling->store->sites[site].node);
    }
    filling->crash->blocks[filling->crash->block_count++] = block;
}

static const char *block_words(struct arena *mem, const struct crash_block *block)
{
    const char *state = block->was_freed ? " that had been freed" : "";
    const char *about = block->about ? "about " : "";

    if (block->offset < block->size || !block->size)
        return arena_format(mem, "%llu bytes into a block of %s%llu bytes%s",
                            (unsigned long long)block->offset, about,
                            (unsigned long long)block->size, state);
    return arena_format(mem, "%llu bytes past the end of a block of %s%llu bytes%s",
                        (unsigned long long)(block->offset - block->size), about,
                        (unsigned long long)block->size, state);
}

static void fill_near(struct crash_builder *filling)
{
    const struct leak_crash *head = &filling->record->head;
    struct crash *crash = filling->crash;
    /* Registers may point to the block only if a memory access caused the crash. */
    bool by_pointer = head->code > 0 && (head->signal == SIGSEGV || head->signal == SIGBUS);

    crash->blocks =
        arena_alloc_array(filling->mem, 1 + LEAK_CRASH_REGISTERS, sizeof(*crash->blocks));
    if (!crash->overflow)
        add_near_block(filling, 0, NULL);
    crash->near = crash->block_count ? block_words(filling->mem, &crash->blocks[0])
                                     : signal_address_words(filling->mem, head);
    crash->registers =
        arena_alloc_array(filling->mem, head->register_count + 2, sizeof(*crash->registers));
    for (uint32_t i = 0; i < head->register_count; i++) {
        const char *name = signal_register_name(filling->store->header.machine, i);

        if (!name)
            break;
        crash->registers[crash->register_count++] =
            (struct crash_register){name, head->registers[i]};
        if (by_pointer && head->registers[i] != head->sp)
            add_near_block(filling, 1 + i, name);
    }
    if (!crash->register_count || strcmp(crash->registers[0].name, "x0") == 0)
        crash->registers[crash->register_count++] = (struct crash_register){"sp", head->sp};
    crash->registers[crash->register_count++] = (struct crash_register){"pc", head->pc};
}

/* ---- The bad free because of which libc ended the process ------------------------------------ */

static bool is_same_place(const struct frame *a, const struct frame *b)
{
    return a->name_hash == b->name_hash && a->line == b->line && a->inlined == b->inlined;
}

/* Says whether the stack of a crash contains that of a bad free (released). Only the frames up to
 * the start-up code are compared, because frames of libleak stand between main and the start-up
 * code. */
static bool leads_to(const struct stack *released, const struct frame *const *frames, size_t count)
{
    size_t i = 0;

    for (; i < released->count && (!i || released->frames[i]->role != FRAME_RUNTIME); i++)
        if (i == count || !is_same_place(released->frames[i], frames[i]))
            return false;
    return i > 0;
}

static bool is_answer(const struct crash *crash, const struct bad_free *mistake)
{
    if (mistake->thread.serial && mistake->thread.serial != crash->thread.serial)
        return false;
    for (size_t i = 0; i < crash->stack.count; i++)
        if (leads_to(&mistake->released, crash->stack.frames + i, crash->stack.count - i))
            return true;
    return false;
}

/* libc ends the process at most bad frees: then the crash and the bad free are one error. Finds the
 * last bad free that fits the crash, because libc did not end the process at earlier ones, and puts
 * it first in the list. */
static void find_answered(struct process *process)
{
    struct crash *crash = process->crash;
    size_t at = process->mistake_count;

    while (at && !is_answer(crash, &process->mistakes[at - 1]))
        at--;
    if (!at)
        return;
    struct bad_free answered = process->mistakes[at - 1];
    memmove(&process->mistakes[1], &process->mistakes[0], (at - 1) * sizeof(answered));
    process->mistakes[0] = answered;
    crash->answers = true;
    crash->inside = NULL;
}

/* ---- Filling in the crash of the process ----------------------------------------------------- */

static const char *crash_inside(const struct leak_crash *head)
{
    if (head->flags & LEAK_CRASH_IN_ALLOCATOR)
        return "the allocator: its data was probably overwritten before";
    if (head->flags & LEAK_CRASH_IN_LIBLEAK)
        return "libleak itself";
    return NULL;
}

/* Copies the paths of the modules, because the arena of the recording is freed before the report is
 * written. */
static void fill_modules(struct crash_builder *filling)
{
    const struct store_crash *record = filling->record;

    filling->crash->modules = arena_alloc_array(filling->mem, record->module_count, sizeof(char *));
    for (size_t i = 0; i < record->module_count; i++) {
        const char *path = record->modules[i].path;

        filling->crash->modules[filling->crash->module_count++] =
            arena_copy(filling->mem, path, strlen(path));
    }
}

/* Says whether the recorded signal was a crash: it killed the process, also after a handler of the
 * program had received it. */
static bool was_fatal(const struct leak_crash *head, const struct process *process)
{
    return head->state == LEAK_CRASH_FATAL || process->how == END_LOST ||
           (process->how == END_SIGNAL && process->end_value == head->signal);
}

void crash_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                struct process *process)
{
    const struct leak_crash *head = store->crash ? &store->crash->head : NULL;
    struct crash_builder filling = {.mem = mem, .store = store, .record = store->crash};
    struct crash *crash;

    if (!head || !was_fatal(head, process))
        return;
    crash = filling.crash = process->crash = arena_alloc(mem, sizeof(*crash));
    filling.signatures = signatures_begin(resolver, store);
    *crash =
        (struct crash){.signal = head->signal,
                       .code = head->code,
                       .name = signal_name(head->signal),
                       .words = signal_cause(mem, head, process->pid),
                       .overflow = (head->flags & LEAK_CRASH_OVERFLOW) != 0,
                       .handed = head->state == LEAK_CRASH_HANDED,
                       .during_look = (head->flags & LEAK_CRASH_LOOK) != 0,
                       .blocks_busy = (head->flags & LEAK_CRASH_BLOCKS_BUSY) != 0,
                       .inside = crash_inside(head),
                       .address = head->address,
                       .has_address = (head->flags & LEAK_CRASH_HAS_ADDRESS) != 0,
                       .thread = {head->thread, arena_copy(mem, head->name, strlen(head->name))},
                       .tid = head->tid,
                       .time_ns = head->when_ns};
    fill_stack(&filling);
    crash->signature =
        stack_signature(&crash->stack, (uint64_t)head->signal << 8 | crash->overflow);
    fill_near(&filling);
    fill_modules(&filling);
    signatures_end(&filling.signatures);
    if (head->flags & LEAK_CRASH_IN_ALLOCATOR)
        find_answered(process);
    process->totals.errors += !crash->answers;
}

void crash_make_stable(struct process *process)
{
    struct crash *crash = process->crash;

    if (!crash)
        return;
    crash->time_ns = 0;
    crash->tid = 0;
    crash->address = crash->address < 65536 ? crash->address : 0;
    crash->register_count = 0;
    crash->depth = 0;
    crash->words = crash->name;
    crash->near = crash->block_count ? crash->near : NULL;
    stack_make_stable(crash->stack.frames, crash->stack.count);
    for (size_t i = 0; i < crash->block_count; i++) {
        crash->blocks[i].freed_ns = 0;
        stack_make_stable(crash->blocks[i].freed.frames, crash->blocks[i].freed.count);
        stack_make_stable(crash->blocks[i].allocated.frames, crash->blocks[i].allocated.count);
    }
}
