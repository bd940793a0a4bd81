/* damage.h - damages data at random, and again in the same way from the same seed. */
#ifndef TESTS_FUZZ_DAMAGE_H
#define TESTS_FUZZ_DAMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint64_t damage_state;

static inline void damage_begin(uint64_t seed)
{
    damage_state = seed * 2 + 1;
}

static inline uint64_t next_random(void)
{
    damage_state ^= damage_state << 13;
    damage_state ^= damage_state >> 7;
    damage_state ^= damage_state << 17;
    return damage_state;
}

/* The numbers that break programs, and some that nearly hold. */
static inline uint64_t odd_number(size_t size)
{
    static const uint64_t odd[] = {0,           1,
                                   7,           8,
                                   4095,        4096,
                                   0xffff,      0x7fffffff,
                                   0x80000000u, 0xffffffffu,
                                   0x100000000, INT64_MAX,
                                   UINT64_MAX,  UINT64_MAX - 4095};

    switch (next_random() % 4) {
    case 0:
        return next_random() % (size + 1);
    case 1:
        return next_random();
    default:
        return odd[next_random() % (sizeof(odd) / sizeof(*odd))];
    }
}

/* Somewhere in [from, from + length) of the data. */
static inline void damage_range(uint8_t *data, size_t size, size_t from, size_t length)
{
    size_t at = from + next_random() % length;
    uint64_t number = odd_number(size);
    size_t width = (size_t)1 << next_random() % 4;

    switch (next_random() % 4) {
    case 0: /* a bit */
        data[at] ^= (uint8_t)(1u << next_random() % 8);
        break;
    case 1: /* a record copied over another one */
        if (size > 256)
            memmove(data + at % (size - 128), data + next_random() % (size - 128), 128);
        break;
    default: /* a number, aligned as they are */
        at &= ~(width - 1);
        if (length == size && next_random() % 2) /* the beginnings of pages hold what matters */
            at = at / 4096 * 4096 + at % 256 / width * width;
        if (size - at >= width)
            memcpy(data + at, &number, width);
    }
}

static inline void damage_once(uint8_t *data, size_t size)
{
    damage_range(data, size, 0, size);
}

#endif
