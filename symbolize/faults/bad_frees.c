/* bad_frees.c - describes bad frees and recent frees; described in faults.h. */
#include "symbolize/faults/faults.h"

#include <string.h>

#include "common/names/names.h"
#include "common/sites/signature.h"

static const char *const place_words[LEAK_PLACE_MAX] = {
#define W(name, words) [LEAK_PLACE_##name] = words,
    LEAK_PLACE_TABLE(W)
#undef W
};

struct bad_free_builder {
    struct arena *mem;
    const struct store *store;
    struct signatures signatures;
};

/* Finds the thread of an event, which has only the low bits of the thread's serial. Several threads
 * may have these bits: takes the youngest. */
static struct thread_ref thread_of_low_bits(struct bad_free_builder *filling, uint16_t low)
{
    const struct store *store = filling->store;

    for (size_t i = store->thread_count; i > 0; i--)
        if ((uint16_t)store->threads[i - 1].serial == low)
            return stack_thread(filling->mem, filling->store, store->threads[i - 1].serial);
    return (struct thread_ref){0};
}

static struct stack stack_at(struct bad_free_builder *filling, uint32_t node, uint64_t pc)
{
    if (node != LEAK_ROOT_NONE)
        return stack_from_node(filling->mem, &filling->signatures, node);
    return pc ? stack_from_pc(filling->mem, &filling->signatures, pc) : (struct stack){0};
}

static void add_freed_block(struct bad_free_builder *filling, const struct store_event *at,
                            struct bad_free *mistake)
{
    const struct store_site *site = &filling->store->sites[at->site];

    mistake->kind = site->kind;
    mistake->allocated = stack_at(filling, site->node, 0);
    mistake->has_block = at->event.type != LEAK_EVENT_DOUBLE_FREE || at->event.size;
    mistake->size = at->event.size;
    mistake->offset = at->event.offset;
    mistake->block_count = at->event.block_count;
    if (at->event.block_count)
        mistake->block_thread = thread_of_low_bits(filling, at->event.block_thread);
}

static void add_first_free(struct bad_free_builder *filling, const struct store_event *at,
                           struct bad_free *mistake)
{
    const struct leak_event *event = &at->event;

    mistake->first_form = event->freed_form;
    mistake->first_thread = stack_thread(filling->mem, filling->store, event->freed_thread);
    mistake->first_ns = store_time_of_tick(filling->store, event->freed_tick);
    mistake->first_whole = at->freed_node != LEAK_ROOT_NONE;
    mistake->first = stack_at(filling, at->freed_node, event->freed_pc);
}

static struct bad_free describe_bad_free(struct bad_free_builder *filling,
                                         const struct store_event *at)
{
    const struct leak_event *event = &at->event;
    struct bad_free made = {.type = event->type,
                            .form = event->form,
                            .address = event->address,
                            .said = event->said,
                            .right = event->right,
                            .where = place_words[event->place],
                            .thread = stack_thread(filling->mem, filling->store, event->thread),
                            .time_ns = store_time_of_tick(filling->store, event->tick),
                            .count = event->count,
                            .block_pool = arena_copy_text(filling->mem, at->block_pool),
                            .call_pool = arena_copy_text(filling->mem, at->call_pool)};

    made.released = stack_at(filling, at->node, event->pc);
    if (at->site != STORE_NO_SITE)
        add_freed_block(filling, at, &made);
    if (event->type == LEAK_EVENT_DOUBLE_FREE)
        add_first_free(filling, at, &made);
    made.signature = stack_signature(&made.released, event->type | (uint64_t)event->form << 8 |
                                                         (uint64_t)made.kind << 16);
    made.signature = stack_signature(&made.allocated, made.signature);
    return made;
}

/* Says whether the innermost function, or a function inlined into it, is the operator
 * `operator`. */
static bool is_inside(const struct stack *stack, const char *operator)
{
    for (size_t i = 0; i < stack->count; i++) {
        const char *name = stack->frames[i]->function;

        if (name && strncmp(demangle_scope(name), operator, strlen(operator)) == 0)
            return true;
        if (!stack->frames[i]->inlined)
            return false;
    }
    return false;
}

static bool is_between_operators(const struct bad_free *mistake)
{
    switch (mistake->type) {
    case LEAK_EVENT_MISMATCHED_FREE:
    case LEAK_EVENT_BAD_REALLOC:
    case LEAK_EVENT_SIZE_MISMATCH:
    case LEAK_EVENT_ALIGNMENT_MISMATCH:
        return is_inside(&mistake->allocated, "operator new") ||
               is_inside(&mistake->released, "operator delete");
    default:
        return false;
    }
}

/* ---- Bad frees with one cause ---------------------------------------------------------------- */

static bool has_place(const struct bad_free *mistake)
{
    return mistake->type == LEAK_EVENT_MISMATCHED_FREE ||
           mistake->type == LEAK_EVENT_SIZE_MISMATCH ||
           mistake->type == LEAK_EVENT_ALIGNMENT_MISMATCH;
}

/* Hashes what two bad frees with one cause have in common: a kind of mismatch, a block size, and
 * the instruction of the program that allocates or releases the block. 0: the stack has no user
 * frame. */
static uint64_t cause_key(const struct bad_free *mistake, const struct stack *stack, uint64_t seed)
{
    size_t user = frame_first_user(stack->frames, stack->count);
    uint64_t key = hash_mix(seed, mistake->type << 16 | mistake->form << 8 | mistake->kind);

    if (user == stack->count)
        return 0;
    key = hash_mix(hash_mix(key, mistake->size), mistake->said ^ (uint64_t)mistake->offset << 32);
    return hash_mix(hash_mix(key, stack->frames[user]->name_hash), stack->frames[user]->offset);
}

/* Sets the lead of each bad free: the first bad free with an equal key. */
static void find_leads(struct process *process)
{
    /* result of cause_key() -> index + 1 of the first bad free with it */
    struct hashmap first = {0};

    for (size_t i = 0; i < process->mistake_count; i++) {
        struct bad_free *mistake = &process->mistakes[i];
        uint64_t keys[2] = {cause_key(mistake, &mistake->released, 1),
                            cause_key(mistake, &mistake->allocated, 2)};

        for (size_t k = 0; k < 2 && has_place(mistake) && !mistake->lead; k++)
            mistake->lead = keys[k] ? hashmap_get(&first, keys[k]) : 0;
        for (size_t k = 0; k < 2 && has_place(mistake); k++) {
            uint64_t *slot = keys[k] ? hashmap_put(&first, keys[k], NULL) : NULL;

            if (slot && !*slot)
                *slot = mistake->lead ? mistake->lead : i + 1;
        }
    }
    hashmap_end(&first);
}

void bad_frees_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                    struct process *process)
{
    struct bad_free_builder filling = {.mem = mem, .store = store};

    if (!store->event_count)
        return;
    process->mistakes = arena_alloc_array(mem, store->event_count, sizeof(*process->mistakes));
    filling.signatures = signatures_begin(resolver, store);
    for (size_t i = 0; i < store->event_count; i++) {
        struct bad_free made = describe_bad_free(&filling, &store->events[i]);

        if (!is_between_operators(&made))
            process->mistakes[process->mistake_count++] = made;
    }
    signatures_end(&filling.signatures);
    find_leads(process);
    process->totals.errors = add_saturating(process->totals.errors, process->mistake_count);
}

void bad_frees_make_stable(struct process *process)
{
    for (size_t i = 0; i < process->mistake_count; i++) {
        struct bad_free *mistake = &process->mistakes[i];

        mistake->address = mistake->time_ns = mistake->first_ns = 0;
        stack_make_stable(mistake->released.frames, mistake->released.count);
        stack_make_stable(mistake->allocated.frames, mistake->allocated.count);
        stack_make_stable(mistake->first.frames, mistake->first.count);
        if (!mistake->first_whole) { /* whether the whole stack of a free is recorded is random */
            mistake->first.count = mistake->first.count ? 1 : 0;
        }
    }
}

struct recent_builder {
    struct arena *mem;
    const struct store *store;
    struct signatures signatures;
};

static struct recent_free describe_recent_free(struct recent_builder *filling,
                                               const struct store_recent *recent)
{
    const struct store *store = filling->store;
    struct recent_free made = {.address = recent->address,
                               .time_ns = store_time_of_tick(store, recent->tick),
                               .thread = stack_thread(filling->mem, store, recent->thread),
                               .whole = recent->node != LEAK_ROOT_NONE};

    made.freed = made.whole ? stack_from_node(filling->mem, &filling->signatures, recent->node)
                            : stack_from_pc(filling->mem, &filling->signatures, recent->pc);
    if (recent->site != STORE_NO_SITE) {
        made.kind = store->sites[recent->site].kind;
        made.allocated =
            stack_from_node(filling->mem, &filling->signatures, store->sites[recent->site].node);
    }
    return made;
}

void recent_frees_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                       const struct recent_frees_options *options, struct process *process)
{
    struct recent_builder filling = {.mem = mem, .store = store};

    process->recent_known = store->recent_count;
    if (!options->all && !options->one)
        return;
    process->recent = arena_alloc_array(mem, store->recent_count, sizeof(*process->recent));
    filling.signatures = signatures_begin(resolver, store);
    for (size_t i = 0; i < store->recent_count; i++)
        if (!options->one || store->recent[i].address == options->address)
            process->recent[process->recent_count++] =
                describe_recent_free(&filling, &store->recent[i]);
    signatures_end(&filling.signatures);
}
