/* text_when_lost.c - writes where the last pointer to a block was lost; described in text.h. It
 * looks like this:
 *
 *     lost in replace_item at src/item.c:64, which overwrote the last pointer:
 *       +56 in a block of 96 bytes from item_new()
 *       called by update_items at src/list.c:30
 *       it frees other blocks at lines 56, 58 and 60
 *     lost in replace_item between src/item.c:60 and 71; the last pointer was:
 *       g_cache (cache.c:12)
 *     lost when make() returned, after src/item.c:12; the last pointer was:
 *       p, a stack slot of make() (T1)
 *     then held only on a stack, until a point in main at main.c:30
 *     2 of 3 blocks that were followed were lost there, 1 elsewhere
 *     lost between the leak checks at 12.0 s and 13.0 s
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <string.h>

#define NAME_COLUMNS 44

static size_t name_columns(const struct view *view)
{
    return view->verbose || view->full_names ? 0 : NAME_COLUMNS;
}

static void write_name(const struct frame *frame, const struct view *view, FILE *stream)
{
    fputs(text_function_name(frame, view, name_columns(view)).text, stream);
}

/* Writes " at src/item.c:64", " in libz.so.1" if the line is unknown, or nothing. */
static void write_at(const struct frame *frame, const struct view *view, FILE *stream)
{
    struct term_text place = text_place(frame, view);

    fprintf(stream, "%s%s", text_place_lead(frame, &place), place.text);
}

/* Writes ", reached from line 456": the line from which the program jumped to the instruction; with
 * its file if it is in another function, which was inlined. */
static void write_jump(const struct lost_place *place, const struct view *view, FILE *stream)
{
    const struct frame *from = place->jumped_from;

    if (!from || !from->line)
        return;
    if (from->name_hash == place->from->name_hash && from->file && place->from->file &&
        strcmp(from->file, place->from->file) == 0)
        fprintf(stream, ", reached from line %" PRIu32, from->line);
    else
        fprintf(stream, ", reached from %s", text_place(from, view).text);
}

/* Writes " at src/item.c:64"; if the two lines differ, " between src/item.c:60 and 71". */
static void write_lines(const struct lost_place *place, const struct view *view, FILE *stream)
{
    const struct frame *from = place->from, *to = place->to;

    if (place->at.count || !from->line || !to->line || from->line == to->line)
        write_at(from, view, stream);
    else if (from->line < to->line)
        fprintf(stream, " between %s and %" PRIu32, text_place(from, view).text, to->line);
    else
        fprintf(stream, " after %s and before %" PRIu32, text_place(from, view).text, to->line);
}

static void write_where(const struct lost_place *place, const char *lead, const struct view *view,
                        FILE *stream)
{
    fprintf(stream, "%*s%s", TEXT_INDENT, "", lead);
    if (!place->from) {
        fputs(" at an unknown place", stream);
    } else if (place->returned) {
        fputs(" when ", stream);
        write_name(place->from, view, stream);
        fputs(" returned", stream);
        if (place->from->file)
            fprintf(stream, ", after %s", text_place(place->from, view).text);
        else
            write_at(place->from, view, stream);
    } else {
        fputs(" in ", stream);
        write_name(place->from, view, stream);
        write_lines(place, view, stream);
        write_jump(place, view, stream);
    }
}

#define FROM (sizeof(" from ") - 1)

static void write_holder(const struct lost_place *place, const struct view *view, FILE *stream)
{
    const char *lead = place->holder_freed ? ", which freed the block with the last pointer"
                       : place->at.count   ? ", which overwrote the last pointer"
                                           : "; the last pointer was";

    size_t room = view->verbose ? 0 : TEXT_COLUMNS - TEXT_INDENT - 2;

    if (!place->holder) {
        fputs(place->at.count ? ", where a register held the last pointer\n"
                              : "; no pointer to it was stored\n",
              stream);
        return;
    }
    struct term_text holder = term_text(place->holder, strlen(place->holder), room);
    fprintf(stream, "%s:\n%*s%s", lead, TEXT_INDENT + 2, "", holder.text);
    if (place->holder_maker) {
        room = room > holder.columns + FROM ? room - holder.columns - FROM : 0;
        fprintf(stream, " from %s", text_call(place->holder_maker, view, room).text);
    }
    putc('\n', stream);
}

/* Writes the caller of the function that lost the pointer, because this function may overwrite or
 * free for many callers. */
static void write_caller(const struct lost_place *place, const struct view *view, FILE *stream)
{
    const struct stack *stack = place->at.count ? &place->at : &place->after;
    const struct frame *caller = NULL;

    for (size_t i = 0; i < stack->count && !caller && place->from; i++)
        if (stack->frames[i] == place->to)
            caller = text_find_caller(stack->frames, stack->count, i);
    if (!caller || place->returned)
        return;
    fprintf(stream, "%*s%s\n", TEXT_INDENT + 2, "",
            text_called_by(caller, name_columns(view), view).text);
}

#define FREES_SHOWN 4 /* lines; of more only the first and the last are shown */

/* Writes "it frees other blocks at lines 56, 58 and 60": what a destructor forgets belongs there. */
static void write_other_frees(const struct lost_place *place, const struct view *view, FILE *stream)
{
    const struct stack *frees = &place->frees;
    size_t count = frees->count, step = count > FREES_SHOWN ? count - 1 : 1;

    if (!count || !text_place(place->from, view).columns)
        return;
    fprintf(stream, "%*s", TEXT_INDENT + 2, "");
    if (frees->frames[0]->name_hash == place->from->name_hash)
        fputs("it", stream);
    else
        write_name(frees->frames[0], view, stream);
    fprintf(stream, " frees other blocks at line%s %" PRIu32, count > 1 ? "s" : "",
            frees->frames[0]->line);
    for (size_t i = step; i < count; i += step)
        fprintf(stream, "%s%" PRIu32,
                step > 1         ? " to "
                : i + 1 == count ? " and "
                                 : ", ",
                frees->frames[i]->line);
    putc('\n', stream);
}

/* Writes the two lines of the function that called both what allocated the block and what lost
 * it. */
static void write_shared_caller(const struct when_lost *when, const struct view *view, FILE *stream)
{
    if (!when->loses || !text_place(when->loses, view).columns)
        return;
    fprintf(stream, "%*sboth called by ", TEXT_INDENT, "");
    write_name(when->loses, view, stream);
    fprintf(stream, ": what allocated it at line %" PRIu32 ", what lost it at %s\n",
            when->allocates->line, text_place(when->loses, view).text);
}

/* number of callers that are shown for the last use, which is often in a helper like memcpy */
#define CALLERS_OF_USE 2

/* Writes "below clear_items at src/list.c:30" if that function, a caller further out than those that
 * were shown, lost the pointer, too: its line is the one after which it did not need the block. */
static void write_losing_caller(const struct frame *shown, const struct stack *stack,
                                const struct frame *loser, const struct view *view, FILE *stream)
{
    bool further_out = false;

    for (size_t i = 0; i < stack->count; i++) {
        if (stack->frames[i]->name_hash == loser->name_hash) {
            if (!further_out || !text_place(stack->frames[i], view).columns ||
                stack->frames[i]->line == loser->line)
                return;
            fprintf(stream, ",\n%*sbelow ", TEXT_INDENT + 2, "");
            write_name(stack->frames[i], view, stream);
            write_at(stack->frames[i], view, stream);
            return;
        }
        further_out |= stack->frames[i] == shown;
    }
}

/* Writes " at src/item.c:64, called by …", each caller in a line of its own. loser: the function that
 * lost the pointer, or NULL. */
static void write_frame_and_callers(const struct frame *frame, const struct stack *stack,
                                    const struct frame *loser, const struct view *view,
                                    FILE *stream)
{
    const struct frame *shown = frame;

    write_at(frame, view, stream);
    for (size_t i = 0, calls = 0; i < stack->count && calls < CALLERS_OF_USE; i++) {
        if (stack->frames[i] != frame)
            continue;
        frame = text_find_caller(stack->frames, stack->count, i);
        if (!frame)
            break;
        fprintf(stream, ",\n%*s%s", TEXT_INDENT + 2, "",
                text_called_by(frame, name_columns(view), view).text);
        shown = frame;
        calls++;
    }
    if (loser)
        write_losing_caller(shown, stack, loser, view, stream);
    putc('\n', stream);
}

static void write_use(const struct when_lost *when, const struct view *view, FILE *stream)
{
    const struct frame *frame = when->user;

    if (!frame)
        return;
    if (when->used_bytes)
        fprintf(stream, "%*sits first %" PRIu64 " bytes were last used in ", TEXT_INDENT, "",
                when->used_bytes);
    else
        fprintf(stream, "%*slast used in ", TEXT_INDENT, "");
    write_name(frame, view, stream);
    write_frame_and_callers(frame, &when->used, when->place.from, view, stream);
}

/* Writes "ended at src/item.c:64". */
static void write_end(const struct way *way, const struct view *view, FILE *stream)
{
    const char *verb = way->thrown     ? "was left by a jump or exception"
                       : way->returned ? "returned it"
                                       : "ended";

    fputs(verb, stream);
    write_at(way->end, view, stream);
    if (way->jumped_from)
        fprintf(stream, ", reached from line %" PRIu32, way->jumped_from->line);
}

/* Writes, for each function that had the block before it was lost, where it ended. */
static void write_ways(const struct when_lost *when, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < when->way_count; i++) {
        fprintf(stream, "%*s", TEXT_INDENT, "");
        write_name(when->ways[i].function, view, stream);
        fputs(when->ways[i].function->inlined ? " (inlined) " : " ", stream);
        write_end(&when->ways[i], view, stream);
        putc('\n', stream);
    }
}

static void write_passed(const struct when_lost *when, const struct view *view, FILE *stream)
{
    const struct way *way = &when->passed;

    if (!way->function)
        return;
    fprintf(stream, "%*s%s last passed to ", TEXT_INDENT, "",
            way->variable ? "its variable was" : "it was");
    write_name(way->function, view, stream);
    if (way->end && text_place(way->end, view).columns) {
        fputs(", which ", stream);
        write_end(way, view, stream);
    }
    const struct frame *caller = text_find_caller(way->stack.frames, way->stack.count, 0);
    if (caller)
        fprintf(stream, ",\n%*s%s", TEXT_INDENT + 2, "",
                text_called_by(caller, name_columns(view), view).text);
    putc('\n', stream);
}

#define COUNTINGS_MOST 6 /* places that change a reference count and are shown without -v */

static void write_counting(const struct counter *counter, const struct counting *counting,
                           const struct view *view, FILE *stream)
{
    fprintf(stream, "%*s", TEXT_INDENT + 2, "");
    if (!counting->by)
        fprintf(stream, "set to %" PRId32, counter->first);
    else
        fputs(counting->by > 0 ? "up" : "down", stream);
    if (counting->times > 1)
        fprintf(stream, " %" PRIu64 " times", counting->times);
    if (!counting->user) {
        fputs(" at an unknown place\n", stream);
        return;
    }
    fputs(" in ", stream);
    write_name(counting->user, view, stream);
    write_frame_and_callers(counting->user, &counting->stack, NULL, view, stream);
}

/* Writes the places that counted references to the block up and down. The reader has to find the
 * place that counts up without a counterpart. */
static void write_counter(const struct counter *counter, const struct view *view, FILE *stream)
{
    size_t most = view->verbose ? counter->counting_count : COUNTINGS_MOST;

    if (!counter->counting_count)
        return;
    fprintf(stream, "%*sits word +%" PRIu64 " counts references, %" PRId32 " at the end:\n",
            TEXT_INDENT, "", counter->offset, counter->value);
    for (size_t i = 0; i < counter->counting_count && i < most; i++)
        write_counting(counter, &counter->countings[i], view, stream);
    if (counter->counting_count > most)
        fprintf(stream, "%*s%zu more places (-v shows them)\n", TEXT_INDENT + 2, "",
                counter->counting_count - most);
}

static void write_agreement(const struct when_lost *when, FILE *stream)
{
    if (when->followed < 2)
        return;
    fprintf(stream, "%*s%" PRIu32 " of %" PRIu32 " blocks that were followed were lost there",
            TEXT_INDENT, "", when->agreed, when->followed);
    if (when->lost > when->agreed)
        fprintf(stream, ", %" PRIu32 " elsewhere", when->lost - when->agreed);
    if (when->freed)
        fprintf(stream, ", %" PRIu32 " were freed", when->freed);
    putc('\n', stream);
}

static const char *since_start(const struct process *process, uint64_t time_ns,
                               char text[TIME_TEXT_SIZE])
{
    time_format_span(time_ns > process->started_ns ? time_ns - process->started_ns : 0, text);
    return text;
}

/* Writes "between the leak checks at 12.0 s and 13.0 s". */
static void write_checks(const struct process *process, const struct check_span *span, FILE *stream)
{
    char after[TIME_TEXT_SIZE], by[TIME_TEXT_SIZE];

    since_start(process, span->by_ns, by);
    if (span->after_ns)
        fprintf(stream, "between the leak checks at %s and %s",
                since_start(process, span->after_ns, after), by);
    else
        fprintf(stream, "before the first leak check at %s", by);
}

void text_lost_between_words(const struct process *process, const struct record *record,
                             const char *between, FILE *stream)
{
    const struct check_span *first = &record->first_lost, *last = &record->last_lost;

    fputs("lost ", stream);
    write_checks(process, first, stream);
    if (last->by_ns > first->by_ns) {
        fprintf(stream, "%sthe last of them ", between);
        write_checks(process, last, stream);
    }
}

void text_lost_between(const struct process *process, const struct record *record, FILE *stream)
{
    if (!record->first_lost.by_ns)
        return;
    fprintf(stream, "%*s", TEXT_INDENT, "");
    text_lost_between_words(process, record, ",\n       ", stream);
    putc('\n', stream);
}

/* Writes why no place is known where a block was lost. */
static void write_not_lost(const struct when_lost *when, FILE *stream)
{
    fprintf(stream, "%*s", TEXT_INDENT, "");
    if (when->below)
        fprintf(stream,
                "the followed blocks were lost with blocks that held them (%" PRIu32 " of %s)\n",
                when->below, term_count(when->followed, "block").text);
    else
        fprintf(stream, "not lost in the second run: %s followed, %" PRIu32 " freed\n",
                term_count(when->followed, "block").text, when->freed);
}

void text_when_lost(const struct record *record, const struct view *view, FILE *stream)
{
    const struct when_lost *when = record->when_lost;

    if (!when)
        return;
    if (!when->lost) {
        write_not_lost(when, stream);
        return;
    }
    write_where(&when->place, "lost", view, stream);
    write_holder(&when->place, view, stream);
    write_caller(&when->place, view, stream);
    write_other_frees(&when->place, view, stream);
    if (when->place.at.count && when->place.from)
        text_source_line(when->place.from, TEXT_INDENT, view, stream);
    if (when->then.known && when->then.from) {
        write_where(&when->then, "then held only on a stack, until a point", view, stream);
        putc('\n', stream);
    }
    write_shared_caller(when, view, stream);
    write_ways(when, view, stream);
    write_passed(when, view, stream);
    write_use(when, view, stream);
    write_counter(&when->counter, view, stream);
    write_agreement(when, stream);
}
