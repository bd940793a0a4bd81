/* base.h - what every file of the runtime may take for granted.
 *
 * The runtime lives in a stranger's process: it may use libc's string functions and nothing that
 * allocates, locks, formats or touches errno: preload/imports.allow, which scripts/check-exports
 * holds the linked library to. Includes no other header of ours but the CPU's.
 */
#ifndef PRELOAD_BASE_BASE_H
#define PRELOAD_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"

#define EXPORT __attribute__((visibility("default")))
/* For variables that hooks read: -fvisibility=hidden is for definitions only, and a declaration
 * that might be another library's is looked up in the global offset table. */
#define HIDDEN __attribute__((visibility("hidden")))
#define UNUSED __attribute__((unused))
#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define COLD __attribute__((noinline, cold))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Where a hook was called from: the caller's registers just after the call returns. */
struct frame {
    uintptr_t pc, sp, fp;
    struct arch_link link; /* what sp does not tell of the place where the call put pc */
};

/* In a function that is really called (a hook, a handler), not inlined: asking for the frame
 * address makes the compiler keep one, and the caller's frame pointer is the word there. */
#define CALLER_FRAME() FRAME_ABOVE(__builtin_frame_address(0))
/* The same from below: record is the frame address of a function that has not returned. */
#define FRAME_ABOVE(record)                                                                        \
    ({                                                                                             \
        const uintptr_t *record_ = record;                                                         \
        (struct frame){.pc = ARCH_CALLER_PC(record_),                                              \
                       .sp = ARCH_CALLER_SP(record_),                                              \
                       .fp = record_[0],                                                           \
                       .link = ARCH_LINK(record_)};                                                \
    })

/* For a call that hardly ever happens: the copy alone is in memory, what it is of in registers. No
 * copy for AddressSanitizer: gcc leaves it poisoned where it is inlined into tests that must not be
 * looked at. */
#ifdef __SANITIZE_ADDRESS__
#define COPY_OF(thing) (thing)
#else
#define COPY_OF(thing) ((typeof(*(thing))[]){*(thing)})
#endif

static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Fibonacci hashing: spreads aligned addresses and dense ids alike. */
static inline uint64_t hash_u64(uint64_t value)
{
    value *= 0x9e3779b97f4a7c15ull;
    return value ^ (value >> 32);
}

#endif
