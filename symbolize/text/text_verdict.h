/* text_verdict.h - below a record: why it has its verdict, and what mending it gives back. */
#ifndef SYMBOLIZE_TEXT_TEXT_VERDICT_H
#define SYMBOLIZE_TEXT_TEXT_VERDICT_H

#include "common/view/format_api.h"

void text_verdict(const struct process *process, const struct record *record,
                  const struct view *view, FILE *stream);

#endif
