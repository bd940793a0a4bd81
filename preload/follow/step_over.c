#include "preload/follow/step_over.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/sys.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/unwind.h"
#include "context.h"

#include <errno.h>
#include <link.h>
#include <sys/syscall.h>
#include <time.h>

#define CALLS_MOST 512
#define FUNCTIONS 4096
#define PROBES 8
/* Number of calls and of steps, of all its calls together, after which a function that does not get
 * the block is no longer stepped through. */
#define OTHER_CALLS 2
#define OTHER_STEPS 3000
/* Number of steps of all such functions together. */
#define OTHER_STEPS_ALL 300000
/* Number of steps, of all its calls together, after which a function that gets the block is no
 * longer stepped through. */
#define GETTING_STEPS 50000

/* Rounds after which a loop is no longer stepped through. */
#define LOOP_ROUNDS 2000
#define LOOPS 256
/* Length of the longest loop in bytes. */
#define LOOP_BYTES (16u << 10)

struct function {
    uintptr_t start;
    uint32_t calls, steps;
};

/* A call that is executed step by step and has not returned. */
struct call {
    struct function *function;
    uintptr_t returns_to, sp;
    bool gets_block;
};

/* These variables belong to the single-stepped thread; there is one at a time. */
static struct function functions[FUNCTIONS];
static struct call calls[CALLS_MOST];
static unsigned call_count;
static uint32_t other_steps;
/* Conditional jumps back to the start of a loop, each at a place that depends on its address. */
static struct {
    uintptr_t jump;
    uint32_t rounds;
} loops[LOOPS];
/* The range of libc's code. */
static struct {
    uintptr_t start, end;
} libc;
static struct {
    int thread; /* tid of the thread that executes code at full speed; 0: no thread does */
    /* Address of the breakpoint; and of the code that is executed, if it is a loop, else "to". */
    uintptr_t to, from;
    uintptr_t sp;   /* the stack pointer at the breakpoint: after the return, or in the loop */
    uint64_t began; /* time in ns */
} running;
static struct {
    int descriptor; /* 0: there is no breakpoint; negative: the kernel allows none */
    int thread;
} breakpoint;

/* ---- Which calls are stepped through --------------------------------------------------------- */

/* Returns the record of a function; that of another function if the table is full near its
 * place. */
static struct function *find_function(uintptr_t start)
{
    struct function *function = NULL;
    for (unsigned i = 0; i < PROBES; i++) {
        function = &functions[((uint32_t)(start >> 2) * 2654435761u / FUNCTIONS + i) % FUNCTIONS];
        if (!function->start)
            function->start = start;
        if (function->start == start)
            break;
    }
    return function;
}

static void forget_ended_calls(uintptr_t sp)
{
    while (call_count && sp >= calls[call_count - 1].sp)
        call_count--;
}

void step_over_note_call(const struct step_call *call)
{
    forget_ended_calls(call->sp - sizeof call->sp);
    if (call_count == CALLS_MOST)
        return;
    struct function *function = find_function(call->function);
    function->calls++;
    if (modules_same_object(call->function, _r_debug.r_brk))
        function->calls = OTHER_CALLS + 1;
    calls[call_count++] = (struct call){function, call->returns_to, call->sp, call->gets_block};
}

/* Says whether the rest of the innermost call may be executed at full speed. */
static bool is_enough(const struct call *call, uintptr_t pc, uintptr_t sp)
{
    const struct function *function = call->function;
    if (modules_is_own(pc))
        return sp == call->sp - sizeof sp; /* the function has just been entered */
    if (call->gets_block)
        return function->steps >= GETTING_STEPS;
    return function->calls > OTHER_CALLS || function->steps >= OTHER_STEPS ||
           other_steps >= OTHER_STEPS_ALL;
}

/* ---- Code of libc ---------------------------------------------------------------------------- */

/* Finds the code of libc. The function in it that libleak uses as a mark is not one that programs
 * replace. */
static void find_libc(void)
{
    struct dl_phdr_info headers;
    uintptr_t mark = (uintptr_t)__errno_location;
    if (libc.end || !modules_get_headers(mark, &headers))
        return;
    for (unsigned i = 0; i < headers.dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &headers.dlpi_phdr[i];
        uintptr_t start = headers.dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && mark - start < segment->p_memsz) {
            libc.start = start;
            libc.end = start + segment->p_memsz;
        }
    }
}

static bool is_in_libc(uintptr_t pc)
{
    return pc - libc.start < libc.end - libc.start;
}

static bool find_outer_frame(const struct frame *frame, void *context)
{
    struct frame *outer = context;
    if (is_in_libc(frame->pc))
        return true;
    *outer = *frame;
    return false;
}

/* Finds the frame of the function that has called libc. False: there is none. */
static bool find_caller_of_libc(const ucontext_t *context, struct frame *outer)
{
    static struct unwind_trace scratch;
    struct frame start = {
        .pc = context_pc(context) + 1, .sp = context_sp(context), .fp = context_fp(context)};
    outer->pc = 0;
    unwind_each(&guard_self, &start, context_link(context), &scratch, find_outer_frame, outer);
    return outer->pc;
}

void step_over_reset(void)
{
    memset(functions, 0, sizeof functions);
    memset(loops, 0, sizeof loops);
    call_count = 0;
    other_steps = 0;
    find_libc();
}

/* ---- The breakpoint -------------------------------------------------------------------------- */

/* Sets the breakpoint of the calling thread. */
static bool set_breakpoint(uintptr_t address)
{
    int self = sys_gettid();
    if (breakpoint.descriptor > 0 && breakpoint.thread != self)
        step_over_stop();
    if (breakpoint.descriptor > 0)
        return sys_break_move(breakpoint.descriptor, address);
    if (breakpoint.descriptor < 0)
        return false;
    breakpoint.thread = self;
    breakpoint.descriptor = sys_break_open(address);
    return breakpoint.descriptor > 0;
}

/* Executes code at full speed up to an address. sp: the stack pointer there, or a lower one; from:
 * the start of the loop that ends before the address, or the address itself. */
static bool run_to(uintptr_t address, uintptr_t sp, uintptr_t from)
{
    if (!set_breakpoint(address))
        return false;
    running.to = address;
    running.from = from;
    running.sp = sp;
    running.began = sys_clock_ns(CLOCK_MONOTONIC);
    store_relaxed(&running.thread, breakpoint.thread);
    return true;
}

static bool run_to_return(const struct call *call)
{
    return run_to(call->returns_to, call->sp, call->returns_to);
}

/* Executes libc at full speed, up to its return to the code that called it. */
static bool leave_libc(const ucontext_t *context)
{
    uintptr_t sp = context_sp(context);
    const struct call *call = call_count ? &calls[call_count - 1] : NULL;
    struct frame outer;
    if (call && sp == call->sp - sizeof sp)
        return run_to_return(call);
    return find_caller_of_libc(context, &outer) && run_to(outer.pc, outer.sp, outer.pc);
}

/* Executes a loop at full speed, up to the instruction behind it, after many rounds step by step.
 * last: the address of the jump that was just executed. */
static bool leave_loop(const ucontext_t *context, uintptr_t last)
{
    uint8_t code[CONTEXT_BRANCH_MOST];
    uintptr_t pc = context_pc(context);
    unsigned i = (uint32_t)last * 2654435761u >> 24, length;
    if (loops[i].jump != last) {
        loops[i].jump = last;
        loops[i].rounds = 0;
    }
    if (++loops[i].rounds < LOOP_ROUNDS || !sys_peek(last, code, sizeof code) ||
        !(length = context_branch_length(code)))
        return false;
    return run_to(last + length, context_sp(context), pc);
}

bool step_over_begin(const ucontext_t *context, uintptr_t last, uintptr_t last_sp)
{
    uintptr_t pc = context_pc(context), sp = context_sp(context);
    forget_ended_calls(sp);
    if (is_in_libc(pc))
        return leave_libc(context);
    if (call_count) {
        const struct call *call = &calls[call_count - 1];
        call->function->steps++;
        other_steps += !call->gets_block;
        if (is_enough(call, pc, sp) && run_to_return(call))
            return true;
    }
    return sp == last_sp && last - pc < LOOP_BYTES && leave_loop(context, last);
}

bool step_over_is_unsafe(const ucontext_t *context)
{
    uintptr_t pc = context_pc(context);
    if (!is_in_libc(pc) || !context_at_call(pc))
        return false;
    long number = context_result(context);
#ifdef __NR_vfork
    if (number == __NR_vfork)
        return true;
#endif
    return number == SYS_rt_sigprocmask || number == SYS_clone;
}

bool step_over_is_running(void)
{
    int thread = load_relaxed(&running.thread);
    return thread && thread == sys_gettid();
}

bool step_over_has_returned(const ucontext_t *context)
{
    return context_pc(context) == running.to && context_sp(context) >= running.sp;
}

bool step_over_is_left(uintptr_t sp, uintptr_t pc)
{
    return sp > running.sp || (sp == running.sp && pc - running.from > running.to - running.from);
}

uint64_t step_over_end(void)
{
    sys_break_disable(breakpoint.descriptor);
    store_relaxed(&running.thread, 0);
    return sys_clock_ns(CLOCK_MONOTONIC) - running.began;
}

void step_over_stop(void)
{
    running.thread = 0;
    /* Two threads may stop at once, and the program may soon get the number for a file of its own. */
    int descriptor = exchange_relaxed(&breakpoint.descriptor, 0);
    if (descriptor > 0)
        sys_close(descriptor);
}
