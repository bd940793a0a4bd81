/* lsan.h - LeakSanitizer's text, which many scripts read. */
#ifndef SYMBOLIZE_LSAN_H
#define SYMBOLIZE_LSAN_H

#include "symbolize/report.h"

void lsan_write(const struct report *report, const struct view *view, FILE *stream);

#endif
