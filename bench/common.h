/* common.h - has what the micro benchmarks share: arguments NAME=VALUE, clocks, and a random number
 * generator that gives the same numbers in every run.
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64

/* A parameter NAME=VALUE; values are integers. */
struct knob {
    const char *name;
    uint64_t value;
};

/* Reads the arguments NAME=VALUE. False: an argument is no known parameter; a message says so. */
static inline bool knobs_read(struct knob *knobs, int count, int argc, char **argv)
{
    for (int word = 1; word < argc; word++) {
        int i = 0;
        size_t length = strcspn(argv[word], "=");
        while (i < count &&
               (strlen(knobs[i].name) != length || strncmp(argv[word], knobs[i].name, length)))
            i++;
        if (i == count || argv[word][length] != '=') {
            fprintf(stderr, "%s: unknown parameter: %s\n", argv[0], argv[word]);
            return false;
        }
        knobs[i].value = strtoull(argv[word] + length + 1, NULL, 10);
    }
    return true;
}

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns a random number from 0 to below - 1, without a division. The initial state must not be
 * 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return (uint64_t)(((unsigned __int128)x * below) >> 64);
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median; sorts the values. */
static inline double median(double *values, uint64_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

#endif
