#include "preload/roots/frame_holes.h"
#include "preload/roots/frame_code.h"
#include "preload/base/sys.h"
#include "preload/elf/procmaps.h"
#include "preload/heap/threads.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi.h"
#include "preload/unwind/unwind.h"

#define FRAMES_MOST 64

/* Says whether the code can be read: it may be execute-only, or its file may be shorter now. */
static bool can_read(const struct procmaps *maps, uintptr_t start, uintptr_t end)
{
    const struct mapping *mapping = procmaps_find(maps, start);
    if (!mapping || !mapping->read || end > mapping->end || end - start > FRAME_CODE_MOST)
        return false;
    for (uintptr_t page = start / LEAK_PAGE * LEAK_PAGE; page < end; page += LEAK_PAGE)
        if (sys_faults(page))
            return false;
    return true;
}

/* Says whether writing to the frame changes this process only: a thread or fibre may have its stack
 * in shared memory, where the program would see it. */
static bool is_private(const struct procmaps *maps, uintptr_t sp, uintptr_t cfa)
{
    const struct mapping *mapping = procmaps_find(maps, sp);
    return mapping && mapping->write && !mapping->shared && cfa <= mapping->end;
}

/* Clears the unused words of one frame. pc: return address in the function; sp: stack pointer at
 * the call; cfa: stack pointer of its caller. *passes_arguments: whether the function that it called
 * may keep values in the frame; becomes the same for its caller. False: the function is not known,
 * and so neither is what lies further out. */
static bool clear_frame(const struct procmaps *maps, uintptr_t pc, uintptr_t sp, uintptr_t cfa,
                        bool *passes_arguments)
{
    struct module_view module;
    struct cfi_function function;
    struct frame_holes holes;
    if (cfa <= sp || !modules_find(&guard_self, pc - 1, &module) ||
        !cfi_function_at(module.eh_frame_hdr, pc - 1, &function) || !is_private(maps, sp, cfa))
        return false;
    if (!can_read(maps, function.start, function.end)) {
        *passes_arguments = true;
        return true;
    }
    const struct frame_function code = {.code = (const uint8_t *)function.start,
                                        .size = function.end - function.start,
                                        .frame_size = cfa - sp,
                                        .has_handlers = function.may_have_handlers,
                                        .passes_arguments = *passes_arguments};
    frame_code_find_holes(&code, &holes);
    for (unsigned i = 0; i < holes.count; i++)
        memset((void *)(cfa + holes.hole[i].start), 0, holes.hole[i].end - holes.hole[i].start);
    *passes_arguments = !holes.leaves_caller_alone;
    return true;
}

void frame_holes_clear(const struct roots_caller *caller, const struct procmaps *maps)
{
    struct frame start = {.pc = caller->pc, .sp = caller->frame, .fp = caller->fp};
    struct unwind_bounds bounds = {0};
    struct unwind_trace *trace = caller->context ? NULL : sys_map(sizeof *trace);
    bool passes_arguments = false;
    if (!trace)
        return;
    if (guard_self.thread)
        bounds = guard_self.thread->bounds;
    unwind(&guard_self, &bounds, &start, FRAMES_MOST, trace);
    for (unsigned i = 0; i + 1 < trace->depth; i++)
        if (!clear_frame(maps, unwind_step_at(trace, i)->pc, unwind_step_at(trace, i)->sp,
                         unwind_step_at(trace, i + 1)->sp, &passes_arguments))
            break;
    sys_unmap(trace, sizeof *trace);
}
