/* disguise.h - can any of these words be a pointer in another form? By their upper halves, four at a
 * time.
 *
 * Nearly always none can: this test is what looking for disguised pointers costs. It may say yes
 * where the answer is no, never the other way round. A plain pointer to an aligned place is not
 * disguised: whoever reads the word for what it is has met it.
 */
#ifndef PRELOAD_DISGUISE_H
#define PRELOAD_DISGUISE_H

#include "preload/base.h"

/* What the pointers may be, and which forms there are (decode.h). */
struct disguise {
    uint32_t low, span, shifted_low, shifted_span, guard, mask;
    bool has_guard, has_xor;
};

static inline struct disguise disguise_of(uintptr_t low, uintptr_t span, uint64_t guard,
                                          uint64_t xor)
{
    uint64_t high = low + span;
    return (struct disguise){.low = low >> 32,
                             .span = (high >> 32) - (low >> 32),
                             .shifted_low = low >> 36,
                             .shifted_span = (high >> 33) - (low >> 36),
                             .has_guard = guard,
                             .guard = guard >> 32,
                             .has_xor = xor,
                             .mask = xor >> 32};
}

typedef uint32_t disguise_four __attribute__((vector_size(16)));
#ifdef __clang__
#define DISGUISE_PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define DISGUISE_PICK(a, b, i, j, k, l) __builtin_shuffle(a, b, (disguise_four){i, j, k, l})
#endif

static ALWAYS_INLINE bool disguise_four_may_be(const struct disguise *is, disguise_four a,
                                               disguise_four b)
{
    disguise_four lower = DISGUISE_PICK(a, b, 0, 2, 4, 6), upper = DISGUISE_PICK(a, b, 1, 3, 5, 7);
    disguise_four plain = (disguise_four)(upper <= 0xffff) & (disguise_four)((lower & 15) == 0);
    disguise_four some = (disguise_four)((upper & 0xffff) - is->low <= is->span) & ~plain;
    uint64_t halves[2];
    some |= (disguise_four)(upper - is->shifted_low <= is->shifted_span);
    some |= (disguise_four)(~upper - is->low <= is->span);
    if (is->has_guard)
        some |= (disguise_four)(((upper >> 17 | lower << 15) ^ is->guard) - is->low <= is->span);
    if (is->has_xor)
        some |= (disguise_four)((upper ^ is->mask) - is->low <= is->span);
    memcpy(halves, &some, sizeof halves);
    return halves[0] | halves[1];
}

/* count: 1 to 4. */
static ALWAYS_INLINE bool disguise_may_be(const struct disguise *is, const uintptr_t *words,
                                          unsigned count)
{
    uintptr_t four[4] = {0};
    disguise_four a, b;
    if (count < 4) {
        for (unsigned i = 0; i < count; i++)
            four[i] = words[i];
        words = four;
    }
    memcpy(&a, words, sizeof a);
    memcpy(&b, words + 2, sizeof b);
    return disguise_four_may_be(is, a, b);
}

#endif
