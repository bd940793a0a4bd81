/* symbol_server.h - names for a running process: a line with an address in, lines with frames out.
 *
 * Request:  BUILD-ID OFFSET PATH\n      hex digits or "-", hex digits, the rest of the line
 * Answer:   FUNCTION\tFILE\tLINE\n      innermost first, all but the last one inlined; then \n
 * A function or file that is not known is empty, a line that is not known 0; an address nobody
 * knows is answered by the empty line alone. In texts \\, \n and \t stand for themselves.
 */
#ifndef COMMON_NAMES_SYMBOL_SERVER_H
#define COMMON_NAMES_SYMBOL_SERVER_H

#include <stdio.h>

#include "common/names/resolve.h"

/* Until end of file; each answer is flushed. */
void serve(struct mem *mem, const struct binary_search_path *search, FILE *requests, FILE *answers);

/* \\, \n and \t: taken out in place, and put in. */
void serve_unescape(char *text);
void serve_write_escaped(const char *text, FILE *answers);

#endif
