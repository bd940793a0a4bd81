/* byte_atomics.c (generic) - atomic exchanges of bytes, for CPUs that have them only for words. On
 * such a CPU the compiler calls these functions, which are otherwise in libatomic; libleak would
 * load that library into every program. Each function changes the word around the byte. */
#include "preload/base/base.h"

HIDDEN uint8_t exchange_byte(volatile void *at, uint8_t value,
                             int order) __asm__("__atomic_exchange_1");
HIDDEN bool compare_exchange_byte(volatile void *at, void *expected, uint8_t value, bool weak,
                                  int success, int failure) __asm__("__atomic_compare_exchange_1");

struct byte_place {
    volatile uint32_t *word;
    unsigned shift;
};

static struct byte_place place_of(volatile void *at)
{
    unsigned byte = (uintptr_t)at % 4;
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        byte = 3 - byte;
    return (struct byte_place){(volatile uint32_t *)((uintptr_t)at & -(uintptr_t)4), 8 * byte};
}

static uint8_t byte_of(uint32_t word, struct byte_place place)
{
    return (uint8_t)(word >> place.shift);
}

static bool try_to_put(struct byte_place place, uint32_t *old, uint8_t value)
{
    uint32_t word = (*old & ~(0xffu << place.shift)) | (uint32_t)value << place.shift;
    return __atomic_compare_exchange_n(place.word, old, word, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

uint8_t exchange_byte(volatile void *at, uint8_t value, int order UNUSED)
{
    struct byte_place place = place_of(at);
    uint32_t old = load_relaxed(place.word);
    while (!try_to_put(place, &old, value))
        continue;
    return byte_of(old, place);
}

bool compare_exchange_byte(volatile void *at, void *expected, uint8_t value, bool weak UNUSED,
                           int success UNUSED, int failure UNUSED)
{
    struct byte_place place = place_of(at);
    uint8_t *wanted = expected;
    uint32_t old = load_relaxed(place.word);
    while (byte_of(old, place) == *wanted)
        if (try_to_put(place, &old, value))
            return true;
    *wanted = byte_of(old, place);
    return false;
}
