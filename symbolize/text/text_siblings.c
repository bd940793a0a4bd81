/* text_siblings.c - lists the blocks of one stack that have several verdicts as one item; described
 * in text.h. It looks like this:
 *
 *     38 blocks lost, 2 possibly lost (64 bytes)
 *     only interior pointers: ...
 */
#include "symbolize/text/text.h"

#include <inttypes.h>

/* Says whether a record with this verdict may be listed within a record of the same stack that is
 * certainly lost. */
static bool may_join(enum verdict verdict)
{
    return verdict == VERDICT_POSSIBLE || verdict == VERDICT_HIDDEN || verdict == VERDICT_UNFREED;
}

static bool is_sibling(const struct record *one, const struct record *other)
{
    return one->signature == other->signature && one->kind == other->kind &&
           one->verdict != other->verdict && other->verdict != VERDICT_INDIRECT;
}

/* Says whether the record is the only part of its entry. */
static bool is_alone(const struct process *process, const struct record *record)
{
    size_t number = (size_t)(record - process->records);

    for (size_t i = 0; i < process->entry_count; i++)
        if (process->entries[i].parts[0] == number)
            return process->entries[i].count == 1;
    return false;
}

/* Compares with earlier records only, because records are sorted by verdict, the worst first. */
bool text_joins_sibling(const struct process *process, const struct record *record,
                        const struct view *view)
{
    if (view->apart || !may_join(record->verdict))
        return false;
    for (const struct record *it = process->records; it < record && it->verdict != record->verdict;
         it++)
        if (is_sibling(record, it) && text_list_has(process, it, view))
            return is_alone(process, record);
    return false;
}

static void write_sibling(const struct process *process, const struct record *record,
                          const struct record *sibling, const struct view *view, FILE *stream)
{
    fprintf(stream, "%*s%s %s, %s %s (%s)\n", TEXT_INDENT, "",
            term_count(record->blocks, "block").text, verdict_words[record->verdict],
            term_number(sibling->blocks).text, verdict_words[sibling->verdict],
            term_size(sibling->bytes).text);
    text_verdict(process, sibling, view, stream);
}

/* Says whether the process has records that may be listed within others. This saves a search: a
 * report of 100,000 lost records is written several times until it fits a screen. */
static bool has_doubtful(const struct process *process, const struct view *view)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        if (may_join((enum verdict)v) && process->totals.of[v].records)
            return true;
    return view->suppressed; /* the totals do not count suppressed records, which this view lists */
}

void text_siblings(const struct process *process, const struct record *record,
                   const struct view *view, FILE *stream)
{
    const struct record *end = process->records + process->record_count;

    if (view->apart || record < process->records || record >= end || !has_doubtful(process, view))
        return;
    for (const struct record *it = record + 1; it < end; it++)
        if (is_sibling(record, it) && text_list_has(process, it, view) &&
            text_joins_sibling(process, it, view))
            write_sibling(process, record, it, view, stream);
}
