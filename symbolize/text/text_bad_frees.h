/* text_bad_frees.h - what was released wrongly, for people: before the records, for it is worse. */
#ifndef SYMBOLIZE_TEXT_TEXT_BAD_FREES_H
#define SYMBOLIZE_TEXT_TEXT_BAD_FREES_H

#include "common/view/format_api.h"

/* What one is: "40 bytes of new[] released by free". */
void text_mistake_words(const struct mistake *mistake, FILE *stream);

void text_mistakes(const struct process *process, const struct view *view, FILE *stream);

/* One of them; number: its place in the list, from 1. */
void text_mistake(const struct process *process, const struct mistake *mistake, size_t number,
                  const struct view *view, FILE *stream);

/* "40 bytes of new[] released by free" */
void text_mistake_words(const struct mistake *mistake, FILE *stream);

#endif
