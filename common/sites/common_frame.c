/* common_frame.c - see sites.h. */
#include "common/sites/sites.h"

#include <string.h>

#define FRAMES 256 /* user frames compared of each stack, from the innermost on */

/* The user's frames of a stack, without wrappers: indices into it. */
struct user_frames {
    size_t at[FRAMES];
    size_t count;
};

static struct user_frames select_user_frames(const struct stack *stack,
                                             const struct free_wrappers *wrappers)
{
    struct user_frames users = {.count = 0};

    for (size_t i = 0; i < stack->count && users.count < FRAMES; i++)
        if (stack->frames[i]->role == FRAME_USER && stack->frames[i]->function &&
            !(wrappers && free_wrappers_contain(wrappers, stack->frames[i])))
            users.at[users.count++] = i;
    return users;
}

/* Static functions of two files may share a name. */
static bool is_same_function(const struct frame *a, const struct frame *b)
{
    return a->name_hash == b->name_hash && (!a->file || !b->file || strcmp(a->file, b->file) == 0);
}

/* Matches the frames from own.at[i] and other.at[j] on outwards, in order. */
static int agreement(const struct stack *own, const struct user_frames *own_users, size_t i,
                     const struct stack *other, const struct user_frames *other_users, size_t j)
{
    int shared = 0;
    size_t outside = own_users->count - i + other_users->count - j;

    for (; j < other_users->count; j++)
        for (size_t k = i; k < own_users->count; k++)
            if (is_same_function(own->frames[own_users->at[k]],
                                 other->frames[other_users->at[j]])) {
                i = k + 1;
                shared++;
                break;
            }
    return 2 * shared - ((int)outside - 2 * shared);
}

bool common_frame_find(const struct stack *own, const struct stack *other,
                       const struct free_wrappers *wrappers, struct common_frame *found)
{
    struct user_frames own_users = select_user_frames(own, wrappers),
                       other_users = select_user_frames(other, wrappers);
    bool any = false;

    for (size_t j = 0; j < other_users.count && !any; j++)
        for (size_t i = 0; i < own_users.count; i++) {
            int score;

            if (!is_same_function(own->frames[own_users.at[i]], other->frames[other_users.at[j]]))
                continue;
            score = agreement(own, &own_users, i, other, &other_users, j);
            if (any && score <= found->agreement) /* a recursion: the occurrence that agrees best */
                continue;
            *found = (struct common_frame){.own = own_users.at[i],
                                           .other = other_users.at[j],
                                           .below = other_users.at[j ? j - 1 : 0],
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
