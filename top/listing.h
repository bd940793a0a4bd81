/* listing.h - writes snapshots as text: numbers in narrow columns, the lines of the table and of
 * the screen, and the formats table, CSV and JSON. Functions for one line write no newline. The
 * parameter `columns` is the width of the terminal; 0 means that a line may have any width.
 */
#ifndef TOP_LISTING_H
#define TOP_LISTING_H

#include <stdio.h>

#include "common/encode/json_fields.h"
#include "top/fleet.h"
#include "top/heap_snapshot.h"
#include "top/order.h"

/* Which rows the user wants to see, and how wide. */
struct listing_options {
    struct ordering ordering;
    size_t top; /* number of rows, 0 = all */
    size_t columns;
};

/* ---- Cells: numbers with three digits and a unit --------------------------------------------- */

#define CELL_SIZE 16

const char *cell_bytes(uint64_t bytes, char cell[CELL_SIZE]);            /* "9999 B", "1.2 MB" */
const char *cell_delta(bool known, int64_t bytes, char cell[CELL_SIZE]); /* "+1.2 MB", "-" */
const char *cell_count(uint64_t count, char cell[CELL_SIZE]);            /* "99999", "1.2M" */
const char *cell_rate(bool known, double rate, char cell[CELL_SIZE]);    /* "0.4", "12", "1.2k" */
const char *cell_share(uint64_t part, uint64_t whole, char cell[CELL_SIZE]); /* percent */
const char *cell_span(uint64_t ns, char cell[CELL_SIZE]); /* "12s", "3m20s", "5h10m" */

/* Writes values as bars, from 0 to the largest value, as UTF-8 or ASCII. text must have room for 3
 * * count + 1 bytes. */
void cell_bars(const uint64_t *values, size_t count, bool utf8, char *text);

/* ---- Lines of a table ------------------------------------------------------------------------ */

/* Writes the title of a snapshot: "shelf (pid 42), running for 14 s: 13.4 MB in 13,400 blocks". */
void listing_write_title(const struct heap_snapshot *snapshot, FILE *stream);
/* Writes what changed since the mark, or since the previous snapshot if mark is NULL: "+1.1 MB,
 * 1100 allocs/s, 0 frees/s, peak 13.4 MB, 1 growing". */
void listing_write_totals(const struct heap_snapshot *snapshot, const struct counter_baseline *mark,
                          FILE *stream);
void listing_write_header(const struct heap_snapshot *snapshot, size_t columns,
                          const struct counter_baseline *mark, FILE *stream);
void listing_write_row(const struct heap_snapshot *snapshot, size_t row,
                       const struct counter_baseline *mark, size_t columns, FILE *stream);

/* Writes the details of a row: why it grows, its source lines, its stack; at most `lines` lines,
 * each with a newline. The source line of the site is marked. */
void listing_write_details(const struct snapshot_row *row, size_t lines, size_t columns,
                           FILE *stream);

/* Write a table of all processes: live and peak bytes, lost bytes, growing sites, change per
 * second, age of the last leak check. */
void listing_write_fleet_header(FILE *stream);
void listing_write_fleet_row(const struct fleet_row *row, uint64_t now_ns, size_t columns,
                             FILE *stream);
void listing_write_fleet(const struct fleet_rows *rows, size_t columns, FILE *stream);

/* ---- Formats of a snapshot ------------------------------------------------------------------- */

void listing_write_table(const struct heap_snapshot *snapshot,
                         const struct listing_options *options, FILE *stream);

/* Write a snapshot as CSV, one line for each site. */
void listing_write_csv_header(FILE *stream);
void listing_write_csv(const struct heap_snapshot *snapshot, const struct listing_options *options,
                       FILE *stream);

/* Writes a snapshot as one JSON document in one line; docs/top.schema.json is made from the table
 * json_snapshot. */
extern const struct json_table json_snapshot;
void listing_write_json(const struct heap_snapshot *snapshot, const struct listing_options *options,
                        FILE *stream);

#endif
