/* step_over.h - lets a single-stepped thread execute calls at full speed. A step takes some
 * microseconds, on virtual machines more than ten, so a thread that executed all its code step by
 * step would seldom reach the place where a block is lost.
 *
 * A hardware breakpoint (perf_event_open) on the return address of a call ends the execution at
 * full speed. Without a breakpoint each instruction is a step.
 *
 * Which calls are executed step by step: those that may change or pass on the pointer to the
 * followed block. A function that gets the block, or what contains the pointer, as an argument is
 * stepped through until all its calls together have taken many steps. Any other function is
 * stepped through the first times only, because it may reach the block through other memory. Code
 * of libleak, of the dynamic loader and of libc is never stepped through: libc blocks all signals
 * for a while when it starts processes and threads, and SIGTRAP must not be blocked then.
 *
 * A loop that has gone round many times continues at full speed to the instruction behind the jump
 * that leads back to its start.
 *
 * A function may never return to the breakpoint, because longjmp or an exception leaves it, and
 * another jump may leave a loop. The next allocation or free of the thread shows that
 * (step_over_is_left).
 */
#ifndef PRELOAD_FOLLOW_STEP_OVER_H
#define PRELOAD_FOLLOW_STEP_OVER_H

#include "preload/base/base.h"

#include <ucontext.h>

/* A call instruction that was just executed. */
struct step_call {
    uintptr_t function;   /* address of the first instruction of the called function */
    uintptr_t returns_to; /* its return address */
    uintptr_t sp;         /* the stack pointer after its return */
    bool gets_block;      /* an argument points to the block, or to memory with the pointer */
};

/* Begins to count the steps of functions anew. */
void step_over_reset(void);

/* Notes a step that was a call. */
void step_over_note_call(const struct step_call *call);

/* Says how the thread continues after a step. True: at full speed, up to the return of the
 * innermost function, whose remaining code need not be stepped through, or to the end of a loop;
 * the caller of this function must not set the step flag. False: by a further step. last, last_sp:
 * address of the executed instruction, and the stack pointer before it; 0: unknown. */
bool step_over_begin(const ucontext_t *context, uintptr_t last, uintptr_t last_sp);

/* Says whether the next instruction may block SIGTRAP or start a process or thread, so that it must
 * not be single-stepped. */
bool step_over_is_unsafe(const ucontext_t *context);

/* Says whether the calling thread executes a function or a loop at full speed. */
bool step_over_is_running(void);
/* Called when a SIGTRAP came meanwhile. True: the function has returned, or the loop has ended.
 * False: the SIGTRAP has another reason, or a recursive call reached the breakpoint. */
bool step_over_has_returned(const ucontext_t *context);

/* Says whether the function or loop that is executed at full speed has been left without reaching
 * the breakpoint. sp, pc: stack pointer and address of the thread's present code. */
bool step_over_is_left(uintptr_t sp, uintptr_t pc);
/* Ends the execution at full speed. Returns its time in ns. */
uint64_t step_over_end(void);

/* Closes the breakpoint. */
void step_over_stop(void);

#endif
