/* memreport.h - the XML of LeakFinder: MEMREPORT, LEAK, STACKENTRY. */
#ifndef SYMBOLIZE_MEMREPORT_H
#define SYMBOLIZE_MEMREPORT_H

#include "symbolize/report.h"

void memreport_write(const struct report *report, const struct view *view, FILE *stream);

#endif
