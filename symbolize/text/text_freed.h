/* text_freed.h - where the other blocks of a record were freed: one line, with -v some more; and
 * who should have freed these. */
#ifndef SYMBOLIZE_TEXT_TEXT_FREED_H
#define SYMBOLIZE_TEXT_TEXT_FREED_H

#include "common/view/format_api.h"

void text_freed(const struct record *record, const struct view *view, FILE *stream);
/* By whom its holder was freed: another line. */
void text_orphaned(const struct record *record, const struct view *view, FILE *stream);

#endif
