/* test_reach.c */
#include "tests/unit/preload/naive_heap.h"

#define HEAPS 41
#define LOOKS 2500

START_TEST(random_heaps_are_judged_as_by_the_naive_marker)
{
    static struct heap heaps[HEAPS];
    for (int look = 0; look < LOOKS; look++) {
        uint64_t state = unit_seed + look;
        make_heaps(heaps, HEAPS, &state);
        struct reach *reach = look_at(heaps, HEAPS, UINT64_MAX);
        ck_assert_ptr_nonnull(reach);
        uint32_t node = 0;
        for (int i = 0; i < HEAPS; i++) {
            judge(&heaps[i]);
            for (int k = 0; k < heaps[i].blocks; k++, node++) {
                struct block block = reach_block(reach, node);
                if (block.address != heaps[i].block[k].address ||
                    reach_verdict(reach, node) != heaps[i].verdict[k]) {
                    show_heap(&heaps[i]);
                    ck_abort_msg("look %d block %d: verdict %d (SEED=%" PRIu64 ")", look, k,
                                 reach_verdict(reach, node), unit_seed);
                }
            }
        }
        reach_end(reach);
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("reach");
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, random_heaps_are_judged_as_by_the_naive_marker);
    suite_add_tcase(suite, tcase);
    return unit_main(argc, argv, suite);
}
