/* sarif_state.h - what became of the results of a baseline: each that is there now is new,
 * unchanged or updated, and some are absent.
 *
 * A result stands for all of its signature: the sums over all processes are compared.
 */
#ifndef SYMBOLIZE_FORMATS_SARIF_STATE_H
#define SYMBOLIZE_FORMATS_SARIF_STATE_H

#include "common/view/report_set.h"
#include "common/view/format_api.h"

struct sarif_states {
    struct mem *mem;
    const struct ledger *then; /* NULL = there is no baseline */
    struct ledger now;
};

struct sarif_states sarif_states_begin(const struct report *report, const struct ledger *baseline);
void sarif_states_end(struct sarif_states *states);

/* As SARIF has it; NULL: nothing can be said. */
const char *sarif_state(const struct sarif_states *states, enum ledger_class class,
                        uint64_t signature);

/* The next entry of the baseline that is there no more, *at starts as 0; NULL behind the last one.
 */
const struct ledger_entry *sarif_absent(const struct sarif_states *states, size_t *at);

#endif
