/* test_threads.c - who is a thread: each one that has come to a hook, from then until its end.
 *
 * What it counts and what the store says of it: test_track.c.
 */
#include "tests/unit/preload/unit.h"
#include "preload/heap/free_history.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "preload/track/track.h"

#define ENTER()                                                                                    \
    struct frame caller = CALLER_FRAME();                                                          \
    struct guard *guard = guard_enter(&caller)

static void setup(void)
{
    ENTER();
    lock_start();
    options_defaults(&options_current);
    ck_assert(store_create(unit_directory, "threads", environ));
    track_start();
    modules_start(cfi_cache_forget);
    sites_start();
    blocks_start();
    ck_assert(cfi_cache_start() && context_tree_start() && free_history_start() &&
              threads_start(guard));
    guard_leave(guard);
}

/* ---- Who is there --------------------------------------------------------------------------- */

static struct {
    uint32_t serial[64];
    uint32_t tid[64];
    struct unwind_bounds bounds[64];
    unsigned count;
} seen, left;

static void see(const struct thread *thread, void *context)
{
    UNIT_WANT(context == &seen && seen.count < 64 && thread->lives);
    seen.serial[seen.count] = thread->serial;
    seen.tid[seen.count] = thread->record->tid;
    seen.bounds[seen.count++] = thread->bounds;
}

static void see_left(const struct unwind_bounds *bounds, void *context)
{
    UNIT_WANT(context == &left && left.count < 64);
    left.bounds[left.count++] = *bounds;
}

static void list(void)
{
    seen.count = left.count = 0;
    threads_each(see, &seen);
    threads_each_old_stack(see_left, &left);
}

/* The place of a number among those who are there; -1: it is not. */
static int place_of(uint32_t serial)
{
    int place = -1;
    for (unsigned i = 0; i < seen.count; i++)
        if (seen.serial[i] == serial) {
            UNIT_WANT_MSG(place < 0, "T%u is there twice", serial);
            place = (int)i;
        }
    return place;
}

/* ---- A thread that comes to life as the hook has it ----------------------------------------- */

static struct life {
    pthread_t thread;
    struct thread_start *start;
    uint32_t serial;
    int tid;
    uintptr_t on_its_stack;
} lives[8];
static pthread_barrier_t all_there, all_may_go;

static void *live(void *argument)
{
    struct life *life = argument;
    struct thread_start start = *life->start;
    life->tid = sys_gettid();
    life->on_its_stack = (uintptr_t)&start;
    ENTER();
    threads_free_start(guard, life->start);
    threads_enter(guard, &start);
    guard_leave(guard);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_may_go);
    return NULL;
}

static void begin_with(unsigned count, unsigned stacks_larger)
{
    pthread_attr_t attributes;
    size_t size;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &size);
    size *= stacks_larger;
    pthread_attr_setstacksize(&attributes, size);
    pthread_barrier_init(&all_there, NULL, count + 1);
    pthread_barrier_init(&all_may_go, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        ENTER();
        struct thread_start *start = threads_prepare_start(guard);
        guard_leave(guard);
        ck_assert_ptr_nonnull(start);
        start->stack_size = size;
        lives[i].start = start;
        lives[i].serial = start->serial;
        ck_assert_int_eq(pthread_create(&lives[i].thread, &attributes, live, &lives[i]), 0);
    }
    pthread_barrier_wait(&all_there);
}

static void begin(unsigned count)
{
    begin_with(count, 1);
}

static void end(unsigned count)
{
    pthread_barrier_wait(&all_may_go);
    for (unsigned i = 0; i < count; i++)
        pthread_join(lives[i].thread, NULL);
}

START_TEST(the_first_thread_is_there_from_the_start)
{
    int local;
    list();
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_uint_eq(seen.serial[0], 1);
    ck_assert_uint_eq(seen.tid[0], sys_gettid());
    ck_assert(seen.bounds[0].low < (uintptr_t)&local && (uintptr_t)&local < seen.bounds[0].high);
    ck_assert_uint_eq(left.count, 0);
}
END_TEST

START_TEST(threads_are_there_from_their_beginning_to_their_end)
{
    for (unsigned round = 0; round < 3; round++) {
        begin(8);
        list();
        ck_assert_uint_eq(seen.count, 9);
        for (unsigned i = 0; i < 8; i++) {
            int place = place_of(lives[i].serial);
            ck_assert_msg(place >= 0, "T%u is not there", lives[i].serial);
            ck_assert_uint_eq(seen.tid[place], lives[i].tid);
            ck_assert_uint_eq(lives[i].serial, 2 + 8 * round + i); /* never the same again */
            ck_assert(seen.bounds[place].low < lives[i].on_its_stack &&
                      lives[i].on_its_stack < seen.bounds[place].high);
        }
        end(8);
        list();
        ck_assert_uint_eq(seen.count, 1);
        ck_assert_uint_eq(seen.serial[0], 1);
    }
}
END_TEST

static unsigned times_left(uintptr_t on_a_stack)
{
    unsigned times = 0;
    for (unsigned i = 0; i < left.count; i++)
        times += left.bounds[i].low < on_a_stack && on_a_stack < left.bounds[i].high;
    return times;
}

START_TEST(the_stacks_of_those_who_left_are_remembered)
{
    begin(4);
    list();
    ck_assert_uint_eq(left.count, 0);
    end(4);
    list();
    ck_assert_uint_eq(left.count, 4);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(times_left(lives[i].on_its_stack), 1);
}
END_TEST

/* The next ones, with larger stacks, get the others' states, and not their stacks. */
START_TEST(the_stacks_of_those_who_left_are_remembered_when_others_have_their_states)
{
    uintptr_t stack[4];
    begin(4);
    for (unsigned i = 0; i < 4; i++)
        stack[i] = lives[i].on_its_stack;
    end(4);
    begin_with(3, 2);
    list();
    ck_assert_uint_eq(seen.count, 4);
    ck_assert_uint_eq(left.count, 4);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(times_left(stack[i]), 1);
    end(3);
    list();
    ck_assert_uint_eq(left.count, 7);
}
END_TEST

static void *never_comes_to_a_hook(void *argument)
{
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_may_go);
    return argument;
}

START_TEST(one_that_never_came_to_a_hook_is_unknown)
{
    pthread_t thread;
    pthread_barrier_init(&all_there, NULL, 2);
    pthread_barrier_init(&all_may_go, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, never_comes_to_a_hook, NULL), 0);
    pthread_barrier_wait(&all_there);
    list();
    ck_assert_uint_eq(seen.count, 1);
    pthread_barrier_wait(&all_may_go);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(in_a_fork_child_only_the_thread_that_forked_is_there)
{
    begin(3);
    pid_t pid = fork();
    if (pid == 0) {
        ENTER();
        struct leak_header *parent;
        uint64_t size;
        bool good = store_create_child(&parent, &size) && threads_fork_child(guard);
        guard_leave(guard);
        list();
        _exit(good && seen.count == 1 && seen.serial[0] == 1 ? 0 : 10 + (int)seen.count);
    }
    unit_await_success(pid);
    list();
    ck_assert_uint_eq(seen.count, 4);
    end(3);
}
END_TEST

/* ---- Notes for threads to be ---------------------------------------------------------------- */

struct search {
    uintptr_t word;
    unsigned times;
};

static void look_in(uintptr_t start, uintptr_t stop, void *context)
{
    struct search *search = context;
    UNIT_WANT(start % 4096 == 0 && stop - start == 4096);
    search->times += search->word - start < stop - start;
}

START_TEST(what_a_thread_to_be_is_given_stands_in_a_page_of_notes)
{
    struct thread_start *notes[500];
    ENTER();
    for (unsigned i = 0; i < ARRAY_LENGTH(notes); i++) {
        notes[i] = threads_prepare_start(guard);
        UNIT_WANT(notes[i] && notes[i]->serial == 2 + i);
        notes[i]->argument = &notes[i];
    }
    for (unsigned i = 0; i < ARRAY_LENGTH(notes); i++) {
        struct search search = {(uintptr_t)&notes[i]->argument, 0};
        threads_each_start_page(look_in, &search);
        UNIT_WANT(search.times == 1 && notes[i]->argument == &notes[i]);
        threads_free_start(guard, notes[i]);
        UNIT_WANT(notes[i]->argument == NULL); /* it must not hold what it held */
    }
    guard_leave(guard);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("threads");
    TCase *there = tcase_create("there");
    tcase_add_checked_fixture(there, setup, NULL);
    tcase_add_test(there, the_first_thread_is_there_from_the_start);
    tcase_add_test(there, threads_are_there_from_their_beginning_to_their_end);
    tcase_add_test(there, the_stacks_of_those_who_left_are_remembered);
    tcase_add_test(there,
                   the_stacks_of_those_who_left_are_remembered_when_others_have_their_states);
    tcase_add_test(there, one_that_never_came_to_a_hook_is_unknown);
    tcase_add_test(there, in_a_fork_child_only_the_thread_that_forked_is_there);
    tcase_add_test(there, what_a_thread_to_be_is_given_stands_in_a_page_of_notes);
    suite_add_tcase(suite, there);
    return unit_main(argc, argv, suite);
}
