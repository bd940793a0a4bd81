/* markdown.h - a table and folded stacks, for the summary of a CI job or a comment. */
#ifndef SYMBOLIZE_MARKDOWN_H
#define SYMBOLIZE_MARKDOWN_H

#include "symbolize/report.h"

void markdown_write(const struct report *report, const struct view *view, FILE *stream);

#endif
