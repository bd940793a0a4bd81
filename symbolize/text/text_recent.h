/* text_recent.h - who freed an address: the text report for --freed. */
#ifndef SYMBOLIZE_TEXT_TEXT_RECENT_H
#define SYMBOLIZE_TEXT_TEXT_RECENT_H

#include "common/view/format_api.h"

void text_recent(const struct report *report, const struct view *view, FILE *stream);

#endif
