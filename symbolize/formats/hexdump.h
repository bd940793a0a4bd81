/* hexdump.h - the format "dump": what the blocks that a text report would list hold, and nothing
 * else.
 *
 *     Leak of 40 bytes at 0x55d0c0a012a0 (T1#4213, malloc, lost)
 *         0000  68 69 64 64 65 6e 5f 77  6f 72 64 00 00 00 00 00  |hidden_word.....|
 *
 * As far as a look has kept it (content=): of the largest blocks of each record the first bytes;
 * how much is not shown is said. With -o FILE --append each run adds to one file.
 */
#ifndef SYMBOLIZE_FORMATS_HEXDUMP_H
#define SYMBOLIZE_FORMATS_HEXDUMP_H

#include "common/view/format_api.h"

void hexdump_write(const struct report *report, const struct view *view, FILE *stream);

#endif
