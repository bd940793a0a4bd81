/* github.h - workflow commands that GitHub shows beside the lines of a change. */
#ifndef SYMBOLIZE_GITHUB_H
#define SYMBOLIZE_GITHUB_H

#include "symbolize/report.h"

void github_write(const struct report *report, const struct view *view, FILE *stream);

#endif
