/* record_filter.c - see record_filter.h. */
#include "symbolize/view/record_filter.h"

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

const struct record *listed_next(struct listing *listing)
{
    const struct view *view = listing->view;

    if (view->quiet || (view->top && listing->given == view->top) ||
        report_passes(listing->process, view))
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
