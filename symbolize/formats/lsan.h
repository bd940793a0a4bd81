/* lsan.h - LeakSanitizer's text, which many scripts read. */
#ifndef SYMBOLIZE_FORMATS_LSAN_H
#define SYMBOLIZE_FORMATS_LSAN_H

#include "common/view/format_api.h"

void lsan_write(const struct report *report, const struct view *view, FILE *stream);

#endif
