/* text_frame.h - one frame of the text report: function, place, source line; colours and links. */
#ifndef COMMON_VIEW_TEXT_FRAME_H
#define COMMON_VIEW_TEXT_FRAME_H

#include "common/view/format_api.h"
#include "common/base/text.h"

#define TEXT_COLUMNS 80
#define TEXT_INDENT 5 /* of a frame, and of whatever stands below the head of a record */
#define TEXT_BRIEF 2
#define TEXT_TERSEST 4

enum text_style { STYLE_PLAIN, STYLE_BOLD, STYLE_NAME, STYLE_FAINT, STYLE_WARNING };
void text_style(const struct view *view, FILE *stream, enum text_style style);

/* The end of a headline, so many columns of which are written. */
void text_signature(uint64_t signature, int width, const struct view *view, FILE *stream);

/* The function without return type and parameters, or its place in the module; columns as for
 * term_text().
 */
struct shown text_bare(const struct frame *frame, size_t columns);

/* The same without what the standard says anyway, see cxx_shorten.h; or its name in full. */
struct shown text_function(const struct frame *frame, const struct view *view, size_t columns);

/* "file:line", "in module", or nothing for a frame whose name says the module already. */
struct shown text_place(const struct frame *frame, const struct view *view);

/* Its own line, or two, indented so far; user: it is the one that matters. */
void text_frame(const struct frame *frame, bool user, int indent, const struct view *view,
                FILE *stream);

/* The same where so many columns of the line are written. */
void text_frame_here(const struct frame *frame, bool user, int indent, const struct view *view,
                     FILE *stream);

/* The line of source, when it can be found. */
void text_source(const struct frame *frame, int indent, const struct view *view, FILE *stream);

#endif
