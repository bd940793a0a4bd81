/* text_record.h - one record of the text report: numbers, user frame, source line, callers; and
 * parts of it for other texts about stacks. */
#ifndef SYMBOLIZE_TEXT_TEXT_RECORD_H
#define SYMBOLIZE_TEXT_TEXT_RECORD_H

#include "common/view/format_api.h"

/* number: its place in the list, from 1. */
void text_record(const struct process *process, const struct record *record, size_t number,
                 const struct view *view, FILE *stream);

/* All parts of an entry as one. */
void text_entry(const struct process *process, const struct entry *entry, size_t number,
                const struct view *view, FILE *stream);

/* " 0.4 s to 0.3 s before the end by T1 (name), T2" */
void text_when(const struct process *process, const struct record *record, FILE *stream);

/* ", 2026-11-20 10:15 to 2026-11-21 08:02 UTC"; nothing when one is unknown */
void text_days(uint64_t first_ns, uint64_t last_ns, FILE *stream);

/* "in 12 processes on 3 hosts" and when, in a line, of what was merged. */
void text_sighted(const struct record *record, FILE *stream);

#endif
