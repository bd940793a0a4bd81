/* valgrind.h - the text of Valgrind's Memcheck, which ctest and many scripts read. */
#ifndef SYMBOLIZE_FORMATS_VALGRIND_H
#define SYMBOLIZE_FORMATS_VALGRIND_H

#include "common/view/format_api.h"

void valgrind_write(const struct report *report, const struct view *view, FILE *stream);

#endif
