/* text_growing.h - what grew while the process ran, whatever became of it. */
#ifndef SYMBOLIZE_TEXT_TEXT_GROWING_H
#define SYMBOLIZE_TEXT_TEXT_GROWING_H

#include "common/view/format_api.h"

/* "3 records grew", with a comma or colon of the headline before it; nothing when none did. */
void text_growing_head(const struct process *process, const char *join, FILE *stream);

/* Those that grew and do not stand in the list, by `listed`, which says it of them. */
void text_growing(const struct process *process, const struct view *view,
                  bool (*listed)(const struct process *process, const struct record *record,
                                 const struct view *view),
                  FILE *stream);

/* Below a record or an owner that stands there: why it grows; with -v also why not. NULL: nothing.
 */
void text_growth(const struct growth *growth, const struct view *view, FILE *stream);

#endif
