/* test_tree_limit.c - the tree has room for 2^26 nodes; the next one is refused, and nothing else
 * breaks.
 *
 * Nobody can wait for 67 million stacks: this program has the module inside it, so that it can
 * begin near the end. The memory of the last segment is there, but never touched. The same way it
 * sees that a table of the index ends when it is outgrown.
 */
#include "tests/unit/preload/unit.h"
#include "preload/contexts/context_tree.c"

#include "tests/unit/preload/store_view.h"

static struct unwind_trace trace;

static uint32_t site_of(uintptr_t pc)
{
    trace.end = LEAK_ROOT_COMPLETE;
    trace.depth = 1;
    trace.shared = 0;
    trace.shareable = true;
    trace.step[0] = (struct unwind_step){.pc = pc};
    return context_tree_site(&unit_guard, &trace, LEAK_KIND_MALLOC);
}

/* As if all ids up to this one were given out. */
static void begin_at(uint32_t id)
{
    uint32_t place = segmented_array_place(&nodes, id + 1), before = 1u << ID_BITS;
    size_t size = (size_t)nodes.record_size << (ID_BITS - SEGMENTED_ARRAY_PART_BITS);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(memory != MAP_FAILED);
    ck_assert_uint_eq(segmented_array_segment(&nodes, place), segmented_array_segment(&nodes, before));
    nodes.origin[segmented_array_segment(&nodes, place)] =
        (uintptr_t)memory - (uintptr_t)before * nodes.record_size;
    last_node = id;
}

START_TEST(the_last_nodes_are_given_out_and_then_no_more)
{
    enum { LEFT = 20 };
    uint32_t sites[2 * LEFT];
    ck_assert(store_create(unit_directory, "limit", environ));
    sites_start();
    ck_assert(context_tree_start());
    uint32_t early = site_of(0x400000);
    ck_assert_uint_ne(early, 0);
    begin_at(ID_MOST - STRIPES - LEFT);
    unsigned given = 0;
    for (unsigned n = 0; n < ARRAY_LENGTH(sites); n++) {
        sites[n] = site_of(0x800000 + n * 8);
        given += sites[n] != 0;
        ck_assert_msg(sites[n] == 0 || sites[n] == early + given, "stack %u is site %u", n,
                      sites[n]);
        ck_assert_msg(trace.shareable == (sites[n] != 0), "stack %u: the next may share %d", n,
                      trace.shareable);
    }
    ck_assert_uint_eq(given, LEFT); /* a node each */
    ck_assert_uint_le(last_node, ID_MOST);
    for (unsigned n = 0; n < ARRAY_LENGTH(sites); n++)
        ck_assert_uint_eq(site_of(0x800000 + n * 8), sites[n]);
    ck_assert_uint_eq(site_of(0x400000), early);
}
END_TEST

START_TEST(an_outgrown_table_takes_no_memory_and_has_nothing)
{
    if (unit_is_emulated())
        return UNIT_SKIP(UNIT_EMULATED);
    const uint32_t size = 3, place = 0x12345678;
    unsigned char resident[1 << 3];
    table_handle table = table_regions_make(&regions, 3, size);
    ck_assert(table);
    insert_node(table, place, 7);
    struct index_probe probe = start_index_probe(table, place);
    ck_assert_uint_eq(next_probed_id(&probe), 7);
    probe = start_index_probe(table, place); /* a reader that takes its time */
    table_regions_abandon(table);
    ck_assert_int_eq(mincore(index_slots(table), LEAK_PAGE << size, resident), 0);
    for (unsigned page = 0; page < ARRAY_LENGTH(resident); page++)
        ck_assert_msg(!(resident[page] & 1), "page %u is there still", page);
    ck_assert_uint_eq(next_probed_id(&probe), 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("tree_limit");
    TCase *all = tcase_create("limit");
    tcase_add_test(all, the_last_nodes_are_given_out_and_then_no_more);
    tcase_add_test(all, an_outgrown_table_takes_no_memory_and_has_nothing);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
