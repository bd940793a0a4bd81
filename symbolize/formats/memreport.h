/* memreport.h - the XML of LeakFinder: MEMREPORT, LEAK, STACKENTRY. */
#ifndef SYMBOLIZE_FORMATS_MEMREPORT_H
#define SYMBOLIZE_FORMATS_MEMREPORT_H

#include "common/view/format_api.h"

void memreport_write(const struct report *report, const struct view *view, FILE *stream);

#endif
