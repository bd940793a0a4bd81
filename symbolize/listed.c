/* listed.c - see listed.h. */
#include "symbolize/listed.h"

static bool is_wanted(const struct record *record, const struct view *view)
{
    if (record->suppressed_by && !view->suppressed)
        return false;
    return view->show[record->verdict] ||
           (record->verdict == VERDICT_INDIRECT && view->show[VERDICT_LOST]);
}

const struct record *listed_next(struct listing *listing)
{
    const struct view *view = listing->view;

    if (view->quiet || (view->top && listing->given == view->top))
        return NULL;
    while (listing->at < listing->process->record_count) {
        const struct record *record = &listing->process->records[listing->at++];

        if (is_wanted(record, view)) {
            listing->given++;
            return record;
        }
    }
    return NULL;
}
