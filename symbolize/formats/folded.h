/* folded.h - stacks as flame graphs read them: "root;...;leaf NUMBER", one line for each. */
#ifndef SYMBOLIZE_FORMATS_FOLDED_H
#define SYMBOLIZE_FORMATS_FOLDED_H

#include "common/view/format_api.h"

void folded_write(const struct report *report, const struct view *view, FILE *stream);
void folded_write_blocks(const struct report *report, const struct view *view, FILE *stream);

#endif
