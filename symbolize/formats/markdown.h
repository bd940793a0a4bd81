/* markdown.h - a table and folded stacks, for the summary of a CI job or a comment. */
#ifndef SYMBOLIZE_FORMATS_MARKDOWN_H
#define SYMBOLIZE_FORMATS_MARKDOWN_H

#include "common/view/format_api.h"

void markdown_write(const struct report *report, const struct view *view, FILE *stream);

#endif
