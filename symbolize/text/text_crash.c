/* text_crash.c - writes the crash of a process; described in text.h.
 *
 * Every frame of this stack is shown, also those of the C and C++ runtime: the caller of abort()
 * matters as much as the function in which free() found the damage. Repeated frames are shown once.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <string.h>

#include "leak_store.h"

#define FRAMES 24 /* most frames that are shown without -v */
#define REGISTERS_A_LINE 3

static void write_crash_thread(const struct thread_ref *thread, int32_t tid, FILE *stream)
{
    if (thread->serial)
        fprintf(stream, "T%" PRIu32, thread->serial);
    else
        fputs("a thread", stream);
    if (thread->name && *thread->name)
        fprintf(stream, " (%s)", term_text(thread->name, strlen(thread->name), 0).text);
    if (tid)
        fprintf(stream, ", tid %" PRId32, tid);
}

static void write_crash_headline(const struct crash *crash, const struct view *view, FILE *stream)
{
    text_style(view, stream, STYLE_WARNING);
    fprintf(stream, "%s: ", crash->overflow ? "STACK OVERFLOW" : "CRASH");
    text_style(view, stream, STYLE_PLAIN);
    if (crash->words == crash->name)
        fprintf(stream, "%s,\n  in ", crash->name);
    else
        fprintf(stream, "%s, %s,\n  in ", crash->name,
                term_text(crash->words, strlen(crash->words), 0).text);
    write_crash_thread(&crash->thread, crash->tid, stream);
    if (crash->handed)
        fputs(", after the program's own handler", stream);
    fputs(":\n", stream);
}

static void write_crash_repeats(const struct crash *crash, size_t end, FILE *stream)
{
    for (size_t i = 0; i < crash->repeat_count; i++) {
        const struct crash_repeat *repeat = &crash->repeats[i];

        if (repeat->end != end)
            continue;
        fprintf(stream, "%*s... ", TEXT_INDENT, "");
        if (repeat->frames > 1)
            fprintf(stream, "these %zu frames", repeat->frames);
        else
            fputs("this frame", stream);
        fprintf(stream, " %s more\n", term_count(repeat->times, "time").text);
    }
}

/* Writes all frames of the stack; without -v, if there are more than FRAMES, only FRAMES of them:
 * two thirds innermost and one third outermost frames. */
static void write_crash_stack(const struct crash *crash, const struct view *view, FILE *stream)
{
    struct record record = record_from_stack(&crash->stack);
    const struct frame *title = record_title_frame(&record);
    size_t count = crash->stack.count, tail = FRAMES / 3;
    bool all = view->verbose || count <= FRAMES;

    for (size_t i = 0; i < count; i++) {
        const struct frame *frame = crash->stack.frames[i];

        if (crash->left_out && i == crash->left_out_at)
            fprintf(stream, "%*s... %s left out\n", TEXT_INDENT, "",
                    term_count(crash->left_out, "frame").text);
        if (!all && i == FRAMES - tail)
            fprintf(stream, "%*s... %s (-v shows them)\n", TEXT_INDENT, "",
                    term_count(count - FRAMES, "more frame").text);
        if (all || i < FRAMES - tail || i >= count - tail) {
            text_frame(frame, i == record.user, TEXT_INDENT, view, stream);
            if (i == record.user && frame == title)
                text_source_line(frame, TEXT_INDENT, view, stream);
        }
        write_crash_repeats(crash, i + 1, stream);
    }
    if (text_stack_end(crash->stack.ending))
        fprintf(stream, "%*s[%s]\n", TEXT_INDENT, "",
                crash->stack.ending == LEAK_ROOT_DEPTH ? "truncated"
                                                       : text_stack_end(crash->stack.ending));
    if (crash->repeat_count && crash->depth)
        fprintf(stream, "   The stack was %s deep.\n", term_count(crash->depth, "frame").text);
}

static void write_crash_place(const struct crash_block *block, FILE *stream)
{
    bool inside = block->offset < block->size || !block->size;
    uint64_t far = inside ? block->offset : block->offset - block->size;

    if (far || !inside)
        fprintf(stream, "%s %s ", term_count(far, "byte").text,
                inside ? "into" : "past the end of");
    if (block->size)
        fprintf(stream, "a block of %s%s", block->about ? "about " : "",
                term_count(block->size, "byte").text);
    else
        fputs("a block", stream);
    if (block->was_freed)
        fputs(" that had been freed", stream);
}

static bool is_same(const struct crash_block *a, const struct crash_block *b)
{
    return a->start == b->start && a->was_freed == b->was_freed;
}

/* Says whether an earlier entry of the list has the same block: several registers often point to
 * one block. */
static bool is_repeated_block(const struct crash *crash, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_same(&crash->blocks[i], &crash->blocks[at]))
            return true;
    return false;
}

/* Writes what points to the block: "The address is", or registers "rax, rdx:". */
static void write_subject(const struct crash *crash, size_t at, FILE *stream)
{
    const struct crash_block *block = &crash->blocks[at];

    fprintf(stream, "   %s", block->register_name ? block->register_name : "The address is");
    for (size_t i = at + 1; i < crash->block_count && block->register_name; i++)
        if (is_same(&crash->blocks[i], block) && crash->blocks[i].offset == block->offset)
            fprintf(stream, ", %s", crash->blocks[i].register_name);
    fputs(block->register_name ? ": " : " ", stream);
}

static void write_crash_block(const struct process *process, size_t at, const struct view *view,
                              FILE *stream)
{
    const struct crash_block *block = &process->crash->blocks[at];

    write_subject(process->crash, at, stream);
    write_crash_place(block, stream);
    if (block->was_freed) {
        text_event(process, block->freed_ns, &block->freed_by, stream);
        fputs(":\n", stream);
        text_free_stack(&block->freed, block->freed_whole, view, stream);
        fputs("   allocated", stream);
    } else {
        fputs(", allocated", stream);
    }
    if (block->kind)
        fprintf(stream, " (%s)", kind_word[block->kind]);
    fputs(":\n", stream);
    text_stack(&block->allocated, view, stream);
}

static void write_registers(const struct crash *crash, FILE *stream)
{
    if (!crash->register_count)
        return;
    fputs("   Registers:", stream);
    for (size_t i = 0; i < crash->register_count; i++)
        fprintf(stream, "%s%-3s 0x%016" PRIx64, i % REGISTERS_A_LINE ? "  " : "\n     ",
                crash->registers[i].name, crash->registers[i].value);
    putc('\n', stream);
}

/* Writes, in short, a crash by which the allocator ended the process because of a bad free. The bad
 * free is error 1 of the report and has the stack. */
static void write_answer(const struct crash *crash, const struct view *view, FILE *stream)
{
    text_style(view, stream, STYLE_WARNING);
    fputs("CRASH: ", stream);
    text_style(view, stream, STYLE_PLAIN);
    fprintf(stream, "%s in ", crash->name);
    write_crash_thread(&crash->thread, crash->tid, stream);
    fputs(":\n  the allocator ended the process for error 1 (-v shows stack and registers)\n",
          stream);
}

void text_crash(const struct process *process, const struct view *view, FILE *stream)
{
    const struct crash *crash = process->crash;

    if (!crash)
        return;
    putc('\n', stream);
    if (crash->answers && !view->verbose) {
        write_answer(crash, view, stream);
        return;
    }
    write_crash_headline(crash, view, stream);
    write_crash_stack(crash, view, stream);
    if (crash->inside)
        fprintf(stream, "   The crash was inside %s.\n", crash->inside);
    if (crash->during_look)
        fputs("   A leak check was in progress.\n", stream);
    if (crash->near && !(crash->block_count && !crash->blocks[0].register_name))
        fprintf(stream, "   The address is %s.\n",
                term_text(crash->near, strlen(crash->near), 0).text);
    for (size_t i = 0; i < crash->block_count; i++)
        if (!is_repeated_block(crash, i))
            write_crash_block(process, i, view, stream);
    if (crash->blocks_busy)
        fputs("   The table of blocks was being changed: nearby blocks may be missing.\n", stream);
    write_registers(crash, stream);
    if (view->verbose)
        for (size_t i = 0; i < crash->module_count; i++)
            fprintf(stream, "%s %s\n", i ? "           " : "   Loaded: ",
                    term_text(crash->modules[i], strlen(crash->modules[i]), 0).text);
}
