#include "preload/follow/follow.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/base/sys.h"
#include "preload/follow/block_counts.h"
#include "preload/follow/block_name.h"
#include "preload/follow/block_trail.h"
#include "preload/follow/block_uses.h"
#include "preload/follow/slot_watch.h"
#include "preload/heap/capture.h"
#include "preload/heap/free_form.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/misuse/alloc_watch.h"
#include "preload/store/store.h"
#include "preload/contexts/sites.h"

#include <time.h>

#define SEARCHES_MOST 4000
#define SEARCHES_OFTEN 200
/* ns that all searches for words that point to followed blocks may take together; afterwards
 * libleak searches no more. */
#define SEARCH_TIME 60000000000ull
/* Time in ns that a thread waits while another thread checks the followed blocks; then it goes on
 * without checking them. */
#define TURN_TIME 60000000000ull

static struct followed {
    struct block_name name;
    /* The option asks for single-stepping after this call of an allocation function or of free,
     * counted from 1 after the block's allocation; 0: right after the allocation. */
    bool steps;
    uint32_t step_at;
    bool trails; /* the option asks for the way of the block (block_trail.h) */
    enum { WAITING, FRESH, HELD, GONE, DONE } phase;
    struct pointer_target target;
    struct holder_found held;
    /* context tree node of the last call at which a word still pointed to the block */
    uint32_t before;
    /* Number of calls, from the current one on, at which a missing pointer is ignored, because
     * realloc is moving the block that contains the pointer. */
    uint32_t ignore;
    /* Number of the call, counted from the block's allocation, since which only words on stacks, or
     * no words at all, have pointed to the block. */
    uint32_t since;
    uint32_t next_search;
    struct leak_followed *out;
} followed[LEAK_FOLLOWED_MOST];
static unsigned followed_count;
/* The value of the option follow_blocks=; NULL: nothing is followed in this process or in those
 * that it forks. */
static const char *followed_option;
/* number of blocks that are followed now: in the phases FRESH, HELD and GONE */
static uint32_t following;

/* Only the thread whose turn it is checks the followed blocks. */
static struct turnstile turn;
static uint64_t search_ns;

/* One call of an allocation function or of free, at which the followed blocks are checked. */
struct event {
    struct frame caller;
    uint32_t node, thread;
    uintptr_t stack_end; /* end of the calling thread's stack; 0: unknown */
    /* The block that the call allocates or frees; NULL: the end of the program. */
    const struct block *block;
    bool frees, moves;
    /* bit i: the name of followed[i], which no block has so far, fits the new block */
    unsigned awaited;
};

/* ---- Parsing the option follow_blocks= ------------------------------------------------------- */

/* Parses the part of the option about one block: its name, and behind it, with "@57": the thread
 * executes its code step by step after the 57th call since; with "@way": the block's way through the
 * program's functions is recorded. *here: the block is one of this process. False: it has another
 * form. */
static bool parse_followed(const char *at, const char *end, struct followed *out, bool *here)
{
    if (!(at = block_name_parse(at, end, &out->name, here)))
        return false;
    out->steps = at < end && *at == '@';
    out->trails = end - at == 4 && memcmp(at, "@way", 4) == 0;
    if (out->trails)
        return true;
    return at == end || (out->steps && block_name_parse_decimal(at + 1, end, &out->step_at) == end);
}

/* Parses the option, and keeps the blocks of this process. */
static bool parse_option(const char *option)
{
    const char *end = option + strlen(option);
    for (unsigned named = 0; option < end; named++) {
        const char *comma = memchr(option, ',', end - option), *stop = comma ? comma : end;
        struct followed block = {.phase = WAITING};
        bool here;
        if (named == LEAK_FOLLOWED_MOST || !parse_followed(option, stop, &block, &here))
            return false;
        if (here)
            followed[followed_count++] = block;
        option = stop + 1;
    }
    return true;
}

/* ---- Searching the stack of the calling thread ----------------------------------------------- */

static bool slot_holds(const struct followed *it, uintptr_t slot)
{
    return pointer_search_word(slot, it->target);
}

struct frame_search {
    struct leak_held *word;
    struct frame inner;
};

static bool visit_frame(const struct frame *frame, void *context)
{
    struct frame_search *search = context;
    bool above = frame->sp > search->word->address;
    if (above && search->inner.pc) {
        search->word->pc = search->inner.pc - 1;
        search->word->cfa = frame->sp;
    }
    search->inner = *frame;
    return !above;
}

/* Records which frame of the calling thread's stack contains the word that points to the block. */
static void find_frame(const struct event *event, struct leak_held *word)
{
    static struct unwind_trace scratch; /* only the thread that holds "turn" uses it */
    struct frame_search search = {.word = word};
    unwind_each(&guard_self, &event->caller, 0, &scratch, visit_frame, &search);
}

static bool search_stack(const struct event *event, struct followed *it)
{
    for (uintptr_t at = round_up(event->caller.sp, sizeof at); at + sizeof at <= event->stack_end;
         at += sizeof at) {
        if (!pointer_leads_to(*(const volatile uintptr_t *)at, it->target))
            continue;
        it->held = (struct holder_found){.holder.word = {.address = at,
                                                         .thread = event->thread,
                                                         .root_class = LEAK_ROOT_CLASS_STACKS}};
        find_frame(event, &it->held.holder.word);
        return true;
    }
    return false;
}

/* ---- Does a word still point to the block, and which word? ----------------------------------- */

static bool is_on_stack(const struct leak_holder *holder)
{
    return !holder->block && (holder->word.root_class == LEAK_ROOT_CLASS_STACKS ||
                              holder->word.root_class == LEAK_ROOT_CLASS_REGISTERS);
}

static bool block_contains(const struct block *block, uintptr_t address)
{
    return block && address - block->address < block->size;
}

static bool is_held(const struct event *event, const struct followed *it)
{
    uintptr_t slot = it->held.holder.word.address;
    if (it->phase != HELD || (event->frees && block_contains(event->block, slot)))
        return false;
    if (is_on_stack(&it->held.holder) &&
        (slot_watch_is_lost(it - followed) ||
         (it->held.holder.word.thread == event->thread && slot < event->caller.sp)))
        return false; /* the function whose frame contained the word has returned */
    return it->held.holder.word.root_class != LEAK_ROOT_CLASS_REGISTERS && slot_holds(it, slot);
}

/* Decides at which call of an allocation function or free the whole memory is searched next. A
 * search stops the program for a while, so only the first SEARCHES_OFTEN searches take place at
 * every call; later ones become ever rarer. begins: this call is the first at which no word outside
 * stacks points to the block. */
static void plan_search(struct followed *it, bool begins)
{
    uint32_t now = it->out->events;
    if (begins)
        it->since = now;
    it->next_search = now + 1 + (it->out->searches > SEARCHES_OFTEN ? now - it->since : 0);
}

/* Says whether this call is the first at which no word outside stacks points to the block.
 * was_on_stack: the word that pointed to the block until now was on a stack. */
static bool leaves_memory(const struct followed *it, bool was_on_stack)
{
    return it->phase == FRESH || (it->phase == HELD && !was_on_stack);
}

static void adopt_holder(const struct event *event, struct followed *it, bool was_on_stack)
{
    unsigned index = it - followed;
    bool stored = !is_on_stack(&it->held.holder);
    plan_search(it, leaves_memory(it, was_on_stack));
    it->phase = HELD;
    it->before = event->node;
    it->out->last.event = 0;
    if (stored)
        it->out->stored.event = 0;
    store_relaxed(&it->out->state, LEAK_FOLLOWED_HELD);
    if (it->trails)
        slot_watch_aim(index, it->held.holder.word.address);
    else if (stored)
        slot_watch_set(index, it->held.holder.word.address, it->target);
}

static enum snapshot_held search_everywhere(const struct event *event, struct followed *it)
{
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    struct roots_caller caller = {.tid = sys_gettid(),
                                  .sp = event->caller.sp,
                                  .frame = event->caller.sp,
                                  .pc = event->caller.pc,
                                  .fp = event->caller.fp};
    if (++it->out->searches > SEARCHES_MOST || search_ns > SEARCH_TIME)
        return SNAPSHOT_HELD_UNKNOWN;
    enum snapshot_held found = snapshot_find_holder(&caller, it->target.hidden, &it->held);
    search_ns += sys_clock_ns(CLOCK_MONOTONIC) - begun;
    return found;
}

static void finish(struct followed *it, enum leak_followed_state state)
{
    slot_watch_clear(it - followed);
    it->phase = DONE;
    sub_relaxed(&following, 1);
    store_relaxed(&it->out->state, state);
}

static void finish_freed(struct followed *it)
{
    finish(it, LEAK_FOLLOWED_FREED);
    if (followed_count == 1)
        block_uses_end();
}

/* ---- Recording how the last pointer was lost ------------------------------------------------- */

static void write_drop(struct leak_drop *out, const struct leak_drop *drop)
{
    out->event = 0;
    fence_release();
    memcpy(&out->before, &drop->before, sizeof *out - offsetof(struct leak_drop, before));
    store_release(&out->event, drop->event);
}

/* Records the word that has lost the pointer, the last call at which it still pointed to the block,
 * and the current call. */
static void record_drop(const struct event *event, struct followed *it)
{
    static struct leak_drop drop; /* only the thread that holds "turn" uses it */
    drop = (struct leak_drop){
        .event = it->out->events, .before = it->before, .after = event->node, .since = it->since};
    if (it->phase == HELD)
        drop.holder = it->held.holder;
    if (!slot_watch_get(it - followed, &drop) && it->phase == HELD && event->frees &&
        block_contains(event->block, it->held.holder.word.address))
        drop.before = drop.after; /* the current call itself frees the block with the pointer */
    if (it->phase == HELD && !is_on_stack(&it->held.holder))
        write_drop(&it->out->stored, &drop);
    write_drop(&it->out->last, &drop);
    if (!slot_watch_is_stepped(it - followed))
        slot_watch_clear(it - followed);
}

/* Records the instruction that overwrote the last pointer, when single steps found it only after
 * the call at which the loss was recorded: at that call a register still had the pointer. */
static void record_late_steps(struct followed *it)
{
    struct leak_drop *last = &it->out->last;
    if (it->phase == GONE && last->event && !last->frame_count)
        last->late = slot_watch_get(it - followed, last);
}

static void search_again(const struct event *event, struct followed *it)
{
    bool was_on_stack = it->phase == HELD && is_on_stack(&it->held.holder);
    struct holder_found before = it->held;
    enum snapshot_held found = search_everywhere(event, it);
    /* Ignore the stack word that the search found if single steps have shown that the pointer is
     * lost: the word is left over from a function that has returned, which the leak check cannot
     * know. */
    if (found == SNAPSHOT_HELD_BY_WORD && is_on_stack(&it->held.holder) &&
        slot_watch_is_lost(it - followed)) {
        it->held = before;
        found = SNAPSHOT_HELD_NOT;
    }
    switch (found) {
    case SNAPSHOT_HELD_BY_WORD:
        return adopt_holder(event, it, was_on_stack);
    case SNAPSHOT_HELD_UNKNOWN:
        return finish(it, it->phase == GONE ? LEAK_FOLLOWED_LOST : LEAK_FOLLOWED_UNKNOWN);
    case SNAPSHOT_HELD_NOT:
        break;
    }
    plan_search(it, leaves_memory(it, was_on_stack));
    it->phase = GONE;
    store_relaxed(&it->out->state,
                  it->held.in_lost ? LEAK_FOLLOWED_LOST_BELOW : LEAK_FOLLOWED_LOST);
}

static void look_for_holder(const struct event *event, struct followed *it)
{
    bool stack = it->phase == GONE || is_on_stack(&it->held.holder);
    record_late_steps(it);
    if (it->phase != GONE)
        record_drop(event, it);
    if (stack && it->phase != FRESH && !slot_watch_is_lost(it - followed) &&
        search_stack(event, it))
        return adopt_holder(event, it, true);
    if (it->phase != GONE || it->out->events >= it->next_search || !event->block)
        search_again(event, it);
}

/* Checks whether the known word below the block still keeps it reachable: it does not, although it
 * points to the block, when the other pointers that lead to it are gone. */
static void check_below(const struct event *event, struct followed *it)
{
    if (it->out->events >= it->next_search || !event->block)
        look_for_holder(event, it);
}

/* ---- Handling calls of allocation functions -------------------------------------------------- */

static void begin_following(const struct event *event, struct followed *it)
{
    const struct block *block = event->block;
    it->target = (struct pointer_target){~(uint64_t)block->address, block->size ?: 1};
    it->before = event->node;
    it->phase = FRESH;
    it->out->count = block->count;
    it->out->thread = block->thread | (it->name.stack ? LEAK_FOLLOWED_BY_STACK : 0);
    it->out->site = block->site;
    it->out->size = block->size;
    store_release(&it->out->state, LEAK_FOLLOWED_HELD);
    add_relaxed(&following, 1);
    if (followed_count == 1 && slot_watch_is_possible() && !it->trails)
        block_uses_begin(block->address, block->size, it->out);
    if (it->trails)
        block_trail_begin(&event->caller, it->target);
}

/* Says whether the block is the one that is followed here. */
static bool is_followed(const struct followed *it, const struct block *block)
{
    return it->phase != WAITING && it->out->count == block->count &&
           (uint16_t)it->out->thread == block->thread;
}

/* Returns for each followed block a bit: its name, which no block has so far, fits this new one. */
static unsigned find_awaited(struct guard *guard, const struct block *block)
{
    unsigned fits = 0;
    for (unsigned i = 0; i < followed_count; i++)
        if (followed[i].phase == WAITING && block_name_fits(guard, &followed[i].name, block))
            fits |= 1u << i;
    return fits;
}

static bool begins_here(const struct event *event, const struct followed *it)
{
    if (it->phase != WAITING || !(event->awaited >> (it - followed) & 1))
        return false;
    for (unsigned i = 0; i < followed_count; i++)
        if (is_followed(&followed[i], event->block))
            return false;
    return true;
}

/* Checks at the end of the program whether the block that holds this one is lost itself. */
static void check_owner(const struct event *event, struct followed *it)
{
    if (search_everywhere(event, it) == SNAPSHOT_HELD_NOT)
        store_relaxed(&it->out->state, LEAK_FOLLOWED_LOST_BELOW);
}

static void follow_block(const struct event *event, struct followed *it)
{
    const struct block *block = event->block;
    if (begins_here(event, it))
        return begin_following(event, it);
    if (it->phase == WAITING || it->phase == DONE)
        return;
    bump(&it->out->events, 1);
    if (event->frees && pointer_is_start(block->address, it->target))
        return finish_freed(it);
    if (event->moves && it->phase == HELD && block_contains(block, it->held.holder.word.address)) {
        it->ignore = 2; /* this call of realloc, and the one that allocated the new block */
        if (!it->trails)
            slot_watch_clear(it - followed);
    }
    if (it->ignore && it->ignore--)
        return;
    if (is_held(event, it)) {
        if (it->held.below)
            return check_below(event, it);
        it->before = event->node;
        if (!event->block && it->held.holder.block)
            return check_owner(event, it);
        /* Only a word on a stack is known to point to the block. Search again: by now a variable or
         * another block may point to it, too. */
        if (is_on_stack(&it->held.holder) && it->out->events >= it->next_search)
            search_again(event, it);
        return;
    }
    look_for_holder(event, it);
}

static void step_if_due(const struct event *event, const struct followed *it)
{
    bool holds = it->phase == HELD, fresh = it->phase == FRESH;
    if (it->phase == GONE || holds)
        slot_watch_resume(it - followed, &event->caller);
    if (it->steps && (holds || fresh) && it->out->events == it->step_at)
        slot_watch_step(it - followed, holds ? it->held.holder.word.address : 0, it->target);
}

/* Checks all followed blocks at one call of an allocation function or of free. The calling thread
 * is outside the runtime. */
static void follow_blocks(const struct event *event)
{
    uint64_t mask;
    if (!turnstile_enter(&turn, TURN_TIME))
        return;
    slot_watch_stop();
    sys_signals_block_handled(&mask);
    for (unsigned i = 0; i < followed_count; i++)
        follow_block(event, &followed[i]);
    sys_signals_restore(&mask);
    turnstile_leave(&turn);
    for (unsigned i = 0; i < followed_count && event->block; i++)
        step_if_due(event, &followed[i]);
}

/* Checks the followed blocks outside the runtime, because a leak check may run, and then enters the
 * runtime again. */
static void leave_and_follow(struct guard *guard, struct event *event)
{
    int process = sys_getpid();
    guard_leave(guard);
    follow_blocks(event);
    guard_enter(&event->caller);
    /* In a child process, if a signal handler of the program has called fork meanwhile: the child
     * must not write to the recording file of its parent. */
    if (sys_getpid() != process && store_header->pid != sys_getpid())
        store_make_private();
}

static uintptr_t end_of_stack(const struct guard *guard, uintptr_t sp)
{
    const struct thread *thread = guard->thread;
    return thread && sp > thread->bounds.low && sp < thread->bounds.high ? thread->bounds.high : 0;
}

static void on_alloc(struct guard *guard, const struct frame *caller, const struct block *block)
{
    unsigned awaited = find_awaited(guard, block);
    if (!load_relaxed(&following) && !awaited)
        return;
    struct event event = {.caller = *caller,
                          .node = sites_node(block->site),
                          .thread = block->thread,
                          .stack_end = end_of_stack(guard, caller->sp),
                          .block = block,
                          .awaited = awaited};
    leave_and_follow(guard, &event);
}

static void on_free(struct guard *guard, const struct frame *caller, const struct block *block,
                    uint32_t how)
{
    const struct thread *thread;
    if (!load_relaxed(&following))
        return;
    uint32_t node = capture_call(guard, caller, true, &thread);
    struct event event = {.caller = *caller,
                          .node = node,
                          .thread = thread ? thread->serial : 0,
                          .stack_end = end_of_stack(guard, caller->sp),
                          .block = block,
                          .frees = true,
                          .moves = free_form_of(how) == LEAK_FORM_REALLOC};
    leave_and_follow(guard, &event);
}

void follow_end(const struct frame *caller)
{
    const struct thread *thread;
    if (!load_relaxed(&following))
        return;
    struct guard *guard = guard_enter(caller);
    if (!guard)
        return;
    struct event event = {.caller = *caller, .stack_end = end_of_stack(guard, caller->sp)};
    event.node = capture_call(guard, caller, true, &thread);
    event.thread = thread ? thread->serial : 0;
    leave_and_follow(guard, &event);
    block_trail_lost();
    for (unsigned i = 0; i < followed_count; i++)
        if (followed[i].phase != WAITING && followed[i].phase != DONE)
            finish(&followed[i], followed[i].out->state);
    guard_leave(guard);
}

/* ---- Starting -------------------------------------------------------------------------------- */

static bool create_records(void)
{
    struct leak_followed *table =
        store_new_chunk(LEAK_CHUNK_FOLLOWED, followed_count * sizeof *table, 0);
    for (unsigned i = 0; table && i < followed_count; i++) {
        followed[i].out = &table[i];
        table[i].count = followed[i].name.count;
        store_release(&table[i].thread, followed[i].name.thread);
    }
    return table != NULL;
}

/* Starts to wait for the blocks of this process. */
static void await_blocks(void)
{
    if (followed_count && !create_records())
        followed_count = 0;
    if (followed_count == 1)
        followed[0].trails ? block_trail_start() : block_counts_start();
}

void follow_start(const char *option)
{
    if (!*option)
        return;
    if (!parse_option(option)) {
        followed_count = 0;
        log_bad_value("follow_blocks", option,
                      "the serials of up to 4 blocks, as in T1#4213,T2#7, those of a fork child "
                      "as in T1.3/T1#42; nothing is followed");
        return;
    }
    await_blocks();
    followed_option = option;
    /* Also if all blocks belong to processes that this one will fork: they inherit these. */
    alloc_watch_calls.allocated = on_alloc;
    alloc_watch_calls.freed = on_free;
}

void follow_start_traps(int (*install)(int, const struct sigaction *, struct sigaction *))
{
    if (follow_is_on())
        slot_watch_start(install);
}

bool follow_is_on(void)
{
    return alloc_watch_calls.allocated != NULL;
}

/* Stops following the blocks of the parent in a fork child, and starts to wait for those that
 * follow_blocks= names for this process. */
void follow_fork_child(void)
{
    turnstile_reset(&turn);
    followed_count = 0;
    following = 0;
    search_ns = 0;
    slot_watch_fork_child();
    if (followed_option && parse_option(followed_option))
        await_blocks();
}
