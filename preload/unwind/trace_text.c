/* trace_text.c - writes a call stack as text, without malloc and stdio. */
#include "preload/unwind/unwind.h"
#include "preload/unwind/stack_fold.h"
#include "preload/interpose/modules.h"
#include "preload/elf/link_map.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "context.h"

#include <limits.h>

#define FRAMES_MOST (16u << 20)
#define WRITTEN_OUT 16 /* a longer repetition of frames is only counted, not written out */

struct work {
    struct unwind_trace trace;
    struct leak_crash_frame row[LEAK_CRASH_FRAMES];
    uint64_t ring[LEAK_CRASH_OUTER];
    struct stack_fold fold;
    char symbols[64 << 10];
    char line[PATH_MAX + 512];
    char program[PATH_MAX];
    struct link_map_function name;
    unsigned number;
    int fd;
};

static bool fold_frame(const struct frame *frame, void *context)
{
    struct work *work = context;
    stack_fold_add(&work->fold, frame->pc);
    return work->fold.depth < FRAMES_MOST;
}

static void write_text(struct work *work, const struct strbuf *text)
{
    sys_write_no_sigpipe(work->fd, text->bytes, text->length);
}

static void append_module(struct work *work, const struct module_view *module, uintptr_t pc,
                          struct strbuf *text)
{
    const char *path = module->map->l_name;
    strbuf_add(text, " (");
    strbuf_add(text, *path ? path : work->program);
    strbuf_add(text, "+");
    strbuf_add_hex(text, pc - module->map->l_addr);
    strbuf_add(text, ")");
}

/* Writes one frame. exact: pc is that of the interrupted instruction + 1; otherwise a return
 * address. */
static void write_frame(struct work *work, uintptr_t pc, bool exact)
{
    struct module_view module;
    struct strbuf text = STRBUF_ON(work->line);
    strbuf_add(&text, "#");
    strbuf_add_number(&text, work->number++);
    strbuf_add(&text, "  ");
    strbuf_add_hex(&text, pc - exact);
    if (modules_find(&guard_self, pc - 1, &module) && module.map) {
        if (link_map_find_function(module.map, pc - 1, work->symbols, sizeof work->symbols,
                                   &work->name)) {
            strbuf_add(&text, " ");
            strbuf_add(&text, work->name.text);
            strbuf_add(&text, "+");
            strbuf_add_hex(&text, work->name.offset + !exact);
        }
        append_module(work, &module, pc - exact, &text);
    }
    strbuf_add(&text, "\n");
    write_text(work, &text);
}

static void write_note(struct work *work, const char *before, uint64_t number, const char *after)
{
    struct strbuf text = STRBUF_ON(work->line);
    strbuf_add(&text, before);
    strbuf_add_number(&text, number);
    strbuf_add(&text, after);
    write_text(work, &text);
}

/* Writes frames that repeat: one by one if they are at most WRITTEN_OUT, otherwise one line says
 * how many. */
static void write_repeated_frames(struct work *work, uint32_t last)
{
    const struct leak_crash_frame *frame = &work->row[last];
    uint64_t more = (uint64_t)frame->period * frame->times;
    if (more > WRITTEN_OUT) {
        write_note(work, "    ... the last ", frame->period, "");
        write_note(work, " of these ", frame->times, " times more\n");
        work->number += more;
        return;
    }
    for (uint32_t round = 0; round < frame->times; round++)
        for (uint32_t i = frame->period; i; i--)
            write_frame(work, work->row[last + 1 - i].pc, false);
}

static void write_all_frames(struct work *work, bool exact)
{
    struct stack_fold *fold = &work->fold;
    uint64_t left_out;
    uint32_t outer = stack_fold_finish(fold, &left_out);
    for (uint32_t i = 0; i < fold->count; i++) {
        const struct leak_crash_frame *frame = &fold->row[i];
        write_frame(work, frame->pc, exact && i == 0);
        if (frame->times)
            write_repeated_frames(work, i);
    }
    if (left_out)
        write_note(work, "    ", left_out, " frames are left out\n");
    work->number += left_out;
    for (uint32_t i = 0; i < outer; i++)
        write_frame(work, work->ring[i], false);
}

void backtrace_write(const void *context, const struct frame *caller, int fd)
{
    const ucontext_t *registers = context;
    struct work *work = sys_map(sizeof *work);
    struct frame start = *caller;
    if (!work)
        return;
    if (registers)
        start = (struct frame){.pc = context_pc(registers) + 1,
                               .sp = context_sp(registers),
                               .fp = context_fp(registers)};
    work->fd = fd;
    work->fold =
        (struct stack_fold){.row = work->row, .most = LEAK_CRASH_FRAMES, .ring = work->ring};
    sys_program_path(work->program, sizeof work->program);
    modules_forbid_waiting(1);
    unwind_each(&guard_self, &start, registers ? context_link(registers) : 0, &work->trace,
                fold_frame, work);
    write_all_frames(work, registers != NULL);
    modules_forbid_waiting(-1);
    sys_unmap(work, sizeof *work);
}
