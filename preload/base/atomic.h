/* atomic.h - atomics with the memory order in the name, so that a review sees it.
 *
 * Each release names in a comment at its call the acquire it pairs with.
 */
#ifndef PRELOAD_BASE_ATOMIC_H
#define PRELOAD_BASE_ATOMIC_H

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
#define cas_release(p, expected, v)                                                                \
    __atomic_compare_exchange_n((p), (expected), (v), false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)

/* What is stored before is seen before whatever is stored after. */
#define fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)

/* Plain counters of one writer that others read: no locked instruction. Words that are aligned are
 * written whole, and said like this a CPU that adds to memory does so in one instruction. */
#define bump(p, v) (*(p) += (v))

#endif
