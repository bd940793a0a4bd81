/* text_who.c - see text_who.h.
 *
 *     0x55e0c7a2b2a0 is in a block of 1,008 bytes at 0x55e0c7a2b290 (+0x10), still reachable
 *        allocated (malloc) 3 s ago by T1 (shelf) as T1#42:
 *          keep                                shelf.c:12
 *        pointed at by
 *          books (shelf.c:3)
 *          0x55e0c7a2ae80, 1,008 B from keep() +0x8
 */
#include "symbolize/text/text_who.h"

#include <inttypes.h>
#include <string.h>

#include "leak_store.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_frames.h"
#include "symbolize/text/text_path.h"
#include "symbolize/text/text_record.h"

static void write_pointer(const struct pointer *pointer, const struct view *view, FILE *stream)
{
    const struct root *root = pointer->root;
    bool within = root && root->has_offset && root->offset &&
                  (root->variable || root->class == LEAK_ROOT_CLASS_ANON);

    fprintf(stream, "%*s", TEXT_INDENT, "");
    if (root)
        fputs(term_text(root->words, strlen(root->words), 0).text, stream);
    else if (pointer->block)
        fprintf(stream, "0x%" PRIx64 ", %s B from %s", pointer->block,
                term_number(pointer->size).text, text_call(pointer->frame, view, 0).text);
    else
        fputs("a root that the look had no room to name", stream);
    if (within || (!root && pointer->offset))
        fprintf(stream, " +0x%" PRIx64, root ? root->offset : pointer->offset);
    if (pointer->into)
        fprintf(stream, ", to +0x%" PRIx64 " of it", pointer->into);
    putc('\n', stream);
}

static void write_pointers(const struct who *who, const struct view *view, FILE *stream)
{
    size_t told = view->top && view->top < who->pointer_count ? view->top : who->pointer_count;

    if (!who->pointer_count) {
        fputs("   nothing points at it\n", stream);
        return;
    }
    fputs("   pointed at by\n", stream);
    for (size_t i = 0; i < told; i++)
        write_pointer(&who->pointers[i], view, stream);
    if (told < who->pointer_count || who->more)
        fprintf(stream, "%*sand %s%s%s\n", TEXT_INDENT, "",
                term_count(who->pointer_count - told, "more word").text,
                who->more ? " at least" : "", told < who->pointer_count ? " (--top=0)" : "");
}

static void write_block(const struct process *process, const struct who *who,
                        const struct view *view, FILE *stream)
{
    uint64_t offset = who->address - who->block;
    struct record record = record_from_stack(&who->allocated);
    struct thread_ref thread = who->thread;

    fputs(offset >= who->size && offset ? " is just behind"
          : offset                      ? " is in"
                                        : " is the start of",
          stream);
    fprintf(stream, " a block of %s", term_count(who->size, "byte").text);
    if (offset && offset < who->size)
        fprintf(stream, " at 0x%" PRIx64 " (+0x%" PRIx64 ")", who->block, offset);
    fprintf(stream, ", %s\n", verdict_words[who->verdict]);
    record.first_ns = record.last_ns = who->time_ns;
    record.threads = &thread;
    record.thread_count = 1;
    fprintf(stream, "   allocated (%s)", kind_word[who->kind]);
    text_when(process, &record, stream);
    fprintf(stream, " as T%" PRIu32 "#%" PRIu32 ":\n", thread.serial, who->count);
    text_frames(&record, TEXT_INDENT, view, stream);
    write_pointers(who, view, stream);
}

static void write_who(const struct process *process, const struct view *view, FILE *stream)
{
    const struct who *who = process->who;

    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "0x%" PRIx64, who->address);
    text_style(view, stream, STYLE_PLAIN);
    if (who->block)
        write_block(process, who, view, stream);
    else if (who->asked)
        fputs(" is in no block that libleak knows.\n", stream);
    else
        fprintf(stream,
                " is not what the last look was about: leakctl who %" PRId32 " 0x%" PRIx64
                " asks a process that runs.\n",
                process->pid, who->address);
    putc('\n', stream);
}

void text_who(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++) {
        if (report->process_count > 1)
            fprintf(stream, "In pid %" PRId32 ": ", report->processes[i].pid);
        write_who(&report->processes[i], view, stream);
    }
}
