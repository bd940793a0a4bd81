#include "preload/follow/slot_watch.h"
#include "preload/follow/block_trail.h"
#include "preload/follow/block_uses.h"
#include "preload/follow/step_over.h"
#include "preload/base/lock.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "preload/interpose/modules.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/unwind/unwind.h"
#include "context.h"

#include <time.h>

/* An argument that points to the word with the pointer, or to one of so many bytes before it, is
 * taken for the address of the variable or block that contains the word. */
#define HOLDER_MOST 1024
/* Value of TRAP_PERF (si_code of a SIGTRAP from a watchpoint), which Linux has since 5.13 and older
 * headers lack. */
#define TRAP_PERF_EVENT 6
#define THREADS_MOST 64
/* Longest time in ns for which a thread executes step by step: the program is very slow
 * meanwhile. */
#define STEP_TIME 20000000000ull
#define STEPS_A_CLOCK 1024
#define LONGEST_INSTRUCTION 15
/* Largest number of searches of the whole memory for one block; after them no more is searched, and
 * the pointer counts as not found. */
#define SEARCHES_MOST 200
/* Number of bytes below the stack pointer in which words left over from functions that have
 * returned are erased. */
#define DEAD_MOST (8u << 10)
/* Number of bytes above the stack pointer that are searched after every step in which the known
 * word or register no longer has the pointer. */
#define STACK_NEAR (64u << 10)

/* An executed jump, call or return: its address, and that of the next executed instruction. */
struct jump {
    uintptr_t from, to;
};

struct slot {
    bool watched, stepped;
    uintptr_t address; /* address of the word with the pointer; 0: a register has the pointer */
    struct pointer_target target;
    /* Number of frames in "frames"; 0: no loss of the pointer is recorded. */
    uint32_t frame_count;
    uint64_t frames[LEAK_FOLLOWED_FRAMES];
    struct unwind_bounds stack; /* stack of the single-stepped thread */
    uintptr_t lost_from; /* address of the word that lost the pointer; 0: a register lost it */
    /* When "frames" was recorded, only a register that a called function may change still had the
     * pointer. */
    bool in_dead_register;
    bool is_lost;     /* single steps have shown that nothing points to the block */
    struct jump jump; /* the last jump before "frames" was recorded */
    uint32_t searches;
    int descriptors[THREADS_MOST];
    unsigned descriptor_count;
};

static struct slot slots[LEAK_FOLLOWED_MOST];
static bool is_started;
static uint32_t stepping; /* tid of the thread that executes step by step; 0: no thread does */
static uint64_t stepping_until;
static uint32_t steps;
static struct {
    uintptr_t pc, sp; /* registers before the last executed instruction */
    struct jump jump; /* the last jump before that instruction */
    bool ran;         /* code was executed at full speed behind that instruction */
} last;
/* Set to 1 while a thread uses unwind_memory, so that other threads do not. */
static uint32_t unwinding;
static struct unwind_trace unwind_memory;

/* ---- Recording the instruction that overwrote a pointer -------------------------------------- */

static bool add_frame(const struct frame *frame, void *context)
{
    struct slot *slot = context;
    slot->frames[slot->frame_count++] = frame->pc;
    return slot->frame_count < LEAK_FOLLOWED_FRAMES;
}

static bool is_jump(uintptr_t from, uintptr_t to)
{
    return to - from > LONGEST_INSTRUCTION;
}

/* Records the call stack of the instruction that was just executed. The pc of each recorded frame
 * lies behind its instruction, as a return address does. The address of the last single-stepped
 * instruction is known; if that instruction was a return, the frame of the function that returned
 * comes first. */
static void record_stack(struct slot *slot, const ucontext_t *context)
{
    uintptr_t pc = context_pc(context), sp = context_sp(context);
    bool jumped = slot->stepped && last.pc && is_jump(last.pc, pc);
    unsigned at = jumped && sp > last.sp;
    struct frame start = {.pc = pc + 1, .sp = sp, .fp = context_fp(context)};
    if (exchange_acquire(&unwinding, 1))
        return;
    slot->frame_count = at;
    unwind_each(&guard_self, &start, context_link(context), &unwind_memory, add_frame, slot);
    slot->frames[at] = pc;
    if (jumped)
        slot->frames[0] = last.pc + 1;
    slot->jump = slot->stepped ? last.jump : (struct jump){0};
    slot->lost_from = slot->address;
    store_release(&unwinding, 0);
}

static void compare_word(struct slot *slot, const ucontext_t *context)
{
    if (pointer_search_word(slot->address, slot->target))
        slot->frame_count = 0;
    else if (!slot->frame_count)
        record_stack(slot, context);
}

/* ---- Finding the pointer after a single step ------------------------------------------------- */

static bool is_on_stack(const struct slot *slot, uintptr_t address)
{
    return address >= slot->stack.low && address < slot->stack.high;
}

static uintptr_t search_stack(const struct slot *slot, const ucontext_t *context, size_t most)
{
    uintptr_t at = round_up(context_sp(context), sizeof at);
    uintptr_t end = slot->stack.high;
    if (!is_on_stack(slot, at))
        return 0;
    if (end - at > most)
        end = at + most;
    return pointer_search_range(at, end, slot->target);
}

/* Searches for the pointer in the whole stack of the thread, and in the writable memory of the
 * process. Returns the address of a word with the pointer; 0: none is found. *is_below: one in a
 * block below the block is found (pointer_search.h). */
static uintptr_t search_everywhere(struct slot *slot, const ucontext_t *context, bool *is_below)
{
    *is_below = false;
    if (slot->searches++ >= SEARCHES_MOST)
        return 0;
    return search_stack(slot, context, SIZE_MAX)
               ?: pointer_search_memory(slot->stack.high, slot->target, is_below);
}

/* Records the call stack at which the last pointer to the block seems to be lost. A later search
 * that finds the pointer withdraws the record. */
static void suspect(struct slot *slot, const ucontext_t *context, uintptr_t at, bool dead_register)
{
    if (slot->frame_count)
        return;
    record_stack(slot, context);
    slot->lost_from = at;
    slot->in_dead_register = dead_register;
}

/* Says whether memory is to be searched although a register that a called function may change has
 * the pointer: the program may have stored the pointer and left a copy in this register. Memory is
 * searched only at jumps, because that takes long. */
static bool may_be_stored(const struct slot *slot, const ucontext_t *context)
{
    return last.pc && is_jump(last.pc, context_pc(context)) && slot->searches < SEARCHES_MOST / 2;
}

/* After a single step, finds the word or register that has the pointer now. True: there is none, so
 * the block is lost. */
static bool chase_pointer(struct slot *slot, const ucontext_t *context)
{
    uintptr_t at = slot->address;
    bool stored = at && !is_on_stack(slot, at);
    if (at && pointer_search_word(at, slot->target) && (stored || at >= context_sp(context)))
        return false;
    if (stored)
        suspect(slot, context, at, false);
    slot->address = 0;
    if (pointer_search_registers(context, true, slot->target) ||
        (slot->address = search_stack(slot, context, STACK_NEAR))) {
        slot->frame_count = slot->in_dead_register ? 0 : slot->frame_count;
        return false;
    }
    suspect(slot, context, at, true);
    bool in_register = pointer_search_registers(context, false, slot->target);
    if (in_register && !may_be_stored(slot, context))
        return false;
    bool is_below;
    if (!(slot->address = search_everywhere(slot, context, &is_below)))
        return !in_register && !is_below;
    slot->frame_count = 0;
    return false;
}

/* ---- Handling SIGTRAP ------------------------------------------------------------------------ */

static bool is_time_over(void)
{
    return ++steps % STEPS_A_CLOCK == 0 && sys_clock_ns(CLOCK_MONOTONIC) > stepping_until;
}

/* Returns the return address of the call instruction that was just executed; 0: it was another
 * instruction. */
static uintptr_t find_call(const ucontext_t *context)
{
    uintptr_t pc = context_pc(context), sp = context_sp(context), returns_to;
    if (!last.pc || last.ran || sp != last.sp - sizeof sp || !is_jump(last.pc, pc) ||
        !sys_peek(sp, &returns_to, sizeof returns_to) || is_jump(last.pc, returns_to))
        return 0;
    return returns_to;
}

/* After a call instruction, clears the words below the stack pointer that have the pointer. They
 * are left over from functions that have returned, but would lie in the frame of the called
 * function and seem to hold the block. Does nothing if the handler itself runs on this stack. */
static void erase_dead_words(const struct slot *slot, const ucontext_t *context)
{
    uintptr_t sp = context_sp(context);
    if (is_on_stack(slot, (uintptr_t)__builtin_frame_address(0)) ||
        !is_on_stack(slot, sp - DEAD_MOST))
        return;
    for (uintptr_t at = sp - DEAD_MOST; (at = pointer_search_range(at, sp, slot->target));
         at += sizeof at)
        *(volatile uintptr_t *)at = 0;
}

/* Checks the pointer after one single step. True: the block is lost. While code of libleak
 * executes, nothing is searched, and a pointer that is only in a register that a called function
 * may change counts as lost. */
static bool check_step(struct slot *slot, const ucontext_t *context, bool calls)
{
    if (modules_is_own(context_pc(context)))
        return slot->frame_count && slot->in_dead_register;
    if (calls)
        erase_dead_words(slot, context);
    return chase_pointer(slot, context);
}

static void note_step(const ucontext_t *context, bool continues)
{
    uintptr_t pc = context_pc(context);
    if (last.pc && is_jump(last.pc, pc))
        last.jump = (struct jump){last.pc, pc};
    last.pc = continues ? pc : 0;
    last.sp = context_sp(context);
    last.ran = false;
}

/* Records the step in the trail of the block, the only block that is followed. */
static void trail_step(const ucontext_t *context, uintptr_t returns_to)
{
    const struct slot *slot = &slots[0];
    struct trail_step step = {.pc = last.pc,
                              .sp = last.sp,
                              .returns_to = returns_to,
                              .ran = last.ran,
                              .slot = is_on_stack(slot, slot->address) ? slot->address : 0};
    if (slot->stepped)
        block_trail_step(context, &step);
}

/* Says whether an argument points to a block, or to memory that contains the pointer to it. */
static bool gets_block(const struct slot *slot, const ucontext_t *context)
{
    for (unsigned i = 0; i < CONTEXT_CALL_ARGUMENTS; i++) {
        uintptr_t argument = context_call_argument(context, i);
        if (pointer_leads_to(argument, slot->target) ||
            (slot->address && slot->address - argument < HOLDER_MOST))
            return true;
    }
    return false;
}

static void note_call(const ucontext_t *context, uintptr_t returns_to)
{
    struct step_call call = {.function = context_pc(context),
                             .returns_to = returns_to,
                             .sp = context_sp(context) + sizeof returns_to};
    for (unsigned i = 0; i < ARRAY_LENGTH(slots); i++)
        call.gets_block |= slots[i].stepped && gets_block(&slots[i], context);
    step_over_note_call(&call);
}

/* Checks the pointers of all blocks after one single step. Returns true while a pointer of a block
 * is not lost. */
static bool check_pointers(const ucontext_t *context, uintptr_t returns_to)
{
    bool any = false, outside = !guard_self.sp && !lock_thread.held;
    bool used = block_uses_step(context);
    for (unsigned i = 0; i < ARRAY_LENGTH(slots); i++) {
        struct slot *slot = &slots[i];
        if (used) /* The program has used the block, so no earlier step was the loss. */
            slot->frame_count = 0;
        if (slot->stepped && outside && check_step(slot, context, returns_to)) {
            slot->stepped = false;
            slot->is_lost = true;
            block_trail_lost();
        }
        any |= slot->stepped;
    }
    return any;
}

static void take_step(ucontext_t *context)
{
    uintptr_t returns_to = find_call(context);
    uintptr_t before = last.ran ? 0 : last.pc, before_sp = last.sp;
    trail_step(context, returns_to);
    bool any = check_pointers(context, returns_to), over = is_time_over();
    if (over)
        block_trail_cut();
    if (!any || over)
        store_relaxed(&stepping, 0);
    note_step(context, load_relaxed(&stepping));
    if (returns_to)
        note_call(context, returns_to);
    last.ran = load_relaxed(&stepping) && step_over_begin(context, before, before_sp);
    if (!last.ran && step_over_is_unsafe(context))
        store_relaxed(&stepping, 0);
    context_set_step(context, load_relaxed(&stepping) && !last.ran);
}

/* Ends the execution at full speed; its time is none of the time of steps. */
static void end_run(void)
{
    stepping_until += step_over_end();
}

/* Says whether a SIGTRAP may come from a single step or watchpoint of libleak. False: it comes from
 * a breakpoint of the program, or another process has sent it. */
static bool is_awaited(const siginfo_t *info)
{
    return info->si_code == TRAP_TRACE || info->si_code == TRAP_HWBKPT ||
           info->si_code == TRAP_PERF_EVENT ||
           (info->si_code == SI_TKILL && info->si_pid == sys_getpid());
}

static bool on_sigtrap(const siginfo_t *info, ucontext_t *context)
{
    /* tid of the thread that was single-stepped last; it gets one more SIGTRAP after
     * slot_watch_stop. */
    static uint32_t last_stepper;
    uint32_t self = sys_gettid();
    bool ours = false;
    if (!is_awaited(info))
        return false;
    if (info->si_code == TRAP_PERF_EVENT)
        ours = block_uses_trap(info, context);
    for (unsigned i = 0; i < ARRAY_LENGTH(slots); i++)
        if (slots[i].watched && !slots[i].stepped) {
            compare_word(&slots[i], context);
            ours = true;
        }
    if (step_over_is_running()) {
        if (!step_over_has_returned(context))
            return true;
        end_run();
        if (load_relaxed(&stepping) != self)
            return true;
    }
    if (load_relaxed(&stepping) == self) {
        last_stepper = self;
        take_step(context);
        return true;
    }
    if (last_stepper == self) {
        context_set_step(context, false);
        last_stepper = 0;
        ours = true;
    }
    return ours;
}

/* ---- Watching one word ----------------------------------------------------------------------- */

static bool watch_in_thread(int tid, void *context)
{
    struct slot *slot = context;
    int descriptor = sys_watch_word(tid, slot->address, false);
    if (descriptor >= 0)
        slot->descriptors[slot->descriptor_count++] = descriptor;
    return descriptor >= 0 && slot->descriptor_count < THREADS_MOST;
}

static struct slot *begin_slot(unsigned index, uintptr_t address, struct pointer_target target)
{
    struct slot *slot = &slots[index];
    slot_watch_clear(index);
    slot->target = target;
    slot->address = address;
    slot->frame_count = 0;
    slot->is_lost = false;
    slot->searches = 0;
    return slot;
}

void slot_watch_set(unsigned index, uintptr_t address, struct pointer_target target)
{
    if (!is_started || address % sizeof address)
        return slot_watch_clear(index);
    struct slot *slot = begin_slot(index, address, target);
    step_over_stop(); /* the CPU may have no other breakpoint left */
    slot->watched = true;
    sys_each_numbered_entry("/proc/self/task", watch_in_thread, slot);
}

void slot_watch_clear(unsigned index)
{
    struct slot *slot = &slots[index];
    slot->watched = slot->stepped = false;
    while (slot->descriptor_count)
        sys_close(slot->descriptors[--slot->descriptor_count]);
}

bool slot_watch_get(unsigned index, struct leak_drop *out)
{
    const struct slot *slot = &slots[index];
    if (!slot->watched || !slot->frame_count)
        return false;
    out->frame_count = slot->frame_count;
    memcpy(out->frames, slot->frames, sizeof out->frames);
    out->jump_from = slot->jump.from;
    out->jump_to = slot->jump.to;
    if (slot->lost_from != out->holder.word.address)
        out->holder = (struct leak_holder){0};
    return true;
}

void slot_watch_step(unsigned index, uintptr_t address, struct pointer_target target)
{
    if (!is_started || !CONTEXT_CAN_STEP || !guard_self.thread)
        return;
    struct slot *slot = begin_slot(index, address, target);
    slot->stack = guard_self.thread->bounds;
    slot->watched = slot->stepped = true;
    block_uses_begin_steps();
    step_over_reset();
    stepping_until = sys_clock_ns(CLOCK_MONOTONIC) + STEP_TIME;
    steps = 0;
    slot_watch_resume(index, NULL);
}

void slot_watch_aim(unsigned index, uintptr_t address)
{
    struct slot *slot = &slots[index];
    slot->address = address;
    slot->frame_count = 0;
    slot->is_lost = false;
    slot->stepped = true;
}

/* Resumes single-stepping if the calling thread is the one that began it: the pointer is on the
 * stack of that thread, or in its registers. */
void slot_watch_resume(unsigned index, const struct frame *caller)
{
    const struct slot *slot = &slots[index];
    if (!guard_self.thread || slot->stack.high != guard_self.thread->bounds.high)
        return;
    if (step_over_is_running()) {
        if (!caller || !step_over_is_left(caller->sp, caller->pc)) {
            store_relaxed(&stepping, sys_gettid());
            return;
        }
        end_run();
        store_relaxed(&stepping, 0);
    }
    last.pc = 0;
    if (slot->stepped && exchange_relaxed(&stepping, sys_gettid()) != (uint32_t)sys_gettid())
        sys_raise_trap(); /* the handler of SIGTRAP then begins single-stepping */
}

bool slot_watch_is_stepped(unsigned index)
{
    return slots[index].stepped;
}

bool slot_watch_is_lost(unsigned index)
{
    return slots[index].is_lost;
}

void slot_watch_stop(void)
{
    if (!step_over_is_running())
        store_relaxed(&stepping, 0);
}

void slot_watch_start(int (*install)(int, const struct sigaction *, struct sigaction *))
{
    /* If the option start_at= has already reserved a signal, nothing is done: libleak can reserve
     * only one. */
    if (trampoline_reserved_fault())
        return;
    trampoline_reserve_fault(SIGTRAP, on_sigtrap, install);
    is_started = true;
}

bool slot_watch_is_possible(void)
{
    return is_started;
}

void slot_watch_fork_child(void)
{
    block_uses_end();
    step_over_stop();
    for (unsigned i = 0; i < ARRAY_LENGTH(slots); i++)
        slot_watch_clear(i);
    stepping = 0;
    unwinding = 0;
}
