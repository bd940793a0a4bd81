/* unwind.h - finds the call stack of a hook's caller by the CFI (call frame information) in
 * .eh_frame.
 *
 * Unwinding needs no frame pointers and never faults. If the rows of all return addresses are in
 * the cache (cfi_cache.h), it takes no lock and opens no file. The thread's own stack is read
 * directly, any other stack (of a fibre or for signals) through the kernel. If the stack looks
 * wrong, or a pc has neither a row nor a frame record that passes the checks of frame_record.h, the
 * trace ends and records why.
 *
 * A thread keeps its last trace, because the next one mostly shares its outer frames. Unwinding
 * walks fresh frames until one has the pc and sp (and fp, where a frame further out needs it) of a
 * kept frame. From there on the stack is a pure function of these registers, the CFI rows and the
 * words that were read; so when all words read last time are still the same, the outer frames are
 * the same too. They are not walked but verified: the words are in one array (stack_fold.h), and
 * each costs one comparison. All words must be compared: main -> f(site 1) -> h and main -> f(site
 * 2) -> h leave h's own words identical.
 *
 * If a stack is deeper than the limit, the trace consists of its inner frames only. The thread also
 * keeps the frames beyond the limit, and verifies them when the stack becomes shallower, so a deep
 * recursion is not walked again at each level. */
#ifndef PRELOAD_UNWIND_UNWIND_H
#define PRELOAD_UNWIND_UNWIND_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/unwind/stack_fold.h"
#include "leak_store.h"

#define UNWIND_DEPTH_MAX 1024
#define UNWIND_WORDS_MAX 2048
#define UNWIND_WINDOW 1024

/* The bounds of the thread's own stack: all pages from any live sp in it up to high are mapped.
 * Both 0: not known. */
struct unwind_bounds {
    uintptr_t low, high;
};

struct unwind_step {
    uintptr_t pc, sp, fp;
    /* The addresses from which the caller's pc, fp and sp were read. fp_slot NULL: fp is unchanged.
     * sp_slot NULL: sp was computed. pc_slot NULL: there is no caller, or one that cannot be
     * verified (of a signal frame, or in the link register when a signal came). */
    const uintptr_t *pc_slot, *fp_slot, *sp_slot;
    /* Hash of the frames from the outermost to this one; the context tree computes it. */
    uint64_t path;
    uint32_t retired; /* modules_retired(pc): tells which of several modules at pc it was */
    uint32_t node;    /* node of the context tree; 0: not looked up */
    /* Number of stack words that were read for this frame and for all frames further out; they are
     * the first ones in the trace's array "word". */
    uint16_t words;
    bool in_words : 1; /* all words that "words" counts are in the trace's arrays */
    bool uses_fp : 1;  /* the caller's frame was found by fp */
    /* fp is used by this frame, or unchanged and used by a frame further out. */
    bool fp_matters : 1;
    bool pc_signed : 1; /* the word at pc_slot is a signed pc (arch_strip) */
};

/* A call stack and the data for reusing it. Outermost frame first, so that frames shared with the
 * next trace keep their index. */
struct unwind_trace {
    enum leak_root end;
    /* step[0 .. cut-1] are frames beyond the limit, which were not verified; step[cut ..
     * cut+depth-1] are the trace. Its outermost "shared" frames are also the outermost ones of the
     * previous trace. */
    unsigned cut, depth, shared;
    enum leak_root outer_end; /* why step[0] is the last frame; LEAK_ROOT_DEPTH: it has a caller */
    /* These members are valid between unwind_find and unwind_commit: step[0 .. kept-1] of the
     * previous trace remain, and the first "found" fresh steps will replace its inner frames. cut +
     * depth = kept + found <= UNWIND_DEPTH_MAX */
    unsigned kept, found;
    bool paths; /* the context tree has computed the hash "path" of every step */
    /* The next trace may share its frames: it is on the thread's own stack, and the reason for its
     * end depends on pc only. */
    bool shareable;
    /* The trace is under construction; if this is true at the next unwind_open, a signal handler
     * has left by longjmp. */
    bool open;
    /* modules_generation() when the trace was made: modules may have been unloaded since. */
    uint32_t looked;
    /* Address and size of the piece of another stack than the thread's own that was copied last. */
    uintptr_t window, window_size;
    /* Number of elements of "word" and "offset": the stack words that were read, outermost first,
     * and their offsets in bytes from bounds.low. */
    unsigned words;
    /* "fresh" stands last and is filled from its end, so that a trace of few frames uses only three
     * pages of these large arrays. */
    uintptr_t word[UNWIND_WORDS_MAX];
    struct unwind_step step[UNWIND_DEPTH_MAX];
    struct unwind_step fresh[UNWIND_DEPTH_MAX]; /* scratch; the last one is the innermost */
    uint32_t offset[UNWIND_WORDS_MAX];
    char bytes[UNWIND_WINDOW];
};

/* Returns frame i of the trace; frame 0 is the innermost one. */
static inline const struct unwind_step *unwind_step_at(const struct unwind_trace *trace, unsigned i)
{
    return &trace->step[trace->cut + trace->depth - 1 - i];
}

/* Returns the outermost frame of the trace; the next frames inwards follow it in the array. */
static inline struct unwind_step *unwind_outermost(struct unwind_trace *trace)
{
    return &trace->step[trace->cut];
}

/* Returns fresh step i (a frame that was walked, not reused); step 0 is the innermost one. */
static inline struct unwind_step *unwind_fresh_at(struct unwind_trace *trace, unsigned i)
{
    return &trace->fresh[UNWIND_DEPTH_MAX - 1 - i];
}

/* Opens a trace. Between unwind_open and unwind_close a trace mixes frames of the previous and the
 * new stack. If a trace is already open, a longjmp has left the function that made it, so the new
 * trace shares nothing with it. */
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

/* Makes the next trace share nothing with this one. */
static inline void unwind_invalidate(struct unwind_trace *trace)
{
    trace->shareable = false;
}

/* Replace *trace by the stack whose innermost frame is start, with at most limit frames. Frames of
 * the previous trace are reused if they are the same. A trace is large, so it is in struct thread,
 * not on the program's stack. unwind_find finds the frames, and unwind_commit moves them to their
 * places; in between the caller may prefetch data. */
void unwind_find(struct guard *guard, const struct unwind_bounds *bounds, const struct frame *start,
                 unsigned limit, struct unwind_trace *trace);
void unwind_commit(const struct unwind_bounds *bounds, struct unwind_trace *trace);

static inline void unwind(struct guard *guard, const struct unwind_bounds *bounds,
                          const struct frame *start, unsigned limit, struct unwind_trace *trace)
{
    unwind_find(guard, bounds, start, limit, trace);
    unwind_commit(bounds, trace);
}

enum unwind_method {
    UNWIND_BY_TABLES, /* a stack ends where code has no unwind table */
    /* where code has no unwind table, a stack continues by a valid frame record, if there is one */
    UNWIND_BY_TABLES_AND_RECORDS,
    /* Tables are not used: code that was compiled without frame pointers is left out of traces, or
     * ends them. */
    UNWIND_BY_RECORDS
};

/* Sets the method of all later walks; before that it is UNWIND_BY_TABLES. */
void unwind_by(enum unwind_method method);

/* Forgets what is known of the code in (start, end], before other code can be mapped there. */
void unwind_forget(uintptr_t start, uintptr_t end);

/* Unwinds a crashed thread of any depth: calls visit for every frame until it returns false (then
 * the result is LEAK_ROOT_DEPTH). All memory is read through the kernel. link: the link register,
 * on CPUs that have one. scratch: a trace that is not in use. */
enum leak_root unwind_each(struct guard *guard, const struct frame *start, uintptr_t link,
                           struct unwind_trace *scratch,
                           bool (*visit)(const struct frame *frame, void *context), void *context);

/* Says whether a walk from the frame to its callers passes sp without a frame that begins there:
 * then a call with this sp was left by longjmp, although its return address is still on the stack.
 * False also if that cannot be decided. It needs no token, because it reads memory through the
 * kernel. */
bool unwind_passes(const struct frame *frame, uintptr_t sp);

/* Writes a call stack as text (trace_text.c), for programs with a crash handler of their own:
 *
 *     #0  0x00005563772bd826 compute+0x16 (/usr/bin/tool+0x1826)
 *
 * The last number is for addr2line; from #1 on it is a return address, so 1 must be subtracted. The
 * function takes no lock: memory is mapped by system calls, and names come from the exports of the
 * objects (link_map.h). context: a ucontext_t at which the stack begins; NULL: it begins at
 * caller. */
void backtrace_write(const void *context, const struct frame *caller, int fd);

#endif
