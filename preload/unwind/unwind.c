/* unwind.c - unwinds a stack frame by frame with CFI rows, and reuses frames of the previous
 * trace. */
#include "preload/unwind/unwind.h"
#include "preload/interpose/golang.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/unwind/frame_record.h"
#include "preload/base/sys.h"
#include "arch.h"

/* Reads stack words: those of the thread's own stack directly, others through the kernel. */
struct reader {
    uintptr_t low, high; /* [low, high) can be read directly; both are multiples of a word */
    struct unwind_trace *scratch;
    /* A word outside of [low, high), or a register that no word of the stack holds, was read, so
     * the next trace cannot share frames of this one. */
    bool strayed;
    /* The pc and sp of the frame that a signal interrupted, and its value of the link register, which
     * is known only for this frame. */
    uintptr_t interrupted_pc, interrupted_sp, link;
    enum unwind_method method;
    /* The walk has left the system stack, on which Go runs C code, for the goroutine's stack. */
    bool moved;
};

static NOINLINE bool read_word_by_kernel(struct unwind_trace *scratch, uintptr_t address,
                                         uintptr_t *out)
{
    if (address - scratch->window >= scratch->window_size) {
        uintptr_t page_left = LEAK_PAGE - address % LEAK_PAGE;
        scratch->window = address;
        scratch->window_size = page_left < UNWIND_WINDOW ? page_left : UNWIND_WINDOW;
        if (!sys_peek(address, scratch->bytes, scratch->window_size)) {
            scratch->window_size = 0;
            return false;
        }
    }
    memcpy(out, scratch->bytes + (address - scratch->window), sizeof *out);
    return true;
}

static inline bool read_stack_word(struct reader *reader, uintptr_t address, uintptr_t *out)
{
    if (unlikely(address % sizeof *out))
        return false;
    if (unlikely(address - reader->low >= reader->high - reader->low)) {
        reader->strayed = true;
        return read_word_by_kernel(reader->scratch, address, out);
    }
    *out = *(const uintptr_t *)address;
    return true;
}

/* Says whether a word can be the address of code: a small number is the sort of a stack
 * (leak_store.h), and a pc has at most 48 bits. */
static bool is_code_address(uintptr_t pc)
{
    return (uint64_t)pc - LEAK_KIND_PCS <= LEAK_PC_MOST - LEAK_KIND_PCS;
}

static bool is_interrupted(const struct reader *reader, const struct frame *frame)
{
    return frame->pc == reader->interrupted_pc && frame->sp == reader->interrupted_sp;
}

/* Finds where the signal frame begins, relative to sp after the handler has returned to pc. Some
 * CPUs have two kinds of signal frames, from which different code returns. */
static intptr_t signal_frame_start(struct reader *reader, uintptr_t pc)
{
#ifdef ARCH_SIGNAL_SHORTER
    uintptr_t code, place = pc % sizeof code;
    if (read_stack_word(reader, pc - place, &code) &&
        (code >> 8 * place & 0xff) == ARCH_SIGNAL_SHORTER_CODE)
        return -ARCH_SIGNAL_SHORTER;
#endif
    (void)reader, (void)pc;
    return 0;
}

/* Steps from a signal frame to the interrupted frame, whose registers the signal frame contains. */
static bool step_signal(struct reader *reader, struct frame *frame)
{
    uintptr_t context = frame->sp + signal_frame_start(reader, frame->pc);
    if (!read_stack_word(reader, context + ARCH_SIGNAL_PC, &frame->pc) ||
        !read_stack_word(reader, context + ARCH_SIGNAL_FP, &frame->fp) ||
        !read_stack_word(reader, context + ARCH_SIGNAL_SP, &frame->sp))
        return false;
    frame->pc++; /* not a return address, but all lookups use pc - 1 */
    reader->interrupted_pc = frame->pc;
    reader->interrupted_sp = frame->sp;
    if (ARCH_LINK_REGISTER && !read_stack_word(reader, context + ARCH_SIGNAL_LINK, &reader->link))
        return false;
    return is_code_address(frame->pc); /* false: the program has called NULL */
}

/* Finds the value that the register ARCH_DWARF_OTHER has in the frame of step: the nearest callee
 * that changes the register has saved it. False: it is not known where. Steps do not record where
 * the register was saved, so such a trace cannot be shared. */
static NOINLINE bool read_other_register(struct guard *guard, struct reader *reader,
                                         const struct unwind_step *step, uintptr_t *out)
{
    reader->strayed = true;
    for (; step < unwind_fresh_at(reader->scratch, 0); step++) {
        int16_t offset = cfi_cache_find_other(guard, step[1].pc);
        /* The CFA of a callee is the sp of its caller. */
        if (offset != CFI_FP_KEPT)
            return offset != CFI_LOST && read_stack_word(reader, step->sp + offset, out);
    }
    return false;
}

/* Reads the return address of a frame. base: the address to which the offsets of its CFI row are
 * relative. False: the return address cannot be read. */
static inline bool read_return_address(struct reader *reader, const struct frame *frame,
                                       struct cfi_row row, uintptr_t cfa, uintptr_t base,
                                       struct unwind_step *step, uintptr_t *pc)
{
    uintptr_t flags = ARCH_LINK_REGISTER ? row.ra_offset & CFI_RA_FLAGS : 0;
    if (flags & CFI_RA_KEPT) {
        /* Only the interrupted frame has its return address in the link register: any other frame
         * has made a call, which overwrote the register. */
        if (cfa < frame->sp || !is_interrupted(reader, frame))
            return false;
        *pc = reader->link;
    } else {
        uintptr_t slot = base + row.ra_offset - flags;
        /* A caller must lie above its callee: otherwise the walk could loop. */
        if (cfa <= frame->sp || !read_stack_word(reader, slot, pc))
            return false;
        step->pc_slot = (const uintptr_t *)slot;
    }
    if (flags & CFI_RA_SIGNED) {
        step->pc_signed = true;
        *pc = arch_strip(*pc);
    }
    return true;
}

#define RECORD_SIZE (2 * sizeof(uintptr_t)) /* of a frame record {fp, return address} */

/* Returns the row of a frame record: the caller's frame is above it. */
static struct cfi_row record_row(void)
{
    return (struct cfi_row){.rule = CFI_FP,
                            .offset = (int32_t)RECORD_SIZE + ARCH_FRAME_RECORD,
                            .fp_offset = -(int16_t)RECORD_SIZE,
                            .ra_offset = -(int16_t)sizeof(uintptr_t) |
                                         (ARCH_LINK_REGISTER ? CFI_RA_SIGNED : 0)};
}

/* Says whether the frame's fp can point to a record. */
static bool may_be_record(const struct reader *reader, const struct frame *frame)
{
    const uintptr_t record = frame->fp + ARCH_FRAME_RECORD;
    return record >= frame->sp && record % sizeof(uintptr_t) == 0 &&
           (!reader->high || record <= reader->high - RECORD_SIZE);
}

/* Replaces *row by the row of a frame record, for unwind=fp. CFI is not used; code that uses fp for
 * other values ends the trace, or its callers are left out. False: fp cannot point to a record. */
static bool use_frame_record(const struct reader *reader, const struct frame *frame,
                             struct cfi_row *row)
{
    if (row->rule != CFI_END && row->rule != CFI_SIGNAL)
        *row = record_row();
    return row->rule != CFI_FP || may_be_record(reader, frame);
}

/* Replaces *row, the row of code without unwind table, by that of a frame record if fp points to
 * one (frame_record.h). An interrupted function may not have made its record yet, and its pc may lead
 * nowhere, so its frame ends the stack. */
static NOINLINE void try_frame_record(struct guard *guard, struct reader *reader,
                                      const struct frame *frame, struct unwind_step *step,
                                      struct cfi_row *row)
{
    uintptr_t pc;
    step->uses_fp = true;
    if (is_interrupted(reader, frame) || !may_be_record(reader, frame))
        return;
    if (read_stack_word(reader, frame->fp + ARCH_FRAME_RECORD + sizeof pc, &pc) &&
        is_code_address(arch_strip(pc)) && frame_record_returns_to(guard, arch_strip(pc)))
        *row = record_row();
    else
        reader->strayed = true; /* the end depends on a word of the stack */
}

/* Steps to the caller by a frame record, in Go code, which has no CFI. C code that Go calls runs on
 * a stack of the thread; C code preserves fp, so fp still points to a record on the goroutine's
 * stack, which does not move during the call. That stack may be anywhere, so the record is read
 * through the kernel, and the walk continues only if the caller is Go code. The outermost record of
 * a goroutine has no next one. */
static enum leak_root step_go_frame(struct reader *reader, struct frame *frame,
                                    struct unwind_step *step)
{
    uintptr_t record = frame->fp, pc, fp;
    bool inside = record - reader->low < reader->high - reader->low;
    step->uses_fp = true;
    reader->strayed = true;
    if (!record && reader->moved)
        return LEAK_ROOT_COMPLETE;
    if (record <= frame->sp && (reader->moved || inside))
        return LEAK_ROOT_NO_RULE;
    if (!read_stack_word(reader, record, &fp) ||
        !read_stack_word(reader, record + sizeof fp, &pc) || !golang_contains(pc))
        return LEAK_ROOT_NO_RULE;
    reader->moved = reader->moved || !inside;
    *frame = (struct frame){.pc = pc, .sp = record + 2 * sizeof record, .fp = fp};
    return LEAK_ROOT_NONE;
}

/* Moves *frame to its caller, and records in *step which words were read. LEAK_ROOT_NONE: there is
 * a caller; otherwise the reason why the stack ends. */
static enum leak_root step_frame(struct guard *guard, struct reader *reader, struct frame *frame,
                                 struct unwind_step *step)
{
    struct cfi_row row = cfi_cache_find(guard, frame->pc);
    uintptr_t cfa, pc, other;
    if (ARCH_FINDS_CALLS && unlikely(row.rule == CFI_NONE) &&
        reader->method == UNWIND_BY_TABLES_AND_RECORDS && !golang_contains(frame->pc))
        try_frame_record(guard, reader, frame, step, &row);
    if (unlikely(reader->method == UNWIND_BY_RECORDS) && !use_frame_record(reader, frame, &row)) {
        if (golang_contains(frame->pc))
            return step_go_frame(reader, frame, step);
        step->uses_fp = true;
        return LEAK_ROOT_NO_RULE;
    }
    switch (row.rule) {
    case CFI_NONE:
    case CFI_COMPLEX:
        return golang_contains(frame->pc) ? step_go_frame(reader, frame, step) : LEAK_ROOT_NO_RULE;
    case CFI_END:
        return LEAK_ROOT_COMPLETE;
    case CFI_SIGNAL:
        return step_signal(reader, frame) ? LEAK_ROOT_NONE : LEAK_ROOT_BROKEN;
    case CFI_SP:
        cfa = frame->sp + row.offset;
        break;
    case CFI_FP:
        cfa = frame->fp + row.offset;
        step->uses_fp = true;
        break;
    case CFI_OTHER:
        if (!read_other_register(guard, reader, step, &other))
            return LEAK_ROOT_NO_RULE;
        cfa = other + row.offset;
        break;
    default: /* the rule CFI_FP_DEREF */
        step->uses_fp = true;
        step->sp_slot = (const uintptr_t *)(frame->fp + row.offset);
        if (!read_stack_word(reader, frame->fp + row.offset, &cfa))
            return LEAK_ROOT_BROKEN;
    }
    uintptr_t base = cfa;
    if (ARCH_LINK_REGISTER && row.ra_offset & CFI_NEAR_BOTTOM)
        base -= row.offset;
    if (!read_return_address(reader, frame, row, cfa, base, step, &pc))
        return LEAK_ROOT_BROKEN;
    if (row.fp_offset != CFI_FP_KEPT) {
        uintptr_t saved = (row.rule == CFI_FP_DEREF ? frame->fp : base) + row.fp_offset;
        step->fp_slot = (const uintptr_t *)saved;
        if (!read_stack_word(reader, saved, &frame->fp))
            return LEAK_ROOT_BROKEN;
    }
    if (!pc) { /* threads and fibres mark their first frame in this way */
        reader->strayed = true;
        return LEAK_ROOT_COMPLETE;
    }
    if (!is_code_address(pc))
        return LEAK_ROOT_BROKEN;
    frame->pc = pc;
    frame->sp = cfa;
    return LEAK_ROOT_NONE;
}

/* ---- Sharing frames with the previous trace -------------------------------------------------- */

/* Finds the frame of the previous trace that equals frame: returns its index + 1; 0: there is none.
 * *below: number of frames of the previous trace that lie further out than all frames seen so
 * far. */
static unsigned find_shared_frame(const struct unwind_trace *trace, const struct frame *frame,
                                  unsigned *below)
{
    while (*below && trace->step[*below - 1].sp < frame->sp)
        --*below;
    if (!*below)
        return 0;
    const struct unwind_step *kept = &trace->step[*below - 1];
    bool same = kept->sp == frame->sp && kept->pc == frame->pc &&
                (!kept->fp_matters || kept->fp == frame->fp);
    return same ? *below : 0;
}

/* Says whether the word that holds the caller's pc is unchanged. */
static inline bool slot_holds_pc(const struct unwind_step *step, uintptr_t pc)
{
    uintptr_t word = *step->pc_slot;
    return (ARCH_LINK_REGISTER && step->pc_signed ? arch_strip(word) : word) == pc;
}

/* Follows the frames of the previous trace outwards, from step[same - 1] to step[from], as long as
 * the words of the stack that they were found by are unchanged. Returns the index of the last frame
 * that was reached. */
static unsigned follow_kept_frames(struct unwind_trace *trace, unsigned from, unsigned same,
                                   uintptr_t fp)
{
    struct unwind_step *step = &trace->step[same - 1];
    for (step->fp = fp; step > &trace->step[from]; step--) {
        struct unwind_step *caller = step - 1;
        if (!step->pc_slot || !slot_holds_pc(step, caller->pc) ||
            (step->sp_slot && *step->sp_slot != caller->sp))
            break;
        if (step->fp_slot)
            fp = *step->fp_slot;
        if (caller->fp_matters && caller->fp != fp)
            break;
        caller->fp = fp;
    }
    return step - trace->step;
}

/* Does the work of follow_kept_frames; compares all words of the frames in one loop if they were
 * recorded, which is faster. */
static unsigned verify_kept_frames(struct unwind_trace *trace, uintptr_t low, unsigned from,
                                   unsigned same, uintptr_t fp)
{
    const struct unwind_step *inner = &trace->step[same - 1];
    unsigned known = trace->step[from].words;
    if (inner->in_words &&
        stack_words_match(low, trace->offset + known, trace->word + known, inner->words - known))
        return from;
    return follow_kept_frames(trace, from, same, fp);
}

static void record_word(struct unwind_trace *trace, uintptr_t low, const uintptr_t *slot)
{
    if (!slot || trace->words == UNWIND_WORDS_MAX)
        return;
    trace->offset[trace->words] = (uintptr_t)slot - low;
    trace->word[trace->words++] = *slot;
}

/* Records the words that were read to get from a step to its caller, which is the step before it in
 * the array. */
static void record_step_words(struct unwind_trace *trace, uintptr_t low, struct unwind_step *step)
{
    const struct unwind_step *caller = step - 1;
    step->in_words = caller->in_words && step->pc_slot && trace->words + 3 <= UNWIND_WORDS_MAX;
    if (!step->in_words)
        return;
    record_word(trace, low, step->pc_slot);
    record_word(trace, low, step->sp_slot);
    record_word(trace, low, caller->fp_matters ? step->fp_slot : NULL);
}

/* Removes the outermost of the frames kept from the previous trace, to make room: "remain" of them
 * are left. Returns how many are left. */
static unsigned drop_outer_frames(struct unwind_trace *trace, unsigned kept, unsigned remain)
{
    unsigned drop = kept - remain;
    if (!drop || !remain)
        return remain;
    unsigned words = trace->step[drop].words, used = trace->step[kept - 1].words - words;
    memmove(trace->step, trace->step + drop, remain * sizeof *trace->step);
    memmove(trace->word, trace->word + words, used * sizeof *trace->word);
    memmove(trace->offset, trace->offset + words, used * sizeof *trace->offset);
    for (unsigned i = 0; i < remain; i++)
        trace->step[i].words -= words;
    return remain;
}

/* Decides which frames form the trace: the innermost "limit" of the frames kept from the previous
 * trace and the fresh ones, which were just walked. */
static void place_frames(struct unwind_trace *trace, unsigned limit, unsigned kept, unsigned fresh,
                         enum leak_root end)
{
    unsigned total = kept + fresh, cut = total > limit ? total - limit : 0;
    enum leak_root before = trace->end;
    bool same_outermost = kept && cut == trace->cut;
    if (unlikely(total > UNWIND_DEPTH_MAX)) {
        kept = drop_outer_frames(trace, kept, kept > cut ? kept - cut : 0);
        trace->outer_end = LEAK_ROOT_DEPTH;
        same_outermost = false;
        cut = kept + fresh - limit;
    } else if (!kept) {
        trace->outer_end = end;
    }
    trace->kept = kept;
    trace->found = fresh;
    trace->end = cut ? LEAK_ROOT_DEPTH : trace->outer_end;
    trace->depth = kept + fresh - cut;
    trace->cut = cut;
    trace->shared = same_outermost && trace->end == before && kept > cut ? kept - cut : 0;
    trace->paths = false;
}

void unwind_commit(const struct unwind_bounds *bounds, struct unwind_trace *trace)
{
    uintptr_t low = bounds->low;
    unsigned kept = trace->kept, fresh = trace->found;
    trace->words = kept ? trace->step[kept - 1].words : 0;
    for (unsigned i = 0; i < fresh; i++) {
        struct unwind_step *step = &trace->step[kept + i];
        *step = *unwind_fresh_at(trace, fresh - 1 - i);
        bool caller_needs = kept + i && step[-1].fp_matters;
        step->fp_matters = step->uses_fp || (!step->fp_slot && caller_needs);
        step->in_words = kept + i == 0;
        if (kept + i && trace->shareable)
            record_step_words(trace, low, step);
        step->words = trace->words;
    }
}

static enum leak_root take_step(struct guard *guard, struct reader *reader, struct frame *frame,
                                struct unwind_step *step)
{
    *step = (struct unwind_step){.pc = frame->pc, .sp = frame->sp, .fp = frame->fp};
    enum leak_root end = step_frame(guard, reader, frame, step);
    /* Read after the step, which looks up pc and so finds the module: only then is it known whether
     * the module at pc is a new one. */
    step->retired = modules_retired(step->pc - 1);
    return end;
}

static enum unwind_method used_method;

void unwind_by(enum unwind_method method)
{
    used_method = method;
}

void unwind_forget(uintptr_t start, uintptr_t end)
{
    cfi_cache_forget(start, end);
    frame_record_forget(start, end);
}

/* The state of a walk from the innermost frame outwards. */
struct walk {
    struct frame frame; /* the frame that the walk has reached */
    unsigned fresh;     /* number of frames that were unwound, not reused */
    /* number of frames of the previous trace that lie further out than all frames walked so far */
    unsigned below;
    unsigned reach; /* the largest number of frames to unwind */
    enum leak_root end;
};

/* Continues the walk at step[at], a frame of the previous trace. The frames of that trace on its
 * inner side are still on the stack, but get new nodes of the context tree, because frames further
 * out have changed. */
static void continue_at_kept(struct unwind_trace *trace, struct walk *walk, unsigned same,
                             unsigned at)
{
    for (unsigned i = same; i > at + 1 && walk->fresh < walk->reach; i--) {
        struct unwind_step *copy = unwind_fresh_at(trace, walk->fresh++);
        *copy = trace->step[i - 1];
        copy->node = 0;
    }
    const struct unwind_step *on = &trace->step[at];
    walk->frame = (struct frame){.pc = on->pc, .sp = on->sp, .fp = on->fp};
    walk->below = at;
}

/* Says whether frames kept from the previous trace complete the new one, after the walk has reached
 * one of them, step[same - 1]; otherwise prepares to continue the walk. */
static bool use_kept_frames(const struct unwind_bounds *bounds, unsigned limit, unsigned same,
                            struct unwind_trace *trace, struct walk *walk)
{
    unsigned wanted = limit > walk->fresh ? limit - walk->fresh : 0;
    if (!wanted)
        return true;
    unsigned from = same > wanted ? same - wanted : 0;
    unsigned reached = verify_kept_frames(trace, bounds->low, from, same, walk->frame.fp);
    bool enough = same >= wanted || trace->outer_end != LEAK_ROOT_DEPTH;
    if (reached == from && enough)
        return true;
    /* The stack is now shallower than when step[0] was walked. More frames than needed are walked,
     * for the following traces. */
    if (reached == 0 && !enough)
        walk->reach = 2 * limit < UNWIND_DEPTH_MAX ? 2 * limit : UNWIND_DEPTH_MAX;
    continue_at_kept(trace, walk, same, reached);
    return false;
}

void unwind_find(struct guard *guard, const struct unwind_bounds *bounds, const struct frame *start,
                 unsigned limit, struct unwind_trace *trace)
{
    struct reader reader = {.scratch = trace, .method = used_method};
    trace->window_size = 0;
    if (start->sp - bounds->low < bounds->high - bounds->low) {
        /* Unwinding reads no word below the caller's frame, and all pages above it are mapped. */
        reader.low = start->sp & ~(sizeof(uintptr_t) - 1);
        reader.high = bounds->high;
    }
    uint32_t looked = modules_generation();
    bool own_stack = reader.high != 0;
    bool shareable = trace->shareable && own_stack && trace->looked == looked;
    struct walk walk = {
        .frame = *start, .below = shareable ? trace->cut + trace->depth : 0, .reach = limit};
    unsigned kept = 0;
    while (walk.end == LEAK_ROOT_NONE) {
        unsigned same = find_shared_frame(trace, &walk.frame, &walk.below);
        if (same && use_kept_frames(bounds, limit, same, trace, &walk)) {
            kept = same;
            break;
        }
        if (walk.fresh == walk.reach) {
            walk.end = LEAK_ROOT_DEPTH;
            break;
        }
        walk.end = take_step(guard, &reader, &walk.frame, unwind_fresh_at(trace, walk.fresh++));
    }
    place_frames(trace, limit, kept, walk.fresh, walk.end);
    trace->looked = looked;
    trace->shareable = own_stack && bounds->high - bounds->low <= UINT32_MAX && !reader.strayed &&
                       (trace->end == LEAK_ROOT_COMPLETE || trace->end == LEAK_ROOT_NO_RULE ||
                        trace->end == LEAK_ROOT_DEPTH);
}

enum leak_root unwind_each(struct guard *guard, const struct frame *start, uintptr_t link,
                           struct unwind_trace *scratch,
                           bool (*visit)(const struct frame *frame, void *context), void *context)
{
    struct reader reader = {.scratch = scratch,
                            .link = link,
                            .interrupted_pc = start->pc,
                            .interrupted_sp = start->sp,
                            .method =
                                used_method == UNWIND_BY_RECORDS ? UNWIND_BY_TABLES : used_method};
    struct frame frame = *start;
    enum leak_root end = LEAK_ROOT_NONE;
    scratch->window_size = 0;
    for (unsigned at = 0; end == LEAK_ROOT_NONE; at = (at + 1) % UNWIND_DEPTH_MAX) {
        if (!visit(&frame, context))
            return LEAK_ROOT_DEPTH;
        end = take_step(guard, &reader, &frame, unwind_fresh_at(scratch, at));
    }
    return end;
}

/* ---- Calls that were left by longjmp --------------------------------------------------------- */

/* Steps to the caller's frame, and reads memory through the kernel. False: the row has another rule
 * than CFI_SP and CFI_FP (for example that of a signal frame), or a word cannot be read. */
static bool step_by_kernel(struct frame *frame)
{
    struct cfi_row row = cfi_cache_find(&guard_self, frame->pc);
    if (row.rule != CFI_SP && row.rule != CFI_FP)
        return false;
    uintptr_t flags = ARCH_LINK_REGISTER ? row.ra_offset & CFI_RA_FLAGS : 0;
    uintptr_t cfa = (row.rule == CFI_SP ? frame->sp : frame->fp) + row.offset;
    uintptr_t base = flags & CFI_NEAR_BOTTOM ? cfa - row.offset : cfa;
    if (cfa <= frame->sp || flags & CFI_RA_KEPT ||
        !sys_peek(base + row.ra_offset - flags, &frame->pc, sizeof frame->pc))
        return false;
    if (flags & CFI_RA_SIGNED)
        frame->pc = arch_strip(frame->pc);
    frame->sp = cfa;
    return row.fp_offset == CFI_FP_KEPT ||
           sys_peek(base + row.fp_offset, &frame->fp, sizeof frame->fp);
}

bool unwind_passes(const struct frame *frame, uintptr_t sp)
{
    struct frame at = *frame;
    for (unsigned i = 0; i < UNWIND_DEPTH_MAX && at.sp < sp && step_by_kernel(&at); i++)
        ;
    return at.sp > sp;
}
