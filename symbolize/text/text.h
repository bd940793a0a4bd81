/* text.h - the report people read: 80 columns, what matters first, the summary line last. */
#ifndef SYMBOLIZE_TEXT_TEXT_H
#define SYMBOLIZE_TEXT_TEXT_H

#include "common/view/format_api.h"

void text_write(const struct report *report, const struct view *view, FILE *stream);

/* Each record by itself, with every frame and all that is known of it. */
void text_write_full(const struct report *report, const struct view *view, FILE *stream);

#endif
