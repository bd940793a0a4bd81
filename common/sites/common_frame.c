/* common_frame.c - finds the innermost function that two stacks have in common. */
#include "common/sites/sites.h"

#include <string.h>

/* Number of slots of a hash table that is at most half full; a power of two. */
#define SLOTS (2 * COMMON_FRAMES)
#define NONE COMMON_FRAMES

static unsigned select_user_frames(const struct stack *stack, const struct free_wrappers *wrappers,
                                   uint32_t at[COMMON_FRAMES])
{
    unsigned count = 0;

    for (size_t i = 0; i < stack->count && count < COMMON_FRAMES; i++)
        if (stack->frames[i]->role == FRAME_USER && stack->frames[i]->function &&
            !(wrappers && free_wrappers_contain(wrappers, stack->frames[i])))
            at[count++] = (uint32_t)i;
    return count;
}

/* ---- The functions of one stack, by name ----------------------------------------------------- */

static const struct frame *frame_at(const struct common_frames *own, unsigned i)
{
    return own->stack.frames[own->at[i]];
}

/* The slot of a name in the hash table, or the empty slot for it. */
static unsigned find_slot(const struct common_frames *own, uint64_t name_hash)
{
    unsigned slot = (unsigned)(name_hash >> 32 ^ name_hash) % SLOTS;

    while (own->slot[slot] && frame_at(own, own->slot[slot] - 1u)->name_hash != name_hash)
        slot = (slot + 1) % SLOTS;
    return slot;
}

struct common_frames common_frames_of(const struct stack *stack,
                                      const struct free_wrappers *wrappers)
{
    struct common_frames own = {.stack = *stack};

    own.count = select_user_frames(stack, wrappers, own.at);
    for (unsigned i = own.count; i-- > 0;) {
        unsigned slot = find_slot(&own, frame_at(&own, i)->name_hash);

        own.next[i] = own.slot[slot] ? own.slot[slot] - 1u : NONE;
        own.slot[slot] = (uint16_t)(i + 1);
    }
    return own;
}

/* The position (in common_frames.at) of the innermost function in the own stack (the one of the
 * allocation) that has the frame's name; NONE: there is none. */
static unsigned find_name(const struct common_frames *own, const struct frame *frame)
{
    unsigned slot = find_slot(own, frame->name_hash);

    return own->slot[slot] ? own->slot[slot] - 1u : NONE;
}

/* ---- Comparing two stacks -------------------------------------------------------------------- */

/* Says whether two functions with one name are in the same file: static functions of two files
 * may share a name. */
static bool is_same_file(const struct frame *a, const struct frame *b)
{
    return a->file == b->file || !a->file || !b->file || strcmp(a->file, b->file) == 0;
}

struct other_frames {
    const struct frame *frame[COMMON_FRAMES];
    uint16_t named[COMMON_FRAMES]; /* for each frame of the other stack, the position of its name in
                                    * the own stack (find_name()) */
    unsigned count;
};

/* Follows the list of frames with one name in the own stack (the one of the allocation), from
 * position `at` on, to the first that is the same function as `frame`: from the same file. NONE:
 * there is none. */
static unsigned find_function(const struct common_frames *own, unsigned at,
                              const struct frame *frame)
{
    while (at != NONE && !is_same_file(frame_at(own, at), frame))
        at = own->next[at];
    return at;
}

/* Rates how well two stacks agree, from position i of the own stack (the one of the allocation) and
 * position j of the other stack outwards. Frames match only in the same order, so one pass over
 * both stacks is enough. A higher result is a better agreement. */
static int agreement(const struct common_frames *own, unsigned i, const struct other_frames *other,
                     unsigned j)
{
    uint16_t ahead[COMMON_FRAMES]; /* index: innermost position of a name in the own stack; value:
                                    * the innermost position of that name that the pass has not
                                    * reached yet */
    int shared = 0, outside = (int)(own->count - i + other->count - j);

    for (unsigned k = j; k < other->count; k++)
        if (other->named[k] != NONE)
            ahead[other->named[k]] = other->named[k];
    for (; j < other->count; j++) {
        unsigned named = other->named[j], at;

        if (named == NONE)
            continue;
        while (ahead[named] != NONE && ahead[named] < i)
            ahead[named] = own->next[ahead[named]];
        at = find_function(own, ahead[named], other->frame[j]);
        if (at == NONE)
            continue;
        i = at + 1;
        shared++;
    }
    return 4 * shared - outside;
}

/* The largest result of agreement() that two stacks with these numbers of frames can have. */
static int agreement_most(unsigned own, unsigned other)
{
    return 4 * (int)(own < other ? own : other) - (int)(own + other);
}

bool common_frame_find(const struct common_frames *own, const struct stack *stack,
                       const struct free_wrappers *wrappers, struct common_frame *found)
{
    struct other_frames other;
    uint32_t at[COMMON_FRAMES];
    bool any = false;

    other.count = select_user_frames(stack, wrappers, at);
    for (unsigned j = 0; j < other.count; j++) {
        other.frame[j] = stack->frames[at[j]];
        other.named[j] = (uint16_t)find_name(own, other.frame[j]);
    }
    for (unsigned j = 0; j < other.count && !any; j++)
        for (unsigned i = find_function(own, other.named[j], other.frame[j]); i != NONE;
             i = find_function(own, own->next[i], other.frame[j])) {
            int score;

            if (any && agreement_most(own->count - i, other.count - j) <= found->agreement)
                continue;
            score = agreement(own, i, &other, j);
            if (any && score <= found->agreement) /* of a recursive function the occurrence with
                                                   * the best agreement counts */
                continue;
            *found = (struct common_frame){.own = own->at[i],
                                           .other = at[j],
                                           .below = at[j ? j - 1 : 0],
                                           .inner = i,
                                           .agreement = score};
            any = true;
        }
    return any;
}

int common_frame_compare(const struct common_frame *a, const struct common_frame *b)
{
    if (a->agreement != b->agreement)
        return a->agreement > b->agreement ? -1 : 1;
    return (a->inner > b->inner) - (a->inner < b->inner);
}
