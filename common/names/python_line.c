/* python_line.c - see python_line.h. */
#include "common/names/python_line.h"

#include <stdbool.h>

#include "leak_store.h"

#define NO_LINE (-128) /* of the table of 3.10 */
#define UNIT 2         /* bytes: what the table of 3.11 counts code in */

/* The kinds of an entry in the table of 3.11 that matter for lines. */
enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15 };

struct cursor {
    const uint8_t *at, *end;
};

static uint32_t line_from(int64_t line)
{
    return line > 0 && line < INT32_MAX ? (uint32_t)line : 0;
}

/* Pairs: so many bytes further, so many lines further. */
static uint32_t find_in_pairs(struct cursor table, int64_t line, uint64_t offset)
{
    uint64_t start = 0;

    for (; table.end - table.at >= 2; table.at += 2) {
        start += table.at[0];
        if (start > offset)
            break;
        line += (int8_t)table.at[1];
    }
    return line_from(line);
}

/* Pairs: the next so many bytes, and how many lines they are further. */
static uint32_t find_in_ranges(struct cursor table, int64_t line, uint64_t offset)
{
    uint64_t end = 0;

    for (; table.end - table.at >= 2; table.at += 2) {
        int8_t further = (int8_t)table.at[1];

        end += table.at[0];
        if (further != NO_LINE)
            line += further;
        if (offset < end)
            return further == NO_LINE ? 0 : line_from(line);
    }
    return 0;
}

/* A number of six bits a byte, the lowest first; bit 6 says that more follow. */
static uint64_t take_number(struct cursor *table)
{
    uint64_t number = 0;
    unsigned shift = 0;
    bool more = true;

    for (; more && table->at < table->end; table->at++, shift += 6) {
        if (shift < 60)
            number |= (uint64_t)(*table->at & 63) << shift;
        more = *table->at & 64;
    }
    return number;
}

/* The sign is the lowest bit. */
static int64_t take_signed(struct cursor *table)
{
    uint64_t number = take_number(table);

    return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* How many lines an entry is further than the one before. */
static int64_t take_lines(struct cursor *table, unsigned kind)
{
    if (kind == NO_COLUMNS || kind == LONG)
        return take_signed(table);
    return kind >= ONE_LINE_0 && kind <= ONE_LINE_2 ? (int64_t)kind - ONE_LINE_0 : 0;
}

/* The first byte of an entry alone has its highest bit set. */
static void skip_rest(struct cursor *table)
{
    while (table->at < table->end && *table->at < 128)
        table->at++;
}

static uint32_t find_in_locations(struct cursor table, int64_t line, uint64_t offset)
{
    uint64_t end = 0;

    while (table.at < table.end) {
        uint8_t head = *table.at++;
        unsigned kind = head >> 3 & 15;

        if (head < 128)
            return 0;
        end += UNIT * ((head & 7) + 1);
        line += take_lines(&table, kind);
        if (offset < end)
            return kind == NO_LOCATION ? 0 : line_from(line);
        skip_rest(&table);
    }
    return 0;
}

uint32_t python_line(const struct store_code *code, uint64_t offset)
{
    struct cursor table = {code->lines, code->lines + code->lines_length};

    switch (code->line_table) {
    case LEAK_LINE_TABLE_3_9:
        return find_in_pairs(table, code->first_line, offset);
    case LEAK_LINE_TABLE_3_10:
        return find_in_ranges(table, code->first_line, offset);
    case LEAK_LINE_TABLE_3_11:
        return find_in_locations(table, code->first_line, offset);
    }
    return 0;
}
