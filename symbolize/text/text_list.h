/* text_list.h - the records of a process: as entries, or with --apart each by itself.
 */
#ifndef SYMBOLIZE_TEXT_TEXT_LIST_H
#define SYMBOLIZE_TEXT_TEXT_LIST_H

#include "common/view/format_api.h"

/* Does the record stand in the list by itself? */
bool text_list_has(const struct process *process, const struct record *record,
                   const struct view *view);

/* How many there are to list, those that view->top cuts off included. */
size_t text_list_count(const struct process *process, const struct view *view);

/* " 0.4 s before the end by T1 (name)", when several are listed and that holds for all; else NULL.
 * free(3) it. */
char *text_list_when(const struct process *process, const struct view *view);

/* An empty line before and behind. */
void text_list(const struct process *process, const struct view *view, FILE *stream);

#endif
