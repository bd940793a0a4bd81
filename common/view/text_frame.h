/* text_frame.h - writes one frame of the text report: function, place, source line, with colours
 * and hyperlinks. */
#ifndef COMMON_VIEW_TEXT_FRAME_H
#define COMMON_VIEW_TEXT_FRAME_H

#include "common/view/format_api.h"
#include "common/base/term_text.h"

#define TEXT_COLUMNS 80
#define TEXT_INDENT 5 /* indentation of frames, and of lines below the headline of a record */

/* The width of lines with frames. */
static inline size_t text_columns(const struct view *view)
{
    return view->columns ? view->columns : TEXT_COLUMNS;
}

/* The levels of view->terse. Each level leaves out what it names, and all that the levels above
 * it in this list leave out. */
enum {
    TEXT_WHOLE,
    TEXT_ONE_SOURCE, /* leaves out source lines, except that of a record's function, and stacks of
                      * threads; beside other findings, most of resources; beside records, outer
                      * callers of bad frees */
    TEXT_TIGHT,      /* leaves out what lost blocks own, and empty lines */
    TEXT_BRIEF,      /* leaves out lines that do not help to fix a leak: times, the leak check,
                      * the next command, stacks of resources opened once */
    TEXT_TERSEST,    /* leaves out all source lines, types, and where others of an open resource
                      * are closed; beside several records, the number of allocations */
    TEXT_TABLE,      /* leaves out the number of callers that are not shown */
};

enum text_style { STYLE_PLAIN, STYLE_BOLD, STYLE_NAME, STYLE_FAINT, STYLE_WARNING };
void text_style(const struct view *view, FILE *stream, enum text_style style);

/* Writes a signature right-aligned at the end of a headline, of which `width` columns are already
 * written. */
void text_signature(uint64_t signature, int width, const struct view *view, FILE *stream);

/* The name of a function without return type and parameters, or module and offset; truncated to
 * `columns`. */
struct term_text text_bare_name(const struct frame *frame, size_t columns);

/* The name of a function, shortened by cxx_shorten.c; or the full name if the view says so. */
struct term_text text_function_name(const struct frame *frame, const struct view *view,
                                    size_t columns);

/* The place of a frame: "file:line", "in module", or "" for a frame whose name contains the
 * module. */
struct term_text text_place(const struct frame *frame, const struct view *view);
/* What stands between the name of a frame's function and its place: " at ", " " before "in module",
 * or "" if there is no place. */
const char *text_place_lead(const struct frame *frame, const struct term_text *place);
/* The place of a frame; if it is wider than `columns`, without its first folders:
 * "…/xml/parse.c:12". If even the file's name is too wide, the whole place. */
struct term_text text_place_within(const struct frame *frame, const struct view *view,
                                   size_t columns);

/* Writes a frame in one or two indented lines; user: highlights it. */
void text_frame(const struct frame *frame, bool user, int indent, const struct view *view,
                FILE *stream);

/* Writes a frame like text_frame(), in a line of which `indent` columns are already written. */
void text_frame_rest(const struct frame *frame, bool user, int indent, const struct view *view,
                     FILE *stream);

/* Writes the source line of a frame, if its file is found. */
void text_source_line(const struct frame *frame, int indent, const struct view *view, FILE *stream);

#endif
