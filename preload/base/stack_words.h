/* stack_words.h - do these words of the stack still stand there?
 *
 * A row of (place, word): places as offsets from the low end of the thread's stack. The one
 * comparison that shared traces and the leaf cache live by, so it is written for speed: four words
 * a step, looking up once a step.
 */
#ifndef PRELOAD_BASE_STACK_WORDS_H
#define PRELOAD_BASE_STACK_WORDS_H

#include "preload/base/base.h"

static inline bool words_hold(uintptr_t low, const uint32_t *offset, const uintptr_t *word,
                              unsigned count)
{
    uintptr_t differs = 0;
#define COMPARE(i) differs |= word[i] ^ *(const uintptr_t *)(low + offset[i])
    for (; count >= 4; count -= 4, offset += 4, word += 4) {
        COMPARE(0);
        COMPARE(1);
        COMPARE(2);
        COMPARE(3);
        if (differs)
            return false;
    }
    for (; count; count--, offset++, word++)
        COMPARE(0);
#undef COMPARE
    return !differs;
}

#endif
