/* times.h - points in time and spans of time, in words. */
#ifndef COMMON_BASE_TIMES_H
#define COMMON_BASE_TIMES_H

#include <stdint.h>

#define TIMES_SIZE 64

/* "2024-05-06T07:08:09.123Z", or NULL for 0 and for what no calendar holds. */
const char *times_iso(uint64_t ns, char text[TIMES_SIZE]);

/* CLOCK_REALTIME, in nanoseconds. */
uint64_t times_now(void);

/* The time of such a text, 0 = it is none. */
uint64_t times_read(const char *text);

/* "0.4 s", "12 s", "3 min 20 s", "5 h 10 min", "12 days". */
const char *times_span(uint64_t ns, char text[TIMES_SIZE]);

#endif
