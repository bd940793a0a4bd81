/* text_record.h - one record of the text report: numbers, user frame, source line, callers. */
#ifndef SYMBOLIZE_TEXT_RECORD_H
#define SYMBOLIZE_TEXT_RECORD_H

#include "symbolize/report.h"

/* number: its place in the list, from 1. */
void text_record(const struct process *process, const struct record *record, size_t number,
                 const struct view *view, FILE *stream);

/* How a trace that did not reach the outermost frame ended, in words; NULL = it did. */
const char *text_ending(uint32_t ending);

enum text_style { STYLE_PLAIN, STYLE_BOLD, STYLE_NAME, STYLE_FAINT, STYLE_WARNING };
void text_style(const struct view *view, FILE *stream, enum text_style style);

#define TEXT_COLUMNS 80

#endif
