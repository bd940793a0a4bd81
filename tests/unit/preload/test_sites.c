/* test_sites.c - counters of threads and sites: folded + slots is the truth at every instant.
 *
 * The store is a shared mapping, so a forked child can be the program and the test its reader: the
 * child is stopped after every single instruction, or killed at random moments, and the sum that a
 * reader makes must lie between what was finished and what was begun.
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/contexts/sites.h"
#include "preload/contexts/thread_counters.h"
#include "preload/store/store.h"

static void setup(void)
{
    ck_assert_msg(store_create(unit_directory, "sites", environ), "no store");
    sites_start();
}

static void make_sites(uint32_t count)
{
    for (uint32_t i = 1; i <= count; i++)
        ck_assert_uint_eq(sites_make(&unit_guard, LEAK_ROOT_COMPLETE, LEAK_KIND_MALLOC), i);
}

/* As track.c counts. */
static void count_alloc(struct thread_counters *slots, uint32_t site, uint64_t size)
{
    struct leak_slot *slot = thread_counters_find(&unit_guard, slots, site);
    bump(&slot->counts.allocs, 1);
    bump(&slot->counts.bytes, size);
}

static void count_free(struct thread_counters *slots, uint32_t site, uint64_t size)
{
    struct leak_slot *slot = thread_counters_find(&unit_guard, slots, site);
    bump(&slot->counts.frees, 1);
    bump(&slot->counts.freed_bytes, size);
}

static void expect(uint32_t site, struct leak_counts want, const char *when)
{
    struct leak_counts got = view_counts(store_header, site);
    ck_assert_msg(memcmp(&got, &want, sizeof got) == 0,
                  "seed %" PRIu64 ", %s, site %u: wanted %" PRIu64 "/%" PRIu64 "/%" PRIu64
                  "/%" PRIu64 ", got %" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64,
                  unit_seed, when, site, want.allocs, want.bytes, want.frees, want.freed_bytes,
                  got.allocs, got.bytes, got.frees, got.freed_bytes);
}

/* ---- One fold -------------------------------------------------------------------------------- */

/* A cache of its own thread with one slot in it, made by hand. */
static struct leak_slots *cache_with(uint32_t serial, struct leak_slot slot)
{
    struct thread_counters slots = {0};
    ck_assert(thread_counters_open(&unit_guard, &slots, serial));
    slots.memory->slot[serial % slots.memory->count] = slot;
    return slots.memory;
}

static void fold_one(uint32_t serial, struct leak_slot slot)
{
    struct leak_slots *memory = cache_with(serial, slot);
    sites_fold(&unit_guard, memory, &memory->slot[serial % memory->count]);
}

START_TEST(a_fold_moves_the_counts_and_clears_the_slot)
{
    make_sites(3);
    struct leak_slots *memory =
        cache_with(1, (struct leak_slot){.site = 2, .last = 40, .counts = {3, 300, 1, 100}});
    expect(2, (struct leak_counts){3, 300, 1, 100}, "before the first fold");
    sites_fold(&unit_guard, memory, &memory->slot[1]);
    const struct leak_slot *slot = &memory->slot[1];
    ck_assert_uint_eq(slot->site, 0);
    ck_assert_uint_eq(slot->counts.allocs + slot->counts.bytes + slot->counts.frees, 0);
    ck_assert_uint_eq(memory->fold_site, 0);
    expect(2, (struct leak_counts){3, 300, 1, 100}, "after the first fold");
    expect(1, (struct leak_counts){0, 0, 0, 0}, "the site before it");
    expect(3, (struct leak_counts){0, 0, 0, 0}, "the site behind it");
    ck_assert_uint_eq(sites_counts(2).bytes, 300);
    fold_one(2, (struct leak_slot){.site = 2, .last = 30, .counts = {1, 10, 0, 0}});
    expect(2, (struct leak_counts){4, 310, 1, 100}, "after the second");
    const struct leak_site *site = view_site(store_header, 2);
    ck_assert_uint_eq(site->last, 40);
    ck_assert_uint_eq(site->threads[0], 1);
    ck_assert_uint_eq(site->threads[1], 2);
    ck_assert_uint_eq(site->more_threads, 0);
}
END_TEST

START_TEST(a_fold_leaves_the_other_slots_alone)
{
    make_sites(3);
    struct leak_slots *memory =
        cache_with(1, (struct leak_slot){.site = 2, .counts = {1, 10, 0, 0}});
    memory->slot[0] = (struct leak_slot){.site = 1, .last = 5, .counts = {2, 20, 1, 10}};
    memory->slot[2] = (struct leak_slot){.site = 3, .last = 6, .counts = {4, 40, 2, 20}};
    struct leak_slot before[] = {memory->slot[0], memory->slot[2]};
    sites_fold(&unit_guard, memory, &memory->slot[1]);
    ck_assert(!memcmp(&memory->slot[0], &before[0], sizeof before[0]));
    ck_assert(!memcmp(&memory->slot[2], &before[1], sizeof before[1]));
    expect(1, (struct leak_counts){2, 20, 1, 10}, "beside it");
    expect(3, (struct leak_counts){4, 40, 2, 20}, "beside it");
}
END_TEST

START_TEST(a_thread_that_only_frees_is_not_named)
{
    make_sites(1);
    fold_one(9, (struct leak_slot){.site = 1, .counts = {0, 0, 1, 100}});
    ck_assert_uint_eq(view_site(store_header, 1)->threads[0], 0);
    fold_one(9, (struct leak_slot){.site = 1, .counts = {1, 100, 0, 0}});
    ck_assert_uint_eq(view_site(store_header, 1)->threads[0], 9);
}
END_TEST

START_TEST(threads_of_a_site_are_named_as_far_as_they_fit)
{
    make_sites(1);
    for (uint32_t serial = 1; serial <= (uint32_t)LEAK_SITE_THREADS + _i; serial++)
        for (int twice = 0; twice < 2; twice++)
            fold_one(serial, (struct leak_slot){.site = 1, .counts = {1, 1, 0, 0}});
    const struct leak_site *site = view_site(store_header, 1);
    for (uint32_t i = 0; i < LEAK_SITE_THREADS; i++)
        ck_assert_uint_eq(site->threads[i], i + 1);
    ck_assert_uint_eq(site->more_threads, _i > 0);
}
END_TEST

START_TEST(a_fold_tells_live_readers_that_counts_moved)
{
    make_sites(1);
    uint64_t before = store_header->folds;
    fold_one(1, (struct leak_slot){.site = 1, .counts = {1, 1, 0, 0}});
    ck_assert_uint_ne(store_header->folds, before);
}
END_TEST

START_TEST(a_free_without_a_slot_is_counted_at_the_site)
{
    make_sites(2);
    fold_one(1, (struct leak_slot){.site = 1, .counts = {3, 30, 0, 0}});
    sites_count_free(&unit_guard, 1, 1, 10);
    sites_count_free(&unit_guard, 1, 1, 5);
    expect(1, (struct leak_counts){3, 30, 2, 15}, "after two frees");
    expect(2, (struct leak_counts){0, 0, 0, 0}, "the other site");
    fold_one(1, (struct leak_slot){.site = 1, .counts = {1, 1, 1, 15}});
    expect(1, (struct leak_counts){4, 31, 3, 30}, "after a fold on top");
}
END_TEST

/* ---- Slots ----------------------------------------------------------------------------------- */

START_TEST(a_site_keeps_its_slot_while_nothing_else_wants_it)
{
    make_sites(10);
    struct thread_counters slots = {0};
    ck_assert(thread_counters_open(&unit_guard, &slots, 1));
    struct leak_slot *slot = thread_counters_find(&unit_guard, &slots, 5);
    ck_assert_uint_eq(slot->site, 5);
    for (int i = 0; i < 100; i++) {
        ck_assert_ptr_eq(thread_counters_find(&unit_guard, &slots, 5), slot);
        count_alloc(&slots, 5, 10);
    }
    expect(5, (struct leak_counts){100, 1000, 0, 0}, "in the slot alone");
    ck_assert_uint_eq(sites_counts(5).allocs, 0);
    thread_counters_close(&unit_guard, &slots);
    expect(5, (struct leak_counts){100, 1000, 0, 0}, "folded");
    ck_assert_uint_eq(sites_counts(5).allocs, 100);
}
END_TEST

START_TEST(a_closed_cache_serves_the_next_thread)
{
    make_sites(10);
    struct thread_counters first = {0}, second = {0}, third = {0};
    thread_counters_open(&unit_guard, &first, 1);
    count_alloc(&first, 1, 10);
    struct leak_slots *memory = first.memory;
    thread_counters_close(&unit_guard, &first);
    ck_assert_uint_eq(memory->thread, 0);
    ck_assert(thread_counters_open(&unit_guard, &second, 2));
    ck_assert_ptr_eq(second.memory, memory);
    ck_assert_uint_eq(memory->thread, 2);
    ck_assert(thread_counters_open(&unit_guard, &third, 3));
    ck_assert_ptr_ne(third.memory, memory);
    count_alloc(&second, 1, 1);
    count_alloc(&third, 1, 100);
    expect(1, (struct leak_counts){3, 111, 0, 0}, "three threads");
}
END_TEST

START_TEST(a_thousand_short_threads_need_one_cache)
{
    make_sites(10);
    for (uint32_t serial = 1; serial <= 1000; serial++) {
        struct thread_counters slots = {0};
        ck_assert(thread_counters_open(&unit_guard, &slots, serial));
        count_alloc(&slots, 1 + serial % 10, 1);
        thread_counters_close(&unit_guard, &slots);
    }
    ck_assert_uint_lt(store_header->used, 20 * LEAK_PAGE);
    for (uint32_t site = 1; site <= 10; site++)
        expect(site, (struct leak_counts){100, 100, 0, 0}, "after all threads");
}
END_TEST

#define MANY 20000

/* Every site twice: a cache that is too small for that many grows as far as it may. */
static void count_everywhere(struct thread_counters *slots)
{
    for (int round = 0; round < 2; round++)
        for (uint32_t site = 1; site <= MANY; site++)
            count_alloc(slots, site, 1);
}

static unsigned caches_larger_than(uint64_t bytes)
{
    uint64_t offset = 0;
    unsigned found = 0;
    const struct leak_chunk *chunk;
    while ((chunk = view_chunk(store_header, LEAK_CHUNK_SLOTS, &offset)))
        found += chunk->size > bytes;
    return found;
}

/* The largest cache takes 256 KiB; a thread may cost 128 KiB beside that of a few. */
START_TEST(only_a_few_threads_get_the_largest_cache)
{
    enum { FEW = 8, MORE = 20 };
    static struct thread_counters slots[MORE];
    make_sites(MANY);
    for (int again = 0; again < 3; again++) { /* what was given back is no new one */
        for (uint32_t i = 0; i < MORE; i++) {
            ck_assert(thread_counters_open(&unit_guard, &slots[i], again * MORE + i + 1));
            count_everywhere(&slots[i]);
        }
        unsigned largest = 0;
        for (uint32_t i = 0; i < MORE; i++)
            largest += slots[i].size_class == 3;
        ck_assert_msg(largest == FEW, "round %d: %u threads have the largest cache", again,
                      largest);
        for (uint32_t i = 0; i < MORE; i++)
            ck_assert_msg(slots[i].size_class >= 2, "thread %u has class %u", i,
                          slots[i].size_class);
        ck_assert_uint_eq(caches_larger_than(64 << 10), FEW);
        for (uint32_t i = 0; i < MORE; i++)
            thread_counters_close(&unit_guard, &slots[i]);
    }
    for (uint32_t site = 1; site <= MANY; site += 1999)
        expect(site, (struct leak_counts){3 * MORE * 2, 3 * MORE * 2, 0, 0}, "after all threads");
}
END_TEST

/* One thread after the other, as in a program that makes a worker for each task. */
START_TEST(one_largest_cache_serves_threads_one_after_the_other)
{
    make_sites(MANY);
    for (uint32_t serial = 1; serial <= 20; serial++) {
        struct thread_counters slots = {0};
        thread_counters_open(&unit_guard, &slots, serial);
        count_everywhere(&slots);
        ck_assert_msg(slots.size_class == 3, "thread %u has class %u", serial, slots.size_class);
        thread_counters_close(&unit_guard, &slots);
    }
    ck_assert_uint_eq(caches_larger_than(64 << 10), 1);
    /* What was used again was not made: there is still room for a second. */
    struct thread_counters first = {0}, second = {0};
    thread_counters_open(&unit_guard, &first, 21);
    count_everywhere(&first);
    thread_counters_open(&unit_guard, &second, 22);
    count_everywhere(&second);
    ck_assert_uint_eq(first.size_class, 3);
    ck_assert_uint_eq(second.size_class, 3);
}
END_TEST

/* The parent's caches are none of the child's. */
START_TEST(a_fork_child_has_as_many_largest_caches_as_its_parent_had)
{
    static struct thread_counters slots[9];
    make_sites(MANY);
    for (uint32_t i = 0; i < 8; i++) {
        thread_counters_open(&unit_guard, &slots[i], i + 1);
        count_everywhere(&slots[i]);
    }
    if (_i)
        thread_counters_fork_child();
    thread_counters_open(&unit_guard, &slots[8], 9);
    count_everywhere(&slots[8]);
    ck_assert_uint_eq(slots[8].size_class, _i ? 3 : 2);
}
END_TEST

START_TEST(the_sum_holds_under_random_evictions_and_growth)
{
    static const uint32_t counts[] = {10, 500, MANY};
    static struct leak_counts want[MANY + 1];
    uint32_t sites = counts[_i];
    uint64_t state = unit_seed + (uint64_t)_i;
    make_sites(sites);
    struct thread_counters slots = {0};
    thread_counters_open(&unit_guard, &slots, 1);
    for (int n = 0; n < 300000; n++) {
        uint32_t site = 1 + unit_random(&state) % sites;
        uint64_t size = unit_random(&state) % 1000;
        if (want[site].allocs == want[site].frees || unit_random(&state) % 3) {
            count_alloc(&slots, site, size);
            want[site].allocs++;
            want[site].bytes += size;
        } else {
            count_free(&slots, site, size);
            want[site].frees++;
            want[site].freed_bytes += size;
        }
        if (n % 3000 == 0)
            expect(site, want[site], "under way");
        if (n == 150000 && _i == 1) /* a thread's end and another's beginning in between */
            thread_counters_close(&unit_guard, &slots), thread_counters_open(&unit_guard, &slots, 2);
    }
    for (uint32_t site = 1; site <= sites; site += sites / 10)
        expect(site, want[site], "in the end");
    ck_assert_uint_eq(slots.size_class, _i == 0 ? 0 : _i == 1 ? 2 : 3);
    thread_counters_close(&unit_guard, &slots);
    for (uint32_t site = 1; site <= sites; site++) {
        struct leak_counts got = sites_counts(site);
        ck_assert_msg(memcmp(&got, &want[site], sizeof got) == 0,
                      "seed %" PRIu64 " site %u after closing", unit_seed, site);
    }
}
END_TEST

#define THREADS 4
#define OPERATIONS 100000

static struct leak_counts by_thread[THREADS][301];

static void *count_on(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    uint64_t state = unit_seed + me;
    struct guard guard = {.sp = 1};
    struct thread_counters slots = {0};
    thread_counters_open(&guard, &slots, me + 1);
    for (int n = 0; n < OPERATIONS; n++) {
        uint32_t site = 1 + unit_random(&state) % 300;
        count_alloc(&slots, site, n % 17);
        by_thread[me][site].allocs++;
        by_thread[me][site].bytes += n % 17;
        if (n % 5 == 0) {
            count_free(&slots, 1 + site % 300, 3);
            by_thread[me][1 + site % 300].frees++;
            by_thread[me][1 + site % 300].freed_bytes += 3;
        }
        if (n % 20000 == 19999) {
            thread_counters_close(&guard, &slots);
            thread_counters_open(&guard, &slots, me + 1 + (uint32_t)(n / 20000 + 1) * THREADS);
        }
    }
    if (me % 2)
        thread_counters_close(&guard, &slots);
    return NULL;
}

START_TEST(threads_count_on_the_same_sites_without_losing_any)
{
    pthread_t threads[THREADS];
    make_sites(300);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count_on, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t site = 1; site <= 300; site++) {
        struct leak_counts want = {0, 0, 0, 0};
        for (int i = 0; i < THREADS; i++) {
            want.allocs += by_thread[i][site].allocs;
            want.bytes += by_thread[i][site].bytes;
            want.frees += by_thread[i][site].frees;
            want.freed_bytes += by_thread[i][site].freed_bytes;
        }
        expect(site, want, "after all threads");
    }
}
END_TEST

/* ---- Death at any instant -------------------------------------------------------------------- */

#define WATCHED 200

/* What the child has begun and finished counting, in memory it shares with the test. */
struct progress {
    uint64_t begun[WATCHED + 1], done[WATCHED + 1];
};

static struct shared {
    struct progress allocs, frees;
    uint64_t operations, threads;
    bool rests; /* the child, now and then */
} * shared;

static void share(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(shared != MAP_FAILED);
    shared->threads = 1;
}

static void begin(struct progress *progress, uint32_t site)
{
    __atomic_fetch_add(&progress->begun[site], 1, __ATOMIC_SEQ_CST);
}

static void done(struct progress *progress, uint32_t site)
{
    __atomic_fetch_add(&progress->done[site], 1, __ATOMIC_SEQ_CST);
    shared->operations++;
}

static void one_operation(struct thread_counters *slots, uint32_t site)
{
    begin(&shared->allocs, site);
    count_alloc(slots, site, 10);
    done(&shared->allocs, site);
}

static void one_free(struct thread_counters *slots, uint32_t site)
{
    begin(&shared->frees, site);
    if (slots)
        count_free(slots, site, 10);
    else
        sites_count_free(&unit_guard, site, 1, 10);
    done(&shared->frees, site);
}

static void check_sum(const char *what, const struct progress *progress, uint32_t site,
                      uint64_t count, uint64_t bytes, const char *when, uint64_t step)
{
    ck_assert_msg(count >= progress->done[site] && count <= progress->begun[site],
                  "seed %" PRIu64 ", %s (step %" PRIu64 ", operation %" PRIu64
                  "), site %u: between %" PRIu64 " and %" PRIu64
                  " %s were counted, the reader sees %" PRIu64,
                  unit_seed, when, step, shared->operations, site, progress->done[site],
                  progress->begun[site], what, count);
    /* in each thread bytes follow the count by one instruction or two */
    ck_assert_msg(bytes % 10 == 0 && bytes / 10 <= count && bytes / 10 + shared->threads >= count,
                  "seed %" PRIu64 ", %s (step %" PRIu64 "), site %u: %" PRIu64 " %s of %" PRIu64
                  " bytes",
                  unit_seed, when, step, site, count, what, bytes);
}

static void check_sums(const char *when, uint64_t step)
{
    for (uint32_t site = 1; site <= WATCHED; site++) {
        if (!shared->allocs.begun[site] && !shared->frees.begun[site])
            continue;
        struct leak_counts got = view_counts(store_header, site);
        check_sum("allocations", &shared->allocs, site, got.allocs, got.bytes, when, step);
        check_sum("frees", &shared->frees, site, got.frees, got.freed_bytes, when, step);
    }
}

/* Few sites that share slots, so that nearly every operation folds. */
static uint32_t crowd(const struct thread_counters *slots, uint32_t *sites, uint32_t want)
{
    uint32_t found = 0;
    for (uint32_t site = 1; site <= WATCHED && found < want; site++)
        if (thread_counters_pair(slots, site) == thread_counters_pair(slots, 1))
            sites[found++] = site;
    return found;
}

/* The child's ways of counting. */
static uint32_t crowded[4], crowded_count;

static void counts_where_every_operation_folds(struct thread_counters *slots)
{
    for (int n = 0; n < 40; n++) {
        one_operation(slots, crowded[n % crowded_count]);
        if (n % 5 == 4)
            one_free(slots, crowded[(n + 1) % crowded_count]);
    }
    thread_counters_close(&unit_guard, slots); /* the end of a thread, too */
}

static void counts_while_its_cache_grows(struct thread_counters *slots)
{
    for (uint32_t site = 1; site <= 12; site++)
        one_operation(slots, site);
    slots->evictions = 4 * slots->memory->count; /* has had enough */
    for (int n = 0; n < 28; n++)
        one_operation(slots, crowded[n % crowded_count]);
    if (slots->size_class != 1)
        _exit(2);
}

static void frees_without_a_slot(struct thread_counters *slots)
{
    for (int n = 0; n < 30; n++) {
        one_operation(slots, crowded[n % crowded_count]);
        one_free(NULL, crowded[n % crowded_count]);
    }
}

static const struct {
    const char *name;
    void (*count)(struct thread_counters *slots);
} ways[] = {{"folding", counts_where_every_operation_folds},
            {"growing", counts_while_its_cache_grows},
            {"freeing without a slot", frees_without_a_slot}};

/* Each way twice: locks as with several threads, and as with one. */
START_TEST(a_program_stopped_at_any_instruction_is_consistent)
{
    if (!unit_can_trace())
        return UNIT_SKIP(UNIT_NO_TRACE);
    make_sites(WATCHED);
    share();
    struct thread_counters slots = {0};
    thread_counters_open(&unit_guard, &slots, 1);
    crowded_count = crowd(&slots, crowded, 4);
    ck_assert_msg(crowded_count >= 3, "no sites that share a slot");
    if (_i % 2)
        lock_start();
    pid_t pid = fork();
    if (pid == 0) {
        alarm(50);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        ways[_i / 2].count(&slots);
        _exit(0);
    }
    int status;
    uint64_t steps = 0;
    waitpid(pid, &status, 0);
    while (WIFSTOPPED(status)) {
        if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP)
            break;
        if (!UNIT_SANITIZED || steps % 16 == 0) /* far more instructions, each slower to check */
            check_sums(ways[_i / 2].name, steps);
        steps++;
        if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) != 0) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return UNIT_SKIP("ptrace is not allowed here");
        }
        waitpid(pid, &status, 0);
    }
    ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%s: the child ended with %x",
                  ways[_i / 2].name, status);
    ck_assert_uint_ge(shared->operations, 40);
    ck_assert_msg(steps > 2000, "only %" PRIu64 " steps", steps);
    check_sums("ended", steps);
}
END_TEST

static void *work_until_killed(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    uint64_t state = unit_seed + me;
    struct guard guard = {.sp = 1};
    struct thread_counters slots = {0};
    thread_counters_open(&guard, &slots, me + 1);
    for (uint32_t n = 1;; n++) {
        uint32_t site = 1 + unit_random(&state) % WATCHED;
        one_operation(&slots, site);
        if (n % 3 == 0)
            one_free(n % 2 ? &slots : NULL, site);
        if (shared->rests && n % 50 == 0)
            nanosleep(&(struct timespec){0, 100000}, NULL);
        if (n % 1000 == 0) {
            thread_counters_close(&guard, &slots);
            thread_counters_open(&guard, &slots, me + 1 + n / 1000 * 2);
        }
    }
    return NULL;
}

START_TEST(a_program_killed_at_any_moment_leaves_a_consistent_account)
{
    make_sites(WATCHED);
    share();
    shared->threads = 2;
    uint64_t state = unit_seed + (uint64_t)_i;
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t second;
        pthread_create(&second, NULL, work_until_killed, (void *)1);
        work_until_killed((void *)0);
    }
    struct timespec nap = {0, 200000 + unit_random(&state) % 20000000};
    nanosleep(&nap, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    check_sums("killed", 0);
}
END_TEST

/* A live reader that finds "folds" unchanged has seen a consistent account. */
START_TEST(a_live_reader_that_saw_no_fold_saw_no_count_twice)
{
    make_sites(WATCHED);
    share();
    shared->rests = true;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        work_until_killed((void *)0);
    }
    unsigned good = 0;
    for (int n = 0; n < 20000 && good < 2000; n++) {
        uint32_t site = 1 + n % WATCHED;
        uint64_t folds = load_acquire(&store_header->folds);
        uint64_t done = load_acquire(&shared->allocs.done[site]);
        struct leak_counts got = view_counts(store_header, site);
        uint64_t begun = load_acquire(&shared->allocs.begun[site]);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (folds % 2 || load_acquire(&store_header->folds) != folds)
            continue;
        good++;
        UNIT_WANT_MSG(got.allocs >= done && got.allocs <= begun,
                      "site %u: between %" PRIu64 " and %" PRIu64
                      " were counted, the reader sees %" PRIu64,
                      site, done, begun, got.allocs);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_msg(good > 100, "only %u looks without a fold", good);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("sites");
    TCase *folds = tcase_create("folds");
    tcase_add_checked_fixture(folds, setup, NULL);
    tcase_add_test(folds, a_fold_moves_the_counts_and_clears_the_slot);
    tcase_add_test(folds, a_fold_leaves_the_other_slots_alone);
    tcase_add_test(folds, a_thread_that_only_frees_is_not_named);
    tcase_add_loop_test(folds, threads_of_a_site_are_named_as_far_as_they_fit, 0, 3);
    tcase_add_test(folds, a_fold_tells_live_readers_that_counts_moved);
    tcase_add_test(folds, a_free_without_a_slot_is_counted_at_the_site);
    suite_add_tcase(suite, folds);
    TCase *caches = tcase_create("slots");
    tcase_set_timeout(caches, 60);
    tcase_add_checked_fixture(caches, setup, NULL);
    tcase_add_test(caches, a_site_keeps_its_slot_while_nothing_else_wants_it);
    tcase_add_test(caches, a_closed_cache_serves_the_next_thread);
    tcase_add_test(caches, a_thousand_short_threads_need_one_cache);
    tcase_add_loop_test(caches, the_sum_holds_under_random_evictions_and_growth, 0, 3);
    tcase_add_test(caches, only_a_few_threads_get_the_largest_cache);
    tcase_add_test(caches, one_largest_cache_serves_threads_one_after_the_other);
    tcase_add_loop_test(caches, a_fork_child_has_as_many_largest_caches_as_its_parent_had, 0, 2);
    tcase_add_test(caches, threads_count_on_the_same_sites_without_losing_any);
    suite_add_tcase(suite, caches);
    TCase *deaths = tcase_create("death");
    tcase_set_tags(deaths, "killed");
    tcase_set_timeout(deaths, 120);
    tcase_add_checked_fixture(deaths, setup, NULL);
    tcase_add_loop_test(deaths, a_program_stopped_at_any_instruction_is_consistent, 0,
                        2 * ARRAY_LENGTH(ways));
    tcase_add_loop_test(deaths, a_program_killed_at_any_moment_leaves_a_consistent_account, 0, 100);
    tcase_add_test(deaths, a_live_reader_that_saw_no_fold_saw_no_count_twice);
    suite_add_tcase(suite, deaths);
    return unit_main(argc, argv, suite);
}
