/* test_reader.c - what the reader makes of good, odd and hostile stores. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/store/reader.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"
#include "tests/unit/size.h"

static struct arena *mem;
static struct store store;
static struct read_error trouble;

static void setup(void)
{
    mem = arena_begin();
}

static void teardown(void)
{
    arena_end(mem);
}

static bool parse(const struct store_builder *builder)
{
    struct extent extent;
    struct store_image image = store_image_borrow(builder->data, builder->size, &extent);

    return reader_parse(mem, &image, &store, &trouble);
}

static void must_hold(void)
{
    const char *broken;

    ck_assert_msg(store_check(&store, &broken), "broken: %s", broken);
}

static void read_well(const struct store_builder *builder)
{
    ck_assert(parse(builder));
    must_hold();
}

static void end(struct store_builder *builder)
{
    store_end(&store);
    builder_end(builder);
}

START_TEST(example_is_read_whole)
{
    struct store_builder builder = builder_example();

    read_well(&builder);
    ck_assert_str_eq(store.exe, "/opt/app");
    ck_assert_str_eq(store.cwd, "/opt");
    ck_assert_uint_eq(store.argc, 3);
    ck_assert_str_eq(store.argv[1], "--fast");
    ck_assert_str_eq(store.host, "testhost");
    ck_assert_uint_eq(store.module_count, 2);
    ck_assert_str_eq(store.modules[1].path, "/lib/libc.so.6");
    ck_assert_uint_eq(store.modules[0].build_id_length, 4);
    ck_assert_uint_eq(store.thread_count, 3);
    ck_assert_str_eq(store_find_thread(&store, 2)->name, "worker");
    ck_assert_ptr_null(store_find_thread(&store, 9));
    ck_assert_uint_eq(store.site_count, 5);
    ck_assert_uint_eq(store.note_count, 0);
    end(&builder);
}
END_TEST

START_TEST(live_is_folded_plus_slots)
{
    struct store_builder builder = builder_example();

    read_well(&builder);
    ck_assert_uint_eq(store.sites[0].live_blocks, 10 - 4 + 3 - 1);
    ck_assert_uint_eq(store.sites[0].live_bytes, 1000 - 400 + 300 - 100);
    ck_assert_uint_eq(store.sites[0].last, 24); /* the slot's, later than the site's */
    ck_assert_uint_eq(store.sites[0].threads[0], 2);
    end(&builder);
}
END_TEST

START_TEST(a_slot_that_was_folded_in_is_not_counted_twice)
{
    struct store_builder builder = builder_example();

    read_well(&builder);
    ck_assert_uint_eq(store.sites[2].live_blocks, 1);
    ck_assert_uint_eq(store.sites[2].live_bytes, 64);
    end(&builder);
}
END_TEST

/* The steps of a fold, in order; at each the process may have died. Slot: 0 untouched, 1 given up
 * but not cleared, 2 cleared. */
static const struct {
    const char *name;
    bool in_force, moved;
    int slot;
} steps[] = {
    {"not begun", false, false, 0},
    {"the sum is written", false, false, 0},
    {"the sum counts", true, false, 0},
    {"the site has it", true, true, 0},
    {"the slot is free", true, true, 1},
    {"the slot is cleared", true, true, 2},
    {"done", false, true, 2},
};

/* Beside it stand the same site's slot in another thread, and another site's slot in this one. */
START_TEST(a_death_at_any_step_of_a_fold_loses_and_doubles_nothing)
{
    struct store_builder builder = builder_begin();
    struct leak_counts before = {10, 1000, 4, 400}, slot = {5, 50, 1, 10}, sum = {15, 1050, 5, 410};
    uint32_t site = builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, before);
    uint32_t other = builder_site(&builder, LEAK_ROOT_DEPTH, LEAK_KIND_NEW, before);
    struct leak_slots *slots;

    builder_slots(&builder, 3);
    builder_slot(&builder, other, (struct leak_counts){1, 7, 0, 0});
    builder_slots(&builder, 2);
    builder_slot(&builder, other, (struct leak_counts){2, 8, 0, 0});
    builder_slot(&builder, site, slot);
    builder_fold(&builder, sum);
    slots = builder_slots_at(&builder);
    slots->fold_site = steps[_i].in_force ? site : 0;
    if (steps[_i].moved)
        builder_site_at(&builder, site)->counts = sum;
    if (steps[_i].slot >= 1)
        slots->slot[1].site = 0;
    if (steps[_i].slot == 2)
        memset(&slots->slot[1], 0, sizeof(slots->slot[1]));
    builder_slots(&builder, 4);
    builder_slot(&builder, site, (struct leak_counts){100, 10000, 0, 0});
    read_well(&builder);
    ck_assert_msg(store.sites[0].counts.allocs == 115 && store.sites[0].counts.bytes == 11050 &&
                      store.sites[0].counts.frees == 5 && store.sites[0].counts.freed_bytes == 410,
                  "%s: %d allocations", steps[_i].name, (int)store.sites[0].counts.allocs);
    ck_assert_uint_eq(store.sites[1].counts.allocs, 13);
    ck_assert_uint_eq(store.note_count, 0);
    end(&builder);
}
END_TEST

/* Sums and numbers that no process writes. */
START_TEST(a_fold_that_cannot_be_is_survived)
{
    struct store_builder builder = builder_begin();
    uint32_t site =
        builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, (struct leak_counts){1, 8, 0, 0});
    struct leak_slots *slots;

    builder_slots(&builder, 2);
    builder_slot(&builder, site, (struct leak_counts){1, 8, 0, 0});
    builder_fold(&builder, (struct leak_counts){2, 16, 0, 0});
    slots = builder_slots_at(&builder);
    switch (_i) {
    case 0: /* of a site that is not there */
        slots->fold_site = 4000000000u;
        break;
    case 1: /* from a slot that is not there */
        slots->fold_slot = 4000000000u;
        break;
    case 2: /* from another site's slot */
        slots->fold_slot = 1;
        break;
    case 3: /* of no thread: the whole cache is ignored */
        slots->thread = 0;
        break;
    default: /* too short for its own beginning */
        ((struct leak_chunk *)(builder.data + builder.slots))->length = 8;
        break;
    }
    read_well(&builder);
    ck_assert_uint_le(store.sites[0].counts.allocs, 3);
    ck_assert_uint_eq(store.note_count, _i == 0);
    end(&builder);
}
END_TEST

START_TEST(where_blocks_were_freed_lies_with_their_site)
{
    struct store_builder builder = builder_example();
    const struct store_freed *freed;

    read_well(&builder);
    ck_assert_uint_eq(store.freed_count, 3);
    ck_assert_uint_eq(store.sites[0].freed_count, 2);
    freed = &store.freed[store.sites[0].freed];
    ck_assert_uint_eq(freed[0].blocks, 4); /* the most frequent first */
    ck_assert_uint_eq(freed[0].bytes, 400);
    ck_assert_uint_eq(store.nodes[freed[0].node].pc, 0x1400);
    ck_assert_uint_eq(store.sites[1].freed_count, 1);
    ck_assert_uint_eq(store.freed[store.sites[1].freed].node, LEAK_ROOT_BROKEN);
    ck_assert_uint_eq(store.sites[2].freed_count, 0);
    end(&builder);
}
END_TEST

START_TEST(recent_frees_are_read_newest_first)
{
    struct store_builder builder = builder_example();

    read_well(&builder);
    ck_assert_uint_eq(store.recent_count, 3);
    ck_assert_uint_eq(store.recent[0].address, 0xb000);
    ck_assert_uint_eq(store.recent[0].pc, 0x1410);
    ck_assert_uint_eq(store.recent[0].node, LEAK_ROOT_NONE);
    ck_assert_uint_eq(store.recent[0].thread, 2);
    ck_assert_uint_eq(store.recent[1].thread, 3);
    ck_assert_uint_eq(store.sites[store.recent[1].site].id, 2);
    ck_assert_uint_eq(store.nodes[store.recent[2].node].pc, 0x1400);
    ck_assert_uint_eq(store.free_captures, 1);
    end(&builder);
}
END_TEST

START_TEST(a_full_ring_gives_all_but_the_place_that_is_written_next)
{
    struct store_builder builder = builder_begin();

    builder_recent(&builder, 1);
    for (uint64_t i = 1; i <= LEAK_RECENT - 1 + (uint64_t)_i; i++)
        builder_recent_free(&builder, i << 4, 0x1000, 0, 0, (uint32_t)i / 8);
    read_well(&builder);
    ck_assert_uint_eq(store.recent_count, LEAK_RECENT - 1);
    for (size_t i = 0; i < store.recent_count; i++) {
        ck_assert_uint_eq(store.recent[i].address, (LEAK_RECENT - 1 + (uint64_t)_i - i) << 4);
        ck_assert_uint_eq(store.recent[i].site, STORE_NO_SITE);
    }
    ck_assert_uint_eq(store.note_count, 0);
    end(&builder);
}
END_TEST

START_TEST(frees_that_name_no_site_or_no_node_are_left_out_or_unknown)
{
    struct store_builder builder = builder_begin();
    uint32_t node = builder_node(&builder, 0x1000, LEAK_ROOT_COMPLETE, 0);
    uint32_t site = builder_site(&builder, node, LEAK_KIND_NEW, (struct leak_counts){9, 9, 8, 8});

    builder_freed(&builder, site + 1, node, 1, 1);
    builder_freed(&builder, UINT32_MAX, node, 1, 1);
    builder_freed(&builder, 0, node, 1, 1); /* not published: no damage */
    builder_freed(&builder, site, node + 1000, UINT64_MAX, UINT64_MAX);
    builder_freed(&builder, site, UINT32_MAX, UINT64_MAX, 0);
    builder_freed(&builder, site, LEAK_ROOT_NONE, 1, 1);
    builder_recent(&builder, 77);
    builder_recent_free(&builder, 0x10, 0x20, UINT32_MAX, UINT32_MAX, UINT32_MAX);
    read_well(&builder);
    ck_assert_uint_eq(store.freed_count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(store.freed[i].node, STORE_ROOT_MISSING);
    ck_assert_uint_eq(store.recent[0].node, STORE_ROOT_MISSING);
    ck_assert_uint_eq(store.recent[0].site, STORE_NO_SITE);
    ck_assert_uint_eq(store.note_count, 1);
    end(&builder);
}
END_TEST

START_TEST(many_frees_keep_their_sites_across_chunks)
{
    struct store_builder builder = builder_begin();

    for (uint32_t i = 1; i <= 300; i++)
        builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, (struct leak_counts){i, i, i, i});
    for (uint32_t i = 0; i < 3000; i++)
        builder_freed(&builder, 1 + i * 7 % 300, LEAK_ROOT_COMPLETE, i, i);
    read_well(&builder);
    ck_assert_uint_eq(store.freed_count, 3000);
    for (size_t i = 0; i < 300; i++)
        ck_assert_uint_eq(store.sites[i].freed_count, 10);
    end(&builder);
}
END_TEST

/* A record of a chunk that has no function of the builder. */
static void *record_in(struct store_builder *builder, size_t chunk, size_t number, size_t size)
{
    ((struct leak_chunk *)(builder->data + chunk))->length = (number + 1) * size;
    return builder->data + chunk + sizeof(struct leak_chunk) + number * size;
}

START_TEST(milestones_are_read_in_order_of_time)
{
    struct store_builder builder = builder_example();
    size_t chunk =
        builder_chunk(&builder, LEAK_CHUNK_MILESTONES, 0, 4 * sizeof(struct leak_milestone));

    *(struct leak_milestone *)record_in(&builder, chunk, 0, sizeof(struct leak_milestone)) =
        (struct leak_milestone){.number = 2, .tick = 9, .is_look = 1};
    *(struct leak_milestone *)record_in(&builder, chunk, 1, sizeof(struct leak_milestone)) =
        (struct leak_milestone){.number = 1, .tick = 4, .when_ns = 77, .name = "loaded"};
    *(struct leak_milestone *)record_in(&builder, chunk, 2, sizeof(struct leak_milestone)) =
        (struct leak_milestone){.number = 0, .tick = 5, .name = "half written"};
    read_well(&builder);
    ck_assert_uint_eq(store.milestone_count, 2);
    ck_assert_str_eq(store.milestones[0].name, "loaded");
    ck_assert_uint_eq(store.milestones[0].when_ns, 77);
    ck_assert(!store.milestones[0].is_look);
    ck_assert(store.milestones[1].is_look);
    end(&builder);
}
END_TEST

START_TEST(memory_of_libleak_itself_is_read_when_it_is_whole)
{
    for (int whole = 0; whole < 2; whole++) {
        struct store_builder builder = builder_example();
        size_t chunk = builder_chunk(&builder, LEAK_CHUNK_OWN, 0, sizeof(struct leak_own));

        *(struct leak_own *)record_in(&builder, chunk, 0, sizeof(struct leak_own)) =
            (struct leak_own){.used = 5, .mapped = 3, .charged = 2};
        if (!whole)
            ((struct leak_chunk *)(builder.data + chunk))->length--;
        read_well(&builder);
        ck_assert_uint_eq(store.own.used, whole ? 5 : 0);
        ck_assert_uint_eq(store.own.charged, whole ? 2 : 0);
        end(&builder);
    }
}
END_TEST

static void check_forks(uint32_t depth, const char *expected)
{
    struct store_builder builder = builder_begin();
    size_t chunk = builder_chunk(&builder, LEAK_CHUNK_FORKS, 0, sizeof(struct leak_forks));

    builder_header(&builder)->flags = LEAK_FLAG_FORKED;
    *(struct leak_forks *)record_in(&builder, chunk, 0, sizeof(struct leak_forks)) =
        (struct leak_forks){.depth = depth, .forks = {{1, 3}, {2, 1}}};
    read_well(&builder);
    if (expected)
        ck_assert_str_eq(store.fork_chain, expected);
    else
        ck_assert_ptr_null(store.fork_chain);
    end(&builder);
}

START_TEST(fork_child_is_named_by_its_forks_if_all_are_known)
{
    check_forks(1, "T1.3/");
    check_forks(2, "T1.3/T2.1/");
    check_forks(LEAK_FORKS_MOST + 1, NULL);
    check_forks(UINT32_MAX, NULL);
}
END_TEST

START_TEST(process_that_was_not_forked_has_an_empty_chain_of_forks)
{
    struct store_builder builder = builder_begin();

    read_well(&builder);
    ck_assert_str_eq(store.fork_chain, "");
    end(&builder);
}
END_TEST

START_TEST(pools_of_wrong_frees_have_their_names)
{
    struct store_builder builder = builder_begin();
    size_t chunk = builder_chunk(&builder, LEAK_CHUNK_POOLS, 0, 2 * sizeof(struct leak_pool));

    *(struct leak_pool *)record_in(&builder, chunk, 0, sizeof(struct leak_pool)) =
        (struct leak_pool){.number = 1, .name = "mesh"};
    *(struct leak_pool *)record_in(&builder, chunk, 1, sizeof(struct leak_pool)) =
        (struct leak_pool){.number = 7, .name = "another place's"};
    builder_event(&builder, &(struct leak_event){.type = LEAK_EVENT_MISMATCHED_FREE,
                                                 .form = LEAK_FORM_FREE,
                                                 .count = 1,
                                                 .block_pool = 1,
                                                 .call_pool = 2});
    read_well(&builder);
    ck_assert_uint_eq(store.event_count, 1);
    ck_assert_str_eq(store.events[0].block_pool, "mesh");
    ck_assert_ptr_null(store.events[0].call_pool);
    end(&builder);
}
END_TEST

/* A block with an unknown site, or in an unknown state, is left out; one never allocated, silently. */
START_TEST(followed_blocks_have_valid_places)
{
    struct store_builder builder = builder_begin();
    uint32_t node = builder_node(&builder, 0x1000, LEAK_ROOT_COMPLETE, 0);
    uint32_t site =
        builder_site(&builder, node, LEAK_KIND_MALLOC, (struct leak_counts){1, 8, 0, 0});
    size_t chunk = builder_chunk(&builder, LEAK_CHUNK_FOLLOWED, 0,
                                 LEAK_FOLLOWED_MOST * sizeof(struct leak_followed));
    struct leak_followed good = {.thread = 1,
                                 .count = 42,
                                 .state = LEAK_FOLLOWED_LOST,
                                 .site = site,
                                 .last = {.event = 3,
                                          .before = node,
                                          .after = 0x7fffffff,
                                          .frame_count = 1000,
                                          .frames = {0x1234},
                                          .holder.word = {.address = 8, .root_class = 200}}};
    struct leak_followed unknown_site = good, unknown_state = good;

    unknown_site.site = 0x7fffffff;
    unknown_state.state = 77;
    for (unsigned i = 0; i < 3; i++)
        *(struct leak_followed *)record_in(&builder, chunk, i, sizeof(good)) = i == 0 ? unknown_site
                                                                               : i == 1
                                                                                   ? good
                                                                                   : unknown_state;
    read_well(&builder);
    ck_assert_uint_eq(store.followed_count, 1);
    ck_assert_uint_eq(store.followed[0].count, 42);
    ck_assert_uint_eq(store.followed[0].stored.event, 0);
    ck_assert_uint_eq(store.followed[0].last.event, 3);
    ck_assert_uint_eq(store.followed[0].last.frame_count, LEAK_FOLLOWED_FRAMES);
    ck_assert_uint_eq(store.followed[0].last.frames[0], 0x1234);
    ck_assert_uint_eq(store.followed[0].last.holder.word.root_class, 0);
    ck_assert_uint_lt(store.followed[0].last.after, store.node_count);
    ck_assert_uint_eq(store.followed[0].last.holder_site, STORE_NO_SITE);
    end(&builder);
}
END_TEST

static void count_word(struct leak_counters *counters, size_t at, uint16_t word, int16_t by)
{
    counters->countings[at] = (struct leak_counting){
        .frame_count = 1, .word = word, .by = by, .times = at + 1, .frames = {0x1000 + at}};
}

/* A trail with 17 calls that passed the block: the first one has been overwritten. */
static struct leak_trail make_trail(uint32_t is_cut)
{
    struct leak_trail trail = {.passed_count = LEAK_WAYS_PASSED + 1, .is_cut = is_cut};

    trail.ended[0] = (struct leak_way){
        .frame_count = 1000, .how = LEAK_WAY_ENDED, .jump_count = 1000, .left_at = 0x1234};
    for (uint32_t number = 2; number <= LEAK_WAYS_PASSED + 1; number++)
        trail.passed[(number - 1) % LEAK_WAYS_PASSED] =
            (struct leak_way){.frame_count = 1, .number = number, .frames = {0x1000 + number}};
    trail.words[30] = (struct leak_counter){.changes = 2, .first = 1, .value = 1, .most = 2};
    trail.countings[0] = (struct leak_counting){.frame_count = 1, .word = 30, .by = -1};
    return trail;
}

static void read_trail_of(struct leak_trail trail)
{
    struct store_builder builder = builder_begin();
    size_t chunk = builder_chunk(&builder, LEAK_CHUNK_TRAIL, 0, sizeof(trail));

    builder_node(&builder, 0x1000, LEAK_ROOT_COMPLETE, 0);
    *(struct leak_trail *)record_in(&builder, chunk, 0, sizeof(trail)) = trail;
    read_well(&builder);
    ck_assert(store.trail.found);
    ck_assert_uint_eq(store.trail.ended_count, 1);
    ck_assert_uint_eq(store.trail.ended[0].frame_count, LEAK_WAY_FRAMES);
    ck_assert_uint_eq(store.trail.ended[0].jump_count, LEAK_WAY_JUMPS);
    ck_assert_uint_eq(store.trail.ended[0].left_at, 0x1234);
    ck_assert_uint_eq(store.trail.passed_count, trail.is_cut ? 0 : LEAK_WAYS_PASSED);
    ck_assert_int_eq(store.counter.found, !trail.is_cut);
    if (!trail.is_cut) {
        ck_assert_uint_eq(store.trail.passed[0].frames[0], 0x1000 + LEAK_WAYS_PASSED + 1);
        ck_assert_uint_eq(store.trail.passed[LEAK_WAYS_PASSED - 1].frames[0], 0x1002);
        ck_assert_uint_eq(store.counter.offset, 120);
    }
    end(&builder);
}

START_TEST(way_of_a_followed_block_is_read_latest_call_first)
{
    read_trail_of(make_trail(0));
}
END_TEST

START_TEST(way_that_was_cut_tells_no_last_call_and_no_count)
{
    read_trail_of(make_trail(1));
}
END_TEST

/* Of the words only the third one is a reference count: the first was never shared, the second changed
 * otherwise, too, and the fourth is 0 at the end. */
START_TEST(reference_count_is_the_word_that_was_shared_and_is_not_zero)
{
    struct store_builder builder = builder_begin();
    size_t chunk = builder_chunk(&builder, LEAK_CHUNK_COUNTERS, 0, sizeof(struct leak_counters));
    struct leak_counters counters = {.words = {{.changes = 1, .first = 1, .value = 1, .most = 1},
                                               {.is_none = 1, .first = 1, .value = 1, .most = 2},
                                               {.changes = 2, .first = 1, .value = 1, .most = 2},
                                               {.changes = 3, .first = 1, .value = 0, .most = 2}}};

    builder_node(&builder, 0x1000, LEAK_ROOT_COMPLETE, 0);
    for (uint16_t word = 0; word < 4; word++)
        count_word(&counters, word, word, -1);
    count_word(&counters, 4, 2, 1);
    counters.countings[4].frame_count = 1000;
    *(struct leak_counters *)record_in(&builder, chunk, 0, sizeof(counters)) = counters;
    read_well(&builder);
    ck_assert(store.counter.found);
    ck_assert_uint_eq(store.counter.offset, 8);
    ck_assert_int_eq(store.counter.value, 1);
    ck_assert_uint_eq(store.counter.counting_count, 2);
    ck_assert_int_eq(store.counter.countings[0].by, -1);
    ck_assert_uint_eq(store.counter.countings[0].times, 3);
    ck_assert_uint_eq(store.counter.countings[0].frames[0], 0x1002);
    ck_assert_uint_eq(store.counter.countings[1].frame_count, LEAK_COUNTING_FRAMES);
    end(&builder);
}
END_TEST

static void pack_code(struct store_builder *builder, size_t chunk, uint32_t id, uint32_t line,
                      uint32_t lines_length)
{
    _Alignas(8) char bytes[64] = {0};
    struct leak_code *code = (struct leak_code *)bytes;

    *code = (struct leak_code){.length = sizeof(bytes),
                               .id = id,
                               .first_line = line,
                               .line_table = LEAK_LINE_TABLE_3_9,
                               .file_length = 6,
                               .name_length = 4,
                               .lines_length = lines_length};
    memcpy(code->text, "app.py\0load\0\0\1\4\2", 16);
    builder_code(builder, chunk, code);
}

START_TEST(python_code_belongs_to_its_frames)
{
    struct store_builder builder = builder_begin();
    uint32_t native = builder_node(&builder, 0x1000, LEAK_ROOT_COMPLETE, 0);
    uint32_t second = builder_node(&builder, LEAK_CODE_PC + 4, native, LEAK_NODE_CODE | 2);
    uint32_t unknown = builder_node(&builder, LEAK_CODE_PC, native, LEAK_NODE_CODE | 3);
    size_t chunk = builder_chunk(&builder, LEAK_CHUNK_CODES, 0, 1);

    pack_code(&builder, chunk, 2, 20, 4);
    pack_code(&builder, chunk, 1, 10, 4);
    read_well(&builder);
    ck_assert_uint_eq(store.code_count, 2);
    ck_assert_uint_eq(store.codes[0].id, 1);
    ck_assert(!store_node_is_python(&store, native));
    ck_assert(store_node_is_python(&store, second) && store_node_is_python(&store, unknown));
    ck_assert_ptr_eq(store_find_code(&store, second), &store.codes[1]);
    ck_assert_ptr_null(store_find_code(&store, unknown));
    ck_assert_str_eq(store.codes[1].file, "app.py");
    ck_assert_str_eq(store.codes[1].name, "load");
    ck_assert_uint_eq(store.codes[1].first_line, 20);
    ck_assert_uint_eq(store.codes[1].lines[3], 2);
    end(&builder);
}
END_TEST

START_TEST(a_code_record_that_reaches_too_far_ends_the_list)
{
    struct store_builder builder = builder_begin();
    size_t chunk = builder_chunk(&builder, LEAK_CHUNK_CODES, 0, 1);

    pack_code(&builder, chunk, 1, 10, 4);
    pack_code(&builder, chunk, 2, 20, _i ? UINT32_MAX - 11 : 21);
    pack_code(&builder, chunk, 3, 30, 4);
    read_well(&builder);
    ck_assert_uint_eq(store.code_count, 1);
    end(&builder);
}
END_TEST

START_TEST(tags_of_sites_have_their_names)
{
    struct store_builder builder = builder_example();

    builder_tags_left_out(&builder, 3);
    read_well(&builder);
    ck_assert_uint_eq(store.sites[0].tag, 2);
    ck_assert_str_eq(store.tags[1], "mesh");
    ck_assert_str_eq(store.tags[2], "texture");
    ck_assert_uint_eq(store.sites[1].tag, 0);
    ck_assert_uint_eq(store.tags_left_out, 3);
    ck_assert_uint_eq(store.note_count, 0);
    end(&builder);
}
END_TEST

START_TEST(a_store_without_tags_has_none)
{
    struct store_builder builder = builder_begin();

    builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, (struct leak_counts){1, 1, 0, 0});
    read_well(&builder);
    ck_assert_ptr_null(store.tags);
    ck_assert_uint_eq(store.sites[0].tag, 0);
    end(&builder);
}
END_TEST

#define LONG_NAME "a name that is as long as there is room, and has no end to it"

/* What a site says of its tag, and the table; name NULL: there is none, told NULL: it has no tag. */
static const struct {
    unsigned tag;
    const char *name;
    uint32_t length;
    const char *told;
    size_t notes;
} odd_tags[] = {
    {7, "good", 0, "good", 0},
    {7, NULL, 0, "[tag 7]", 0},
    {7, "short", 9, "[tag 7]", 1},
    {7, "longer", 3, "[tag 7]", 1},
    {7, LONG_NAME, LEAK_TAG_NAME, "[tag 7]", 1},
    {7, LONG_NAME, LEAK_TAG_NAME - 1, "[tag 7]", 1},
    {7, "wild", UINT32_MAX, "[tag 7]", 1},
    {LEAK_TAGS, "last", 0, "last", 0},
    {LEAK_TAGS + 1, NULL, 0, NULL, 1},
    {UINT16_MAX, NULL, 0, NULL, 1},
};

START_TEST(a_tag_that_does_not_hold_is_none_or_a_number)
{
    struct store_builder builder = builder_begin();
    uint32_t site =
        builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, (struct leak_counts){1, 1, 0, 0});

    builder_site_at(&builder, site)->tag = (uint16_t)odd_tags[_i].tag;
    if (odd_tags[_i].name)
        builder_tag(&builder, odd_tags[_i].tag, odd_tags[_i].name, odd_tags[_i].length);
    read_well(&builder);
    if (odd_tags[_i].told)
        ck_assert_str_eq(store.tags[store.sites[0].tag], odd_tags[_i].told);
    else
        ck_assert_uint_eq(store.sites[0].tag, 0);
    ck_assert_uint_eq(store.note_count, odd_tags[_i].notes);
    end(&builder);
}
END_TEST

START_TEST(wrong_releases_are_read_in_their_order)
{
    struct store_builder builder = builder_example();

    builder_events_left_out(&builder, 5);
    read_well(&builder);
    ck_assert_uint_eq(store.event_count, 2);
    ck_assert_uint_eq(store.events_left_out, 5);
    ck_assert_uint_eq(store.events[0].event.type, LEAK_EVENT_MISMATCHED_FREE);
    ck_assert_uint_eq(store.events[0].event.count, 3);
    ck_assert_uint_eq(store.nodes[store.events[0].node].pc, 0x1400);
    ck_assert_uint_eq(store.sites[store.events[0].site].id, 1);
    ck_assert_uint_eq(store.events[0].freed_node, LEAK_ROOT_NONE);
    ck_assert_uint_eq(store.events[1].node, LEAK_ROOT_NONE);
    ck_assert_uint_eq(store.events[1].event.freed_pc, 0x1410);
    ck_assert_uint_eq(store.note_count, 0);
    end(&builder);
}
END_TEST

/* What each of them says that cannot be; 0: it is left out, 1: it stays, with what holds. */
static const struct {
    struct leak_event event;
    size_t kept;
} hostile_events[] = {
    {{.type = LEAK_EVENT_MAX, .form = LEAK_FORM_FREE, .count = 1}, 0},
    {{.type = UINT32_MAX, .form = LEAK_FORM_FREE, .count = 1}, 0},
    {{.type = LEAK_EVENT_DOUBLE_FREE, .form = LEAK_FORM_NONE, .count = 1}, 0},
    {{.type = LEAK_EVENT_DOUBLE_FREE, .form = LEAK_FORM_MAX, .count = 1}, 0},
    {{.type = LEAK_EVENT_DOUBLE_FREE, .form = 255, .count = 1}, 0},
    {{.type = LEAK_EVENT_INVALID_FREE, .form = 1, .place = LEAK_PLACE_MAX, .count = 1}, 0},
    {{.type = LEAK_EVENT_DOUBLE_FREE, .form = 1, .freed_form = LEAK_FORM_MAX, .count = 1}, 0},
    {{.type = LEAK_EVENT_DOUBLE_FREE, .form = 1, .site = UINT32_MAX, .count = 1}, 1},
    {{.type = LEAK_EVENT_DOUBLE_FREE, .form = 1, .node = UINT32_MAX, .count = 1}, 1},
    {{.type = LEAK_EVENT_DOUBLE_FREE, .form = 1, .freed_node = UINT32_MAX, .count = 1}, 1},
    {{.type = LEAK_EVENT_INTERIOR_FREE, .form = 1, .count = UINT64_MAX, .offset = INT64_MIN}, 1},
    {{.type = LEAK_EVENT_INTERIOR_FREE, .form = 1, .count = 0}, 1},
};

START_TEST(a_wrong_release_that_cannot_be_is_left_out_or_unknown)
{
    struct store_builder builder = builder_begin();

    builder_node(&builder, 0x1000, LEAK_ROOT_COMPLETE, 0);
    builder_event(&builder, &hostile_events[_i].event);
    read_well(&builder);
    ck_assert_uint_eq(store.event_count, hostile_events[_i].kept);
    if (store.event_count) {
        ck_assert_uint_eq(store.events[0].site, STORE_NO_SITE);
        ck_assert_uint_lt(store.events[0].node, LEAK_NODE_FIRST);
        ck_assert_uint_lt(store.events[0].freed_node, LEAK_NODE_FIRST);
    }
    end(&builder);
}
END_TEST

static const struct {
    const char *text, *name, *value;
} set_options[] = {
    {"depth=9 (LIBLEAK_OPTIONS)\n", "depth", "9"},
    {"depth=9 (LIBLEAK_OPTIONS)\ndir=/a (b) c (~/x)\n", "dir", "/a (b) c"},
    {"min_size=1 (x)\nsize=2 (x)\n", "size", "2"},
    {"min_size=1 (x)\nsize=2 (x)", "size", "2"},
    {"min_size=1", "min_size", "1"},
    {"min_size=123456789 (x)\n", "min_size", "1234567"},
    {"min_size=\n", "min_size", ""},
    {"min_size (x)\n", "min_size", NULL},
    {"", "min_size", NULL},
    {"min_size=1 (x)\n", "min_siz", NULL},
};

START_TEST(resources_that_do_not_hold_are_left_out)
{
    struct store_builder builder = builder_begin();
    uint32_t node = builder_node(&builder, 0x1000, LEAK_ROOT_COMPLETE, 0);
    struct leak_resource good = {.state = LEAK_RESOURCE_OPEN,
                                 .type = LEAK_RESOURCE_FD,
                                 .sort = LEAK_SORT_OPEN,
                                 .name_length = 4,
                                 .name = "/tmp",
                                 .opened = {.node = node, .thread = 1}};
    struct leak_resource all[9];
    struct leak_resource_totals totals = {
        .state = LEAK_RESOURCE_TOTALS, .opened = {0, 7}, .missed = 3};

    for (size_t i = 0; i < 9; i++)
        all[i] = good;
    all[1].state = LEAK_RESOURCE_FREE; /* no damage */
    all[2].state = 77;
    all[3].type = LEAK_RESOURCE_MAX;
    all[4].sort = LEAK_SORT_MAX;
    all[5].name_form = 9;
    all[6].name_length = LEAK_RESOURCE_NAME + 1;
    all[7].opened.node = UINT32_MAX; /* is there, without a stack */
    memcpy(&all[8], &totals, sizeof(totals));
    builder_resources(&builder, all, 9);
    read_well(&builder);
    ck_assert_uint_eq(store.resource_count, 2);
    ck_assert_str_eq(store.resources[0].name, "/tmp");
    ck_assert_uint_ge(store.resources[0].opened.node, LEAK_NODE_FIRST);
    ck_assert_uint_eq(store.resources[0].closed.node, LEAK_ROOT_NONE);
    ck_assert_uint_eq(store.resources[1].opened.node, STORE_ROOT_MISSING);
    ck_assert_uint_eq(store.resources_opened[LEAK_RESOURCE_FD], 7);
    ck_assert_uint_eq(store.resources_missed, 3);
    ck_assert_uint_eq(store.note_count, 1);
    end(&builder);
}
END_TEST

START_TEST(options_that_were_set_are_found)
{
    struct store_builder builder = builder_begin();
    char value[8] = "";
    bool found;

    builder_options(&builder, set_options[_i].text);
    read_well(&builder);
    found = store_get_option(&store, set_options[_i].name, value, sizeof(value));
    ck_assert_msg(found == (set_options[_i].value != NULL), "row %d: found %d", _i, found);
    if (found && strncmp(value, set_options[_i].value, 7) != 0)
        ck_abort_msg("row %d: got '%s'", _i, value);
    end(&builder);
}
END_TEST

START_TEST(more_frees_than_allocations_leave_nothing)
{
    struct store_builder builder = builder_begin();

    builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, (struct leak_counts){1, 8, 2, 16});
    read_well(&builder);
    ck_assert_uint_eq(store.sites[0].live_blocks, 0);
    ck_assert_uint_eq(store.sites[0].live_bytes, 0);
    end(&builder);
}
END_TEST

START_TEST(a_parent_that_is_not_below_its_child_ends_the_trace)
{
    struct store_builder builder = builder_begin();
    uint32_t first = builder_node(&builder, 0x1000, LEAK_NODE_FIRST + 1, 0);
    uint32_t second = builder_node(&builder, 0x2000, first, 0);
    uint32_t third = builder_node(&builder, 0x3000, LEAK_NODE_FIRST + 2, 0); /* itself */
    uint32_t fourth = builder_node(&builder, 0x4000, 4000000000u, 0);

    builder_site(&builder, fourth, LEAK_KIND_NEW, (struct leak_counts){1, 8, 0, 0});
    read_well(&builder);
    ck_assert_uint_eq(store.nodes[first].parent, STORE_ROOT_MISSING);
    ck_assert_uint_eq(store.nodes[second].parent, first);
    ck_assert_uint_eq(store.nodes[third].parent, STORE_ROOT_MISSING);
    ck_assert_uint_eq(store.nodes[fourth].parent, STORE_ROOT_MISSING);
    ck_assert_uint_eq(store.note_count, 1);
    end(&builder);
}
END_TEST

START_TEST(many_chunks_keep_their_ids)
{
    struct store_builder builder = builder_begin();
    uint32_t parent = LEAK_ROOT_COMPLETE;

    for (int i = 0; i < 5000; i++) {
        parent = builder_node(&builder, 0x100000 + (uint64_t)i, parent, 0);
        builder_site(&builder, parent, LEAK_KIND_MALLOC, (struct leak_counts){1, 3, 0, 0});
    }
    read_well(&builder);
    ck_assert_uint_eq(store.site_count, 5000);
    ck_assert_uint_eq(store.node_count, 5000 + LEAK_NODE_FIRST + (252 - 5000 % 252) % 252);
    ck_assert_uint_eq(store.nodes[store.sites[4321].node].pc, 0x100000 + 4321);
    end(&builder);
}
END_TEST

START_TEST(two_chunks_with_the_same_ids_are_read_once)
{
    struct store_builder builder = builder_begin();

    builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, (struct leak_counts){1, 8, 0, 0});
    builder.sites = 0;
    builder.next_site = 1;
    builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, (struct leak_counts){5, 8, 0, 0});
    read_well(&builder);
    ck_assert_uint_eq(store.site_count, 1);
    ck_assert_uint_eq(store.sites[0].live_blocks, 1);
    ck_assert_uint_eq(store.note_count, 1);
    end(&builder);
}
END_TEST

START_TEST(a_slot_of_a_site_that_is_not_there_counts_for_no_other)
{
    struct store_builder builder = builder_begin();

    builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, (struct leak_counts){1, 8, 0, 0});
    builder.sites = 0; /* ids up to 999 are in no chunk */
    builder.next_site = 1000;
    builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_NEW, (struct leak_counts){5, 40, 0, 0});
    builder_slots(&builder, 1);
    for (uint32_t id = 2; id < 100; id++)
        builder_slot(&builder, id, (struct leak_counts){1, 100, 0, 0});
    read_well(&builder);
    ck_assert_uint_eq(store.site_count, 2);
    ck_assert_uint_eq(store.sites[0].live_bytes, 8);
    ck_assert_uint_eq(store.sites[1].live_bytes, 40);
    end(&builder);
}
END_TEST

START_TEST(a_chunk_that_says_to_lie_elsewhere_is_passed_over)
{
    struct store_builder builder = builder_begin();
    size_t chunk;

    builder_thread(&builder, 1, "one");
    chunk = builder_chunk(&builder, LEAK_CHUNK_THREADS, 0, sizeof(struct leak_thread));
    memcpy(builder.data + chunk + sizeof(struct leak_chunk), &(struct leak_thread){.serial = 2},
           sizeof(struct leak_thread));
    ((struct leak_chunk *)(builder.data + chunk))->offset +=
        LEAK_PAGE; /* an old copy of another page */
    read_well(&builder);
    ck_assert_uint_eq(store.thread_count, 1);
    end(&builder);
}
END_TEST

START_TEST(of_two_threads_with_one_serial_one_is_read)
{
    struct store_builder builder = builder_begin();

    builder_thread(&builder, 2, "one");
    builder_thread(&builder, 2, "other");
    builder_thread(&builder, 3, "third");
    read_well(&builder);
    ck_assert_uint_eq(store.thread_count, 2);
    end(&builder);
}
END_TEST

START_TEST(a_window_ends_before_the_tick_of_its_end)
{
    struct leak_sample samples[] = {{.tick = 10}, {.tick = 19}, {.tick = 20}, {.tick = 21}};
    struct store_found found = {.first = 10, .last = 21, .sample_count = 4, .blocks = 4};
    struct store_leak_check look = {.found = &found,
                                    .found_count = 1,
                                    .samples = samples,
                                    .sample_count = 4,
                                    .head = {.rung = LEAK_RUNG_PARKED, .tick = 30}};
    struct store_milestone end_mark = {.number = 1, .tick = 20, .name = "end"};
    struct store windowed = {
        .mem = mem, .look = &look, .milestones = &end_mark, .milestone_count = 1};
    char words[256];

    ck_assert(
        time_window_apply(&windowed, &(struct time_window){.until = "end"}, words, sizeof(words)));
    ck_assert_uint_eq(found.sample_count, 2);
    ck_assert_uint_eq(samples[1].tick, 19);
    ck_assert_uint_eq(found.last, 20);
    store_end(&windowed);
}
END_TEST

START_TEST(a_node_belongs_to_the_first_module_loaded_after_its_number)
{
    struct store_builder builder = builder_begin();

    builder_module(&builder, "/first.so", 0x1000, 0x3000, 0, 2, 5, "");
    builder_module(&builder, "/second.so", 0x1000, 0x2000, 0, 6, 8, "");
    builder_module(&builder, "/third.so", 0x1800, 0x2000, 0, 9, 0, "");
    read_well(&builder);
    ck_assert_str_eq(store_find_module(&store, 0x1900, 0)->path, "/first.so");
    ck_assert_str_eq(store_find_module(&store, 0x1900, 5)->path, "/second.so");
    ck_assert_str_eq(store_find_module(&store, 0x1900, 8)->path, "/third.so");
    ck_assert_str_eq(store_find_module(&store, 0x2900, 0)->path, "/first.so");
    ck_assert_ptr_null(store_find_module(&store, 0x1900, 9));
    ck_assert_ptr_null(store_find_module(&store, 0x3000, 0));
    end(&builder);
}
END_TEST

START_TEST(sites_of_a_fork_child_up_to_inherited_are_marked)
{
    struct store_builder builder = builder_example();

    builder_header(&builder)->flags = LEAK_FLAG_FORKED;
    builder_header(&builder)->inherited_sites = 2;
    read_well(&builder);
    ck_assert(store.sites[1].inherited);
    ck_assert(!store.sites[2].inherited);
    end(&builder);
}
END_TEST

START_TEST(variances_belong_to_what_lives_of_a_sampled_process)
{
    struct store_builder builder = builder_example();

    builder_header(&builder)->sample = _i ? 4096 : 0;
    builder_variances(&builder, 4, 1, &(struct leak_variance){2, -1ull, 7, 0});
    read_well(&builder);
    ck_assert_uint_eq(store.sites[0].variance.samples, _i ? 4 : 0);
    ck_assert_uint_eq(store.sites[0].variance.blocks, _i ? 300 : 0);
    ck_assert_uint_eq(store.sites[0].variance.bytes, _i ? 200 : 0);
    ck_assert_uint_eq(store.sites[1].variance.samples, 0); /* all of it was freed */
    ck_assert_uint_eq(store.sites[3].variance.samples, _i ? 2 : 0);
    ck_assert_uint_eq(store.sites[3].variance.blocks, 0); /* seen between two additions */
    end(&builder);
}
END_TEST

START_TEST(temporary_blocks_belong_to_their_site)
{
    struct store_builder builder = builder_example();

    builder_temporary(&builder, 1, 4,
                      (struct leak_temporary[]){{0, 0}, {3, 48}, {0, 0}, {UINT64_MAX, 7}});
    read_well(&builder);
    ck_assert_uint_eq(store.sites[0].temporary.blocks, 0);
    ck_assert_uint_eq(store.sites[1].temporary.blocks, 3);
    ck_assert_uint_eq(store.sites[1].temporary.bytes, 48);
    ck_assert_uint_eq(store.sites[3].temporary.bytes, 7);
    end(&builder);
}
END_TEST

START_TEST(unknown_chunks_and_unpublished_pages_are_passed_over)
{
    struct store_builder builder = builder_begin();
    size_t at = builder_chunk(&builder, LEAK_CHUNK_EVENTS, 0, 9000);

    at = builder_chunk(&builder, 12345, 0, 1);
    at = builder_chunk(&builder, LEAK_CHUNK_SITES, 1, 1);
    ((struct leak_chunk *)(builder.data + at))->magic = 0;
    builder_thread(&builder, 1, "main");
    read_well(&builder);
    ck_assert_uint_eq(store.note_count, 0);
    ck_assert_uint_eq(store.thread_count, 1);
    end(&builder);
}
END_TEST

START_TEST(a_wild_chunk_size_swallows_nothing_behind_it)
{
    struct store_builder builder = builder_begin();
    size_t at = builder_chunk(&builder, LEAK_CHUNK_NODES, 8, 1);

    ((struct leak_chunk *)(builder.data + at))->size = UINT64_MAX - 4095;
    builder_thread(&builder, 1, "main");
    read_well(&builder);
    ck_assert_uint_eq(store.thread_count, 1);
    ck_assert_uint_eq(store.note_count, 1);
    end(&builder);
}
END_TEST

START_TEST(a_module_record_without_a_sane_length_ends_the_list)
{
    struct store_builder builder = builder_begin();
    struct leak_module *module;

    builder_module(&builder, "/good.so", 0x1000, 0x2000, 0, 1, 0, "");
    builder_module(&builder, "/bad.so", 0x3000, 0x4000, 0, 1, 0, "");
    module = (struct leak_module *)(builder.data + builder.modules + sizeof(struct leak_chunk));
    module = (struct leak_module *)((uint8_t *)module + module->length);
    module->length = 0;
    read_well(&builder);
    ck_assert_uint_eq(store.module_count, 1);
    ck_assert_uint_eq(store.note_count, 1);
    end(&builder);
}
END_TEST

/* ---- Files ----------------------------------------------------------------------------------- */

static const struct {
    const char *bytes;
    size_t length;
    enum error_code code;
} refused[] = {
    {"", 0, ERROR_EMPTY},
    {"BLLEAK", 6, ERROR_SHORT},
    {"\x7f"
     "ELF\2\1\1\0 and so on",
     19, ERROR_NOT_A_STORE},
    {"\0\0\0\0\0\0\0\0\0\0\0\0", 12, ERROR_UNFINISHED},
    {"BLLEAK01\3\0\0\0", 12, ERROR_SHORT},
    {"BLLEAK01\0\0\0\0", 12, ERROR_NO_VERSION},
    {"BLLEAK01\4\0\0\0", 12, ERROR_NEWER},
    {"BLLEAK01\377\377\377\377", 12, ERROR_NEWER},
};

START_TEST(what_is_no_store_is_refused_by_name)
{
    char path[] = "/tmp/libleak-test-XXXXXX", words[256];
    int fd = mkstemp(path);

    ck_assert_int_eq(write(fd, refused[_i].bytes, refused[_i].length), (int)refused[_i].length);
    close(fd);
    ck_assert(!reader_open(mem, path, &store, &trouble));
    unlink(path);
    read_error_text(&trouble, words, sizeof(words));
    ck_assert_msg(trouble.code == refused[_i].code, "row %d says: %s", _i, words);
}
END_TEST

START_TEST(directories_pipes_and_missing_files_are_refused_at_once)
{
    char pipe_path[] = "/tmp/libleak-test-XXXXXX";

    ck_assert(!reader_open(mem, "/tmp", &store, &trouble));
    ck_assert_int_eq(trouble.code, ERROR_NOT_A_FILE);
    ck_assert(!reader_open(mem, "/nowhere/at/all", &store, &trouble));
    ck_assert_int_eq(trouble.code, ERROR_OPEN);
    close(mkstemp(pipe_path));
    unlink(pipe_path);
    ck_assert_int_eq(mkfifo(pipe_path, 0600), 0);
    ck_assert(!reader_open(mem, pipe_path, &store, &trouble));
    ck_assert_int_eq(trouble.code, ERROR_NOT_A_FILE);
    unlink(pipe_path);
}
END_TEST

START_TEST(a_sparse_file_of_a_terabyte_is_read_in_no_time)
{
    struct store_builder builder = builder_example();
    char *path;

    builder_header(&builder)->used = 1ull << 40;
    path = builder_save(&builder);
    ck_assert_int_eq(truncate(path, 1ll << 40), 0);
    ck_assert(reader_open(mem, path, &store, &trouble));
    must_hold();
    ck_assert_uint_eq(store.site_count, 5);
    store_end(&store);
    unlink(path);
    free(path);
    builder_end(&builder);
}
END_TEST

START_TEST(a_file_cut_off_anywhere_is_read_as_far_as_it_goes)
{
    struct store_builder builder = builder_example();
    char *path = builder_save(&builder);

    for (size_t size = builder.size; size-- > LEAK_PAGE; size -= size % unit_step()) {
        struct extent extent;
        struct store_image image = store_image_borrow(builder.data, size, &extent);

        ck_assert(reader_parse(mem, &image, &store, &trouble));
        must_hold();
        ck_assert_uint_eq(store.note_count > 0, 1);
        store_end(&store);
    }
    unlink(path);
    free(path);
    builder_end(&builder);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reader");
    TCase *content = tcase_create("content"), *files = tcase_create("files");

    tcase_add_checked_fixture(content, setup, teardown);
    tcase_add_checked_fixture(files, setup, teardown);
    tcase_set_timeout(files, 60);
    tcase_add_test(content, example_is_read_whole);
    tcase_add_test(content, live_is_folded_plus_slots);
    tcase_add_test(content, a_slot_that_was_folded_in_is_not_counted_twice);
    tcase_add_loop_test(content, a_death_at_any_step_of_a_fold_loses_and_doubles_nothing, 0,
                        ROWS(steps));
    tcase_add_loop_test(content, a_fold_that_cannot_be_is_survived, 0, 5);
    tcase_add_test(content, where_blocks_were_freed_lies_with_their_site);
    tcase_add_test(content, recent_frees_are_read_newest_first);
    tcase_add_loop_test(content, a_full_ring_gives_all_but_the_place_that_is_written_next, 0, 200);
    tcase_add_test(content, frees_that_name_no_site_or_no_node_are_left_out_or_unknown);
    tcase_add_test(content, many_frees_keep_their_sites_across_chunks);
    tcase_add_test(content, milestones_are_read_in_order_of_time);
    tcase_add_test(content, memory_of_libleak_itself_is_read_when_it_is_whole);
    tcase_add_test(content, pools_of_wrong_frees_have_their_names);
    tcase_add_test(content, followed_blocks_have_valid_places);
    tcase_add_test(content, reference_count_is_the_word_that_was_shared_and_is_not_zero);
    tcase_add_test(content, way_of_a_followed_block_is_read_latest_call_first);
    tcase_add_test(content, way_that_was_cut_tells_no_last_call_and_no_count);
    tcase_add_test(content, python_code_belongs_to_its_frames);
    tcase_add_loop_test(content, a_code_record_that_reaches_too_far_ends_the_list, 0, 2);
    tcase_add_test(content, tags_of_sites_have_their_names);
    tcase_add_test(content, a_store_without_tags_has_none);
    tcase_add_loop_test(content, a_tag_that_does_not_hold_is_none_or_a_number, 0, ROWS(odd_tags));
    tcase_add_test(content, wrong_releases_are_read_in_their_order);
    tcase_add_loop_test(content, a_wrong_release_that_cannot_be_is_left_out_or_unknown, 0,
                        ROWS(hostile_events));
    tcase_add_test(content, resources_that_do_not_hold_are_left_out);
    tcase_add_loop_test(content, options_that_were_set_are_found, 0, ROWS(set_options));
    tcase_add_test(content, more_frees_than_allocations_leave_nothing);
    tcase_add_test(content, a_parent_that_is_not_below_its_child_ends_the_trace);
    tcase_add_test(content, many_chunks_keep_their_ids);
    tcase_add_test(content, two_chunks_with_the_same_ids_are_read_once);
    tcase_add_test(content, a_slot_of_a_site_that_is_not_there_counts_for_no_other);
    tcase_add_test(content, a_chunk_that_says_to_lie_elsewhere_is_passed_over);
    tcase_add_test(content, of_two_threads_with_one_serial_one_is_read);
    tcase_add_test(content, a_window_ends_before_the_tick_of_its_end);
    tcase_add_test(content, a_node_belongs_to_the_first_module_loaded_after_its_number);
    tcase_add_test(content, sites_of_a_fork_child_up_to_inherited_are_marked);
    tcase_add_test(content, temporary_blocks_belong_to_their_site);
    tcase_add_loop_test(content, variances_belong_to_what_lives_of_a_sampled_process, 0, 2);
    tcase_add_test(content, unknown_chunks_and_unpublished_pages_are_passed_over);
    tcase_add_test(content, fork_child_is_named_by_its_forks_if_all_are_known);
    tcase_add_test(content, process_that_was_not_forked_has_an_empty_chain_of_forks);
    tcase_add_test(content, a_wild_chunk_size_swallows_nothing_behind_it);
    tcase_add_test(content, a_module_record_without_a_sane_length_ends_the_list);
    tcase_add_loop_test(files, what_is_no_store_is_refused_by_name, 0, ROWS(refused));
    tcase_add_test(files, directories_pipes_and_missing_files_are_refused_at_once);
    tcase_add_test(files, a_sparse_file_of_a_terabyte_is_read_in_no_time);
    tcase_add_test(files, a_file_cut_off_anywhere_is_read_as_far_as_it_goes);
    suite_add_tcase(suite, content);
    suite_add_tcase(suite, files);
    return suite_run(suite);
}
