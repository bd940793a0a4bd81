/* format_api.c - which processes and records a report lists, by the options in a struct view. */
#include "common/view/format_api.h"

bool report_omits_process(const struct process *process, const struct view *view)
{
    return process_only_called_exec(process) && !view->verbose &&
           (process->forked || (process->replaced && !view->chosen));
}

bool report_lists_record(const struct record *record, const struct view *view)
{
    if (view->growing && !record_is_growing(record))
        return false;
    return (view->growing || view->show[record->verdict]) &&
           (!record->suppressed_by || view->suppressed);
}

size_t report_listed_end(const struct process *process, const struct view *view)
{
    size_t listed = 0, i = 0;

    if (view->quiet)
        return 0;
    for (; i < process->record_count && (!view->top || listed < view->top); i++)
        listed += report_lists_record(&process->records[i], view);
    return i;
}

const char *report_display_path(const struct view *view, const char *file, char *buffer,
                                size_t size)
{
    return source_relative_path(view->relative, source_map_path(&view->source, file, buffer, size));
}

static bool is_wanted(const struct listing *listing, const struct record *record)
{
    const struct view *view = listing->view;

    if (record->suppressed_by && !view->suppressed && !listing->suppressed)
        return false;
    if (view->show[record->verdict])
        return true;
    return record->verdict == VERDICT_INDIRECT && view->show[VERDICT_LOST] &&
           !(listing->owners && record->owner);
}

const struct record *listing_next(struct listing *listing)
{
    const struct view *view = listing->view;

    if (view->quiet || (view->top && listing->given == view->top) ||
        report_omits_process(listing->process, view))
        return NULL;
    while (listing->at < listing->process->record_count) {
        const struct record *record = &listing->process->records[listing->at++];

        if (is_wanted(listing, record)) {
            listing->given++;
            return record;
        }
    }
    return NULL;
}
