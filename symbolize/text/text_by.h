/* text_by.h - a process added up by one key, as a table; see group_by.h. */
#ifndef SYMBOLIZE_TEXT_TEXT_BY_H
#define SYMBOLIZE_TEXT_TEXT_BY_H

#include "common/view/format_api.h"

void text_by(const struct report *report, const struct view *view, FILE *stream);

#endif
