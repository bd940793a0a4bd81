/* html_shell.h - writes the HTML page around the data: style and scripts. leakreport and leakgraph
 * use it.
 */
#ifndef SYMBOLIZE_FORMATS_HTML_SHELL_H
#define SYMBOLIZE_FORMATS_HTML_SHELL_H

#include <stdio.h>

#include "common/encode/json_writer.h"

/* Write the page before and after its data. The data stand in a script element. */
void html_page_begin(FILE *stream);
void html_page_end(FILE *stream);
/* Writes the part between the other data and a heap graph, on a page with a graph. The graph must
 * follow; graph/verbs/verbs_html.c describes it. */
void html_page_begin_graph(FILE *stream);

/* Writes the members "verdicts" and "words": the words of each verdict, indexed by enum verdict. */
void html_put_verdicts(struct json_writer *json);

/* Writes one fact as [property, value]. */
void html_put_fact(struct json_writer *json, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
