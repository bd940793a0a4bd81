/* xml.h - Valgrind's XML protocol 4 for Memcheck, which IDEs and CI servers read. */
#ifndef SYMBOLIZE_FORMATS_XML_H
#define SYMBOLIZE_FORMATS_XML_H

#include "common/view/format_api.h"

void xml_write(const struct report *report, const struct view *view, FILE *stream);

#endif
