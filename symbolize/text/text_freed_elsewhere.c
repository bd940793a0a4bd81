/* text_freed_elsewhere.c - writes where other blocks of a record, and its owner, were freed;
 * described in text.h. It looks like this:
 *
 *     others are freed in node_free, called by process at src/main.c:68 (95 % of 12,041)
 *     never freed when allocated here; other blocks from this line are freed in
 *       node_free, called by process at src/main.c:68
 *     others are freed in node_free at src/tree.c:85 (95 % of 12,041), below process
 *     others are freed in process at src/main.c:70 (1 % of 12,041)
 *     most are freed in node_free, called by main at src/main.c:99 (99 % of 12,041)
 *     others are freed in ~cache at src/cache.cc:12 (all 500), only at exit
 *
 *     other allocations of the same function are freed in node_free at src/tree.c:88
 *       the free is in xfree, called by node_free at src/tree.c:88
 *     it was owned by a block from node_new(), which was freed in node_free at src/tree.c:90,
 *       called by tree_drop at src/tree.c:120
 *     by its name, node_free at src/tree.c:85 undoes node_new
 *     main passes the result of tree_copy to tree_cut in line 40, tree_count in line 41
 *
 * "process" is the innermost function that is in both stacks, that of the free and that of the
 * record; the line is that of its call. The line with "below" is for a function that frees the
 * owner, too. If the stacks have no function in common, the line is the one that frees. The place
 * whose stack is most like that of the record is first, then the most frequent place.
 *
 * An estimated share is written as "about". If too few frees were sampled for an estimate, the line
 * says so. Places that freed only few blocks are shown with -v.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <string.h>

#include "symbolize/records/sampling_error.h"

#define SHARE_SHOWN 0.2 /* a place with a smaller share of the frees is shown only with -v */
#define HOLDER_COLUMNS 26
#define NAME_LEAST 17   /* a name has at least so many columns, even if the line becomes too long */
#define NAME_COLUMNS 60 /* most columns of a name on a line of its own */
#define CALLER_COLUMNS 40
#define MOST_SHOWN 0.5 /* a second place with a smaller share is shown only with -v */
#define NEXT_LINE "\n       "

/* Makes the text for the share of place i: " (95 % of 12,041)"; empty if there was only one
 * free. */
static void share_text(const struct freed *freed, size_t i, char *text, size_t size)
{
    uint64_t error = freed->sampled ? ESTIMATE_ROUGH_ERROR(freed->of) : 0;
    struct term_text of = estimate_number(freed->of, error);
    const char *about = freed->exact ? "" : "about ";
    unsigned percent = (unsigned)(freed->place[i].share * 100 + 0.5);

    /* "0 %" or "100 %" would say none or all */
    percent = percent < 1 ? 1 : percent > 99 ? 99 : percent;
    *text = 0;
    if (freed->of <= 1)
        return;
    if (!freed->enough)
        snprintf(text, size, " (sampled from %.27s frees)", of.text);
    else if (freed->place[i].share == 1)
        snprintf(text, size, " (%s %.27s)", freed->exact ? "all" : "nearly all", of.text);
    else
        snprintf(text, size, " (%s%u %% of %.27s)", about, percent, of.text);
}

/* Writes a place that frees. rest: the text behind the place. If the line is too long, the place
 * moves to a line of its own, together with the function's name if that would have to be cut. */
static void write_freed_place(const char *margin, const char *lead, const struct frame *frame,
                              const char *rest, const struct view *view, FILE *stream)
{
    struct term_text place = text_place(frame, view), name = text_function_name(frame, view, 0);
    const char *at = text_place_lead(frame, &place);
    size_t taken = TEXT_INDENT + strlen(lead), behind;
    const char *before = "";

    behind = strlen(at) + place.columns + strlen(rest);
    if (taken + name.columns > TEXT_COLUMNS && !view->verbose) {
        size_t room = TEXT_COLUMNS - strlen(NEXT_LINE) + 1,
               others = name.columns + strlen(at) + strlen(rest);

        before = NEXT_LINE;
        place = text_place_within(frame, view, room > others ? room - others : 0);
        behind = strlen(at) + place.columns + strlen(rest);
        name = text_function_name(frame, view,
                                  room > NAME_LEAST + behind ? room - behind : NAME_LEAST);
    } else if (taken + name.columns + behind > TEXT_COLUMNS && !view->verbose) {
        at = frame->file ? NEXT_LINE "at " : NEXT_LINE;
    }
    fprintf(stream, "%s%.*s%s%s%s%s%s\n", margin, (int)strlen(lead) - (*before != 0), lead, before,
            name.text, at, place.text, rest);
    if (view->terse < TEXT_ONE_SOURCE)
        text_source_line(frame, TEXT_INDENT, view, stream);
}

static const char *margin_of(const struct freed_place *at)
{
    return at->close ? TEXT_MARGIN_MARKED : TEXT_MARGIN;
}

/* Writes "node_free, called by process at src/main.c:68"; if that is too long for a line, with the
 * caller in a second line. */
static void write_freed_call(const char *lead, const struct freed_place *at, const char *rest,
                             const struct view *view, FILE *stream)
{
    struct term_text below = text_function_name(at->below, view, 0),
                     caller = text_function_name(at->common, view, CALLER_COLUMNS),
                     place = text_place(at->common, view);
    const char *before = "", *join = ", called by ";
    size_t taken = TEXT_INDENT + strlen(lead);
    size_t behind = strlen(join) + caller.columns + strlen(" at ") + place.columns + strlen(rest);

    if (!view->verbose && taken + below.columns + behind > TEXT_COLUMNS) {
        if (taken + below.columns + 1 <= TEXT_COLUMNS) {
            join = "," NEXT_LINE "called by ";
        } else {
            before = NEXT_LINE;
            below = text_function_name(at->below, view, NAME_COLUMNS);
            join = strlen(NEXT_LINE) + below.columns + behind > TEXT_COLUMNS ? "," NEXT_LINE
                                                                               "called by "
                                                                             : join;
        }
    }
    fprintf(stream, "%s%.*s%s%s%s%s%s%s%s\n", margin_of(at), (int)strlen(lead) - (*before != 0),
            lead, before, below.text, join, caller.text, text_place_lead(at->common, &place),
            place.text, rest);
    if (view->terse < TEXT_ONE_SOURCE)
        text_source_line(at->common, TEXT_INDENT, view, stream);
}

const struct frame *text_find_caller(const struct frame *const *frames, size_t count, size_t at)
{
    for (size_t i = at + 1; i < count; i++)
        if (frames[i]->role == FRAME_USER && frames[i]->function &&
            frames[i]->name_hash != frames[at]->name_hash)
            return strcmp(frames[i]->function, "main") == 0 ? NULL : frames[i];
    return NULL;
}

/* Finds the caller of the freeing function, in the most frequent stack of the first place. */
static const struct frame *find_freeing_caller(const struct freed *freed)
{
    size_t i = 0;

    while (i < freed->frame_count && freed->frames[i] != freed->place[0].frame)
        i++;
    return text_find_caller(freed->frames, freed->frame_count, i);
}

/* Writes place i: the function in common, or, if that is too far out, the caller of the function
 * that frees. */
static void write_freed_at(const char *lead, const struct freed *freed, size_t i, const char *rest,
                           const struct view *view, FILE *stream)
{
    const struct freed_place *at = &freed->place[i];
    struct freed_place freeing = {.below = at->frame};

    if (!at->common && at->inner && !i)
        freeing.common = find_freeing_caller(freed);
    if (at->common && at->below)
        write_freed_call(lead, at, rest, view, stream);
    else if (freeing.common)
        write_freed_call(lead, &freeing, rest, view, stream);
    else
        write_freed_place(margin_of(at), lead, at->common ? at->common : at->frame, rest, view,
                          stream);
}

/* Writes the function that frees, at its line, and the function in common below which it is called:
 * "node_free at src/node.c:85, below process". */
static void write_freed_below(const char *lead, const struct freed_place *at, const char *share,
                              const struct view *view, FILE *stream)
{
    char rest[TERM_TEXT_MAX + 128];

    snprintf(rest, sizeof(rest), "%s, below %s", share,
             text_function_name(at->common, view, CALLER_COLUMNS).text);
    write_freed_place(margin_of(at), lead, at->frame, rest, view, stream);
}

static void write_share(const char *lead, const struct freed *freed, size_t i, bool share,
                        bool innermost, const struct view *view, FILE *stream)
{
    char rest[96] = "";
    size_t length;

    if (share)
        share_text(freed, i, rest, sizeof(rest));
    length = strlen(rest);
    if (i == 0 && freed->late == 1)
        snprintf(rest + length, sizeof(rest) - length, ", only at exit");
    if (innermost)
        write_freed_below(lead, &freed->place[i], rest, view, stream);
    else
        write_freed_at(lead, freed, i, rest, view, stream);
}

/* Says whether the place is shown without -v. A place with a small share is shown if its stack has
 * a function in common with that of the record. */
static bool is_worth_a_line(const struct freed_place *at)
{
    return at->share >= SHARE_SHOWN || at->common;
}

/* Writes the line from which the freeing function is called, because there may be functions that
 * free for many callers between this function and the one in common. */
static void write_freeing_call(const struct freed *freed, const struct view *view, FILE *stream)
{
    const struct freed_place *at = &freed->place[0];
    struct freed_place innermost = {.below = at->frame};

    if (!at->common || !at->below || at->below->name_hash == at->frame->name_hash ||
        view->terse >= TEXT_TIGHT)
        return;
    innermost.common = find_freeing_caller(freed);
    if (innermost.common)
        write_freed_call("  the free is in ", &innermost, "", view, stream);
}

/* Says whether the function that frees the blocks freed the owner, too. */
static bool is_owners_free(const struct record *record, const struct freed *freed)
{
    const struct orphaned *orphaned = &record->orphaned;

    return orphaned->blocks &&
           orphaned->frames[orphaned->user]->name_hash == freed->place[0].frame->name_hash;
}

/* Says whether to name the function that frees the blocks in place of the one in between that the
 * function in common calls: it freed the owner, too, so most likely it forgot the block. */
static bool is_innermost_told(const struct record *record, const struct freed *freed)
{
    const struct freed_place *at = &freed->place[0];

    return is_owners_free(record, freed) && at->common && at->below && at->frame->file &&
           at->below->name_hash != at->frame->name_hash;
}

/* Writes where other allocations of the same function are freed: the function that frees, if it has
 * a name, and its caller. No block of the record was freed, so rather that function forgets them
 * than one further out. */
static void write_beside(const struct freed *beside, const struct view *view, FILE *stream)
{
    const char lead[] = "other allocations of the same function are freed in ";
    const struct freed_place *at = &beside->place[0];
    struct freed_place freeing = {.below = at->frame, .common = find_freeing_caller(beside)};

    if (at->common && at->below && at->frame->function && freeing.common)
        write_freed_call(lead, &freeing, "", view, stream);
    else
        write_freed_at(lead, beside, 0, "", view, stream);
}

void text_freed_elsewhere(const struct record *record, const struct view *view, FILE *stream)
{
    const struct freed *freed = &record->freed;
    const char *lead =
        freed->other_path
            ? "never freed when allocated here; other blocks from this line are freed in "
        : freed->of == 1 ? "another block is freed in "
                         : "others are freed in ";

    if (!freed->places && record->beside.places)
        write_beside(&record->beside, view, stream);
    if (!freed->places || (!is_worth_a_line(&freed->place[0]) && !view->verbose))
        return;
    write_share(lead, freed, 0, !freed->other_path || view->verbose,
                is_innermost_told(record, freed), view, stream);
    if (!is_owners_free(record, freed)) /* else the line about the owner names the function
                                         * already */
        write_freeing_call(freed, view, stream);
    for (size_t i = 1; i < freed->places && view->verbose; i++)
        write_share("and in ", freed, i, true, false, view, stream);
    if (!view->verbose && freed->most && freed->place[freed->most].share >= MOST_SHOWN)
        write_share("most are freed in ", freed, freed->most, true, false, view, stream);
}

struct term_text text_called_by(const struct frame *caller, size_t columns, const struct view *view)
{
    struct term_text text = {.columns = 0}, place = text_place(caller, view);

    text.columns = (size_t)snprintf(text.text, sizeof(text.text), "called by %.1000s%s%.1000s",
                                    text_function_name(caller, view, columns).text,
                                    text_place_lead(caller, &place), place.text);
    return text;
}

/* Says whether the text behind a place fits on the line that write_freed_place() will write. */
static bool has_room(const char *lead, const struct frame *frame, size_t rest,
                     const struct view *view)
{
    size_t name = text_function_name(frame, view, 0).columns,
           place = text_place(frame, view).columns;
    bool with_name = TEXT_INDENT + strlen(lead) + name > TEXT_COLUMNS;

    return view->verbose || !rest ||
           strlen(NEXT_LINE) - 1 + (with_name ? name + strlen(" at ") : strlen("at ")) + place +
                   rest <=
               TEXT_COLUMNS;
}

/* Writes where an owner was freed. lead: the text before the place, which ends with "freed in ". */
static void write_owner(const char *lead, const struct orphaned *orphaned, const struct view *view,
                        FILE *stream)
{
    const struct frame *caller;
    struct term_text called;
    struct view brief = *view;
    char rest[TERM_TEXT_MAX + 2] = "";

    caller = text_find_caller(orphaned->frames, orphaned->frame_count, orphaned->user);
    if (caller) {
        called = text_called_by(caller, CALLER_COLUMNS, view);
        snprintf(rest, sizeof(rest), ", %s", called.text);
    }
    if (!caller || has_room(lead, orphaned->frames[orphaned->user], called.columns + 2, view)) {
        write_freed_place(TEXT_MARGIN, lead, orphaned->frames[orphaned->user], rest, view, stream);
        return;
    }
    /* without a source line, because the text continues behind the place */
    if (brief.terse < TEXT_ONE_SOURCE)
        brief.terse = TEXT_ONE_SOURCE;
    write_freed_place(TEXT_MARGIN, lead, orphaned->frames[orphaned->user], ",", &brief, stream);
    fprintf(stream, "%s%s\n", &NEXT_LINE[1], called.text);
}

/* Writes a line about the earlier owner of the record's blocks: where it was freed. */
static void write_earlier_owner(const struct orphaned *earlier, const struct view *view,
                                FILE *stream)
{
    char lead[] = "before, by a block that was freed in ";

    if (earlier->blocks)
        write_freed_place(TEXT_MARGIN, lead, earlier->frames[earlier->user], "", view, stream);
}

void text_freed_owner(const struct record *record, const struct view *view, FILE *stream)
{
    const struct orphaned *orphaned = &record->orphaned;
    char lead[TERM_TEXT_MAX + 64] = "it was owned by a block that was freed in ";

    if (!orphaned->blocks)
        return;
    if (orphaned->holder)
        snprintf(lead, sizeof(lead), "it was owned by a block from %s, which was freed in ",
                 text_call(orphaned->holder, view, HOLDER_COLUMNS).text);
    write_owner(lead, orphaned, view, stream);
    write_earlier_owner(&record->earlier, view, stream);
}

void text_freed_brief(const struct record *record, const struct view *view, FILE *stream)
{
    const struct orphaned *orphaned = &record->orphaned;
    const struct freed *freed = &record->freed;
    struct view brief = *view;

    brief.terse = TEXT_TABLE;
    if (orphaned->blocks)
        write_freed_place(TEXT_MARGIN, "its owner was freed in ", orphaned->frames[orphaned->user],
                          "", &brief, stream);
    else if (freed->places && freed->place[0].close)
        write_share("others are freed in ", freed, 0, false, false, &brief, stream);
}

void text_counterparts(const struct record *record, const struct view *view, FILE *stream)
{
    struct view brief = *view; /* without source lines, which say no more than the names */
    size_t shown = view->terse < TEXT_BRIEF
                       ? record->counterpart_count
                       : view->terse < TEXT_TERSEST && record->counterpart_count;

    if (brief.terse < TEXT_ONE_SOURCE)
        brief.terse = TEXT_ONE_SOURCE;
    for (size_t i = 0; i < shown; i++) {
        const struct counterpart *counterpart = &record->counterparts[i];
        char rest[TERM_TEXT_MAX + 16];

        snprintf(rest, sizeof(rest), " undoes %s",
                 text_function_name(counterpart->of, view, CALLER_COLUMNS).text);
        write_freed_place(TEXT_MARGIN, "by its name, ", counterpart->frame, rest, &brief, stream);
    }
}

/* Appends a word to a line; begins another line if it does not fit. */
static void write_word(const char *word, size_t columns, size_t *used, const struct view *view,
                       FILE *stream)
{
    if (*used + 1 + columns > text_columns(view)) {
        *used = strlen(NEXT_LINE) - 2;
        fputs("\n      ", stream);
    }
    fprintf(stream, " %s", word);
    *used += 1 + columns;
}

void text_handovers(const struct record *record, const struct view *view, FILE *stream)
{
    const struct handover *first = record->handovers;
    struct term_text name;
    size_t used;

    if (!record->handover_count || view->no_handover || view->terse >= TEXT_TERSEST)
        return;
    name = text_function_name(first->in, view, CALLER_COLUMNS);
    used = TEXT_INDENT + name.columns + strlen(" passes the result of");
    fprintf(stream, "%s%s passes the result of", TEXT_MARGIN, name.text);
    name = text_function_name(first->of, view, CALLER_COLUMNS);
    write_word(name.text, name.columns, &used, view, stream);
    write_word("to", strlen("to"), &used, view, stream);
    for (size_t i = 0; i < record->handover_count; i++) {
        char call[TERM_TEXT_MAX + 32];
        int length;

        name = text_function_name(first[i].frame, view, CALLER_COLUMNS);
        length = snprintf(call, sizeof(call), "%s in line %" PRIu32 "%s", name.text,
                          first[i].frame->line, i + 1 < record->handover_count ? "," : "");
        write_word(call, (size_t)length - strlen(name.text) + name.columns, &used, view, stream);
    }
    putc('\n', stream);
}

void text_released_elsewhere(const struct resource *resource, const struct view *view, FILE *stream)
{
    char lead[TERM_TEXT_MAX + 64] = "others are closed in ";

    if (resource->released_of)
        snprintf(lead, sizeof(lead), "others that %s opens are closed in ",
                 text_call(resource->released_of, view, HOLDER_COLUMNS).text);
    write_freed_place(TEXT_MARGIN, lead, resource->released_at, "", view, stream);
}
