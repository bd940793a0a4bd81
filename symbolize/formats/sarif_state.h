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
    const struct report_set *then; /* NULL = there is no baseline */
    struct report_set now;
};

struct sarif_states sarif_states_begin(const struct report *report, const struct report_set *baseline);
void sarif_states_end(struct sarif_states *states);

/* As SARIF has it; NULL: nothing can be said. */
const char *sarif_state(const struct sarif_states *states, enum report_set_class class,
                        uint64_t signature);

/* The next entry of the baseline that is there no more, *at starts as 0; NULL behind the last one.
 */
const struct report_set_entry *sarif_absent(const struct sarif_states *states, size_t *at);

#endif
