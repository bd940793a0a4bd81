/* sarif_rules.h - what can be found, as rules of SARIF: one for each verdict, error and resource.
 */
#ifndef SYMBOLIZE_FORMATS_SARIF_RULES_H
#define SYMBOLIZE_FORMATS_SARIF_RULES_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

struct sarif_rule {
    const char *id;
    const char *level; /* "error", "warning", "note" */
    const char *brief, *full, *help;
};

/* An id as in the JSON report: a verdict, the type of an error or a resource. Never NULL. */
const struct sarif_rule *sarif_rule(const char *id);
size_t sarif_rule_index(const struct sarif_rule *rule);

/* Into an open driver. */
void sarif_rules(struct json *json);

#endif
