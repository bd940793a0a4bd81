/* test_tags.c - names of what threads allocate: a number for each, the same for ever, one on top of each thread. */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/heap/capture.h"
#include "preload/base/lock.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/contexts/context_tree.h"

#define G (&unit_guard)

static void setup(void)
{
    ck_assert(store_create(unit_directory, "tags", environ));
}

static const struct leak_tags *table(void)
{
    uint64_t at = 0;
    const struct leak_chunk *chunk = view_chunk(store_header, LEAK_CHUNK_TAGS, &at);
    return chunk ? (const struct leak_tags *)(chunk + 1) : NULL;
}

static const char *numbered(unsigned number)
{
    static __thread char name[16];
    snprintf(name, sizeof name, "name %u", number);
    return name;
}

START_TEST(there_is_no_table_before_the_first_push)
{
    ck_assert(!tags_pop(G));
    ck_assert_uint_eq(tags_find("mesh"), 0);
    ck_assert(!tags_push(G, ""));
    ck_assert(!tags_push(G, NULL));
    ck_assert_ptr_null(table());
    ck_assert_uint_eq(capture_state.reasons, 0);
    ck_assert(tags_push(G, "mesh"));
    ck_assert_ptr_nonnull(table());
    ck_assert_uint_eq(capture_state.reasons, 1);
    ck_assert(tags_push(G, "texture"));
    ck_assert_uint_eq(capture_state.reasons, 1); /* hooks are told once */
}
END_TEST

START_TEST(the_innermost_is_on_top)
{
    ck_assert(tags_push(G, "mesh"));
    unsigned mesh = G->tag;
    ck_assert(tags_push(G, "texture"));
    unsigned texture = G->tag;
    ck_assert_uint_ne(mesh, texture);
    ck_assert(tags_push(G, "mesh"));
    ck_assert_uint_eq(G->tag, mesh);
    ck_assert(!tags_push(G, ""));
    ck_assert_uint_eq(G->tag, mesh); /* a push that was refused has its pop … */
    ck_assert(tags_pop(G));
    ck_assert_uint_eq(G->tag, mesh);
    ck_assert(tags_pop(G));
    ck_assert_uint_eq(G->tag, texture);
    ck_assert(tags_pop(G));
    ck_assert(tags_pop(G));
    ck_assert_uint_eq(G->tag, 0);
    ck_assert(!tags_pop(G)); /* … and no more */
    ck_assert(tags_check());
}
END_TEST

START_TEST(what_is_too_deep_has_the_deepest)
{
    for (unsigned i = 0; i < TAGS_DEPTH + 5; i++)
        ck_assert(tags_push(G, numbered(i)) == (i < TAGS_DEPTH));
    ck_assert_uint_eq(tags_find(numbered(TAGS_DEPTH)), 0);
    for (unsigned i = TAGS_DEPTH + 5; i-- > 0;) {
        ck_assert_uint_eq(G->tag, tags_find(numbered(i < TAGS_DEPTH ? i : TAGS_DEPTH - 1)));
        ck_assert(tags_pop(G));
    }
    ck_assert_uint_eq(G->tag, 0);
}
END_TEST

START_TEST(names_without_room_are_counted)
{
    for (unsigned i = 0; i < LEAK_TAGS + 7; i++) {
        ck_assert(tags_push(G, numbered(i)) == (i < LEAK_TAGS));
        ck_assert(tags_pop(G));
    }
    ck_assert_uint_eq(table()->left_out, 7);
    ck_assert(tags_push(G, numbered(3))); /* those that are known are so still */
    ck_assert_uint_eq(G->tag, 4);
    ck_assert_str_eq(table()->tag[3].name, "name 3");
    ck_assert_uint_eq(table()->tag[3].length, 6);
    ck_assert(tags_check());
}
END_TEST

START_TEST(a_long_name_is_its_beginning)
{
    char name[100], other[100];
    memset(name, 'x', sizeof name);
    name[99] = 0;
    memcpy(other, name, sizeof name);
    other[LEAK_TAG_NAME - 1] = 'y';
    ck_assert(tags_push(G, name));
    ck_assert_uint_eq(tags_find(other), G->tag);
    other[LEAK_TAG_NAME - 2] = 'y';
    ck_assert_uint_eq(tags_find(other), 0);
    ck_assert_uint_eq(table()->tag[0].length, LEAK_TAG_NAME - 1);
    ck_assert(tags_check());
}
END_TEST

static uint16_t seen[4][300];

static void *push_all(void *passed)
{
    struct guard guard = {.sp = 1};
    uint16_t *mine = passed;
    for (unsigned round = 0; round < 100; round++)
        for (unsigned i = 0; i < 300; i++) {
            tags_push(&guard, numbered((i * 7 + round) % 300));
            if (mine[(i * 7 + round) % 300] && mine[(i * 7 + round) % 300] != guard.tag)
                return NULL;
            mine[(i * 7 + round) % 300] = guard.tag;
            tags_pop(&guard);
        }
    return tags_pop(&guard) ? NULL : passed;
}

START_TEST(threads_agree_on_the_numbers)
{
    pthread_t threads[4];
    void *done;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, push_all, seen[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &done);
        ck_assert_ptr_nonnull(done);
    }
    for (int i = 1; i < 4; i++)
        ck_assert(memcmp(seen[0], seen[i], sizeof seen[0]) == 0);
    ck_assert(tags_check());
    ck_assert_uint_eq(G->tag, 0);
}
END_TEST

/* _i: somebody holds the lock when the process forks */
START_TEST(a_fork_child_has_the_names_and_the_stack)
{
    struct leak_header *parent;
    uint64_t size;
    for (unsigned i = 0; i < 5; i++)
        tags_push(G, numbered(i));
    unsigned top = G->tag;
    if (_i)
        tags_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
        if (!store_create_child(&parent, &size) || !tags_fork_child())
            _exit(1);
        store_unmap_parent(parent, size);
        bool same = G->tag == top && tags_find(numbered(4)) == top && tags_check();
        tags_push(G, "own");
        bool own = G->tag == 6 && strcmp(table()->tag[5].name, "own") == 0;
        for (int i = 0; i < 6; i++)
            own &= tags_pop(G);
        _exit(!same || !own || tags_pop(G));
    }
    unit_await_success(pid);
    if (_i)
        tags_fork_unlock();
    ck_assert_uint_eq(tags_find("own"), 0);
    ck_assert_uint_eq(table()->tag[5].length, 0);
}
END_TEST

/* Every kind and tag there can be is a leaf of its own, and none is taken for that of a free. */
START_TEST(each_kind_and_tag_is_a_site)
{
    static struct unwind_trace trace;
    static uint32_t site[LEAK_TAGS + 1][LEAK_KIND_MAX];
    sites_start();
    ck_assert(context_tree_start());
    for (int round = 0; round < 2; round++)
        for (unsigned tag = 0; tag <= LEAK_TAGS; tag++)
            for (unsigned kind = 1; kind < LEAK_KIND_MAX; kind++) {
                trace.end = LEAK_ROOT_COMPLETE;
                uint32_t id = context_tree_site(G, &trace, kind + (tag << LEAK_TAG_SHIFT));
                UNIT_WANT(round ? id == site[tag][kind] : id == tag * (LEAK_KIND_MAX - 1) + kind);
                UNIT_WANT(sites_tag(id) == tag && sites_kind(id) == kind);
                site[tag][kind] = id;
            }
    ck_assert_uint_eq(context_tree_free_node(G, &trace), LEAK_ROOT_COMPLETE);
    ck_assert_uint_eq(sites_last(), (LEAK_TAGS + 1) * (LEAK_KIND_MAX - 1));
    ck_assert(context_tree_check());
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("tags");
    TCase *all = tcase_create("tags");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, there_is_no_table_before_the_first_push);
    tcase_add_test(all, the_innermost_is_on_top);
    tcase_add_test(all, what_is_too_deep_has_the_deepest);
    tcase_add_test(all, names_without_room_are_counted);
    tcase_add_test(all, a_long_name_is_its_beginning);
    tcase_add_test(all, threads_agree_on_the_numbers);
    tcase_add_loop_test(all, a_fork_child_has_the_names_and_the_stack, 0, 2);
    tcase_add_test(all, each_kind_and_tag_is_a_site);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
