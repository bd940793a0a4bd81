/* baseline.h - a report of an earlier day: what is in it is known, and only what is new matters.
 *
 * Known records and resources are suppressed, by their signatures; known errors, which nothing
 * suppresses, are told and not counted as new.
 */
#ifndef SYMBOLIZE_VIEW_BASELINE_H
#define SYMBOLIZE_VIEW_BASELINE_H

#include "common/view/report_set.h"
#include "common/suppress/suppress.h"

/* From a report written as JSON, of the verdicts that are shown. False: *wrong says why. */
bool baseline_read(struct ledger *ledger, const char *path, const char **wrong);

/* A rule for each entry. */
void baseline_suppress(const struct ledger *ledger, const char *path,
                       struct suppressions *suppressions);

/* How many kinds of errors the report has that the baseline has not. */
uint64_t baseline_new_errors(const struct ledger *ledger, const struct report *report);

#endif
