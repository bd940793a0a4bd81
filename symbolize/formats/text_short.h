/* text_short.h - the report for people and editors in a hurry: a line for each finding.
 *
 *     src/shelf.c:44: 114,688 bytes in 7 blocks lost (malloc) in growing_list() [90a94a50b5adafd2]
 */
#ifndef SYMBOLIZE_FORMATS_TEXT_SHORT_H
#define SYMBOLIZE_FORMATS_TEXT_SHORT_H

#include "common/view/format_api.h"

void text_write_short(const struct report *report, const struct view *view, FILE *stream);

#endif
