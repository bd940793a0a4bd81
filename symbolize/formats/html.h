/* html.h - a page that needs nothing else: no network, no other file. */
#ifndef SYMBOLIZE_FORMATS_HTML_H
#define SYMBOLIZE_FORMATS_HTML_H

#include "common/view/format_api.h"

void html_write(const struct report *report, const struct view *view, FILE *stream);

#endif
