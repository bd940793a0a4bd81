#include "preload/roots/frame_holes.h"
#include "preload/roots/frame_code.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi.h"
#include "preload/unwind/unwind.h"

#define FRAMES_MOST 64

/* Clears the unused words of one frame. pc: return address in the function; sp: stack pointer at
 * the call; cfa: stack pointer of its caller. */
static void clear_frame(uintptr_t pc, uintptr_t sp, uintptr_t cfa)
{
    struct module_view module;
    struct cfi_function function;
    struct frame_holes holes;
    if (cfa <= sp || !modules_find(&guard_self, pc - 1, &module) ||
        !cfi_function_at(module.eh_frame_hdr, pc - 1, &function))
        return;
    const struct frame_function code = {.code = (const uint8_t *)function.start,
                                        .size = function.end - function.start,
                                        .frame_size = cfa - sp,
                                        .has_handlers = function.may_have_handlers};
    frame_code_find_holes(&code, &holes);
    for (unsigned i = 0; i < holes.count; i++)
        memset((void *)(cfa + holes.hole[i].start), 0, holes.hole[i].end - holes.hole[i].start);
}

void frame_holes_clear(const struct roots_caller *caller)
{
    struct unwind_trace *trace = sys_map(sizeof *trace);
    struct frame start = {.pc = caller->pc, .sp = caller->frame, .fp = caller->fp};
    struct unwind_bounds bounds = {0};
    if (!trace || caller->context)
        return;
    if (guard_self.thread)
        bounds = guard_self.thread->bounds;
    unwind(&guard_self, &bounds, &start, FRAMES_MOST, trace);
    for (unsigned i = 0; i + 1 < trace->depth; i++)
        clear_frame(unwind_step_at(trace, i)->pc, unwind_step_at(trace, i)->sp,
                    unwind_step_at(trace, i + 1)->sp);
}
