/* format_api.c - what a view asks for, as formats for machines understand it; see format_api.h. */
#include "common/view/format_api.h"

bool report_passes(const struct process *process, const struct view *view)
{
    return process->forked && process->how == END_EXEC && !view->verbose;
}

bool report_lists(const struct record *record, const struct view *view)
{
    if (view->growing && !record_is_growing(record))
        return false;
    return (view->growing || view->show[record->verdict]) &&
           (!record->suppressed_by || view->suppressed);
}

size_t report_end(const struct process *process, const struct view *view)
{
    size_t listed = 0, i = 0;

    if (view->quiet)
        return 0;
    for (; i < process->record_count && (!view->top || listed < view->top); i++)
        listed += report_lists(&process->records[i], view);
    return i;
}

const char *report_path(const struct view *view, const char *file, char *buffer, size_t size)
{
    return source_near(view->relative, source_path(&view->source, file, buffer, size));
}
