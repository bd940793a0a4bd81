/* test_python_pools.c - what is free in a pool of Python is cleared, and nothing that is no pool. Pools are built here,
 * as pymalloc leaves them. */
#include "tests/unit/preload/unit.h"
#include "preload/roots/python_pools.h"

#define LENGTH 4096
#define HEAD 48
#define SIZE 64 /* of an object */
#define PLACES 10
#define FILL 0x1122334455667788u

static union {
    struct {
        uint32_t used, padding;
        uintptr_t free, next, previous;
        uint32_t arena, size_class, carved_end, last;
    } head;
    uintptr_t word[LENGTH / 8];
} pool __attribute__((aligned(LENGTH)));

static uintptr_t *place(unsigned i)
{
    return &pool.word[(HEAD + i * SIZE) / 8];
}

/* Ten carved places, all with objects; every word is filled. */
static void setup(void)
{
    for (unsigned i = 0; i < LENGTH / 8; i++)
        pool.word[i] = FILL;
    pool.head.used = PLACES;
    pool.head.free = 0;
    pool.head.size_class = SIZE / 16 - 1;
    pool.head.carved_end = HEAD + PLACES * SIZE;
    pool.head.last = LENGTH - SIZE;
}

static void free_place(unsigned i)
{
    *place(i) = pool.head.free;
    pool.head.free = (uintptr_t)place(i);
    pool.head.used--;
}

static uint64_t clear(void)
{
    return python_pool_clear((uintptr_t)&pool, LENGTH);
}

static bool is_cleared(const uintptr_t *words)
{
    for (unsigned i = 0; i < SIZE / 8; i++)
        if (words[i])
            return false;
    return true;
}

static unsigned count_cleared(void)
{
    unsigned cleared = 0;
    for (unsigned i = 0; i < PLACES; i++)
        cleared += is_cleared(place(i));
    return cleared;
}

START_TEST(free_objects_are_cleared_and_others_stay)
{
    free_place(3);
    free_place(9);
    free_place(0);
    ck_assert_uint_eq(clear(), 7);
    ck_assert(is_cleared(place(0)) && is_cleared(place(3)) && is_cleared(place(9)));
    ck_assert_uint_eq(count_cleared(), 3);
    ck_assert_uint_eq(*place(1), FILL);
}
END_TEST

START_TEST(what_was_never_carved_is_cleared)
{
    ck_assert_uint_eq(clear(), PLACES);
    ck_assert_uint_eq(count_cleared(), 0);
    ck_assert(is_cleared(place(PLACES)));
    ck_assert_uint_eq(pool.word[LENGTH / 8 - 1], 0);
}
END_TEST

START_TEST(a_pool_without_objects_is_cleared)
{
    for (unsigned i = 0; i < PLACES; i++)
        free_place(i);
    ck_assert_uint_eq(clear(), 0);
    ck_assert_uint_eq(count_cleared(), PLACES);
}
END_TEST

/* Each change makes it something else than a pool. */
START_TEST(what_is_no_pool_stays)
{
    free_place(2);
    free_place(5);
    switch (_i) {
    case 0: /* a thread was stopped between the list and the count */
        pool.head.used++;
        break;
    case 1:
        pool.head.used--;
        break;
    case 2:
        pool.head.size_class = 32;
        break;
    case 3:
        pool.head.last -= 16;
        break;
    case 4:
        pool.head.carved_end += 16;
        break;
    case 5:
        pool.head.carved_end = LENGTH + SIZE;
        break;
    case 6: /* the list leaves the pool */
        *place(5) = (uintptr_t)&pool + LENGTH;
        break;
    case 7: /* … begins within an object */
        pool.head.free += 16;
        break;
    case 8: /* … comes back to itself */
        *place(2) = (uintptr_t)place(5);
        break;
    case 9: /* … leads to what was never carved */
        pool.head.free = (uintptr_t)place(PLACES);
        break;
    case 10: /* a pool of another length */
        pool.head.last = 2 * LENGTH - SIZE;
        break;
    }
    ck_assert_uint_eq(clear(), 0);
    ck_assert_uint_eq(count_cleared(), 0);
    ck_assert_uint_eq(pool.word[LENGTH / 8 - 1], FILL);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("python_pools");
    TCase *cases = tcase_create("pools");
    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, free_objects_are_cleared_and_others_stay);
    tcase_add_test(cases, what_was_never_carved_is_cleared);
    tcase_add_test(cases, a_pool_without_objects_is_cleared);
    tcase_add_loop_test(cases, what_is_no_pool_stays, 0, 11);
    suite_add_tcase(suite, cases);
    return unit_main(argc, argv, suite);
}
