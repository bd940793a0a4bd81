/* test_common_frame.c - where two stacks part, compared with an implementation that tries all pairs.
 *
 * The stacks are short words: a letter is a function; an upper case one is static in another file, a
 * digit has no file, and '.' is code of a library.
 */
#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/sites/sites.h"
#include "tests/unit/suite.h"

#define MOST 300
#define DICE 20000

struct word {
    struct frame frame[MOST];
    const struct frame *pointer[MOST];
    struct stack stack;
};

static void read_word(struct word *word, const char *letters)
{
    memset(word, 0, sizeof(*word));
    for (size_t i = 0; letters[i] && i < MOST; i++) {
        int letter = letters[i];
        struct frame *frame = &word->frame[i];

        frame->role = letter == '.' ? FRAME_RUNTIME : FRAME_USER;
        frame->function = "f";
        frame->name_hash =
            isdigit(letter) ? (uint64_t)('a' + letter - '0') : (uint64_t)tolower(letter);
        if (!isdigit(letter)) /* not the same pointer */
            frame->file = isupper(letter) ? &"xupper.c"[1] : i % 2 ? "lower.c" : &"xlower.c"[1];
        word->pointer[i] = frame;
        word->stack.count++;
    }
    word->stack.frames = word->pointer;
}

/* ---- The definition, in sites.h, taken literally ---------------------------------------------- */

static bool is_user(const struct frame *frame)
{
    return frame->role == FRAME_USER;
}

static bool is_same(const struct frame *a, const struct frame *b)
{
    return is_user(a) && is_user(b) && a->name_hash == b->name_hash &&
           (!a->file || !b->file || strcmp(a->file, b->file) == 0);
}

static int users_from(const struct stack *stack, size_t at)
{
    int count = 0;

    for (; at < stack->count; at++)
        count += is_user(stack->frames[at]);
    return count;
}

static int agreement_of(const struct stack *own, size_t i, const struct stack *other, size_t j)
{
    int shared = 0, outside = users_from(own, i) + users_from(other, j);

    for (; j < other->count; j++)
        for (size_t k = i; k < own->count; k++)
            if (is_same(own->frames[k], other->frames[j])) {
                i = k + 1;
                shared++;
                break;
            }
    return 2 * shared - (outside - 2 * shared);
}

static bool find_slowly(const struct stack *own, const struct stack *other,
                        struct common_frame *found)
{
    bool any = false;

    for (size_t j = 0; j < other->count && !any; j++)
        for (size_t i = 0; i < own->count; i++) {
            int score;

            if (!is_same(own->frames[i], other->frames[j]))
                continue;
            score = agreement_of(own, i, other, j);
            if (any && score <= found->agreement)
                continue;
            *found = (struct common_frame){.own = i, .other = j, .below = j, .agreement = score};
            found->inner = (size_t)(users_from(own, 0) - users_from(own, i));
            while (found->below > 0 && !is_user(other->frames[--found->below]))
                ;
            if (!is_user(other->frames[found->below]))
                found->below = j;
            any = true;
        }
    return any;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static struct word own, other;

static void compare(const char *a, const char *b)
{
    struct common_frame slow = {0}, fast = {0};
    struct common_frames frames;
    bool found;

    read_word(&own, a);
    read_word(&other, b);
    found = find_slowly(&own.stack, &other.stack, &slow);
    frames = common_frames_of(&own.stack, NULL);
    ck_assert_msg(common_frame_find(&frames, &other.stack, NULL, &fast) == found, "%s %s", a, b);
    ck_assert_msg(slow.own == fast.own && slow.other == fast.other && slow.below == fast.below &&
                      slow.inner == fast.inner && slow.agreement == fast.agreement,
                  "%s %s: %zu/%zu below %zu, %d; should be %zu/%zu below %zu, %d", a, b, fast.own,
                  fast.other, fast.below, fast.agreement, slow.own, slow.other, slow.below,
                  slow.agreement);
}

START_TEST(stacks_part_below_their_innermost_common_function)
{
    struct common_frame found;
    struct common_frames frames;

    read_word(&own, "axm");
    read_word(&other, "f.pxm");
    frames = common_frames_of(&own.stack, NULL);
    ck_assert(common_frame_find(&frames, &other.stack, NULL, &found));
    ck_assert_uint_eq(found.own, 1);
    ck_assert_uint_eq(found.other, 3);
    ck_assert_uint_eq(found.below, 2);
    ck_assert_uint_eq(found.inner, 1);
}
END_TEST

START_TEST(stacks_without_a_common_function_have_no_such_frame)
{
    struct common_frame found;
    struct common_frames frames;

    read_word(&own, "a.bB");
    read_word(&other, "c.Ad");
    frames = common_frames_of(&own.stack, NULL);
    ck_assert(!common_frame_find(&frames, &other.stack, NULL, &found));
    read_word(&other, "");
    ck_assert(!common_frame_find(&frames, &other.stack, NULL, &found));
    read_word(&own, "");
    frames = common_frames_of(&own.stack, NULL);
    ck_assert(!common_frame_find(&frames, &own.stack, NULL, &found));
}
END_TEST

START_TEST(the_result_is_that_of_trying_all_pairs)
{
    static const char *const few = "aab.", *const many = "abcdeABCDE01.";
    char words[2][MOST];

    srand(1);
    for (int i = 0; i < DICE; i++) {
        const char *letters = i % 2 ? few : many;

        for (int w = 0; w < 2; w++) {
            size_t length = (size_t)rand() % (i % 100 ? 12 : 60);

            for (size_t k = 0; k < length; k++)
                words[w][k] = letters[(size_t)rand() % strlen(letters)];
            words[w][length] = 0;
        }
        compare(words[0], words[1]);
    }
}
END_TEST

START_TEST(a_deep_recursion_agrees_where_its_depth_does)
{
    char deep[MOST] = "l", deeper[MOST] = "f";

    memset(deep + 1, 'r', 100);
    memset(deeper + 1, 'r', 120);
    strcat(deep, "m");
    strcat(deeper, "m");
    compare(deep, deeper);
    compare(deeper, deep);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common frame");
    TCase *all = tcase_create("two stacks");

    tcase_add_test(all, stacks_part_below_their_innermost_common_function);
    tcase_add_test(all, stacks_without_a_common_function_have_no_such_frame);
    tcase_add_test(all, the_result_is_that_of_trying_all_pairs);
    tcase_add_test(all, a_deep_recursion_agrees_where_its_depth_does);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
