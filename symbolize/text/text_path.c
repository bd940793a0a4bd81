/* text_path.c - see text_path.h. A line breaks before an arrow. */
#include "symbolize/text/text_path.h"

#include <inttypes.h>
#include <string.h>

#include "leak_store.h"
#include "common/view/text_frame.h"

#define CALL_COLUMNS 40

struct shown text_call(const struct frame *frame, const struct view *view, size_t columns)
{
    struct shown name, call;
    bool whole;

    if (!frame)
        return term_text("an unknown place", 16, 0);
    name = text_function_name(frame, view, columns > 4 ? columns - 2 : columns);
    whole = (view->verbose || view->full_names) && strchr(name.text, '('); /* with its arguments */
    call.columns = name.columns + (frame->function && !whole ? 2 : 0);
    snprintf(call.text, sizeof(call.text), "%.*s%s", TERM_TEXT_MAX - 3, name.text,
             frame->function && !whole ? "()" : "");
    return call;
}

struct line {
    FILE *stream;
    size_t indent, used; /* columns */
};

static void put(struct line *line, const char *text)
{
    struct shown shown = term_text(text, strlen(text), 0);

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

/* What an arrow points to, and where in it the next word is. */
static void put_step(struct line *line, const struct path *path, size_t i, const struct view *view)
{
    const struct path_step *step = &path->steps[i];
    bool last = i + 1 == path->count || (path->skipped && i + 1 == path->skipped_at);
    char text[256], next[32] = "", into[32] = "";

    if (!last && path->steps[i + 1].offset)
        snprintf(next, sizeof(next), " +0x%" PRIx64, path->steps[i + 1].offset);
    if (step->into)
        snprintf(into, sizeof(into), "+0x%" PRIx64 " of ", step->into);
    snprintf(text, sizeof(text), "-> %s%.32s B from %.160s%s", into, term_number(step->size).text,
             text_call(step->frame, view, CALL_COLUMNS).text, next);
    put(line, text);
}

void text_path(const struct path *path, size_t indent, const struct view *view, FILE *stream)
{
    const struct root *root = path->root;
    struct line line = {.stream = stream, .indent = indent, .used = indent};
    char text[64];

    fprintf(stream, "%*s", (int)indent, "");
    put(&line, root->words);
    if (root->has_offset && root->offset &&
        (root->variable || root->class == LEAK_ROOT_CLASS_ANON)) {
        snprintf(text, sizeof(text), "+0x%" PRIx64, root->offset);
        put(&line, text);
    }
    for (size_t i = 0; i < path->count; i++) {
        if (path->skipped && i == path->skipped_at) {
            snprintf(text, sizeof(text), "-> ... %.32s ...",
                     term_count(path->skipped, "more block").text);
            put(&line, text);
        }
        put_step(&line, path, i, view);
    }
    putc('\n', stream);
}
