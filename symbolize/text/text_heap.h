/* text_heap.h - what the heap is made of now, lost or not: the sites that hold most. */
#ifndef SYMBOLIZE_TEXT_TEXT_HEAP_H
#define SYMBOLIZE_TEXT_TEXT_HEAP_H

#include "common/view/format_api.h"

void text_heap_write(const struct report *report, const struct view *view, FILE *stream);

#endif
