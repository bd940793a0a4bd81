/* size.h - how large a test is. */
#ifndef TESTS_SIZE_H
#define TESTS_SIZE_H

#include <stdlib.h>

/* Rounds, blocks or bytes of a test: all of them on a CPU, and a twentieth under an emulator, which
 * takes some twenty times as long for each (UNIT_EMULATOR is set by tests/tally). Only for sizes
 * that what the test finds does not depend on. */
static inline unsigned unit_size(unsigned full)
{
    return getenv("UNIT_EMULATOR") ? full / 20 + 1 : full;
}

/* Of a row of cases that are all alike, the distance between two that are tried. */
static inline unsigned unit_step(void)
{
    return getenv("UNIT_EMULATOR") ? 23 : 1;
}

#endif
