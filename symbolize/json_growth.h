/* json_growth.h - how something came to be as large as it is, as JSON: of a record, an owner, a
 * site that leaktop shows.
 */
#ifndef SYMBOLIZE_JSON_GROWTH_H
#define SYMBOLIZE_JSON_GROWTH_H

#include "symbolize/emit.h"
#include "symbolize/model.h"

/* "growth"; null when it is not known. */
void json_growth(struct emit *emit, const struct growth *growth);

#endif
