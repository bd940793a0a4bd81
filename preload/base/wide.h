/* wide.h - unsigned numbers of 128 bits. Compilers have such a type only for 64-bit CPUs; for
 * others this file computes with two words. */
#ifndef PRELOAD_BASE_WIDE_H
#define PRELOAD_BASE_WIDE_H

#include "preload/base/base.h"

#if UINTPTR_MAX == UINT64_MAX

typedef unsigned __int128 wide;

static inline wide wide_make(uint64_t high, uint64_t low)
{
    return (wide)high << 64 | low;
}

static inline wide wide_multiply(uint64_t a, uint64_t b)
{
    return (wide)a * b;
}

static inline wide wide_add(wide a, wide b)
{
    return a + b;
}

/* Returns the low 64 bits of number >> bits. bits: at most 127. */
static inline uint64_t wide_shift(wide number, unsigned bits)
{
    return (uint64_t)(number >> bits);
}

/* Returns the low 64 bits of the quotient. */
static inline uint64_t wide_divide(wide number, uint64_t by)
{
    return (uint64_t)(number / by);
}

#else

typedef struct {
    uint64_t high, low;
} wide;

static inline wide wide_make(uint64_t high, uint64_t low)
{
    return (wide){high, low};
}

static inline wide wide_multiply(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
    return (wide){a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)low};
}

static inline wide wide_add(wide a, wide b)
{
    uint64_t low = a.low + b.low;
    return (wide){a.high + b.high + (low < a.low), low};
}

/* Returns the low 64 bits of number >> bits. bits: at most 127. */
static inline uint64_t wide_shift(wide number, unsigned bits)
{
    if (bits >= 64)
        return number.high >> (bits - 64);
    return bits ? number.high << (64 - bits) | number.low >> bits : number.low;
}

/* Returns the low 64 bits of the quotient. It divides bit by bit. */
static inline uint64_t wide_divide(wide number, uint64_t by)
{
    uint64_t rest = number.high % by, quotient = 0;
    for (int bit = 63; bit >= 0; bit--) {
        bool carry = rest >> 63;
        rest = rest << 1 | (number.low >> bit & 1);
        if (carry || rest >= by) {
            rest -= by;
            quotient |= 1ull << bit;
        }
    }
    return quotient;
}

#endif

/* Returns the low 64 bits of a * b / 2^bits. */
static inline uint64_t wide_product(uint64_t a, uint64_t b, unsigned bits)
{
    return wide_shift(wide_multiply(a, b), bits);
}

#endif
