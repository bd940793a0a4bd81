/* unwind.h - the call stack of a hook's caller, by the CFI in .eh_frame.
 *
 * Unwinding needs no frame pointers and never faults. Where the row of each return address is known
 * already (cfi_cache.h) it takes no lock and opens no file. The thread's own stack is read directly,
 * any other (fibre, signal stack) through the kernel. A stack that looks wrong, or a pc without a
 * rule, ends the trace, and the trace records why; nothing is guessed.
 *
 * A thread keeps its last trace, because the next one mostly shares its outer frames. Unwinding
 * walks fresh frames until one has the pc and sp (and fp, where a frame further out needs it) of a
 * kept frame. From there on the stack is a pure function of these registers, the CFI rows and the
 * words that were read; so when all words read last time are still the same, the outer frames are
 * the same too. They are not walked but verified: the words stand in one array (stack_fold.h), and
 * each costs a compare. All words must be compared: main -> f(site 1) -> h and main -> f(site 2) ->
 * h leave h's own words identical.
 *
 * Of a stack deeper than the limit only the inner frames are the trace, but the thread keeps the
 * frames outside of it: they are verified when the stack becomes shallower, so a deep recursion is
 * not walked anew at each level.
 */
#ifndef PRELOAD_UNWIND_UNWIND_H
#define PRELOAD_UNWIND_UNWIND_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/unwind/stack_fold.h"
#include "leak_store.h"

#define UNWIND_DEPTH_MAX 1024
#define UNWIND_WORDS_MAX 2048
#define UNWIND_WINDOW 1024

/* The thread's own stack: from any live sp in it up to high, all pages are mapped. Both 0: unknown.
 */
struct unwind_bounds {
    uintptr_t low, high;
};

struct unwind_step {
    uintptr_t pc, sp, fp;
    /* Where the caller's pc, fp and sp were read. NULL: fp is the callee's, sp was computed;
     * without a pc_slot there is no caller, or none that could be verified (a signal frame, and a
     * frame that a signal interrupted while its caller was in the link register). */
    const uintptr_t *pc_slot, *fp_slot, *sp_slot;
    uint64_t path;       /* set by the context tree */
    uint32_t retired;    /* modules_retired(pc) */
    uint32_t node;       /* of the context tree; 0: not looked up */
    uint16_t words;      /* the first so many words of the trace were read from here outwards */
    bool in_words : 1;   /* none of those is missing */
    bool uses_fp : 1;    /* the caller's frame was found by fp */
    bool fp_matters : 1; /* fp is used by this frame, or kept and used further out */
    bool pc_signed : 1;  /* the word at pc_slot is more than the pc: arch_strip */
};

/* Outermost frame first, so that frames shared with the next trace stay where they are. */
struct unwind_trace {
    enum leak_root end;
    /* step[0 .. cut-1] are kept frames beyond the limit, and not verified; step[cut .. cut+depth-1]
     * are the trace. Its outermost "shared" frames are those of the previous trace, which began
     * with the same frame. */
    unsigned cut, depth, shared;
    enum leak_root outer_end; /* what lies beyond step[0]; LEAK_ROOT_DEPTH: a caller */
    /* These fields are valid between unwind_find and unwind_commit. step[0 .. kept-1] of the
     * previous trace remain, and the first "found" fresh steps will replace its inner frames: cut +
     * depth = kept + found <= UNWIND_DEPTH_MAX */
    unsigned kept, found;
    bool paths;     /* all frames have their path already */
    bool shareable; /* by the next trace: own stack, and an end that depends on pc alone */
    bool open;      /* under construction; still true later: a handler left by longjmp */
    uint32_t
        looked; /* modules_generation() when it was made: modules may have been unloaded since */
    /* Scratch: the last window copied from another stack than the thread's own, to bytes. */
    uintptr_t window, window_size;
    /* All words that were read, outermost first; offsets count from bounds.low. */
    unsigned words;
    /* In this order, and "fresh" from its end, a trace of few frames touches three pages. */
    uintptr_t word[UNWIND_WORDS_MAX];
    struct unwind_step step[UNWIND_DEPTH_MAX];
    struct unwind_step fresh[UNWIND_DEPTH_MAX]; /* scratch; the last one is the innermost */
    uint32_t offset[UNWIND_WORDS_MAX];
    char bytes[UNWIND_WINDOW];
};

/* The i-th frame from the inside. */
static inline const struct unwind_step *unwind_step_at(const struct unwind_trace *trace, unsigned i)
{
    return &trace->step[trace->cut + trace->depth - 1 - i];
}

/* The outermost frame. */
static inline struct unwind_step *unwind_outermost(struct unwind_trace *trace)
{
    return &trace->step[trace->cut];
}

/* The i-th fresh step from the inside. */
static inline struct unwind_step *unwind_fresh_at(struct unwind_trace *trace, unsigned i)
{
    return &trace->fresh[UNWIND_DEPTH_MAX - 1 - i];
}

/* Opens a trace. Between unwind_open and unwind_close a trace mixes frames of the previous and the
 * new stack. A trace that is already open was left by a longjmp: nothing of it may be shared. */
static inline void unwind_open(struct unwind_trace *trace)
{
    trace->shareable = trace->shareable && !trace->open;
    trace->open = true;
    __asm__ volatile("" ::: "memory");
}

static inline void unwind_close(struct unwind_trace *trace)
{
    __asm__ volatile("" ::: "memory");
    trace->open = false;
}

/* The next trace must share nothing with this one. */
static inline void unwind_invalidate(struct unwind_trace *trace)
{
    trace->shareable = false;
}

/* Replaces trace by the stack of start, at most limit frames, start included; frames of the
 * previous trace are reused where they are the same. A trace is large: it lives in struct thread,
 * not on the program's stack. Two steps: after unwind_find the caller may prefetch what it will do
 * with the frames, while unwind_commit moves them to their places. */
void unwind_find(struct guard *guard, const struct unwind_bounds *bounds, const struct frame *start,
                 unsigned limit, struct unwind_trace *trace);
void unwind_commit(const struct unwind_bounds *bounds, struct unwind_trace *trace);

static inline void unwind(struct guard *guard, const struct unwind_bounds *bounds,
                          const struct frame *start, unsigned limit, struct unwind_trace *trace)
{
    unwind_find(guard, bounds, start, limit, trace);
    unwind_commit(bounds, trace);
}

/* Unwinds by frame pointers alone from now on: code compiled without them is left out of traces, or
 * ends them. */
void unwind_use_frame_pointers(void);

/* Unwinds a crashed thread of any depth: calls visit for every frame until it returns false (then
 * the result is LEAK_ROOT_DEPTH). All memory is read through the kernel. link: the link register,
 * on CPUs that have one. scratch: not in use by anything else. */
enum leak_root unwind_each(struct guard *guard, const struct frame *start, uintptr_t link,
                           struct unwind_trace *scratch,
                           bool (*visit)(const struct frame *frame, void *context), void *context);

/* Do the callers of that frame go on above sp without a frame that begins there? Then a call with
 * this sp has been left, by longjmp, though its return address is still in place. False, too, where
 * that cannot be decided. Needs no token: memory is read through the kernel. */
bool unwind_passes(const struct frame *frame, uintptr_t sp);

/* Writes a call stack as text (trace_text.c), for programs with a crash handler of their own:
 *
 *     #0  0x00005563772bd826 compute+0x16 (/usr/bin/tool+0x1826)
 *
 * The last number is the one for addr2line and leakreport's names (less 1 from #1 on: these are
 * return addresses). Works whichever locks are held: memory is mapped and unmapped by system calls,
 * names come from the objects' exports (link_map.h). context: a ucontext_t, or NULL: begins at
 * caller. */
void backtrace_write(const void *context, const struct frame *caller, int fd);

#endif
