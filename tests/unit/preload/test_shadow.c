/* test_shadow.c - the words of the shadow: what an interrupted insertion leaves, areas, order. */
#include <setjmp.h>
#include <sys/time.h>

#include "tests/unit/preload/some_blocks.h"

/* ---- Rests ----------------------------------------------------------------------------------- */

static uint64_t *word_of(uintptr_t address)
{
    return shadow_word(shadow_make_area(address, SHADOW_FINE), address, SHADOW_FINE);
}

/* As after a longjmp between the two stores of an insertion, or of a removal. */
static void leave_rest(uintptr_t address)
{
    struct block large = at(address - WINDOW);
    large.size = 4000;
    *word_of(address) = shadow_pack_rest(&large);
}

/* Where blocks begin, beside a rest in the window at offset 64. */
static const struct {
    const char *name;
    unsigned offset, size;
} over_rests[] = {{"a small one", 64, 20},
                  {"a small one in the second half", 80, 20},
                  {"a large one", 64, 100},
                  {"a large one whose second window it is", 32, 100},
                  {"a small one before it", 32, 40}};

START_TEST(a_rest_without_a_block_is_none_and_stands_in_nobodys_way)
{
    struct block old, out, block = at(BASE + over_rests[_i].offset);
    block.size = over_rests[_i].size;
    leave_rest(BASE + 64);
    ck_assert(!blocks_find(&unit_guard, BASE + 32, &out));
    ck_assert(!blocks_find(&unit_guard, BASE + 64, &out));
    ck_assert(!take_out(BASE + 64, &out));
    ck_assert(!blocks_find_containing(&unit_guard, BASE + 70, &out));
    ck_assert_uint_eq(blocks_count(), 0);
    ck_assert_int_eq(insert(&block, &old), BLOCKS_NEW);
    ck_assert_uint_eq(table_count(), 0);
    ck_assert(blocks_find(&unit_guard, block.address, &out) && same(&out, &block));
    ck_assert_uint_eq(blocks_count(), 1);
    ck_assert(take_out(block.address, &out) && same(&out, &block));
    ck_assert_uint_eq(blocks_count(), 0);
    block = at(BASE + 64);
    ck_assert_int_eq(insert(&block, &old), BLOCKS_NEW);
    ck_assert(take_out(BASE + 64, &out) && same(&out, &block));
    ck_assert(blocks_check());
}
END_TEST

START_TEST(a_coarse_rest_without_a_block_is_none_and_stands_in_nobodys_way)
{
    struct block old, out, block = at(BASE + 256 + _i / 2 * 128 + _i % 2 * 48);
    uintptr_t area = shadow_make_area(BASE, SHADOW_COARSE);
    block.size = 300;
    *shadow_word(area, BASE + 512, SHADOW_COARSE) = shadow_pack_rest(&block);
    ck_assert(!take_out(BASE + 512, &out) && !take_out(BASE + 384, &out));
    ck_assert_uint_eq(blocks_count(), 0);
    ck_assert_int_eq(insert(&block, &old), BLOCKS_NEW);
    ck_assert_uint_eq(table_count(), 0);
    ck_assert(take_out(block.address, &out) && same(&out, &block));
    ck_assert_uint_eq(blocks_count(), 0);
    block = at(BASE + 512);
    block.size = 256;
    ck_assert_int_eq(insert(&block, &old), BLOCKS_NEW);
    ck_assert(take_out(BASE + 512, &out) && same(&out, &block));
    ck_assert(blocks_check());
}
END_TEST

START_TEST(a_rest_at_the_start_of_an_area_is_none)
{
    struct block old, block = at(BASE + AREA), out;
    leave_rest(BASE + AREA);
    ck_assert(!take_out(BASE + AREA, &out));
    block.size = _i ? 100 : 20;
    ck_assert_int_eq(insert(&block, &old), BLOCKS_NEW);
    ck_assert(take_out(BASE + AREA, &out) && same(&out, &block));
    ck_assert(blocks_check());
}
END_TEST

/* ---- Signals --------------------------------------------------------------------------------- */

static sigjmp_buf out_of_it;
static volatile bool may_jump;

/* The runtime defers signals while a thread holds a lock. */
static void jump(int signal UNUSED)
{
    if (may_jump && !lock_thread.held)
        siglongjmp(out_of_it, 1);
}

#define JUMP_SLOTS 4000

static struct block jump_block(unsigned slot)
{
    static const uint64_t sizes[] = {30, 100, 256};
    struct block block = at(BASE + slot * 8 * WINDOW);
    block.size = sizes[slot % 3];
    block.thread = 2;
    block.count = slot;
    block.tick = slot >> 8;
    return block;
}

static volatile unsigned slot_now;
static volatile uint8_t jump_live[JUMP_SLOTS];

static void insert_and_remove(uint64_t *state)
{
    struct block out, old;
    for (;;) {
        slot_now = unit_random(state) % JUMP_SLOTS;
        struct block block = jump_block(slot_now);
        if (jump_live[slot_now]) {
            UNIT_WANT(take_out(block.address, &out) && same(&out, &block));
            jump_live[slot_now] = 0;
        } else {
            UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
            jump_live[slot_now] = 1;
        }
    }
}

START_TEST(handlers_that_leave_by_longjmp_do_no_damage)
{
    static uint64_t state;
    static volatile unsigned jumps;
    struct block out, old;
    struct itimerval often = {{0, 80}, {0, 80}}, never = {{0, 0}, {0, 0}};
    state = unit_seed;
    set_way(_i);
    signal(SIGALRM, jump);
    setitimer(ITIMER_REAL, &often, NULL);
    if (sigsetjmp(out_of_it, 1)) {
        may_jump = false;
        struct block block = jump_block(slot_now);
        bool there = take_out(block.address, &out);
        UNIT_WANT_MSG(!there || same(&out, &block), "seed %" PRIu64 ": half a block", unit_seed);
        jump_live[slot_now] = 0;
        jumps++;
    }
    if (jumps < 1500) {
        may_jump = true;
        insert_and_remove(&state);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    uint64_t want = 0;
    for (unsigned slot = 0; slot < JUMP_SLOTS; slot++) {
        struct block block = jump_block(slot);
        want += jump_live[slot];
        UNIT_WANT(blocks_find(&unit_guard, block.address, &out) == jump_live[slot]);
        UNIT_WANT(insert(&block, &old) == (jump_live[slot] ? BLOCKS_REPLACED : BLOCKS_NEW));
    }
    ck_assert_uint_gt(want, 0);
    ck_assert_uint_eq(blocks_count(), JUMP_SLOTS);
    ck_assert(blocks_check());
}
END_TEST

/* ---- Areas ----------------------------------------------------------------------------------- */

START_TEST(a_lookup_makes_no_area)
{
    struct block out;
    uint64_t used = arena_used();
    for (unsigned n = 0; n < 1000; n++) {
        uintptr_t address = BASE + n * AREA;
        UNIT_WANT(!take_out(address, &out) && !blocks_find(&unit_guard, address, &out));
        blocks_prefetch(address);
    }
    ck_assert_uint_eq(shadow_areas(), 0);
    ck_assert_uint_eq(arena_used(), used);
}
END_TEST

START_TEST(blocks_of_the_open_table_need_no_area)
{
    struct block old;
    set_way(OPEN);
    for (unsigned n = 0; n < 100; n++) {
        struct block block = at(BASE + n * AREA);
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    ck_assert_uint_eq(shadow_areas(), 0);
    ck_assert_uint_eq(table_count(), 100);
}
END_TEST

/* The words of a window take a fourth of its bytes. */
START_TEST(a_dense_heap_takes_eight_bytes_a_window_and_its_runs)
{
    enum { BLOCKS = 1 << 20 };
    struct block old;
    uint64_t before = arena_used();
    for (unsigned n = 0; n < BLOCKS; n++) {
        struct block block = at(BASE + n * WINDOW);
        block.size = 20;
        block.count = n;
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    uint64_t took = arena_used() - before, areas = shadow_areas();
    ck_assert_uint_eq(areas, BLOCKS * WINDOW / AREA);
    UNIT_WANT_MSG(took <= areas * (AREA / 4) * 9 / 8 + BLOCKS, "%" PRIu64 " bytes for %d blocks",
                  took, BLOCKS);
}
END_TEST

START_TEST(areas_far_from_each_other_are_kept_apart)
{
    enum { BLOCKS = 300 };
    struct block old, out;
    uint64_t state = unit_seed;
    static struct block blocks[BLOCKS];
    for (unsigned n = 0; n < BLOCKS; n++) {
        blocks[n] = at((uint64_t)n * ((1ull << 48) / BLOCKS) / AREA * AREA +
                       unit_random(&state) % (AREA / 32) * 32 + AREA);
        blocks[n].count = n;
        UNIT_WANT(insert(&blocks[n], &old) == BLOCKS_NEW);
    }
    ck_assert_uint_eq(blocks_count(), BLOCKS);
    ck_assert_uint_eq(shadow_areas(), BLOCKS);
    for (unsigned n = 0; n < BLOCKS; n++)
        UNIT_WANT_MSG(take_out(blocks[n].address, &out) && same(&out, &blocks[n]),
                      "seed %" PRIu64 ": block %u", unit_seed, n);
    ck_assert(blocks_check());
}
END_TEST

#define MAKERS 4

static void *make_areas(void *argument)
{
    uint64_t bad = 0;
    struct block old, out;
    for (unsigned n = 0; n < 64; n++) {
        struct block block = at(BASE + n * AREA + (uintptr_t)argument * WINDOW);
        block.thread = (uintptr_t)argument + 1;
        block.count = n;
        bad += insert(&block, &old) != BLOCKS_NEW;
        bad += !blocks_find(&unit_guard, block.address, &out) || !same(&out, &block);
    }
    return (void *)(uintptr_t)bad;
}

START_TEST(threads_that_need_an_area_at_once_get_the_same)
{
    pthread_t threads[MAKERS];
    for (uintptr_t i = 0; i < MAKERS; i++)
        pthread_create(&threads[i], NULL, make_areas, (void *)i);
    for (int i = 0; i < MAKERS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        ck_assert_ptr_null(bad);
    }
    ck_assert_uint_eq(shadow_areas(), 64);
    ck_assert_uint_eq(blocks_count(), 64 * MAKERS);
    ck_assert(blocks_check());
}
END_TEST

/* ---- Order ----------------------------------------------------------------------------------- */

struct seen {
    uintptr_t last, end;
    uint64_t blocks;
    bool sorted;
};

static void see_end(uintptr_t end, void *context)
{
    struct seen *seen = context;
    seen->sorted = seen->sorted && end % REGION == 0 && end > seen->end;
    seen->end = end;
}

static void see_block(const struct block *block, void *context)
{
    struct seen *seen = context;
    seen->sorted = seen->sorted && block->address > seen->last && block->address < seen->end &&
                   block->address >= seen->end - REGION;
    seen->last = block->address;
    seen->blocks++;
}

START_TEST(blocks_are_visited_in_the_order_of_their_addresses)
{
    struct seen seen = {.sorted = true};
    struct block old;
    uint64_t state = unit_seed, count = 0;
    for (unsigned n = 0; n < 5000; n++) {
        struct block block = at(BASE + unit_random(&state) % (4 * AREA / 32) * 32);
        count += insert(&block, &old) == BLOCKS_NEW;
    }
    shadow_each(see_block, see_end, &seen);
    ck_assert_msg(seen.sorted, "seed %" PRIu64, unit_seed);
    ck_assert_uint_eq(seen.blocks, count);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("shadow");
    TCase *rests = tcase_create("rests");
    tcase_set_timeout(rests, 60);
    tcase_add_checked_fixture(rests, start_blocks, NULL);
    tcase_add_loop_test(rests, a_rest_without_a_block_is_none_and_stands_in_nobodys_way, 0,
                        ARRAY_LENGTH(over_rests));
    tcase_add_loop_test(rests, a_coarse_rest_without_a_block_is_none_and_stands_in_nobodys_way, 0,
                        6);
    tcase_add_loop_test(rests, a_rest_at_the_start_of_an_area_is_none, 0, 2);
    tcase_add_loop_test(rests, handlers_that_leave_by_longjmp_do_no_damage, 0, WAYS);
    suite_add_tcase(suite, rests);
    TCase *areas = tcase_create("areas");
    tcase_set_timeout(areas, 60);
    tcase_add_checked_fixture(areas, start_blocks, NULL);
    tcase_add_test(areas, a_lookup_makes_no_area);
    tcase_add_test(areas, blocks_of_the_open_table_need_no_area);
    tcase_add_test(areas, a_dense_heap_takes_eight_bytes_a_window_and_its_runs);
    tcase_add_test(areas, areas_far_from_each_other_are_kept_apart);
    tcase_add_test(areas, threads_that_need_an_area_at_once_get_the_same);
    tcase_add_test(areas, blocks_are_visited_in_the_order_of_their_addresses);
    suite_add_tcase(suite, areas);
    return unit_main(argc, argv, suite);
}
