/* unwind.h - the call stack of the caller of a hook, by the rows of .eh_frame.
 *
 * Needs no frame pointers, takes no lock, opens nothing and never faults: the thread's own stack is
 * read directly, any other (fibre, signal stack) through the kernel. Where the stack does not look
 * right or no rule is known the trace ends and says why; nothing is guessed.
 *
 * A trace is kept until the next one, which mostly shares its outer frames. The walk goes over
 * fresh frames until one has the pc and sp (and fp, where somebody further out needs it) of a kept
 * one. Unwinding is a pure function of these, of the rows, and of the words it reads; so when the
 * words that led on from there last time are still the same, so is the rest, and it is not walked
 * but verified: the words stand in one row (stack_words.h), a compare each. All of them: main ->
 * f(site 1) -> h and main -> f(site 2) -> h leave h's own words identical.
 */
#ifndef PRELOAD_UNWIND_UNWIND_H
#define PRELOAD_UNWIND_UNWIND_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/stack_fold.h"
#include "leak_store.h"

#define UNWIND_DEPTH_MAX 1024
#define UNWIND_WORDS_MAX 2048
#define UNWIND_WINDOW 1024

/* The thread's own stack: whatever lies between a live sp in it and high is mapped. Both 0:
 * unknown. */
struct unwind_bounds {
    uintptr_t low, high;
};

struct unwind_step {
    uintptr_t pc, sp, fp;
    /* Where the caller's pc, fp and sp were read. NULL: fp is the callee's, sp was computed;
     * without a pc_slot there is no caller, or none that could be verified (a signal frame, and a
     * frame that a signal interrupted while its caller was in the link register). */
    const uintptr_t *pc_slot, *fp_slot, *sp_slot;
    uint32_t retired;    /* modules_retired(pc) */
    uint32_t node, path; /* of the tree, once it has been there */
    uint16_t words;      /* of the trace's words, those that led outwards from here */
    bool in_words : 1;   /* all of them are there */
    bool uses_fp : 1;    /* the caller's frame was found by fp */
    bool fp_matters : 1; /* fp is used by this frame, or kept and used further out */
    bool pc_signed : 1;  /* the word at pc_slot is more than the pc: arch_strip */
};

/* Outermost frame first, so that what the next trace shares stays where it is. */
struct unwind_trace {
    enum leak_root end;
    unsigned depth;
    unsigned shared; /* frames 0 .. shared-1 are those of the trace before */
    /* Between unwind_find and unwind_settle: the trace before, and what takes the place of its
     * inner frames. */
    unsigned kept, found; /* step[0 .. kept-1], fresh[0 .. found-1] */
    bool paths;           /* all frames have their path already; not if some were cut */
    bool serves;     /* the next trace may share: own stack, and an end that depends on pc alone */
    bool open;       /* being made: who finds it so knows that a handler left by longjmp */
    uint32_t looked; /* modules_looked_ when it was made: rows may have gone since */
    struct unwind_step step[UNWIND_DEPTH_MAX];
    /* What was read on the way, outermost first; offsets count from bounds.low. */
    unsigned words;
    uint32_t offset[UNWIND_WORDS_MAX];
    uintptr_t word[UNWIND_WORDS_MAX];
    struct unwind_step fresh[UNWIND_DEPTH_MAX]; /* scratch, innermost first */
    /* Scratch: the piece of a stack not our own that was copied last. */
    uintptr_t window, window_size;
    char bytes[UNWIND_WINDOW];
};

/* The i-th frame from the inside. */
static inline const struct unwind_step *unwind_step_at(const struct unwind_trace *trace, unsigned i)
{
    return &trace->step[trace->depth - 1 - i];
}

/* From its first frame to its last node a trace is half of the old and half of the new one. */
static inline void unwind_open(struct unwind_trace *trace)
{
    trace->serves = trace->serves && !trace->open;
    trace->open = true;
    __asm__ volatile("" ::: "memory");
}

static inline void unwind_close(struct unwind_trace *trace)
{
    __asm__ volatile("" ::: "memory");
    trace->open = false;
}

/* Nothing of the trace is to be shared. */
static inline void unwind_forget(struct unwind_trace *trace)
{
    trace->serves = false;
}

/* Makes trace the stack of start, at most limit frames, start included; what was in it may serve.
 * The trace is large: it lives in struct thread, not on the program's stack. In two steps, for who
 * can make use of the frames while they take their places. */
void unwind_find(struct guard *guard, const struct unwind_bounds *bounds, const struct frame *start,
                 unsigned limit, struct unwind_trace *trace);
void unwind_settle(const struct unwind_bounds *bounds, unsigned limit, struct unwind_trace *trace);

static inline void unwind(struct guard *guard, const struct unwind_bounds *bounds,
                          const struct frame *start, unsigned limit, struct unwind_trace *trace)
{
    unwind_find(guard, bounds, start, limit, trace);
    unwind_settle(bounds, limit, trace);
}

/* From now on by frame pointers alone: what was compiled without them is left out, or ends a trace.
 */
void unwind_by_fp(void);

/* The same for a thread that has crashed, however deep it is: every frame is given to visit, until
 * that says no (then DEPTH). Everything is read through the kernel; link: the link register, where
 * the CPU has one. scratch: nobody else's. */
enum leak_root unwind_each(struct guard *guard, const struct frame *start, uintptr_t link,
                           struct unwind_trace *scratch,
                           bool (*visit)(const struct frame *frame, void *context), void *context);

#endif
