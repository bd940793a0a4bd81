/* generate.h - suppressions for what is listed, in the syntax of a tool, ready to be kept in a
 * file.
 *
 * Each says above it what it is of. What hangs under a lost record goes with that one. What a
 * syntax cannot say is a comment.
 */
#ifndef SYMBOLIZE_FORMATS_GENERATE_H
#define SYMBOLIZE_FORMATS_GENERATE_H

#include "common/view/format_api.h"

void generate_lsan(const struct report *report, const struct view *view, FILE *stream);
void generate_valgrind(const struct report *report, const struct view *view, FILE *stream);
void generate_libleak(const struct report *report, const struct view *view, FILE *stream);

#endif
