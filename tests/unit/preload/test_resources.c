/* test_resources.c - what is opened is in the store until it is closed; who closed it first is known.
 *
 * The account is read back from the store alone, as a reader does.
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/memory/arena.h"
#include "preload/resources/handle_table.h"
#include "preload/resources/descriptors.h"
#include "preload/heap/free_history.h"
#include "preload/base/lock.h"
#include "preload/interpose/modules.h"
#include "preload/resources/mmap_regions.h"
#include "preload/resources/resource_records.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/heap/threads.h"
#include "preload/track/track.h"
#include "preload/contexts/context_tree.h"

#define ENTER()                                                                                    \
    struct frame caller = CALLER_FRAME();                                                          \
    struct guard *guard = guard_enter(&caller)
#define LEAVE()                                                                                    \
    guard_leave(guard);                                                                            \
    __asm__ volatile("" ::: "memory")

static void setup_many(void)
{
    ENTER();
    options_defaults(&options_current);
    ck_assert(store_create(unit_directory, "resources", environ));
    track_start();
    modules_start(cfi_cache_forget);
    sites_start();
    blocks_start();
    ck_assert(cfi_cache_start() && context_tree_start() && free_history_start() &&
              threads_start(guard));
    ck_assert(mmap_regions_start());
    resource_track(~0u);
    guard_leave(guard);
}

static void setup(void)
{
    lock_start();
    setup_many();
}

/* ---- The store ------------------------------------------------------------------------------ */

static size_t told(uint32_t state, unsigned type, struct leak_resource *last)
{
    size_t count = 0;
    const struct leak_chunk *chunk;
    for (uint64_t at = 0; (chunk = view_chunk(store_header, LEAK_CHUNK_RESOURCES, &at));) {
        const struct leak_resource *it = (const void *)(chunk + 1);
        for (size_t i = 0; i < chunk->length / sizeof *it; i++)
            if (it[i].state == state && (state == LEAK_RESOURCE_TOTALS || it[i].type == type)) {
                count++;
                if (last)
                    *last = it[i];
            }
    }
    return count;
}

#define OPEN(type) told(LEAK_RESOURCE_OPEN, type, NULL)
#define BAD(last) told(LEAK_RESOURCE_BAD_CLOSE, LEAK_RESOURCE_FD, last)

static struct leak_resource_totals totals(void)
{
    struct leak_resource place = {0};
    struct leak_resource_totals sums;
    told(LEAK_RESOURCE_TOTALS, 0, &place);
    memcpy(&sums, &place, sizeof sums);
    return sums;
}

/* ---- What a program does --------------------------------------------------------------------- */

static NOINLINE void opens(int fd, const char *name)
{
    struct news news = {.sort = LEAK_SORT_OPEN, .name = name, .id = fd};
    ENTER();
    descriptors_add(guard, &caller, &news);
    LEAVE();
}

static NOINLINE void closes(int fd)
{
    ENTER();
    descriptors_close(guard, &caller, fd, descriptors_stamp(fd));
    LEAVE();
}

static NOINLINE void closes_late(int fd, uint64_t stamp)
{
    ENTER();
    descriptors_close(guard, &caller, fd, stamp);
    LEAVE();
}

static NOINLINE void closes_badly(int fd)
{
    ENTER();
    descriptors_bad_close(guard, &caller, fd, descriptors_stamp(fd));
    LEAVE();
}

static NOINLINE void streams(uintptr_t address, int fd)
{
    struct news news = {.type = LEAK_RESOURCE_FILE, .id = address, .name = "stream", .fd = fd};
    ENTER();
    struct leak_mark mark = resource_mark_caller(guard, &caller);
    handle_table_add(guard, &news, mark);
    descriptors_add_owned(guard, mark, fd, address);
    LEAVE();
}

static NOINLINE void stream_closes(uintptr_t address, int fd)
{
    ENTER();
    struct handle_ref stream = handle_table_find(LEAK_RESOURCE_FILE, address);
    descriptors_check_owner(guard, &caller, fd, &stream);
    handle_table_remove(guard, &stream);
    descriptors_close(guard, &caller, fd, descriptors_stamp(fd));
    LEAVE();
}

/* ---- Descriptors ---------------------------------------------------------------------------- */

START_TEST(a_descriptor_is_in_the_store_until_it_is_closed)
{
    struct leak_resource it;
    opens(3, "/etc/passwd");
    opens(700, "/etc/group");
    ck_assert_uint_eq(told(LEAK_RESOURCE_OPEN, LEAK_RESOURCE_FD, &it), 2);
    ck_assert_uint_eq(it.id, 700);
    ck_assert_uint_eq(it.name_length, strlen("/etc/group"));
    ck_assert(memcmp(it.name, "/etc/group", it.name_length) == 0);
    ck_assert_uint_ge(it.opened.node, LEAK_NODE_FIRST);
    ck_assert_uint_eq(it.opened.thread, 1);
    closes(3);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 1);
    closes(700);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 0);
    ck_assert_uint_eq(totals().opened[LEAK_RESOURCE_FD], 2);
}
END_TEST

START_TEST(of_a_long_path_the_end_is_kept)
{
    struct leak_resource it;
    char path[300];
    memset(path, 'x', sizeof path - 1);
    strcpy(path + sizeof path - 9, "the/end!");
    opens(3, path);
    told(LEAK_RESOURCE_OPEN, LEAK_RESOURCE_FD, &it);
    ck_assert_uint_eq(it.name_length, LEAK_RESOURCE_NAME);
    ck_assert(it.flags & LEAK_RESOURCE_CUT);
    ck_assert(memcmp(it.name + it.name_length - 8, "the/end!", 8) == 0);
}
END_TEST

START_TEST(a_number_that_is_anothers_by_now_is_left_alone)
{
    opens(3, "one");
    uint64_t stamp = descriptors_stamp(3);
    opens(3, "two"); /* closed by the kernel, and given to another thread */
    closes_late(3, stamp);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 1);
    closes_late(3, descriptors_stamp(3));
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 0);
}
END_TEST

START_TEST(a_second_close_knows_the_first)
{
    struct leak_resource it;
    opens(3, "one");
    closes(3);
    ck_assert_uint_eq(BAD(NULL), 0);
    closes_badly(3);
    ck_assert_uint_eq(BAD(&it), 1);
    ck_assert(it.opened.node && it.closed.node && it.again.node);
    ck_assert(it.opened.node != it.closed.node && it.closed.node != it.again.node);
    ck_assert_uint_eq(it.flags, 0);
    ck_assert(it.name_length == 3 && memcmp(it.name, "one", 3) == 0);
}
END_TEST

START_TEST(one_stack_has_one_bad_close_and_a_count)
{
    struct leak_resource it;
    for (int i = 0; i < 1000; i++)
        closes_badly(99);
    ck_assert_uint_eq(BAD(&it), 1);
    ck_assert_uint_eq(it.count, 1000);
    ck_assert_uint_eq(it.flags, LEAK_RESOURCE_NEVER);
}
END_TEST

START_TEST(a_stack_that_closes_all_numbers_is_a_sweep)
{
    struct leak_resource it;
    opens(5, "one");
    closes(5);
    for (int fd = 3; fd < 5000; fd++)
        closes_badly(fd);
    ck_assert_uint_eq(BAD(&it), 1);
    ck_assert(it.flags & LEAK_RESOURCE_SWEEP);
}
END_TEST

START_TEST(numbers_that_were_open_once_are_no_sweep)
{
    struct leak_resource it;
    for (int fd = 3; fd < 9; fd++) {
        opens(fd, "one");
        closes(fd);
    }
    for (int fd = 3; fd < 9; fd++)
        closes_badly(fd);
    ck_assert_uint_eq(BAD(&it), 1);
    ck_assert(!(it.flags & LEAK_RESOURCE_SWEEP));
    ck_assert_uint_eq(it.count, 6);
}
END_TEST

static NOINLINE void nothing_of_a_range(void)
{
    ENTER();
    descriptors_close_range(guard, &caller, 5, 4);
    LEAVE();
}

START_TEST(numbers_out_of_range_are_survived)
{
    opens(-1, "none");
    opens(INT32_MAX, "none");
    closes(INT32_MAX);
    closes_badly(INT32_MAX);
    nothing_of_a_range();
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 0);
    ck_assert_uint_eq(totals().missed, 2);
}
END_TEST

START_TEST(a_range_that_is_closed_is_closed)
{
    ENTER();
    guard_leave(guard);
    for (int fd = 3; fd < 100; fd++)
        opens(fd, "one");
    guard = guard_enter(&caller);
    descriptors_close_range(guard, &caller, 10, UINT32_MAX);
    guard_leave(guard);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 7);
}
END_TEST

START_TEST(what_is_not_open_at_the_end_is_not_told)
{
    int fd = open("/dev/null", O_RDONLY);
    opens(fd, "/dev/null");
    opens(900, "closed by other means");
    descriptors_sync();
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 1);
    close(fd);
    descriptors_sync();
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 0);
}
END_TEST

/* ---- Streams -------------------------------------------------------------------------------- */

START_TEST(a_stream_is_reported_and_its_descriptor_is_not)
{
    streams(0x1000, 3);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FILE), 1);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 0);
    stream_closes(0x1000, 3);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FILE), 0);
    ck_assert_uint_eq(BAD(NULL), 0);
    ck_assert(handle_table_check());
}
END_TEST

START_TEST(a_stream_whose_descriptor_was_closed_says_by_whom)
{
    struct leak_resource it;
    streams(0x1000, 3);
    closes(3);
    stream_closes(0x1000, 3);
    ck_assert_uint_eq(BAD(&it), 1);
    ck_assert(it.closed.node && !(it.flags & LEAK_RESOURCE_TAKEN));
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FILE), 0);
}
END_TEST

START_TEST(a_stream_that_closes_anothers_descriptor_says_so)
{
    struct leak_resource it;
    streams(0x1000, 3);
    closes(3);
    opens(3, "somebody else's");
    stream_closes(0x1000, 3);
    ck_assert_uint_eq(BAD(&it), 1);
    ck_assert(it.closed.node && it.flags & LEAK_RESOURCE_TAKEN);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 0);
}
END_TEST

/* ---- The pool ------------------------------------------------------------------------------- */

#define ADDRESSES 3000

START_TEST(belongings_come_and_go_as_in_a_list)
{
    static uint8_t open[ADDRESSES];
    uint64_t state = unit_seed, live = 0;
    ENTER();
    struct leak_mark mark = resource_mark_caller(guard, &caller);
    for (int step = 0; step < 60000; step++) {
        uint64_t i = unit_random(&state) % ADDRESSES;
        struct handle_ref known = handle_table_find(LEAK_RESOURCE_DIR, 16 * i + 16);
        UNIT_WANT_MSG(!!known.number == open[i], "seed %" PRIu64 " step %d", unit_seed, step);
        if (unit_random(&state) % 2) {
            struct news news = {.type = LEAK_RESOURCE_DIR, .id = 16 * i + 16, .fd = -1};
            UNIT_WANT(handle_table_add(guard, &news, mark));
            live += !open[i];
            open[i] = 1;
            UNIT_WANT(!handle_table_remove(guard, &known)); /* it has another stamp by now */
        } else {
            UNIT_WANT(handle_table_remove(guard, &known) == open[i]);
            live -= open[i];
            open[i] = 0;
        }
    }
    guard_leave(guard);
    ck_assert(handle_table_check());
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_DIR), live);
}
END_TEST

static uint64_t where(const char *name)
{
    return strcmp(name, "there") == 0 ? 0x5000 : 0;
}

static NOINLINE void loads(const char *name, uint64_t turn)
{
    struct news news = {.type = LEAK_RESOURCE_DL,
                        .flags = LEAK_RESOURCE_PENDING,
                        .name = name,
                        .id = turn,
                        .fd = -1};
    ENTER();
    handle_table_add(guard, &news, resource_mark_caller(guard, &caller));
    LEAVE();
}

START_TEST(libraries_are_counted_once_they_are_known_to_be_loaded)
{
    struct leak_resource it;
    for (int i = 0; i < 5; i++)
        loads("there", i + 1);
    loads("not there", 6);
    handle_table_resolve_libraries(where);
    ck_assert_uint_eq(told(LEAK_RESOURCE_OPEN, LEAK_RESOURCE_DL, &it), 1);
    ck_assert_uint_eq(it.count, 5);
    ENTER();
    for (int i = 0; i < 4; i++) {
        struct handle_ref library = handle_table_find(LEAK_RESOURCE_DL, 0x5000);
        handle_table_unref(guard, &library);
    }
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_DL), 1);
    struct handle_ref library = handle_table_find(LEAK_RESOURCE_DL, 0x5000);
    handle_table_unref(guard, &library);
    guard_leave(guard);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_DL), 0);
    ck_assert(handle_table_check());
}
END_TEST

/* ---- Regions -------------------------------------------------------------------------------- */

static NOINLINE void maps(uintptr_t start, size_t size)
{
    ENTER();
    mmap_regions_add(guard, &caller, start, size, -1);
    LEAVE();
}

static NOINLINE void unmaps(uintptr_t start, size_t size)
{
    ENTER();
    struct locked held = mmap_regions_lock(guard);
    mmap_regions_remove(guard, start, size);
    mmap_regions_unlock(&held);
    LEAVE();
}

static NOINLINE void remaps(uintptr_t from, size_t size, uintptr_t to, size_t to_size)
{
    ENTER();
    struct leak_mark mark = resource_mark_caller(guard, &caller);
    struct locked held = mmap_regions_lock(guard);
    mmap_regions_move(guard, mark, from, size, to, to_size, false);
    mmap_regions_unlock(&held);
    LEAVE();
}

START_TEST(what_is_left_of_a_region_is_reported)
{
    struct leak_resource it;
    maps(0x100000, 0x10000);
    unmaps(0x104000, 0x1000);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_MMAP), 2);
    unmaps(0x105000, 0x10000);
    ck_assert_uint_eq(told(LEAK_RESOURCE_OPEN, LEAK_RESOURCE_MMAP, &it), 1);
    ck_assert_uint_eq(it.id, 0x100000);
    ck_assert_uint_eq(it.bytes, 0x4000);
    unmaps(0x100000, 1); /* a page */
    told(LEAK_RESOURCE_OPEN, LEAK_RESOURCE_MMAP, &it);
    ck_assert_uint_eq(it.bytes, 0x3000);
    unmaps(0, 0x200000);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_MMAP), 0);
    ck_assert(handle_table_check());
}
END_TEST

START_TEST(a_region_that_moves_keeps_who_mapped_it)
{
    struct leak_resource before, after;
    maps(0x100000, 0x4000);
    told(LEAK_RESOURCE_OPEN, LEAK_RESOURCE_MMAP, &before);
    remaps(0x100000, 0x4000, 0x900000, 0x20000);
    ck_assert_uint_eq(told(LEAK_RESOURCE_OPEN, LEAK_RESOURCE_MMAP, &after), 1);
    ck_assert_uint_eq(after.opened.node, before.opened.node);
    ck_assert_uint_eq(after.id, 0x900000);
    ck_assert_uint_eq(after.bytes, 0x20000);
    maps(0x900000, 0x20000); /* MAP_FIXED over it */
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_MMAP), 1);
    unmaps(0x900000, 0x20000);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_MMAP), 0);
}
END_TEST

/* ---- Room, threads, fork -------------------------------------------------------------------- */

START_TEST(what_there_is_no_memory_for_is_counted)
{
    arena_set_limit(1);
    opens(3, "one");
    arena_set_limit(0);
    opens(4, "two");
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 1);
    closes(3);
    closes(4);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 0);
}
END_TEST

static void *opens_and_closes(void *argument)
{
    int first = 3 + (int)(intptr_t)argument; /* interleaved: neighbours share pages and locks */
    for (int i = 0; i < 4000; i++) {
        opens(first, "one");
        streams(0x1000 * (uintptr_t)(first + 1), first + 8);
        closes(first);
        stream_closes(0x1000 * (uintptr_t)(first + 1), first + 8);
    }
    opens(first, "left open");
    return NULL;
}

START_TEST(threads_open_and_close_side_by_side)
{
    pthread_t threads[8];
    for (intptr_t i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, opens_and_closes, (void *)i);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 8);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FILE), 0);
    ck_assert_uint_eq(BAD(NULL), 0);
    ck_assert_uint_eq(totals().opened[LEAK_RESOURCE_FD], 8 * 4001);
    ck_assert_uint_eq(totals().opened[LEAK_RESOURCE_FILE], 8 * 4000);
    ck_assert(handle_table_check());
}
END_TEST

START_TEST(a_fork_child_has_what_was_open_when_it_was_made)
{
    struct leak_header *parent;
    uint64_t size;
    int go[2], status;
    char byte = 0;
    opens(3, "one");
    opens(4, "two");
    streams(0x1000, 5);
    closes_badly(99);
    closes(4);
    ck_assert(pipe(go) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct leak_resource it;
        read(go[0], &byte, 1); /* its parent has gone on meanwhile */
        ck_assert(store_create_child(&parent, &size));
        resource_records_fork_child();
        descriptors_fork_child();
        handle_table_fork_child();
        mmap_regions_fork_child();
        ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FILE), 1);
        ck_assert_uint_eq(told(LEAK_RESOURCE_OPEN, LEAK_RESOURCE_FD, &it), 1);
        ck_assert(it.id == 3 && it.flags & LEAK_RESOURCE_INHERITED);
        ck_assert_uint_eq(BAD(NULL), 0);
        ck_assert_uint_eq(totals().opened[LEAK_RESOURCE_FD], 0);
        ck_assert(handle_table_check());
        close(go[0]);
        close(go[1]);
        _exit(0);
    }
    closes(3);
    stream_closes(0x1000, 5);
    opens(6, "three");
    ck_assert(write(go[1], &byte, 1) == 1);
    ck_assert(waitpid(child, &status, 0) == child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(OPEN(LEAK_RESOURCE_FD), 1);
    close(go[0]);
    close(go[1]);
}
END_TEST

START_TEST(words_of_the_option_are_read)
{
    uint32_t types;
    ck_assert(resource_parse_types("fd,thread", 9, &types));
    ck_assert_uint_eq(types, 1u << LEAK_RESOURCE_FD | 1u << LEAK_RESOURCE_THREAD);
    ck_assert(resource_parse_types("", 0, &types) && types == 0);
    ck_assert(resource_parse_types("none", 4, &types) && types == 0);
    ck_assert(!resource_parse_types("fd,fds", 6, &types));
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("resources");
    TCase *all = tcase_create("one thread");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, a_descriptor_is_in_the_store_until_it_is_closed);
    tcase_add_test(all, of_a_long_path_the_end_is_kept);
    tcase_add_test(all, a_number_that_is_anothers_by_now_is_left_alone);
    tcase_add_test(all, a_second_close_knows_the_first);
    tcase_add_test(all, one_stack_has_one_bad_close_and_a_count);
    tcase_add_test(all, a_stack_that_closes_all_numbers_is_a_sweep);
    tcase_add_test(all, numbers_that_were_open_once_are_no_sweep);
    tcase_add_test(all, numbers_out_of_range_are_survived);
    tcase_add_test(all, a_range_that_is_closed_is_closed);
    tcase_add_test(all, what_is_not_open_at_the_end_is_not_told);
    tcase_add_test(all, a_stream_is_reported_and_its_descriptor_is_not);
    tcase_add_test(all, a_stream_whose_descriptor_was_closed_says_by_whom);
    tcase_add_test(all, a_stream_that_closes_anothers_descriptor_says_so);
    tcase_add_test(all, belongings_come_and_go_as_in_a_list);
    tcase_add_test(all, libraries_are_counted_once_they_are_known_to_be_loaded);
    tcase_add_test(all, what_is_left_of_a_region_is_reported);
    tcase_add_test(all, a_region_that_moves_keeps_who_mapped_it);
    tcase_add_test(all, what_there_is_no_memory_for_is_counted);
    tcase_add_test(all, a_fork_child_has_what_was_open_when_it_was_made);
    tcase_add_test(all, words_of_the_option_are_read);
    suite_add_tcase(suite, all);
    TCase *many = tcase_create("many threads");
    tcase_add_checked_fixture(many, setup_many, NULL);
    tcase_add_test(many, threads_open_and_close_side_by_side);
    tcase_set_timeout(many, 60);
    suite_add_tcase(suite, many);
    return unit_main(argc, argv, suite);
}
