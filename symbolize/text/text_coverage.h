/* text_coverage.h - how much of a process was seen: its counts, its stacks, and how these were
 * found.
 */
#ifndef SYMBOLIZE_TEXT_TEXT_COVERAGE_H
#define SYMBOLIZE_TEXT_TEXT_COVERAGE_H

#include "common/view/format_api.h"

/* A few lines, each a sentence or two. */
void text_seen(const struct process *process, const struct view *view, FILE *stream);

#endif
