/* test_leak_check.c - the note of an earlier leak check on a block, against a linear search. */
#include "tests/unit/preload/unit.h"
#include "preload/leakcheck/leak_check.h"

#define NOTES_MOST 200

static struct leak_check_result *result;

static void setup(void)
{
    result = calloc(1, sizeof *result + NOTES_MOST * sizeof result->note[0]);
}

/* The linear search. */
static const struct leak_check_note *search(const struct block *block)
{
    for (uint32_t i = 0; i < result->notes; i++)
        if (result->note[i].address == block->address && result->note[i].count == block->count &&
            result->note[i].thread == block->thread)
            return &result->note[i];
    return NULL;
}

static void make_notes(uint64_t *state)
{
    uintptr_t address = 0x1000;
    result->notes = unit_random(state) % NOTES_MOST;
    for (uint32_t i = 0; i < result->notes; i++) {
        address += 8 * (1 + unit_random(state) % 3);
        result->note[i] = (struct leak_check_note){.address = address,
                                             .count = unit_random(state) % 3,
                                             .thread = unit_random(state) % 2,
                                             .verdict = LEAK_VERDICT_LOST};
    }
}

static struct block ask(uintptr_t address, uint64_t *state)
{
    return (struct block){
        .address = address, .count = unit_random(state) % 3, .thread = unit_random(state) % 2};
}

static void expect(const struct block *block, uint32_t *at)
{
    uint32_t from = *at;
    const struct leak_check_note *got = leak_check_find_note(result, at, block);
    UNIT_WANT_MSG(got == search(block), "seed %" PRIu64 ": %#" PRIxPTR " among %u, from %u",
                  unit_seed, block->address, result->notes, from);
    UNIT_WANT(*at <= result->notes);
}

START_TEST(a_note_is_found_from_wherever_the_last_one_was)
{
    uint64_t state = unit_seed;
    for (unsigned n = 0; n < 500; n++) {
        make_notes(&state);
        for (unsigned k = 0; k < 100; k++) {
            uint32_t at = unit_random(&state) % (result->notes + 3); /* also behind the end */
            struct block block = ask(0xff0 + unit_random(&state) % (NOTES_MOST * 28), &state);
            expect(&block, &at);
        }
    }
}
END_TEST

/* In the order of the block table: one region after the other, ascending in each or in no order. */
START_TEST(blocks_that_come_in_any_order_are_all_found)
{
    uint64_t state = unit_seed;
    for (unsigned n = 0; n < 500; n++) {
        uint32_t at = 0;
        bool upwards = n % 2;
        make_notes(&state);
        for (uint32_t i = 0; i < result->notes; i++) {
            const struct leak_check_note *note =
                &result->note[upwards ? i : unit_random(&state) % result->notes];
            struct block block = {
                .address = note->address, .count = note->count, .thread = note->thread};
            UNIT_WANT(leak_check_find_note(result, &at, &block) == note);
            block.count++; /* another block at its address */
            UNIT_WANT(!leak_check_find_note(result, &at, &block));
            block.count--;
            block.thread++;
            UNIT_WANT(!leak_check_find_note(result, &at, &block));
        }
    }
}
END_TEST

START_TEST(in_an_empty_list_nothing_is_found)
{
    uint32_t at = 5;
    result->notes = 0;
    ck_assert_ptr_null(leak_check_find_note(result, &at, &(struct block){.address = 0x1000}));
    ck_assert_uint_eq(at, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("leak_check");
    TCase *notes = tcase_create("notes");
    tcase_add_checked_fixture(notes, setup, NULL);
    tcase_add_test(notes, a_note_is_found_from_wherever_the_last_one_was);
    tcase_add_test(notes, blocks_that_come_in_any_order_are_all_found);
    tcase_add_test(notes, in_an_empty_list_nothing_is_found);
    suite_add_tcase(suite, notes);
    return unit_main(argc, argv, suite);
}
