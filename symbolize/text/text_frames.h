/* text_frames.h - the stack of a record for people: the user's frame, its source line, its callers.
 */
#ifndef SYMBOLIZE_TEXT_TEXT_FRAMES_H
#define SYMBOLIZE_TEXT_TEXT_FRAMES_H

#include "common/view/format_api.h"

/* Its frames that are worth it, a line each, indented so far; the title with its line of source. */
void text_frames(const struct record *record, int indent, const struct view *view, FILE *stream);

/* How a trace that did not reach the outermost frame ended, in words; NULL = it did. */
const char *text_ending(uint32_t ending);

#endif
