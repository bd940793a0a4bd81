/* python_line.c - decodes the line tables of Python's code objects. */
#include "common/names/python_line.h"

#include <stdbool.h>

#include "leak_store.h"

/* In Python 3.10's table, the line difference that marks code without a line. */
#define NO_LINE (-128)
#define UNIT 2 /* bytes of code in the unit that Python 3.11's table counts */

/* Entry kinds of Python 3.11's table that say something about lines. */
enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15 };

struct cursor {
    const uint8_t *at, *end;
};

static uint32_t line_from(int64_t line)
{
    return line > 0 && line < INT32_MAX ? (uint32_t)line : 0;
}

/* Searches Python 3.9's table, which consists of pairs of bytes. Each pair advances the position:
 * the first byte says by how many bytes of code, the second one by how many lines. */
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

/* Searches Python 3.10's table, which consists of pairs of bytes: the length of the next range of
 * code in bytes, and the difference of its line from the line before. */
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

/* Reads an unsigned number of Python 3.11's table: six bits a byte, lowest first; bit 6 says
 * that more follow. */
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

/* Reads a signed number of Python 3.11's table: its lowest bit is the sign. */
static int64_t take_signed(struct cursor *table)
{
    uint64_t number = take_number(table);

    return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

/* The line difference of an entry of Python 3.11's table from the previous entry. */
static int64_t take_lines(struct cursor *table, unsigned kind)
{
    if (kind == NO_COLUMNS || kind == LONG)
        return take_signed(table);
    return kind >= ONE_LINE_0 && kind <= ONE_LINE_2 ? (int64_t)kind - ONE_LINE_0 : 0;
}

/* Skips the rest of an entry: only the first byte of an entry has its highest bit set. */
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
