/* times.c - reads clocks, and writes times and durations as text. */
#include "common/base/term_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t time_now_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t time_steady_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

const char *time_format_iso(uint64_t ns, char text[TIME_TEXT_SIZE])
{
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm calendar;
    size_t length;

    if (!ns || !gmtime_r(&seconds, &calendar))
        return NULL;
    length = strftime(text, TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &calendar);
    snprintf(text + length, TIME_TEXT_SIZE - length, ".%03uZ", (unsigned)(ns / 1000000u % 1000u));
    return text;
}

uint64_t time_parse_iso(const char *text)
{
    struct tm calendar = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &calendar);
    time_t seconds = rest ? timegm(&calendar) : -1;
    uint64_t ms;

    if (seconds < 0 || seconds > 9000000000 || strlen(rest) != 5 || rest[0] != '.' ||
        strspn(rest + 1, "0123456789") != 3 || rest[4] != 'Z')
        return 0;
    ms = (uint64_t)(rest[1] - '0') * 100 + (uint64_t)(rest[2] - '0') * 10 +
         (uint64_t)(rest[3] - '0');
    return ((uint64_t)seconds * 1000 + ms) * 1000000;
}

const char *time_format_span(uint64_t ns, char text[TIME_TEXT_SIZE])
{
    uint64_t seconds = ns / 1000000000u;
    unsigned long long big = seconds, rest;

    if (seconds < 10) {
        snprintf(text, TIME_TEXT_SIZE, "%llu.%llu s", big,
                 (unsigned long long)(ns / 100000000u % 10));
    } else if (seconds < 60) {
        snprintf(text, TIME_TEXT_SIZE, "%llu s", big);
    } else if (seconds < 3600) {
        rest = seconds % 60;
        snprintf(text, TIME_TEXT_SIZE, "%llu min %llu s", big / 60, rest);
    } else if (seconds < 48 * 3600) {
        rest = seconds / 60 % 60;
        snprintf(text, TIME_TEXT_SIZE, "%llu h %llu min", big / 3600, rest);
    } else {
        snprintf(text, TIME_TEXT_SIZE, "%llu days", big / 86400);
    }
    return text;
}
