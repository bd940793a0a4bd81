/* github.h - workflow commands that GitHub shows beside the lines of a change. */
#ifndef SYMBOLIZE_FORMATS_GITHUB_H
#define SYMBOLIZE_FORMATS_GITHUB_H

#include "common/view/format_api.h"

void github_write(const struct report *report, const struct view *view, FILE *stream);

#endif
