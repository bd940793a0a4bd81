/* text_frame.h - one frame of the text report: function, place, source line; colours and links. */
#ifndef COMMON_VIEW_TEXT_FRAME_H
#define COMMON_VIEW_TEXT_FRAME_H

#include "common/view/format_api.h"
#include "common/base/term_text.h"

#define TEXT_COLUMNS 80
#define TEXT_INDENT 5 /* of a frame, and of lines below the head of a record */

/* The width of lines with frames. */
static inline size_t text_columns(const struct view *view)
{
    return view->columns ? view->columns : TEXT_COLUMNS;
}

/* struct view's `terse`. What each level leaves out is out on those above it, too. */
enum {
    TEXT_WHOLE,
    TEXT_ONE_SOURCE, /* source lines but that of a record's function */
    TEXT_TIGHT,      /* what lost blocks own; empty lines; stacks of resources opened once */
    TEXT_BRIEF,      /* lines of no use for the fix: times, the leak check, the next command */
    TEXT_TERSEST,    /* all source lines, and types */
    TEXT_TABLE,      /* the number of callers that are not shown */
};

enum text_style { STYLE_PLAIN, STYLE_BOLD, STYLE_NAME, STYLE_FAINT, STYLE_WARNING };
void text_style(const struct view *view, FILE *stream, enum text_style style);

/* Right-aligns the signature at the end of a headline, `width` columns of which are written. */
void text_signature(uint64_t signature, int width, const struct view *view, FILE *stream);

/* The function without return type and parameters, or its offset in the module; truncated to
 * `columns`. */
struct term_text text_bare_name(const struct frame *frame, size_t columns);

/* The function, shortened by cxx_shorten.c; or its full name, as the view says. */
struct term_text text_function_name(const struct frame *frame, const struct view *view,
                                    size_t columns);

/* "file:line", "in module", or "" for a frame whose name contains the module. */
struct term_text text_place(const struct frame *frame, const struct view *view);

/* Writes the frame in one or two indented lines; user: highlights it. */
void text_frame(const struct frame *frame, bool user, int indent, const struct view *view,
                FILE *stream);

/* Writes the frame where `indent` columns of the line are already written. */
void text_frame_rest(const struct frame *frame, bool user, int indent, const struct view *view,
                     FILE *stream);

/* Writes the source line, if it is found. */
void text_source_line(const struct frame *frame, int indent, const struct view *view, FILE *stream);

#endif
