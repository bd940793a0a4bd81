/* text_suppressed.h - how much of what was found is known already, and by which rules. */
#ifndef SYMBOLIZE_TEXT_TEXT_SUPPRESSED_H
#define SYMBOLIZE_TEXT_TEXT_SUPPRESSED_H

#include <stdio.h>

#include "common/view/format_api.h"

/* One line for a process, with -v one more for each rule; nothing when nothing is suppressed. */
void text_suppressed(const struct process *process, const struct view *view, FILE *stream);

/* "suppressed by leak:pattern (FILE:LINE)", below a record that is. */
void text_suppressed_by(const struct record *record, FILE *stream);

/* A line for each rule that fits nothing since its day has passed. */
void text_expired_rules(const struct report *report, const struct view *view, FILE *stream);

/* With -v: the rules that fit nothing in any process. */
void text_unused_rules(const struct report *report, const struct view *view, FILE *stream);

#endif
