/* json_mistakes.h - what was released wrongly, as JSON. */
#ifndef SYMBOLIZE_JSON_MISTAKES_H
#define SYMBOLIZE_JSON_MISTAKES_H

#include "symbolize/emit.h"
#include "symbolize/model.h"

/* The keys of one, into an open object. */
void json_mistake(struct emit *emit, const struct mistake *mistake);

#endif
