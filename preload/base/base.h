/* base.h - what every file of the runtime (the code in libleak.so) uses: macros, the caller's
 * frame, atomics, hashing.
 *
 * The runtime lives inside another program's process. It may use libc's string functions, and no
 * libc function that allocates, locks, formats or writes errno: preload/imports.allow lists what is
 * allowed, and scripts/check-exports checks the linked library against it. It includes no header of
 * the project but that of the CPU.
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
/* Marks a declaration of a variable that hooks read often. -fvisibility=hidden applies to
 * definitions only; without this attribute the compiler looks the variable up in the global offset
 * table, because it might belong to another library. */
#define HIDDEN __attribute__((visibility("hidden")))
#define UNUSED __attribute__((unused))
#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define COLD __attribute__((noinline, cold))
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define WORD sizeof(uintptr_t) /* bytes of a pointer; pointers in memory are aligned to it */
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The place from which a hook was called: the caller's registers just after the call returns. */
struct frame {
    uintptr_t pc, sp, fp;
    /* On a CPU with a link register: where the hook has saved pc. Tells later whether pc is still
     * there (reentry_guard.h). */
    struct arch_link link;
};

/* Returns the caller's frame. Use it only in a function that is really called (a hook, a handler),
 * not inlined: because it uses the frame address, the compiler keeps a frame record, whose first
 * word is the caller's frame pointer. */
#define CALLER_FRAME() FRAME_ABOVE(__builtin_frame_address(0))
/* Returns the caller's frame of a function that has not returned yet. record: the frame address of
 * that function. */
#define FRAME_ABOVE(record)                                                                        \
    ({                                                                                             \
        const uintptr_t *record_ = record;                                                         \
        (struct frame){.pc = ARCH_CALLER_PC(record_),                                              \
                       .sp = ARCH_CALLER_SP(record_),                                              \
                       .fp = ARCH_CALLER_FP(record_),                                              \
                       .link = ARCH_LINK(record_)};                                                \
    })

/* Passes a copy of a struct to a rarely called function. Only the copy has an address, so the
 * original can stay in registers. With AddressSanitizer it passes the original: gcc leaves the copy
 * poisoned where the macro is inlined into tests that are not instrumented. */
#ifdef __SANITIZE_ADDRESS__
#define COPY_OF(thing) (thing)
#else
#define COPY_OF(thing) ((typeof(*(thing))[]){*(thing)})
#endif

static inline bool is_power_of_two(uint64_t value)
{
    return value && !(value & (value - 1));
}

static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Hashes a number (Fibonacci hashing). It spreads aligned addresses as well as dense ids. */
static inline uint64_t hash_u64(uint64_t value)
{
    value *= 0x9e3779b97f4a7c15ull;
    return value ^ (value >> 32);
}

/* ---- Atomics, with the memory order in the name ---------------------------------------------- */

/* A comment at each release store names the acquire load that it pairs with. */
#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define add_release(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELEASE)
#define sub_relaxed(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_RELAXED)
#define or_relaxed(p, v) __atomic_fetch_or((p), (v), __ATOMIC_RELAXED)
#define exchange_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define exchange_release(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELEASE)
#define exchange_relaxed(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELAXED)
#define cas_acquire(p, expected, v)                                                                \
    __atomic_compare_exchange_n((p), (expected), (v), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)

/* Makes every earlier store visible before every later one. */
#define fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)

/* Adds to a counter that has one writer and any number of readers, without a locked instruction.
 * Readers never see half of a number: the CPU writes an aligned word whole. Where a counter has two
 * words, store_relaxed writes it whole. */
#if UINTPTR_MAX == UINT64_MAX
#define bump(p, v) (*(p) += (v))
#else
#define bump(p, v)                                                                                 \
    ({                                                                                             \
        typeof(p) bumped_ = (p);                                                                   \
        store_relaxed(bumped_, *bumped_ + (v));                                                    \
        *bumped_;                                                                                  \
    })
#endif

#endif
