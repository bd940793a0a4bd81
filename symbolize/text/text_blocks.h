/* text_blocks.h - blocks one by one, as far as they are known singly. */
#ifndef SYMBOLIZE_TEXT_TEXT_BLOCKS_H
#define SYMBOLIZE_TEXT_TEXT_BLOCKS_H

#include "common/view/format_api.h"

void text_blocks(const struct report *report, const struct view *view, FILE *stream);

#endif
