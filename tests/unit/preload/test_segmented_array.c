/* test_segmented_array.c - arrays in the recording file: every id has a place of its own, also in the file. */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/memory/arena.h"
#include "preload/store/segmented_array.h"
#include "preload/store/store.h"

static struct segmented_array segments = {
    .type = LEAK_CHUNK_NODES, .record_size = 16, .first_id = 8, .first_bits = 4, .split_bits = 8};
static uint32_t last = 7;

static void setup(void)
{
    ck_assert(store_create(unit_directory, "segments", environ));
}

START_TEST(every_id_has_a_place_of_its_own_and_keeps_it)
{
    enum { MANY = 20000 };
    static uint64_t *places[MANY];
    for (uint32_t id = 8; id < MANY; id++) {
        places[id] = segmented_array_ensure(&segments, id);
        ck_assert_ptr_nonnull(places[id]);
        ck_assert_msg(places[id][0] == 0 && places[id][1] == 0, "id %u is not zeroed", id);
        places[id][0] = id;
        places[id][1] = ~(uint64_t)id;
    }
    for (uint32_t id = 8; id < MANY; id++) {
        ck_assert_ptr_eq(segmented_array_at(&segments, id), places[id]);
        ck_assert_msg(places[id][0] == id && places[id][1] == ~(uint64_t)id, "id %u is overwritten",
                      id);
        const uint64_t *seen = view_record(store_header, LEAK_CHUNK_NODES, 16, id);
        ck_assert_msg(seen && seen[0] == id, "a reader finds %" PRIu64 " for id %u",
                      seen ? seen[0] : 0, id);
    }
}
END_TEST

/* The shape above, and those that the library has. */
static const struct segmented_array shapes[] = {
    {.first_id = 8, .first_bits = 4, .split_bits = 8},
    {.first_id = 8, .first_bits = 10, .split_bits = 16},
    {.first_id = 1, .first_bits = 7, .split_bits = 14},
    {.first_id = 1, .first_bits = 6, .split_bits = 14},
    {.first_id = 1, .first_bits = 7, .split_bits = 16},
    {.first_id = 1, .first_bits = 7, .split_bits = 15},
    {.first_id = 1, .first_bits = 14, .split_bits = 14},
};

/* Sizes as segmented_array.h says them, counted up one by one. */
START_TEST(every_segment_begins_where_the_one_before_ends)
{
    const struct segmented_array *shape = &shapes[_i];
    uint64_t first = shape->first_id, doubles = 1u << shape->first_bits;
    for (unsigned k = 0; first < 1u << 27;) {
        unsigned parts = doubles < 1u << shape->split_bits ? 1 : 16;
        for (unsigned part = 0; part < parts; part++, k++) {
            uint64_t end = first + doubles / parts;
            ck_assert_uint_eq(segmented_array_segment(shape, segmented_array_place(shape, first)),
                              k);
            ck_assert_uint_eq(segmented_array_segment(shape, segmented_array_place(shape, end - 1)),
                              k);
            first = end;
        }
        doubles *= 2;
    }
}
END_TEST

/* What a reader adds up: no record between two chunks, none in both, and little that waits. */
START_TEST(chunks_follow_one_another_and_hold_hardly_more_than_is_needed)
{
    for (uint32_t id = 8; id < 20000; id++)
        ck_assert_ptr_nonnull(segmented_array_ensure(&segments, id));
    uint64_t offset = 0, next = 8;
    const struct leak_chunk *chunk;
    while ((chunk = view_chunk(store_header, LEAK_CHUNK_NODES, &offset))) {
        ck_assert_uint_eq(chunk->first, next);
        ck_assert_uint_eq(chunk->length % 16, 0);
        ck_assert_uint_le(chunk->length, chunk->size - sizeof *chunk);
        next += chunk->length / 16;
    }
    ck_assert_uint_ge(next, 20000);
    ck_assert_uint_le(next, 20000 + 20000 / 16);
}
END_TEST

START_TEST(ids_are_given_one_by_one)
{
    for (uint32_t want = 8; want < 3000; want++) {
        uint32_t id = 0;
        ck_assert_ptr_eq(segmented_array_append(&segments, &last, &id),
                         segmented_array_at(&segments, want));
        ck_assert_uint_eq(id, want);
        ck_assert_uint_eq(last, want);
    }
}
END_TEST

START_TEST(an_id_without_memory_is_not_taken)
{
    uint32_t id = 0;
    ck_assert_ptr_nonnull(segmented_array_append(&segments, &last, &id));
    arena_set_limit(arena_used());
    uint32_t had = last;
    while (segmented_array_append(&segments, &last, &id))
        had = id;
    for (int i = 0; i < 100; i++)
        ck_assert_ptr_null(segmented_array_append(&segments, &last, &id));
    ck_assert_uint_eq(last, had);
    arena_set_limit(0);
    ck_assert_ptr_nonnull(segmented_array_append(&segments, &last, &id));
    ck_assert_uint_eq(id, had + 1);
}
END_TEST

START_TEST(an_id_beyond_all_segments_is_refused)
{
    ck_assert_ptr_null(segmented_array_ensure(&segments, 8 + (15u << 22) + (1u << 26)));
    ck_assert_ptr_null(segmented_array_ensure(&segments, UINT32_MAX - 64));
}
END_TEST

#define THREADS 4
#define EACH 5000

static uint32_t taken[THREADS][EACH];

static void *take(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    for (int i = 0; i < EACH; i++) {
        uint64_t *record = segmented_array_append(&segments, &last, &taken[me][i]);
        record[0] += me * EACH + i + 1;
    }
    return NULL;
}

START_TEST(threads_never_get_the_same_id)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(last, 7 + THREADS * EACH);
    for (uint64_t t = 0; t < THREADS; t++)
        for (uint64_t i = 0; i < EACH; i++) {
            const uint64_t *record = segmented_array_at(&segments, taken[t][i]);
            ck_assert_msg(record[0] == t * EACH + i + 1, "id %u was given twice", taken[t][i]);
        }
}
END_TEST

/* On both sides of where a segment ends: whole ones, parts, the last part of a doubling. */
static const uint32_t limits[] = {8,   23,  24,  55,  56,  247, 248, 263,
                                  264, 487, 488, 503, 504, 535, 536, 5000};

START_TEST(a_fork_child_has_the_same_records_in_its_own_store)
{
    uint32_t id, want = limits[_i];
    while (last < want) {
        uint64_t *record = segmented_array_append(&segments, &last, &id);
        *record = id;
    }
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct leak_header *parent;
        uint64_t size;
        if (!store_create_child(&parent, &size) || !segmented_array_fork_child(&segments, last))
            _exit(1);
        store_unmap_parent(parent, size); /* nothing may point there any more */
        for (uint32_t i = 8; i <= last; i++) {
            const uint64_t *seen = view_record(store_header, LEAK_CHUNK_NODES, 16, i);
            if (*(uint64_t *)segmented_array_at(&segments, i) != i || !seen || *seen != i)
                _exit(2);
        }
        for (int i = 0; i < 1000; i++) {
            uint64_t *record = segmented_array_append(&segments, &last, &id);
            if (!record || *record || id != want + 1 + (uint32_t)i)
                _exit(3);
            *record = id;
        }
        _exit(0);
    }
    waitpid(pid, &status, 0);
    ck_assert_msg(status == 0, "%u records: the child ends with %x", want, status);
    ck_assert_uint_eq(*(uint64_t *)segmented_array_at(&segments, want), want);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("segments");
    TCase *all = tcase_create("segments");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, every_id_has_a_place_of_its_own_and_keeps_it);
    tcase_add_loop_test(all, every_segment_begins_where_the_one_before_ends, 0,
                        ARRAY_LENGTH(shapes));
    tcase_add_test(all, chunks_follow_one_another_and_hold_hardly_more_than_is_needed);
    tcase_add_test(all, ids_are_given_one_by_one);
    tcase_add_test(all, an_id_without_memory_is_not_taken);
    tcase_add_test(all, an_id_beyond_all_segments_is_refused);
    tcase_add_test(all, threads_never_get_the_same_id);
    tcase_add_loop_test(all, a_fork_child_has_the_same_records_in_its_own_store, 0,
                        ARRAY_LENGTH(limits));
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
