/* text_freed.c - where others were freed; see text_freed.h.
 *
 *     others are freed in node_free at src/tree.c:88 (95 % of 12,041)
 *     never freed on this path; others are, in node_free at src/tree.c:88
 *     others are freed in ~cache at src/cache.cc:12 (all 500), only at exit
 *
 *     what is allocated beside it is freed in node_free at src/tree.c:88
 *     its holder, from node_new(), was freed in node_free at src/tree.c:90
 *
 * A share that is an estimate is "about", and where too few frees were looked at for one it is
 * "some". Places that few blocks come to say nothing and are left to -v.
 */
#include "symbolize/text/text_freed.h"

#include <string.h>

#include "symbolize/records/sampling_error.h"
#include "common/view/text_frame.h"

#define SHARE_TOLD 0.2 /* of a record's frees, at least, without -v */
#define HOLDER_COLUMNS 24
#define NAME_LEAST 17 /* columns of a name, whatever that makes of the line */
#define NEXT_LINE "\n       "

/* " (95 % of 12,041)", or nothing. */
static void share_text(const struct freed *freed, size_t i, char *text, size_t size)
{
    uint64_t error = freed->sampled ? ESTIMATE_ROUGH_ERROR(freed->of) : 0;
    struct shown of = estimate_number(freed->of, error);
    const char *about = freed->exact ? "" : "about ";
    unsigned percent = (unsigned)(freed->place[i].share * 100 + 0.5);

    percent = percent < 1 ? 1 : percent > 99 ? 99 : percent; /* neither none nor all */
    *text = 0;
    if (freed->of <= 1)
        return;
    if (!freed->enough)
        snprintf(text, size, " (some of %.27s freed)", of.text);
    else if (freed->place[i].share == 1)
        snprintf(text, size, " (%s %.27s)", freed->exact ? "all" : "nearly all", of.text);
    else
        snprintf(text, size, " (%s%u %% of %.27s)", about, percent, of.text);
}

/* rest: what stands behind the place. What does not fit goes to a line of its own: the place, or
 * the name as well, since half a name names nobody. */
static void write_place(const char *lead, const struct frame *frame, const char *rest,
                        const struct view *view, FILE *stream)
{
    struct shown place = text_place(frame, view), name = text_function_name(frame, view, 0);
    const char *at = !place.columns ? "" : frame->file ? " at " : " ";
    size_t taken = TEXT_INDENT + strlen(lead), behind;
    const char *before = "";

    behind = strlen(at) + place.columns + strlen(rest);
    if (taken + name.columns > TEXT_COLUMNS && !view->verbose) {
        size_t room = TEXT_COLUMNS - strlen(NEXT_LINE) + 1;

        before = NEXT_LINE;
        name = text_function_name(frame, view, room > NAME_LEAST + behind ? room - behind : NAME_LEAST);
    } else if (taken + name.columns + behind > TEXT_COLUMNS && !view->verbose) {
        at = frame->file ? NEXT_LINE "at " : NEXT_LINE;
    }
    fprintf(stream, "%*s%.*s%s%s%s%s%s\n", TEXT_INDENT, "", (int)strlen(lead) - (*before != 0),
            lead, before, name.text, at, place.text, rest);
    if (view->terse <= TEXT_BRIEF)
        text_source_line(frame, TEXT_INDENT, view, stream);
}

static void write_share(const char *lead, const struct freed *freed, size_t i, bool share,
                        const struct view *view, FILE *stream)
{
    char rest[96] = "";
    size_t length;

    if (share)
        share_text(freed, i, rest, sizeof(rest));
    length = strlen(rest);
    if (i == 0 && freed->late == 1)
        snprintf(rest + length, sizeof(rest) - length, ", only at exit");
    write_place(lead, freed->place[i].frame, rest, view, stream);
}

void text_freed(const struct record *record, const struct view *view, FILE *stream)
{
    const struct freed *freed = &record->freed;
    const char *lead = freed->other_path ? "never freed on this path; others are, in "
                       : freed->of == 1  ? "another one is freed in "
                                         : "others are freed in ";

    if (!freed->places && record->beside.places)
        write_place("what is allocated beside it is freed in ", record->beside.place[0].frame, "",
                    view, stream);
    if (!freed->places || (freed->place[0].share < SHARE_TOLD && !view->verbose))
        return;
    write_share(lead, freed, 0, !freed->other_path || view->verbose, view, stream);
    for (size_t i = 1; i < freed->places && view->verbose; i++)
        write_share("and in ", freed, i, true, view, stream);
}

void text_orphaned(const struct record *record, const struct view *view, FILE *stream)
{
    const struct orphaned *orphaned = &record->orphaned;
    char lead[TERM_TEXT_MAX + 40] = "its holder was freed in ";

    if (!orphaned->blocks)
        return;
    if (orphaned->holder)
        snprintf(lead, sizeof(lead), "its holder, from %s(), was freed in ",
                 text_function_name(orphaned->holder, view, HOLDER_COLUMNS).text);
    write_place(lead, orphaned->frames[orphaned->user], "", view, stream);
}
