/* cells.c - see cells.h. */
#include "top/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* number is at least one unit; units are of 1000. */
static const char *scaled(double number, const char *const *units, char cell[CELL_SIZE])
{
    while (number >= 999.5 && units[1]) {
        number /= 1000;
        units++;
    }
    snprintf(cell, CELL_SIZE, "%.*f%s", number < 9.95 ? 1 : 0, number, *units);
    return cell;
}

const char *cell_bytes(uint64_t bytes, char cell[CELL_SIZE])
{
    static const char *const units[] = {" kB", " MB", " GB", " TB", " PB", NULL};

    if (bytes >= 10000)
        return scaled((double)bytes / 1000, units, cell);
    snprintf(cell, CELL_SIZE, "%" PRIu64 " B", bytes);
    return cell;
}

const char *cell_change(bool known, int64_t bytes, char cell[CELL_SIZE])
{
    char number[CELL_SIZE];

    if (!known)
        return strcpy(cell, "-");
    if (!bytes)
        return strcpy(cell, "0");
    cell_bytes(bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, number);
    snprintf(cell, CELL_SIZE, "%c%.*s", bytes < 0 ? '-' : '+', CELL_SIZE - 2, number);
    return cell;
}

static const char *const thousands[] = {"k", "M", "G", "T", "P", NULL};

const char *cell_count(uint64_t count, char cell[CELL_SIZE])
{
    if (count >= 100000)
        return scaled((double)count / 1000, thousands, cell);
    snprintf(cell, CELL_SIZE, "%" PRIu64, count);
    return cell;
}

const char *cell_rate(bool known, double rate, char cell[CELL_SIZE])
{
    if (!known)
        return strcpy(cell, "-");
    if (rate >= 9999.5)
        return scaled(rate / 1000, thousands, cell);
    snprintf(cell, CELL_SIZE, "%.*f", rate > 0 && rate < 9.95 ? 1 : 0, rate);
    return cell;
}

const char *cell_share(uint64_t part, uint64_t whole, char cell[CELL_SIZE])
{
    double share = whole ? 100.0 * (double)part / (double)whole : 0;

    snprintf(cell, CELL_SIZE, "%.*f", share < 99.95 ? 1 : 0, share);
    return cell;
}

const char *cell_span(uint64_t ns, char cell[CELL_SIZE])
{
    unsigned long long seconds = ns / 1000000000u;

    if (seconds < 60)
        snprintf(cell, CELL_SIZE, "%llus", seconds);
    else if (seconds < 3600)
        snprintf(cell, CELL_SIZE, "%llum%02llus", seconds / 60, seconds % 60);
    else if (seconds < 86400)
        snprintf(cell, CELL_SIZE, "%lluh%02llum", seconds / 3600, seconds / 60 % 60);
    else
        snprintf(cell, CELL_SIZE, "%llud%02lluh", seconds / 86400, seconds / 3600 % 24);
    return cell;
}

void cell_bars(const uint64_t *values, size_t count, bool utf8, char *text)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {"_", "_", ".", "-", "-", "=", "=", "#"};
    uint64_t most = 0;

    *text = 0;
    for (size_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    for (size_t i = 0; i < count; i++) {
        size_t level = most ? (size_t)((double)values[i] / (double)most * 7.999) : 0;

        text = stpcpy(text, (utf8 ? blocks : ascii)[level]);
    }
}
