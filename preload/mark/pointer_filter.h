/* pointer_filter.h - tests four words in one step, by their upper halves: may one of them be a
 * pointer, ordinary or encoded?
 *
 * Nearly always none is a pointer, so this test is the main cost of reading a block. It may have
 * false positives, never false negatives. An ordinary pointer to an aligned address is not reported
 * as encoded, because marking has followed it already. */
#ifndef PRELOAD_MARK_POINTER_FILTER_H
#define PRELOAD_MARK_POINTER_FILTER_H

#include "preload/base/base.h"

/* What a test of up to four words can find; the result of a test is a set of these bits. */
#define POINTER_FILTER_ANY 1u     /* one of the words may be a pointer in some form */
#define POINTER_FILTER_ENCODED 2u /* one of the words may be an encoded pointer */

#if UINTPTR_MAX == UINT64_MAX

/* A range of the upper halves of addresses. low and span are offset by 2^31, so that a signed
 * comparison works: some processors have no unsigned comparison of four lanes. */
struct pointer_filter_range {
    uint32_t low;
    int32_t span;
};

static inline struct pointer_filter_range pointer_filter_range(uint64_t low, uint64_t high)
{
    return (struct pointer_filter_range){.low = (uint32_t)low + 0x80000000,
                                         .span = (int32_t)((uint32_t)(high - low) + 0x80000000)};
}

/* The upper halves of words that may be pointers to blocks, for each encoding of pointers
 * (mark_passes.h). */
struct pointer_filter {
    struct pointer_filter_range plain, shifted, inverted;
    uint32_t guard, mask;
    bool has_guard, has_xor;
};

static inline struct pointer_filter pointer_filter_make(uintptr_t low, uintptr_t span,
                                                        uint64_t guard, uint64_t xor_key)
{
    uint64_t high = low + span;
    return (struct pointer_filter){.plain = pointer_filter_range(low >> 32, high >> 32),
                                   .shifted = pointer_filter_range(low >> 36, high >> 33),
                                   .inverted = pointer_filter_range(~high >> 32, ~low >> 32),
                                   .has_guard = guard,
                                   .guard = guard >> 32,
                                   .has_xor = xor_key,
                                   .mask = xor_key >> 32};
}

typedef uint32_t pointer_filter_four __attribute__((vector_size(16)));
typedef int32_t pointer_filter_mask __attribute__((vector_size(16)));
#ifdef __clang__
#define POINTER_FILTER_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define POINTER_FILTER_SHUFFLE(a, b, i, j, k, l)                                                   \
    __builtin_shuffle(a, b, (pointer_filter_four){i, j, k, l})
#endif

static ALWAYS_INLINE pointer_filter_mask pointer_filter_outside(pointer_filter_four four,
                                                                struct pointer_filter_range range)
{
    return (pointer_filter_mask)(four - range.low) > range.span;
}

static ALWAYS_INLINE bool pointer_filter_all(pointer_filter_mask mask)
{
    uint64_t halves[2];
    memcpy(halves, &mask, sizeof halves);
    return (halves[0] & halves[1]) == UINT64_MAX;
}

static ALWAYS_INLINE unsigned pointer_filter_test_four(const struct pointer_filter *filter,
                                                       pointer_filter_four a, pointer_filter_four b)
{
    pointer_filter_four lower = POINTER_FILTER_SHUFFLE(a, b, 0, 2, 4, 6),
                        upper = POINTER_FILTER_SHUFFLE(a, b, 1, 3, 5, 7);
    pointer_filter_mask plain = pointer_filter_outside(upper & 0xffff, filter->plain);
    pointer_filter_mask other = pointer_filter_outside(upper, filter->shifted) &
                                pointer_filter_outside(upper, filter->inverted);
    if (filter->has_guard)
        other &= pointer_filter_outside((upper >> 17 | lower << 15) ^ filter->guard, filter->plain);
    if (filter->has_xor)
        other &= pointer_filter_outside(upper ^ filter->mask, filter->plain);
    if (likely(pointer_filter_all(plain & other)))
        return 0;
    plain |= (upper <= 0xffff) & ((lower & 15) == 0);
    return pointer_filter_all(plain & other) ? POINTER_FILTER_ANY
                                             : POINTER_FILTER_ANY | POINTER_FILTER_ENCODED;
}

/* Tests `count` words, 1 to 4. Returns a set of POINTER_FILTER_ANY and POINTER_FILTER_ENCODED; 0:
 * none of the words is a pointer. */
static ALWAYS_INLINE unsigned pointer_filter_test(const struct pointer_filter *filter,
                                                  const uintptr_t *words, unsigned count)
{
    typedef uint64_t two __attribute__((vector_size(16)));
    pointer_filter_four a, b;
    if (likely(count == 4)) {
        memcpy(&a, words, sizeof a);
        memcpy(&b, words + 2, sizeof b);
    } else {
        a = (pointer_filter_four)(two){words[0], count > 1 ? words[1] : 0};
        b = (pointer_filter_four)(two){count > 2 ? words[2] : 0, 0};
    }
    return pointer_filter_test_four(filter, a, b);
}

#else /* with words of 32 bits an upper half says too little: each word is compared as a whole */

struct pointer_filter {
    uintptr_t low, span, shifted_low, shifted_span, guard, xor_key;
};

static inline struct pointer_filter pointer_filter_make(uintptr_t low, uintptr_t span,
                                                        uintptr_t guard, uintptr_t xor_key)
{
    return (struct pointer_filter){.low = low,
                                   .span = span,
                                   .shifted_low = low >> 4,
                                   .shifted_span = ((low + span) >> 1) - (low >> 4),
                                   .guard = guard,
                                   .xor_key = xor_key};
}

static ALWAYS_INLINE bool pointer_filter_is_encoded(const struct pointer_filter *filter,
                                                    uintptr_t word)
{
    uintptr_t rotated = word >> 9 | word << 23; /* glibc rotates pointers of 32 bits by 9 */
    return word - filter->shifted_low <= filter->shifted_span ||
           ~word - filter->low <= filter->span ||
           (filter->guard && (rotated ^ filter->guard) - filter->low <= filter->span) ||
           (filter->xor_key && (word ^ filter->xor_key) - filter->low <= filter->span);
}

/* Tests `count` words, 1 to 4. Returns a set of POINTER_FILTER_ANY and POINTER_FILTER_ENCODED; 0:
 * none of the words is a pointer. */
static ALWAYS_INLINE unsigned pointer_filter_test(const struct pointer_filter *filter,
                                                  const uintptr_t *words, unsigned count)
{
    unsigned may_be = 0;
    for (unsigned i = 0; i < count; i++) {
        bool plain = words[i] - filter->low <= filter->span;
        if (plain)
            may_be |=
                words[i] & 15 ? POINTER_FILTER_ANY | POINTER_FILTER_ENCODED : POINTER_FILTER_ANY;
        if (pointer_filter_is_encoded(filter, words[i]))
            may_be |= POINTER_FILTER_ANY | POINTER_FILTER_ENCODED;
    }
    return may_be;
}

#endif

#endif
