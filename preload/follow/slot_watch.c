#include "preload/follow/slot_watch.h"
#include "preload/base/arena.h"
#include "preload/base/lock.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/sys.h"
#include "preload/elf/procmaps.h"
#include "preload/heap/threads.h"
#include "preload/interpose/modules.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/unwind/unwind.h"
#include "context.h"

#include <time.h>

#define TRAP_PERF_EVENT 6 /* TRAP_PERF, since Linux 5.13 */
#define THREADS_MOST 64
#define STEP_TIME 20000000000ull /* ns */
#define STEPS_A_CLOCK 1024
#define LONGEST_INSTRUCTION 15
#define SEARCHES_MOST 200      /* of the memory of the process */
#define STACK_MOST (64u << 10) /* bytes that are searched */
#define MEMORY_MOST (256u << 20)

struct slot {
    bool watched, stepped;
    uintptr_t address; /* of the word; 0: a register has the pointer */
    uint64_t hidden, size;
    uint32_t frame_count; /* of what follows; 0: the pointer is there */
    uint64_t frames[LEAK_FOLLOWED_FRAMES];
    struct unwind_bounds stack; /* of the thread that steps */
    bool in_dead_register;      /* when the stack was recorded, one still had the pointer */
    uint32_t searches;
    int descriptors[THREADS_MOST];
    unsigned descriptor_count;
};

static struct slot slots[LEAK_FOLLOWED_MOST];
static bool is_started;
static uint32_t stepping; /* tid of the thread that steps, 0: none does */
static uint64_t stepping_until;
static uint32_t steps;
static uintptr_t last_pc;  /* before this step */
static uint32_t unwinding; /* the next is in use */
static struct unwind_trace unwind_memory;

/* ---- The instruction ------------------------------------------------------------------------- */

static bool add_frame(const struct frame *frame, void *context)
{
    struct slot *slot = context;
    slot->frames[slot->frame_count++] = frame->pc;
    return slot->frame_count < LEAK_FOLLOWED_FRAMES;
}

/* pc is behind the instruction, like a return address; only a return leads far away. */
static void record_stack(struct slot *slot, const ucontext_t *context)
{
    struct frame start = {
        .pc = context_pc(context), .sp = context_sp(context), .fp = context_fp(context)};
    if (exchange_acquire(&unwinding, 1))
        return;
    slot->frame_count = 0;
    if (slot->stepped && last_pc && start.pc - last_pc - 1 >= LONGEST_INSTRUCTION)
        slot->frames[slot->frame_count++] = last_pc + 1;
    unwind_each(&guard_self, &start, context_link(context), &unwind_memory, add_frame, slot);
    store_release(&unwinding, 0);
}

static bool holds(const struct slot *slot, uintptr_t address)
{
    uintptr_t word;
    return sys_peek(address, &word, sizeof word) && slot_points_to(word, slot->hidden, slot->size);
}

static void compare_word(struct slot *slot, const ucontext_t *context)
{
    if (holds(slot, slot->address))
        slot->frame_count = 0;
    else if (!slot->frame_count)
        record_stack(slot, context);
}

/* ---- Where is the pointer after a step? ------------------------------------------------------ */

/* kept: those that calls leave unchanged; else the others, most of which are dead. */
static bool registers_hold(const struct slot *slot, const ucontext_t *context, bool kept)
{
    unsigned count;
    const uintptr_t *row = context_registers(context, &count);
    for (unsigned i = 0; i < count; i++)
        if (context_register_is_kept(i) == kept && slot_points_to(row[i], slot->hidden, slot->size))
            return true;
    return false;
}

static char window[64 << 10]; /* copied memory; one thread steps */

/* The address of the first word in the range that has the pointer, 0: none. */
static uintptr_t search_range(const struct slot *slot, uintptr_t start, uintptr_t end)
{
    for (uintptr_t at = start; at < end; at += sizeof window) {
        size_t size = end - at < sizeof window ? end - at : sizeof window;
        if (!sys_peek(at, window, size))
            continue;
        for (size_t i = 0; i + sizeof(uintptr_t) <= size; i += sizeof(uintptr_t))
            if (slot_points_to(*(const uintptr_t *)(window + i), slot->hidden, slot->size)) {
                memset(window, 0, size);
                return at + i;
            }
    }
    return 0;
}

static bool is_on_stack(const struct slot *slot, uintptr_t address)
{
    return address >= slot->stack.low && address < slot->stack.high;
}

static uintptr_t search_stack(const struct slot *slot, const ucontext_t *context)
{
    uintptr_t low = round_up(context_sp(context), sizeof(uintptr_t));
    uintptr_t high = slot->stack.high;
    if (!is_on_stack(slot, low))
        return 0;
    return search_range(slot, low, high - low > STACK_MOST ? low + STACK_MOST : high);
}

struct memory_search {
    const struct slot *slot;
    uintptr_t own_stack, found;
    size_t left; /* bytes to read */
};

/* The end of the range of libleak's own memory that contains the address; 0: none does. */
static uintptr_t own_end(uintptr_t address)
{
    struct arena_range range = arena_next_range(address);
    if (range.size && range.start <= address)
        return range.start + range.size;
    return modules_is_own(address) ? round_up(address + 1, LEAK_PAGE) : 0;
}

/* The program's part of a mapping from an address on, which libleak's own memory may follow. */
static uintptr_t program_end(uintptr_t at, uintptr_t end)
{
    struct arena_range range = arena_next_range(at);
    return range.size && range.start < end ? range.start : end;
}

static void search_part(struct memory_search *search, uintptr_t at, uintptr_t end)
{
    size_t size = end - at;
    if (size > search->left)
        size = search->left;
    search->left -= size;
    uintptr_t found = search_range(search->slot, at, at + size);
    if (found && !own_end(found))
        search->found = found;
}

static bool contains(const struct mapping *mapping, uintptr_t address)
{
    return mapping->start <= address && address < mapping->end;
}

static void search_mapping(const struct mapping *mapping, void *context)
{
    struct memory_search *search = context;
    if (!mapping->read || !mapping->write || mapping->shared ||
        contains(mapping, search->slot->stack.high - 1) || contains(mapping, search->own_stack))
        return;
    for (uintptr_t at = mapping->start, end; at < mapping->end && !search->found; at = end)
        if (!(end = own_end(at))) {
            end = program_end(at, mapping->end);
            search_part(search, at, end);
        }
}

static uintptr_t search_memory(const struct slot *slot)
{
    static char line[8 << 10];
    struct memory_search search = {
        .slot = slot, .left = MEMORY_MOST, .own_stack = (uintptr_t)__builtin_frame_address(0)};
    procmaps_each(line, sizeof line, search_mapping, &search);
    return search.found;
}

/* Where the pointer may be lost, unless it is found again. */
static void suspect(struct slot *slot, const ucontext_t *context, bool dead_register)
{
    if (slot->frame_count)
        return;
    record_stack(slot, context);
    slot->in_dead_register = dead_register;
}

/* True: it is lost. */
static bool chase_pointer(struct slot *slot, const ucontext_t *context)
{
    uintptr_t at = slot->address;
    bool stored = at && !is_on_stack(slot, at);
    if (at && holds(slot, at) && (stored || at >= context_sp(context)))
        return false;
    if (stored)
        suspect(slot, context, false);
    slot->address = 0;
    if (registers_hold(slot, context, true) || (slot->address = search_stack(slot, context))) {
        slot->frame_count = slot->in_dead_register ? 0 : slot->frame_count;
        return false;
    }
    suspect(slot, context, true);
    if (registers_hold(slot, context, false))
        return false;
    if (slot->searches++ >= SEARCHES_MOST || !(slot->address = search_memory(slot)))
        return true;
    slot->frame_count = 0;
    return false;
}

/* ---- Traps ----------------------------------------------------------------------------------- */

static bool is_time_over(void)
{
    return ++steps % STEPS_A_CLOCK == 0 && sys_clock_ns(CLOCK_MONOTONIC) > stepping_until;
}

static void take_step(ucontext_t *context)
{
    bool any = false, outside = !guard_self.sp && !lock_thread.held;
    for (unsigned i = 0; i < ARRAY_LENGTH(slots); i++) {
        struct slot *slot = &slots[i];
        if (slot->stepped && outside && chase_pointer(slot, context))
            slot->stepped = false;
        any |= slot->stepped;
    }
    if (!any || is_time_over()) {
        store_relaxed(&stepping, 0);
        last_pc = 0;
    } else {
        last_pc = context_pc(context);
    }
    context_set_step(context, last_pc != 0);
}

/* Not a breakpoint of the program, nor a signal that somebody has sent. */
static bool is_awaited(const siginfo_t *info)
{
    return info->si_code == TRAP_TRACE || info->si_code == TRAP_HWBKPT ||
           info->si_code == TRAP_PERF_EVENT ||
           (info->si_code == SI_TKILL && info->si_pid == sys_getpid());
}

static bool on_sigtrap(const siginfo_t *info, ucontext_t *context)
{
    static uint32_t last_stepper; /* gets one more trap after slot_watch_stop */
    uint32_t self = sys_gettid();
    bool ours = false;
    if (!is_awaited(info))
        return false;
    for (unsigned i = 0; i < ARRAY_LENGTH(slots); i++)
        if (slots[i].watched && !slots[i].stepped) {
            compare_word(&slots[i], context);
            ours = true;
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

/* ---- Watching -------------------------------------------------------------------------------- */

static bool watch_in_thread(int tid, void *context)
{
    struct slot *slot = context;
    int descriptor = sys_watch_word(tid, slot->address);
    if (descriptor >= 0)
        slot->descriptors[slot->descriptor_count++] = descriptor;
    return descriptor >= 0 && slot->descriptor_count < THREADS_MOST;
}

static struct slot *begin_slot(unsigned index, uintptr_t address, uint64_t hidden, uint64_t size)
{
    struct slot *slot = &slots[index];
    slot_watch_clear(index);
    slot->hidden = hidden;
    slot->size = size;
    slot->address = address;
    slot->frame_count = 0;
    slot->searches = 0;
    return slot;
}

void slot_watch_set(unsigned index, uintptr_t address, uint64_t hidden, uint64_t size)
{
    if (!is_started || address % sizeof address)
        return slot_watch_clear(index);
    struct slot *slot = begin_slot(index, address, hidden, size);
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
    return true;
}

void slot_watch_step(unsigned index, uintptr_t address, uint64_t hidden, uint64_t size)
{
    if (!is_started || !CONTEXT_CAN_STEP || !guard_self.thread)
        return;
    struct slot *slot = begin_slot(index, address, hidden, size);
    slot->stack = guard_self.thread->bounds;
    slot->watched = slot->stepped = true;
    stepping_until = sys_clock_ns(CLOCK_MONOTONIC) + STEP_TIME;
    steps = 0;
    slot_watch_resume(index);
}

void slot_watch_resume(unsigned index)
{
    last_pc = 0;
    if (slots[index].stepped && exchange_relaxed(&stepping, sys_gettid()) != (uint32_t)sys_gettid())
        sys_raise_trap(); /* the handler begins to step */
}

bool slot_watch_is_stepped(unsigned index)
{
    return slots[index].stepped;
}

void slot_watch_stop(void)
{
    store_relaxed(&stepping, 0);
}

void slot_watch_start(int (*install)(int, const struct sigaction *, struct sigaction *))
{
    if (trampoline_reserved_fault()) /* by start_at= */
        return;
    trampoline_reserve_fault(SIGTRAP, on_sigtrap, install);
    is_started = true;
}

void slot_watch_fork_child(void)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(slots); i++)
        slot_watch_clear(i);
    stepping = 0;
    unwinding = 0;
}
