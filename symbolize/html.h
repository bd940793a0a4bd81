/* html.h - a page that needs nothing else: no network, no other file. */
#ifndef SYMBOLIZE_HTML_H
#define SYMBOLIZE_HTML_H

#include "symbolize/report.h"

void html_write(const struct report *report, const struct view *view, FILE *stream);

#endif
