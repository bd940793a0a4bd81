/* pointer_filter.h - can any of these words be a pointer, or one in another form? By their upper
 * halves, four at a time.
 *
 * Nearly always none can: this test is what reading a block costs. It may say yes where the answer
 * is no, never the other way round. A plain pointer to an aligned place is not disguised: whoever
 * reads the word for what it is has met it.
 */
#ifndef PRELOAD_MARK_POINTER_FILTER_H
#define PRELOAD_MARK_POINTER_FILTER_H

#include "preload/base/base.h"

/* Both turned by half of all there is: then a signed comparison will do. Some processors have no
 * other for four at once. */
struct disguise_range {
    uint32_t low;
    int32_t span;
};

static inline struct disguise_range disguise_range(uint64_t low, uint64_t high)
{
    return (struct disguise_range){.low = (uint32_t)low + 0x80000000,
                                   .span = (int32_t)((uint32_t)(high - low) + 0x80000000)};
}

/* What the upper halves of the pointers may be, in each form (encoded_pointers.h). */
struct disguise {
    struct disguise_range plain, shifted, inverted;
    uint32_t guard, mask;
    bool has_guard, has_xor;
};

static inline struct disguise disguise_of(uintptr_t low, uintptr_t span, uint64_t guard,
                                          uint64_t xor)
{
    uint64_t high = low + span;
    return (struct disguise){.plain = disguise_range(low >> 32, high >> 32),
                             .shifted = disguise_range(low >> 36, high >> 33),
                             .inverted = disguise_range(~high >> 32, ~low >> 32),
                             .has_guard = guard,
                             .guard = guard >> 32,
                             .has_xor = xor,
                             .mask = xor >> 32};
}

typedef uint32_t disguise_four __attribute__((vector_size(16)));
typedef int32_t disguise_mask __attribute__((vector_size(16)));
#ifdef __clang__
#define DISGUISE_PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define DISGUISE_PICK(a, b, i, j, k, l) __builtin_shuffle(a, b, (disguise_four){i, j, k, l})
#endif

static ALWAYS_INLINE disguise_mask disguise_outside(disguise_four four, struct disguise_range range)
{
    return (disguise_mask)(four - range.low) > range.span;
}

static ALWAYS_INLINE bool disguise_all(disguise_mask mask)
{
    uint64_t halves[2];
    memcpy(halves, &mask, sizeof halves);
    return (halves[0] & halves[1]) == UINT64_MAX;
}

/* What some of four words may be. */
#define DISGUISE_POINTER 1u /* a pointer of whatever form */
#define DISGUISE_OTHER 2u   /* of another than the plain one */

static ALWAYS_INLINE unsigned disguise_of_four(const struct disguise *is, disguise_four a,
                                               disguise_four b)
{
    disguise_four lower = DISGUISE_PICK(a, b, 0, 2, 4, 6), upper = DISGUISE_PICK(a, b, 1, 3, 5, 7);
    disguise_mask plain = disguise_outside(upper & 0xffff, is->plain);
    disguise_mask other =
        disguise_outside(upper, is->shifted) & disguise_outside(upper, is->inverted);
    if (is->has_guard)
        other &= disguise_outside((upper >> 17 | lower << 15) ^ is->guard, is->plain);
    if (is->has_xor)
        other &= disguise_outside(upper ^ is->mask, is->plain);
    if (likely(disguise_all(plain & other)))
        return 0;
    plain |= (upper <= 0xffff) & ((lower & 15) == 0);
    return disguise_all(plain & other) ? DISGUISE_POINTER : DISGUISE_POINTER | DISGUISE_OTHER;
}

/* count: 1 to 4. */
static ALWAYS_INLINE unsigned disguise_of_words(const struct disguise *is, const uintptr_t *words,
                                                unsigned count)
{
    typedef uint64_t two __attribute__((vector_size(16)));
    disguise_four a, b;
    if (likely(count == 4)) {
        memcpy(&a, words, sizeof a);
        memcpy(&b, words + 2, sizeof b);
    } else {
        a = (disguise_four)(two){words[0], count > 1 ? words[1] : 0};
        b = (disguise_four)(two){count > 2 ? words[2] : 0, 0};
    }
    return disguise_of_four(is, a, b);
}

#endif
