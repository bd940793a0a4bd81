#include "preload/follow/block_trail.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/sys.h"
#include "preload/follow/block_counts.h"
#include "preload/interpose/modules.h"
#include "preload/store/store.h"
#include "preload/unwind/unwind.h"
#include "context.h"
#include "leak_store.h"

#define LEVELS_MOST 512
#define LONGEST_INSTRUCTION 15
/* The variable that contains the pointer may begin at most this number of bytes before it. */
#define VARIABLE_MOST 1024
/* So many of the latest jumps of a function are kept, whatever they are. */
#define LATEST_JUMPS 3
/* Number of words on the stack that are examined as arguments. */
#define STACK_ARGUMENTS 6

/* One function of the call stack that has not ended. */
struct level {
    uintptr_t until; /* the function has ended if the stack pointer is this or more */
    uintptr_t returns_to;
    struct leak_way *way; /* where the end of the function is recorded; NULL: nowhere */
    unsigned jump_count;
    struct leak_way_jump jumps[LEAK_WAY_JUMPS]; /* latest last */
    uint32_t returns;                           /* bit i: jumps[i] is the return of a callee */
};

static struct leak_trail *trail;
static struct pointer_target block;
/* The levels of the single-stepped thread, the outermost function first. Only this thread uses
 * them. */
static struct level levels[LEVELS_MOST];
static unsigned level_count;
/* Address of the instruction that was executed last; 0: it is unknown. */
static uintptr_t executed;
/* A bit for each word that was pushed on the stack since the stack pointer was last changed in
 * another way; bit 0 stands for the latest word. 1: the word may be an argument. 0: it is the saved
 * register of a caller. */
static uint32_t pushed;
/* Bit i: the register with argument i has pointed to the block since the last return. */
static uint32_t leftovers;

void block_trail_start(void)
{
    trail = store_new_chunk(LEAK_CHUNK_TRAIL, sizeof *trail, 0);
    if (trail)
        block_counts_start_in(
            (struct counts_table){trail->words, LEAK_WAY_COUNTERS, trail->countings});
}

/* ---- The call stack at the allocation -------------------------------------------------------- */

struct beginning {
    struct frame frames[LEAK_WAYS_ENDED];
    unsigned count;
};

static bool add_frame(const struct frame *frame, void *context)
{
    struct beginning *beginning = context;
    beginning->frames[beginning->count++] = *frame;
    return beginning->count < LEAK_WAYS_ENDED;
}

/* Adds the callers of a level's function to its record. */
static void add_callers(struct leak_way *way, unsigned level)
{
    unsigned count = 1;
    for (unsigned i = level + 1; i-- > 0 && count < LEAK_WAY_FRAMES;)
        way->frames[count++] = levels[i].returns_to;
    store_release(&way->frame_count, count);
}

void block_trail_begin(const struct frame *caller, struct pointer_target target)
{
    static struct unwind_trace scratch;
    static struct beginning beginning;
    if (!trail)
        return;
    beginning.count = 0;
    unwind_each(&guard_self, caller, 0, &scratch, add_frame, &beginning);
    block = target;
    block_counts_begin(~target.hidden, target.size);
    level_count = 0;
    for (unsigned i = beginning.count; i-- > 1;) {
        const struct frame *outer = &beginning.frames[i];
        struct leak_way *way = &trail->ended[i - 1];
        levels[level_count] =
            (struct level){.until = outer->sp, .returns_to = outer->pc, .way = way};
        way->frames[0] = beginning.frames[i - 1].pc;
        add_callers(way, level_count++);
    }
}

void block_trail_cut(void)
{
    if (trail && level_count)
        store_relaxed(&trail->is_cut, 1);
}

/* ---- The end of a function ------------------------------------------------------------------- */

/* Records how the function of a level has ended. behind: the address behind its last instruction;
 * 0: unknown. inner: return address of the call that the function was executing, so that an
 * exception or longjmp has ended it; 0: its last instruction has returned. */
static void record_end(const struct level *level, const ucontext_t *context, uintptr_t behind,
                       uintptr_t inner)
{
    struct leak_way *way = level->way;
    if (!way)
        return;
    memcpy(way->jumps, level->jumps, sizeof way->jumps);
    way->jump_count = level->jump_count;
    way->left_at = inner ?: behind;
    uint32_t how = inner ? LEAK_WAY_THROWN : LEAK_WAY_ENDED;
    if (pointer_is_start(context_result(context), block))
        how |= LEAK_WAY_RETURNED;
    store_release(&way->how, how);
}

void block_trail_lost(void)
{
    if (level_count && levels[level_count - 1].way)
        levels[level_count - 1].way->left_at = executed ? executed + 1 : 0;
    for (unsigned i = 0; i < level_count; i++)
        if (levels[i].way) {
            memcpy(levels[i].way->jumps, levels[i].jumps, sizeof levels[i].jumps);
            store_relaxed(&levels[i].way->jump_count, levels[i].jump_count);
        }
}

static void leave_levels(const ucontext_t *context, const struct trail_step *step)
{
    uintptr_t inner = 0, sp = context_sp(context);
    while (level_count && sp >= levels[level_count - 1].until) {
        const struct level *level = &levels[--level_count];
        record_end(level, context, step->ran ? 0 : step->pc + 1, inner);
        inner = level->returns_to;
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Says whether an argument points to the block, or (*variable) to the variable of the calling
 * function that contains the pointer. */
static bool is_passed(uintptr_t argument, uintptr_t sp, uintptr_t slot, bool *variable)
{
    if (pointer_is_start(argument, block))
        return true;
    if (!slot || argument <= sp || slot - argument >= VARIABLE_MOST ||
        slot >= levels[level_count - 1].until)
        return false;
    *variable = true;
    return true;
}

/* After a return, finds the argument registers that still point to the block: most of them are no
 * arguments of the next call. The first register is left out, except after a function of libleak or
 * one that was not stepped through (all), because functions often pass on the same first
 * argument. */
static void note_leftovers(const ucontext_t *context, bool all)
{
    leftovers = 0;
    for (unsigned i = all ? 0 : 1; i < CONTEXT_CALL_ARGUMENTS; i++)
        if (pointer_is_start(context_call_argument(context, i), block))
            leftovers |= 1u << i;
}

/* Removes from "leftovers" the registers that no longer point to the block. */
static void check_leftovers(const ucontext_t *context)
{
    for (unsigned i = 0; i < CONTEXT_CALL_ARGUMENTS && leftovers; i++)
        if (!pointer_is_start(context_call_argument(context, i), block))
            leftovers &= ~(1u << i);
}

/* Updates "pushed", which says what the latest words on the stack are, after an instruction that is
 * no call. */
static void note_push(uintptr_t sp, uintptr_t last_pc, uintptr_t last_sp)
{
    uint8_t code[2];
    if (sp == last_sp)
        return;
    if (sp == last_sp - sizeof sp && sys_peek(last_pc, code, sizeof code))
        pushed = pushed << 1 | !context_saves_register(code);
    else
        pushed = 0;
}

static bool passes_block(const ucontext_t *context, uintptr_t slot, bool *variable)
{
    uintptr_t sp = context_sp(context), word;
    for (unsigned i = 0; i < CONTEXT_CALL_ARGUMENTS; i++)
        if (!(leftovers >> i & 1) &&
            is_passed(context_call_argument(context, i), sp, slot, variable))
            return true;
    for (unsigned i = 0; i < STACK_ARGUMENTS; i++)
        if (pushed >> i & 1 && sys_peek(sp + (i + 1) * sizeof sp, &word, sizeof word) &&
            is_passed(word, sp, 0, variable))
            return true;
    return false;
}

/* Returns an empty record for a new call: an unused one, or the oldest. A level that still has this
 * record loses it. */
static struct leak_way *take_way(void)
{
    struct leak_way *way = &trail->passed[trail->passed_count % LEAK_WAYS_PASSED];
    for (unsigned i = 0; i < level_count; i++)
        if (levels[i].way == way)
            levels[i].way = NULL;
    store_release(&way->frame_count, 0);
    way->how = 0;
    way->jump_count = 0;
    way->number = trail->passed_count + 1;
    bump(&trail->passed_count, 1);
    return way;
}

static void enter_level(const ucontext_t *context, uintptr_t returns_to, uintptr_t slot)
{
    uintptr_t sp = context_sp(context);
    bool variable = false;
    if (level_count == LEVELS_MOST)
        return;
    struct level *level = &levels[level_count];
    *level = (struct level){.until = sp + sizeof sp, .returns_to = returns_to};
    if (passes_block(context, slot, &variable)) {
        level->way = take_way();
        level->way->variable = variable;
        level->way->frames[0] = context_pc(context) + 1;
        add_callers(level->way, level_count);
    }
    level_count++;
}

/* ---- Jumps ----------------------------------------------------------------------------------- */

/* Returns the index of the jump that makes room for a new one: the oldest return of a callee that is
 * not among the latest jumps, because the path of the function can be told without it; else the
 * oldest jump. */
static unsigned find_least_useful(const struct level *level)
{
    for (unsigned i = 0; i < level->jump_count - LATEST_JUMPS; i++)
        if (level->returns >> i & 1)
            return i;
    return 0;
}

/* Records a jump in the innermost level, or the return of a callee to this level. A loop repeats its
 * jumps; each is kept once, as the latest. */
static void add_jump(uintptr_t from, uintptr_t to, bool returns)
{
    struct level *level = &levels[level_count - 1];
    unsigned i = 0;
    while (i < level->jump_count && (level->jumps[i].from != from || level->jumps[i].to != to))
        i++;
    if (i == level->jump_count && i < LEAK_WAY_JUMPS)
        level->jump_count++;
    else if (i == level->jump_count)
        i = find_least_useful(level);
    unsigned last = level->jump_count - 1;
    memmove(&level->jumps[i], &level->jumps[i + 1], (last - i) * sizeof *level->jumps);
    level->jumps[last] = (struct leak_way_jump){from, to};
    uint32_t before = (1u << i) - 1;
    level->returns = (level->returns & before) | (level->returns >> 1 & ~before);
    level->returns = (level->returns & ~(1u << last)) | (uint32_t)returns << last;
}

/* ---- Reference counts ------------------------------------------------------------------------ */

static void note_counts(uintptr_t last_pc)
{
    uint64_t frames[LEAK_COUNTING_FRAMES] = {last_pc + 1};
    unsigned count = 1;
    for (unsigned i = level_count; i-- > 0 && count < LEAK_COUNTING_FRAMES;)
        frames[count++] = levels[i].returns_to;
    block_counts_note(~block.hidden, frames, count);
}

void block_trail_step(const ucontext_t *context, const struct trail_step *step)
{
    uintptr_t pc = context_pc(context), sp = context_sp(context);
    if (!level_count || !step->pc || modules_is_own(pc))
        return;
    executed = step->ran ? 0 : step->pc;
    if (modules_is_own(step->pc)) {
        leave_levels(context, step);
        if (level_count)
            add_jump(step->pc, pc, true);
        note_leftovers(context, true);
        return;
    }
    note_counts(step->pc);
    check_leftovers(context);
    unsigned before = level_count;
    leave_levels(context, step);
    if (!level_count)
        return;
    if (step->returns_to) {
        enter_level(context, step->returns_to, step->slot);
        pushed = leftovers = 0;
        return;
    }
    bool returns = level_count < before;
    note_push(sp, step->pc, step->sp);
    if (returns || pc - step->pc > LONGEST_INSTRUCTION)
        add_jump(step->pc, pc, returns);
    if (returns)
        note_leftovers(context, step->ran);
}
