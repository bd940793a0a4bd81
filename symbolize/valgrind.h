/* valgrind.h - the text of Valgrind's Memcheck, which ctest and many scripts read. */
#ifndef SYMBOLIZE_VALGRIND_H
#define SYMBOLIZE_VALGRIND_H

#include "symbolize/report.h"

void valgrind_write(const struct report *report, const struct view *view, FILE *stream);

#endif
