/* json_growth.h - how something came to be as large as it is, as JSON: of a record, an owner, a
 * site that leaktop shows.
 */
#ifndef COMMON_VIEW_JSON_GROWTH_H
#define COMMON_VIEW_JSON_GROWTH_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

/* "growth"; null when it is not known. */
void json_growth(struct json *json, const struct growth *growth);

#endif
