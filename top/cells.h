/* cells.h - numbers as they stand in a narrow column: three digits and a unit. */
#ifndef TOP_CELLS_H
#define TOP_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CELL_SIZE 16

const char *cell_bytes(uint64_t bytes, char cell[CELL_SIZE]);             /* "9999 B", "1.2 MB" */
const char *cell_change(bool known, int64_t bytes, char cell[CELL_SIZE]); /* "+1.2 MB", "-" */
const char *cell_count(uint64_t count, char cell[CELL_SIZE]);             /* "99999", "1.2M" */
const char *cell_rate(bool known, double rate, char cell[CELL_SIZE]);     /* "0.4", "12", "1.2k" */
const char *cell_share(uint64_t part, uint64_t whole, char cell[CELL_SIZE]); /* percent */
const char *cell_span(uint64_t ns, char cell[CELL_SIZE]); /* "12s", "3m20s", "5h10m" */

/* The values as bars, from 0 to the largest; utf8: else in ASCII. Into text, for which 3 * count +
 * 1 bytes are enough. */
void cell_bars(const uint64_t *values, size_t count, bool utf8, char *text);

#endif
