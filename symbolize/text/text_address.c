/* text_address.c - writes what is known about one address: its block, and its recorded frees;
 * described in text.h. It looks like this:
 *
 *     0x55e0c7a2b2a0 is in a block of 1,008 bytes at 0x55e0c7a2b290 (+0x10), still reachable
 *        allocated (malloc) 3 s ago by T1 (shelf) as T1#42:
 *          keep                                shelf.c:12
 *        pointed to by
 *          books (shelf.c:3)
 *          0x55e0c7a2ae80, 1,008 B from keep() +0x8
 *
 * The list of frees always says how many frees are recorded: an address that is missing there may
 * still have been freed.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <string.h>

#include "leak_store.h"

/* ---- The block at an address (--who) --------------------------------------------------------- */

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
        fputs("a root without a name: the table of roots was full", stream);
    if (within || (!root && pointer->offset))
        fprintf(stream, " +0x%" PRIx64, root ? root->offset : pointer->offset);
    if (pointer->into)
        fprintf(stream, ", to +0x%" PRIx64 " of it", pointer->into);
    putc('\n', stream);
}

static void write_pointers(const struct address_info *who, const struct view *view, FILE *stream)
{
    size_t shown = view->top && view->top < who->pointer_count ? view->top : who->pointer_count;

    if (!who->pointer_count) {
        fputs("   nothing points to it\n", stream);
        return;
    }
    fputs("   pointed to by\n", stream);
    for (size_t i = 0; i < shown; i++)
        write_pointer(&who->pointers[i], view, stream);
    if (shown < who->pointer_count || who->more)
        fprintf(stream, "%*sand %s%s%s\n", TEXT_INDENT, "",
                term_count(who->pointer_count - shown, "more pointer").text,
                who->more ? " at least" : "", shown < who->pointer_count ? " (--top=0)" : "");
}

static void write_address_block(const struct process *process, const struct address_info *who,
                                const struct view *view, FILE *stream)
{
    uint64_t offset = who->address - who->block;

    fputs(offset >= who->size && offset ? " is just past the end of"
          : offset                      ? " is in"
                                        : " is the start of",
          stream);
    fprintf(stream, " a block of %s", term_count(who->size, "byte").text);
    if (offset && offset < who->size)
        fprintf(stream, " at 0x%" PRIx64 " (+0x%" PRIx64 ")", who->block, offset);
    fprintf(stream, ", %s\n   allocated (%s)", verdict_words[who->verdict], kind_word[who->kind]);
    text_event(process, who->time_ns, &who->thread, stream);
    fprintf(stream, " as T%" PRIu32 "#%" PRIu32 ":\n", who->thread.serial, who->count);
    text_stack(&who->allocated, view, stream);
    write_pointers(who, view, stream);
}

static void write_who(const struct process *process, const struct view *view, FILE *stream)
{
    const struct address_info *who = process->who;

    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "0x%" PRIx64, who->address);
    text_style(view, stream, STYLE_PLAIN);
    if (who->block)
        write_address_block(process, who, view, stream);
    else if (who->asked)
        fputs(" is in no known block.\n", stream);
    else
        fprintf(stream,
                " was not part of the last leak check: leakctl who %" PRId32 " 0x%" PRIx64
                " queries a running process.\n",
                process->pid, who->address);
    putc('\n', stream);
}

void text_address(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++) {
        if (report->process_count > 1)
            fprintf(stream, "In pid %" PRId32 ": ", report->processes[i].pid);
        write_who(&report->processes[i], view, stream);
    }
}

/* ---- The frees of an address (--freed) ------------------------------------------------------- */

static void write_recent_free(const struct process *process, const struct recent_free *recent,
                              const struct view *view, FILE *stream)
{
    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "0x%" PRIx64, recent->address);
    text_style(view, stream, STYLE_PLAIN);
    fputs(" was freed", stream);
    text_event(process, recent->time_ns, &recent->thread, stream);
    fputs(":\n", stream);
    text_free_stack(&recent->freed, recent->whole, view, stream);
    if (recent->kind)
        fprintf(stream, "   allocated (%s):\n", kind_word[recent->kind]);
    text_stack(&recent->allocated, view, stream);
    putc('\n', stream);
}

void text_recent_frees(const struct report *report, const struct view *view, FILE *stream)
{
    size_t found = 0, known = 0;
    bool sampled = false;

    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];

        known += process->recent_known;
        found += process->recent_count;
        sampled |= process->sample > 1;
        for (size_t k = 0; k < process->recent_count; k++) {
            if (report->process_count > 1)
                fprintf(stream, "In pid %" PRId32 ": ", process->pid);
            write_recent_free(process, &process->recent[k], view, stream);
        }
    }
    if (!found)
        fprintf(stream, "0x%" PRIx64 " is not among the recorded frees.\n", view->freed_address);
    fprintf(stream,
            "Recorded: the last %d frees of each thread (of a finished thread until a new one\n"
            "reuses its slot), by the start address of the block; %s here.\n",
            LEAK_RECENT - 1, term_count(known, "free").text);
    if (sampled)
        fputs("With sample=, only frees of sampled blocks are recorded.\n", stream);
}
