/* text_freed.c - where others were freed; see text_freed.h.
 *
 *     others are freed in node_free at src/tree.c:88 (95 % of 12,041)
 *     never freed on this path; others in node_free at src/tree.c:88
 *
 * A share that is an estimate is "about", and where too few frees were looked at for one it is
 * "some". Places that few blocks come to say nothing and are left to -v.
 */
#include "symbolize/text_freed.h"

#include <string.h>

#include "symbolize/estimate.h"
#include "symbolize/text_frame.h"

#define SHARE_TOLD 0.2 /* of a record's frees, at least, without -v */
#define NAME_LEAST 17  /* columns of a name; rather than fewer its place goes to a new line */

/* " (95 % of 12,041)", or nothing. */
static void share_text(const struct freed *freed, size_t i, char *text, size_t size)
{
    uint64_t error = freed->sampled ? ESTIMATE_ROUGHLY(freed->of) : 0;
    struct shown of = estimate_number(freed->of, error);
    const char *about = freed->exact ? "" : "about ";
    unsigned percent = (unsigned)(freed->place[i].share * 100 + 0.5);

    percent = percent < 1 ? 1 : percent > 99 ? 99 : percent; /* neither none nor all */
    *text = 0;
    if (freed->of <= 1)
        return;
    if (!freed->enough)
        snprintf(text, size, " (some of %.27s)", of.text);
    else if (freed->place[i].share == 1)
        snprintf(text, size, " (%s %.27s)", freed->exact ? "all" : "nearly all", of.text);
    else
        snprintf(text, size, " (%s%u %% of %.27s)", about, percent, of.text);
}

static void write_place(const char *lead, const struct freed *freed, size_t i, bool share,
                        const struct view *view, FILE *stream)
{
    const struct frame *frame = freed->place[i].frame;
    struct shown place = text_place(frame, view), name = text_function(frame, view, 0);
    const char *at = !place.columns ? "" : frame->file ? " at " : " ";
    char rest[64] = "";
    size_t taken = TEXT_INDENT + strlen(lead), behind;

    if (share)
        share_text(freed, i, rest, sizeof(rest));
    behind = strlen(at) + place.columns + strlen(rest);
    if (taken + name.columns + behind > TEXT_COLUMNS && !view->verbose) {
        bool fits = taken + NAME_LEAST + behind <= TEXT_COLUMNS;

        name = text_function(frame, view, TEXT_COLUMNS - taken - (fits ? behind : 0));
        if (!fits && place.columns)
            at = frame->file ? "\n       at " : "\n       ";
    }
    fprintf(stream, "%*s%s%s%s%s%s\n", TEXT_INDENT, "", lead, name.text, at, place.text, rest);
}

void text_freed(const struct record *record, const struct view *view, FILE *stream)
{
    const struct freed *freed = &record->freed;
    const char *lead = freed->other_path ? "never freed on this path; others in "
                       : freed->of == 1  ? "another one is freed in "
                                         : "others are freed in ";

    if (!freed->places || (freed->place[0].share < SHARE_TOLD && !view->verbose))
        return;
    write_place(lead, freed, 0, !freed->other_path || view->verbose, view, stream);
    for (size_t i = 1; i < freed->places && view->verbose; i++)
        write_place("and in ", freed, i, true, view, stream);
}
