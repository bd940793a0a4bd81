/* html_shell.h - the empty page: its frame, style and scripts. leakgraph has a page in it, too. */
#ifndef SYMBOLIZE_FORMATS_HTML_SHELL_H
#define SYMBOLIZE_FORMATS_HTML_SHELL_H

#include <stdio.h>

#include "common/encode/json_writer.h"

/* The page before and after its data, which stand in a script element. */
void html_page_begin(FILE *stream);
void html_page_end(FILE *stream);
/* Between the data and the end of a page that has the graph of a heap, too: the graph follows, as
 * graph/verbs/verbs_html.c describes it. */
void html_page_begin_graph(FILE *stream);

/* "verdicts" and "words", by enum verdict. */
void html_put_verdicts(struct json_writer *json);

/* One [property, value]. */
void html_put_fact(struct json_writer *json, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
