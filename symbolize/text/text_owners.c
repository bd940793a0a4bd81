/* text_owners.c - writes what keeps blocks alive: paths from roots, and the roots that own most;
 * described in text.h.
 *
 * A line of a path breaks before an arrow. A block belongs to the root that reaches it in the
 * fewest steps, so each block is counted once.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <string.h>

#include "leak_store.h"

/* ---- Writing paths --------------------------------------------------------------------------- */

#define CALL_COLUMNS 40

struct term_text text_call(const struct frame *frame, const struct view *view, size_t columns)
{
    struct term_text name, call;
    bool whole;

    if (!frame)
        return term_text("an unknown place", 16, 0);
    name = text_function_name(frame, view, columns > 4 ? columns - 2 : columns);
    /* the name has arguments, so "()" is not added */
    whole = (view->verbose || view->full_names) && strchr(name.text, '(');
    /* no function, so "()" is not added */
    whole = whole || !frame->function || *frame->function == '[';
    call.columns = name.columns + (whole ? 0 : 2);
    snprintf(call.text, sizeof(call.text), "%.*s%s", TERM_TEXT_MAX - 3, name.text,
             whole ? "" : "()");
    return call;
}

struct line {
    FILE *stream;
    size_t indent, used; /* columns of the indentation, and of the text on the line */
};

static void put_word(struct line *line, const char *text)
{
    struct term_text shown = term_text(text, strlen(text), 0);

    if (line->used > line->indent && line->used + 1 + shown.columns > TEXT_COLUMNS) {
        fprintf(line->stream, "\n%*s", (int)line->indent + 2, "");
        line->used = line->indent + 2;
    } else if (line->used > line->indent) {
        putc(' ', line->stream);
        line->used++;
    }
    fputs(shown.text, line->stream);
    line->used += shown.columns;
}

/* Writes the root of a path, or the expression for the pointer to the block, as far as it has a
 * name. */
static void put_root(struct line *line, const struct path *path)
{
    const struct root *root = path->root;
    char text[64];

    put_word(line, path->named ? path->words : root->words);
    if (!path->named && root->has_offset && root->offset &&
        (root->variable || root->class == LEAK_ROOT_CLASS_ANON)) {
        snprintf(text, sizeof(text), "+0x%" PRIx64, root->offset);
        put_word(line, text);
    }
}

/* Writes a block of the path, and the offset of the next pointer in this block, unless the
 * expression for the pointer has named it. */
static void put_step(struct line *line, const struct path *path, size_t i, const struct view *view)
{
    const struct path_step *step = &path->steps[i];
    bool last = i + 1 == path->count || (path->skipped && i + 1 == path->skipped_at);
    char text[288], next[32] = "", into[32] = "";

    if (!last && i + 1 >= path->named && path->steps[i + 1].offset)
        snprintf(next, sizeof(next), " +0x%" PRIx64, path->steps[i + 1].offset);
    if (step->into)
        snprintf(into, sizeof(into), "+0x%" PRIx64 " of ", step->into);
    snprintf(text, sizeof(text), "-> %s%.32s B from %.160s%s", into, term_number(step->size).text,
             text_call(step->frame, view, CALL_COLUMNS).text, next);
    put_word(line, text);
}

void text_path(const struct path *path, size_t indent, const struct view *view, FILE *stream)
{
    text_path_after("", path, indent, view, stream);
}

void text_path_after(const char *words, const struct path *path, size_t indent,
                     const struct view *view, FILE *stream)
{
    struct line line = {.stream = stream, .indent = indent, .used = indent};
    char text[64];

    fprintf(stream, "%*s", (int)indent, "");
    if (*words)
        put_word(&line, words);
    put_root(&line, path);
    for (size_t i = 0; i < path->count; i++) {
        if (path->skipped && i == path->skipped_at) {
            snprintf(text, sizeof(text), "-> ... %.32s ...",
                     term_count(path->skipped, "more block").text);
            put_word(&line, text);
        }
        put_step(&line, path, i, view);
    }
    putc('\n', stream);
}

/* ---- Owners (--owners) ----------------------------------------------------------------------- */

static void write_owner(const struct owner *owner, size_t number, const struct view *view,
                        FILE *stream)
{
    struct term_text bytes = term_count(owner->bytes, "byte");

    fprintf(stream, "%3zu. ", number);
    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "%s in %s", bytes.text, term_count(owner->blocks, "block").text);
    text_style(view, stream, STYLE_PLAIN);
    fprintf(stream, "  %s\n", term_text(owner->root->words, strlen(owner->root->words), 0).text);
    if (owner->path && owner->path->count)
        text_path(owner->path, TEXT_INDENT, view, stream);
    text_growth_reason(owner->growth, view, stream);
}

static void write_owner_process(const struct process *process, bool arguments,
                                const struct view *view, FILE *stream)
{
    size_t count = process->owner_count, shown = count;

    text_style(view, stream, STYLE_BOLD);
    text_process_name(process, arguments, stream);
    text_style(view, stream, STYLE_PLAIN);
    if (!process->look || !process->look->made) {
        fprintf(stream, "has no leak check%s%s: owners are unknown.\n\n",
                process->look && process->look->trouble ? ": " : "",
                process->look && process->look->trouble ? process->look->trouble : "");
        return;
    }
    if (!count) {
        fputs("has no reachable blocks.\n\n", stream);
        return;
    }
    if (view->top && shown > view->top)
        shown = view->top;
    fputs("keeps alive:\n", stream);
    for (size_t i = 0; i < shown; i++)
        write_owner(&process->owners[i], i + 1, view, stream);
    if (shown < count)
        fprintf(stream, "... and %s (--top=0).\n", term_count(count - shown, "smaller owner").text);
    putc('\n', stream);
}

void text_owners(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++)
        if (report->processes[i].alike == i)
            write_owner_process(&report->processes[i], report->process_count > 1, view, stream);
}
