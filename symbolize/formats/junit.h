/* junit.h - JUnit's XML, in which CI servers show tests: a leak is a test that failed. */
#ifndef SYMBOLIZE_FORMATS_JUNIT_H
#define SYMBOLIZE_FORMATS_JUNIT_H

#include "common/view/format_api.h"

void junit_write(const struct report *report, const struct view *view, FILE *stream);

#endif
