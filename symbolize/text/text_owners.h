/* text_owners.h - which roots keep how much alive: the text report for --owners. */
#ifndef SYMBOLIZE_TEXT_TEXT_OWNERS_H
#define SYMBOLIZE_TEXT_TEXT_OWNERS_H

#include "common/view/format_api.h"

void text_owners(const struct report *report, const struct view *view, FILE *stream);

#endif
