/* text_who.h - which block an address is in, and what points at that: the text report for --who. */
#ifndef SYMBOLIZE_TEXT_TEXT_WHO_H
#define SYMBOLIZE_TEXT_TEXT_WHO_H

#include "common/view/format_api.h"

void text_who(const struct report *report, const struct view *view, FILE *stream);

#endif
