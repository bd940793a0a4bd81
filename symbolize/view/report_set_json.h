/* report_set_json.h - a ledger from a report, or a merged one, that was written as JSON. */
#ifndef SYMBOLIZE_VIEW_REPORT_SET_JSON_H
#define SYMBOLIZE_VIEW_REPORT_SET_JSON_H

#include "common/view/report_set.h"

#define LEDGER_MERGED "libleak-merged" /* the format of what merge writes as JSON */

/* Does the file begin as JSON does? False also when it cannot be read. */
bool ledger_json_begins(const char *path);

/* NULL, or what is wrong with it: "is JSON, but no libleak report". */
const char *ledger_json_read(struct ledger *ledger, const char *path);

#endif
