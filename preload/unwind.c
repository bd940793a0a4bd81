#include "preload/unwind.h"
#include "preload/modules.h"
#include "preload/rows.h"
#include "preload/sys.h"
#include "arch.h"

/* Reads words of stacks: inside the thread's own directly, elsewhere through a copy by the kernel. */
struct reader {
    uintptr_t low, high; /* directly readable; aligned */
    struct unwind_trace *scratch;
};

static NOINLINE bool read_elsewhere(struct unwind_trace *scratch, uintptr_t address, uintptr_t *out)
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

static inline bool read_word(struct reader *reader, uintptr_t address, uintptr_t *out)
{
    if (unlikely(address % sizeof *out))
        return false;
    if (unlikely(address - reader->low >= reader->high - reader->low))
        return read_elsewhere(reader->scratch, address, out);
    *out = *(const uintptr_t *)address;
    return true;
}

/* The registers that a signal interrupted. */
static bool step_signal(struct reader *reader, struct frame *frame)
{
    uintptr_t context = frame->sp;
    if (!read_word(reader, context + ARCH_SIGNAL_PC, &frame->pc) ||
        !read_word(reader, context + ARCH_SIGNAL_FP, &frame->fp) ||
        !read_word(reader, context + ARCH_SIGNAL_SP, &frame->sp))
        return false;
    frame->pc++; /* not a return address: everybody looks names up at pc - 1 */
    return frame->pc >= LEAK_KIND_PCS; /* a call of NULL */
}

/* One frame outwards. LEAK_ROOT_NONE: there is a caller, now in *frame. */
static enum leak_root step(struct guard *guard, struct reader *reader, struct frame *frame)
{
    struct cfi_row row = rows_get(guard, frame->pc);
    uintptr_t cfa, pc, fp_base;
    switch (row.rule) {
    case CFI_NONE:
    case CFI_COMPLEX:
        return LEAK_ROOT_NO_RULE;
    case CFI_END:
        return LEAK_ROOT_COMPLETE;
    case CFI_SIGNAL:
        return step_signal(reader, frame) ? LEAK_ROOT_NONE : LEAK_ROOT_BROKEN;
    case CFI_SP:
        cfa = frame->sp + row.offset;
        break;
    case CFI_FP:
        cfa = frame->fp + row.offset;
        break;
    default:
        if (!read_word(reader, frame->fp + row.offset, &cfa))
            return LEAK_ROOT_BROKEN;
    }
    /* Callers live above their callees; anything else would loop or wander. */
    if (cfa <= frame->sp || !read_word(reader, cfa + row.ra_offset, &pc))
        return LEAK_ROOT_BROKEN;
    fp_base = row.rule == CFI_FP_DEREF ? frame->fp : cfa;
    if (row.fp_offset != CFI_FP_KEPT && !read_word(reader, fp_base + row.fp_offset, &frame->fp))
        return LEAK_ROOT_BROKEN;
    if (!pc)
        return LEAK_ROOT_COMPLETE; /* how threads and fibres mark their first frame */
    if (pc < LEAK_KIND_PCS)
        return LEAK_ROOT_BROKEN; /* in the tree such a number means a leaf */
    frame->pc = pc;
    frame->sp = cfa;
    return LEAK_ROOT_NONE;
}

void unwind(struct guard *guard, const struct unwind_bounds *bounds, const struct frame *start,
            unsigned limit, struct unwind_trace *trace)
{
    struct reader reader = {.scratch = trace};
    trace->window_size = 0;
    if (start->sp - bounds->low < bounds->high - bounds->low) {
        /* Nothing of interest lies below the caller's frame, and above it all is mapped. */
        reader.low = start->sp & ~(sizeof(uintptr_t) - 1);
        reader.high = bounds->high;
    }
    struct frame frame = *start;
    trace->depth = 0;
    do {
        if (trace->depth == limit) {
            trace->end = LEAK_ROOT_DEPTH;
            return;
        }
        trace->pc[trace->depth] = frame.pc;
        trace->retired[trace->depth++] = modules_retired(frame.pc - 1);
        trace->end = step(guard, &reader, &frame);
    } while (trace->end == LEAK_ROOT_NONE);
}
