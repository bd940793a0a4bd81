/* test_context_tree.c - stacks become numbers: equal ones equal, different ones different, in every thread.
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/contexts/sites.h"
#include "preload/contexts/thread_counters.h"
#include "preload/store/store.h"
#include "preload/contexts/context_tree.h"

static void setup(void)
{
    ck_assert_msg(store_create(unit_directory, "tree", environ), "no store");
    sites_start();
    ck_assert_msg(context_tree_start(), "no tree");
}

/* A stack as these tests make it, innermost frame first. */
struct stack {
    enum leak_root end;
    unsigned depth;
    uintptr_t pc[UNWIND_DEPTH_MAX];
    uint32_t retired[UNWIND_DEPTH_MAX];
};

static struct stack trace, other;
static struct unwind_trace memo;

static void fresh(struct unwind_trace *at)
{
    unwind_invalidate(at);
}

/* Into a trace as unwind would: outer frames equal to those of the trace before are shared. */
static uint32_t site_with(const struct stack *at, enum leak_kind kind,
                          struct unwind_trace *kept_trace)
{
    unsigned kept = 0;
    for (unsigned most = kept_trace->end == at->end && kept_trace->shareable ? kept_trace->depth
                                                                             : 0;
         kept < at->depth && kept < most; kept++) {
        const struct unwind_step *step = &kept_trace->step[kept];
        unsigned from_inside = at->depth - 1 - kept;
        if (step->pc != at->pc[from_inside] || step->retired != at->retired[from_inside])
            break;
    }
    for (unsigned i = kept; i < at->depth; i++)
        kept_trace->step[i] = (struct unwind_step){.pc = at->pc[at->depth - 1 - i],
                                                   .retired = at->retired[at->depth - 1 - i]};
    kept_trace->end = at->end;
    kept_trace->depth = at->depth;
    kept_trace->shared = kept;
    kept_trace->shareable = true;
    return context_tree_site(&unit_guard, kept_trace, kind);
}

/* A trace of depth frames, innermost first, all of them different. */
static void fill(struct stack *at, unsigned depth, uintptr_t salt)
{
    at->end = LEAK_ROOT_COMPLETE;
    at->depth = depth;
    for (unsigned i = 0; i < depth; i++) {
        at->pc[i] = 0x400000 + salt * 0x100000 + (depth - i) * 16;
        at->retired[i] = 0;
    }
}

static uint32_t site_of(const struct stack *at, enum leak_kind kind)
{
    struct unwind_trace *none = calloc(1, sizeof *none);
    uint32_t site = site_with(at, kind, none);
    free(none);
    return site;
}

/* What a thread had counted when it ended. */
static void count_at(uint32_t site, uint32_t serial, struct leak_counts counts)
{
    struct thread_counters slots = {0};
    ck_assert(thread_counters_open(&unit_guard, &slots, serial));
    thread_counters_find(&unit_guard, &slots, site)->counts = counts;
    thread_counters_close(&unit_guard, &slots);
}

/* ---- Same and not the same ------------------------------------------------------------------- */

START_TEST(equal_stacks_of_equal_kind_are_one_site)
{
    fill(&trace, 20, 0);
    fill(&other, 20, 0);
    uint32_t first = site_of(&trace, LEAK_KIND_MALLOC);
    ck_assert_uint_ne(first, 0);
    ck_assert_uint_eq(site_of(&other, LEAK_KIND_MALLOC), first);
    ck_assert_uint_eq(sites_last(), first);
    ck_assert(context_tree_check());
}
END_TEST

enum change {
    KIND,
    END,
    INNERMOST,
    OUTERMOST,
    MIDDLE,
    RETIRED_IN,
    RETIRED_OUT,
    SHORTER,
    LONGER,
    CHANGES
};
static const char *const change_names[] = {
    "another kind",       "another end",           "another innermost frame",
    "another outermost",  "another middle frame",  "innermost in a later generation",
    "outermost likewise", "one frame less inside", "one frame more inside"};

START_TEST(a_stack_that_differs_anywhere_is_another_site)
{
    fill(&trace, 20, 0);
    uint32_t first = site_of(&trace, LEAK_KIND_MALLOC);
    enum leak_kind kind = LEAK_KIND_MALLOC;
    fill(&other, 20, 0);
    switch (_i) {
    case KIND:
        kind = LEAK_KIND_NEW;
        break;
    case END:
        other.end = LEAK_ROOT_BROKEN;
        break;
    case INNERMOST:
        other.pc[0] += 1;
        break;
    case OUTERMOST:
        other.pc[19] += 1;
        break;
    case MIDDLE:
        other.pc[9] += 1;
        break;
    case RETIRED_IN:
        other.retired[0] = 1;
        break;
    case RETIRED_OUT:
        other.retired[19] = 1;
        break;
    case SHORTER:
        memmove(other.pc, other.pc + 1, 19 * sizeof other.pc[0]);
        other.depth = 19;
        break;
    case LONGER:
        memmove(other.pc + 1, other.pc, 20 * sizeof other.pc[0]);
        other.pc[0] = 0x999000;
        other.depth = 21;
        break;
    }
    uint32_t second = site_of(&other, kind);
    ck_assert_msg(second && second != first, "%s: both are site %u", change_names[_i], first);
    ck_assert_uint_eq(site_of(&trace, LEAK_KIND_MALLOC), first);
    ck_assert_uint_eq(site_of(&other, kind), second);
    ck_assert(context_tree_check());
}
END_TEST

START_TEST(a_stack_without_frames_is_a_site_of_its_end)
{
    trace.depth = 0;
    trace.end = LEAK_ROOT_NO_STACKS;
    uint32_t first = site_of(&trace, LEAK_KIND_MALLOC);
    ck_assert_uint_ne(first, 0);
    ck_assert_uint_eq(view_site(store_header, first)->node, LEAK_ROOT_NO_STACKS);
    trace.end = LEAK_ROOT_COMPLETE;
    ck_assert_uint_ne(site_of(&trace, LEAK_KIND_MALLOC), first);
}
END_TEST

START_TEST(shared_outer_frames_are_stored_once)
{
    fill(&trace, 100, 0);
    site_of(&trace, LEAK_KIND_MALLOC);
    uint64_t nodes = store_header->nodes;
    for (int i = 0; i < 50; i++) {
        trace.pc[0] += 16; /* one new frame each */
        site_of(&trace, LEAK_KIND_MALLOC);
    }
    ck_assert_uint_eq(store_header->nodes, nodes + 50);
}
END_TEST

/* ---- What a reader of the store sees --------------------------------------------------------- */

START_TEST(a_reader_finds_the_stack_of_a_site_from_the_store_alone)
{
    fill(&trace, 1 + _i * 37, 1);
    for (unsigned i = 0; i < trace.depth; i++)
        trace.retired[i] = i % 3;
    uint32_t id = site_of(&trace, LEAK_KIND_NEW_ARRAY);
    const struct leak_site *site = view_site(store_header, id);
    ck_assert_uint_eq(site->kind, LEAK_KIND_NEW_ARRAY);
    uint32_t node = site->node;
    for (unsigned i = 0; i < trace.depth; i++) {
        ck_assert_msg(node >= LEAK_NODE_FIRST, "frame %u of %u: the chain ends early", i,
                      trace.depth);
        struct leak_node record = view_node(store_header, node);
        ck_assert_msg(record.pc == trace.pc[i] && record.number == trace.retired[i],
                      "frame %u: wanted pc %#" PRIxPTR ", got %#" PRIx64, i, trace.pc[i],
                      record.pc);
        ck_assert(record.parent < node);
        node = record.parent;
    }
    ck_assert_uint_eq(node, LEAK_ROOT_COMPLETE);
}
END_TEST

/* ---- Many, at random ------------------------------------------------------------------------- */

/* Few different frames, so that stacks meet; walks like a program's. */
static void random_trace(uint64_t *state, struct stack *at)
{
    unsigned keep = unit_random(state) % (at->depth + 1), depth = keep + unit_random(state) % 12;
    uintptr_t pcs[64];
    uint32_t retired[64];
    if (depth > 40)
        keep = depth = unit_random(state) % 5 < keep ? unit_random(state) % 5 : 0;
    for (unsigned i = 0; i < keep; i++) { /* outermost first */
        pcs[i] = at->pc[at->depth - 1 - i];
        retired[i] = at->retired[at->depth - 1 - i];
    }
    for (unsigned i = keep; i < depth; i++) {
        pcs[i] = 0x400000 + unit_random(state) % 6 * 16;
        retired[i] = unit_random(state) % 10 == 0;
    }
    at->depth = depth;
    at->end = unit_random(state) % 50 ? LEAK_ROOT_COMPLETE : LEAK_ROOT_DEPTH;
    for (unsigned i = 0; i < depth; i++) {
        at->pc[depth - 1 - i] = pcs[i];
        at->retired[depth - 1 - i] = retired[i];
    }
}

START_TEST(the_memo_changes_no_answer)
{
    uint64_t state = unit_seed + (uint64_t)_i;
    fresh(&memo);
    for (int n = 0; n < 20000; n++) {
        random_trace(&state, &trace);
        enum leak_kind kind = 1 + unit_random(&state) % 3;
        uint32_t with = site_with(&trace, kind, &memo), without = site_of(&trace, kind);
        UNIT_WANT_MSG(with == without && with,
                      "seed %" PRIu64 " trace %d of %u frames: %u with, %u without", unit_seed, n,
                      trace.depth, with, without);
    }
    ck_assert(context_tree_check());
}
END_TEST

START_TEST(an_answer_never_changes_while_the_index_grows)
{
    enum { MANY = 60000 };
    static uint32_t sites[MANY];
    static uint8_t seen[MANY + 1];
    trace.end = LEAK_ROOT_COMPLETE;
    trace.depth = 2;
    for (int round = 0; round < 2; round++)
        for (uint32_t n = 0; n < MANY; n++) {
            trace.pc[0] = 0x400000 + n / 200 * 4096;
            trace.pc[1] = 0x800000 + n % 200 * 8;
            trace.retired[0] = trace.retired[1] = 0;
            uint32_t site = site_with(&trace, LEAK_KIND_MALLOC, &memo);
            if (round)
                UNIT_WANT_MSG(site == sites[n], "trace %u was site %u, is %u", n, sites[n], site);
            else
                UNIT_WANT_MSG(site && site <= MANY && !seen[site]++, "trace %u: site %u twice", n,
                              site);
            sites[n] = site;
        }
    ck_assert_uint_eq(sites_last(), MANY);
    ck_assert(context_tree_check());
}
END_TEST

START_TEST(a_trace_as_deep_as_can_be_has_a_site)
{
    fill(&trace, UNWIND_DEPTH_MAX, 0);
    trace.end = LEAK_ROOT_DEPTH;
    fresh(&memo);
    uint32_t site = site_with(&trace, LEAK_KIND_MALLOC, &memo);
    ck_assert_uint_ne(site, 0);
    ck_assert_uint_eq(site_with(&trace, LEAK_KIND_MALLOC, &memo), site);
    ck_assert_uint_eq(site_of(&trace, LEAK_KIND_MALLOC), site);
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

#define THREADS 4
#define TRACES 20000

static uint32_t *answers[THREADS];

/* Every thread meets the same traces; two and two in the same order. */
static void *intern(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    struct stack *mine = calloc(1, sizeof *mine);
    struct unwind_trace *my_memo = calloc(1, sizeof *my_memo);
    for (uint32_t i = 0; i < TRACES; i++) {
        uint32_t n = me % 2 ? TRACES - 1 - i : i;
        mine->end = LEAK_ROOT_COMPLETE;
        mine->depth = 6;
        for (unsigned k = 0; k < 6; k++)
            mine->pc[k] = 0x400000 + k * 0x10000 + n / (k * k * k * 5 + 1) * 8;
        answers[me][n] = site_with(mine, LEAK_KIND_MALLOC, my_memo);
    }
    free(mine);
    free(my_memo);
    return NULL;
}

START_TEST(threads_that_meet_the_same_stacks_get_the_same_sites)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        answers[i] = calloc(TRACES, sizeof *answers[i]);
        pthread_create(&threads[i], NULL, intern, (void *)i);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t n = 0; n < TRACES; n++)
        for (int i = 0; i < THREADS; i++)
            UNIT_WANT_MSG(answers[i][n] && answers[i][n] == answers[0][n],
                          "trace %u: site %u for the first thread, %u for thread %d", n,
                          answers[0][n], answers[i][n], i);
    ck_assert_uint_eq(sites_last(), TRACES);
    ck_assert(context_tree_check());
}
END_TEST

/* Traces that are known before, and answered while others make the tables grow: an outgrown table
 * becomes empty while somebody is still reading it. */
enum { KNOWN = 5000, UNKNOWN = 400000 };
static uint32_t known_sites[KNOWN];
static volatile bool grown;

static void known_trace(struct stack *at, uint32_t n)
{
    at->end = LEAK_ROOT_COMPLETE;
    at->depth = 3;
    for (unsigned k = 0; k < 3; k++)
        at->pc[k] = 0x400000 + k * 0x1000000 + n / (k * k * 70 + 1) * 8;
}

static void *ask_again_and_again(void *argument)
{
    struct stack *mine = calloc(1, sizeof *mine);
    uint64_t state = unit_seed + (uintptr_t)argument;
    uintptr_t asked = 0, wrong = 0;
    struct unwind_trace *scratch = calloc(1, sizeof *scratch);
    while (!load_relaxed(&grown) || asked < KNOWN) {
        uint32_t n = unit_random(&state) % KNOWN;
        known_trace(mine, n);
        unwind_invalidate(scratch);
        wrong += site_with(mine, LEAK_KIND_MALLOC, scratch) != known_sites[n];
        asked++;
    }
    free(mine);
    free(scratch);
    return (void *)wrong;
}

START_TEST(readers_are_answered_right_while_tables_are_outgrown)
{
    pthread_t threads[THREADS];
    lock_start();
    for (uint32_t n = 0; n < KNOWN; n++) {
        known_trace(&trace, n);
        known_sites[n] = site_with(&trace, LEAK_KIND_MALLOC, &memo);
    }
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask_again_and_again, (void *)i);
    for (uint32_t n = 0; n < UNKNOWN; n++) {
        other.end = LEAK_ROOT_COMPLETE;
        other.depth = 1;
        other.pc[0] = 0x7f0000000000 + n * 8;
        UNIT_WANT(site_with(&other, LEAK_KIND_NEW, &memo));
    }
    store_relaxed(&grown, true);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        ck_assert_msg(!wrong, "seed %" PRIu64 ", thread %d: %d wrong answers", unit_seed, i,
                      (int)(intptr_t)wrong);
    }
    ck_assert_uint_eq(sites_last(), KNOWN + UNKNOWN);
    ck_assert(context_tree_check());
}
END_TEST

/* Every node and site with its share of the index, tables and chunks half empty included. */
START_TEST(nodes_and_sites_stay_within_their_memory)
{
    enum { MANY = 80000 };
    const double fixed = 8 << 20;
    trace.end = LEAK_ROOT_COMPLETE;
    trace.depth = 12;
    for (uint32_t n = 0; n < MANY; n++) {
        for (unsigned k = 0; k < 12; k++)
            trace.pc[k] = 0x400000 + k * 0x1000000 + n / (k * k * k * k + 1) * 8;
        UNIT_WANT(site_with(&trace, LEAK_KIND_MALLOC, &memo));
        double nodes = store_header->nodes, sites = store_header->sites;
        UNIT_WANT_MSG((double)arena_used() <= 24 * nodes + 64 * sites + fixed,
                      "%" PRIu64 " bytes for %.0f nodes and %.0f sites", arena_used(), nodes,
                      sites);
    }
}
END_TEST

/* ---- Without memory -------------------------------------------------------------------------- */

START_TEST(without_memory_there_is_no_site_and_old_ones_stay)
{
    fill(&trace, 10, 0);
    uint32_t first = site_of(&trace, LEAK_KIND_MALLOC), refused = 0;
    arena_set_limit(arena_used() + 100000);
    for (int n = 1; n < 20000; n++) {
        fill(&other, 3, n);
        refused += !site_of(&other, LEAK_KIND_MALLOC);
    }
    ck_assert_msg(refused > 0, "the limit was never met");
    ck_assert_uint_eq(site_of(&trace, LEAK_KIND_MALLOC), first);
    ck_assert(context_tree_check());
    /* With memory again, what was refused is had. */
    arena_set_limit(0);
    fill(&other, 3, 19999);
    uint32_t site = site_of(&other, LEAK_KIND_MALLOC);
    ck_assert_uint_ne(site, 0);
    ck_assert_uint_eq(site_of(&other, LEAK_KIND_MALLOC), site);
    ck_assert(context_tree_check());
}
END_TEST

/* ---- Fork ------------------------------------------------------------------------------------ */

#define CHILD_WANT(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(2, "%s:%d: in the child: %s\n", __FILE__, __LINE__, #condition);               \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

START_TEST(a_fork_childs_store_knows_the_same_sites_and_counts_its_own)
{
    fill(&trace, 30, 0);
    uint32_t inherited = site_of(&trace, LEAK_KIND_MALLOC);
    count_at(inherited, 1, (struct leak_counts){5, 500, 1, 100});
    context_tree_fork_lock();
    sites_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
        struct leak_header *parent;
        uint64_t size;
        CHILD_WANT(store_create_child(&parent, &size));
        CHILD_WANT(store_header != parent && store_header->pid == getpid());
        CHILD_WANT(context_tree_fork_child() && sites_fork_child());
        store_unmap_parent(parent, size);
        CHILD_WANT(context_tree_check());
        CHILD_WANT(store_header->inherited_sites == inherited);
        CHILD_WANT(view_site(store_header, inherited)->kind == LEAK_KIND_MALLOC);
        CHILD_WANT(view_counts(store_header, inherited).allocs == 0);
        CHILD_WANT(view_site(store_header, inherited)->threads[0] == 0);
        CHILD_WANT(view_site(store_header, inherited)->more_threads == 0);
        sites_add_inherited(inherited, 1, 400);
        CHILD_WANT(view_counts(store_header, inherited).bytes == 400);
        /* The frames are known, the site is the parent's: new blocks have one of their own. */
        uint64_t before = store_header->nodes;
        uint32_t own = site_of(&trace, LEAK_KIND_MALLOC);
        CHILD_WANT(own > inherited && store_header->nodes == before);
        CHILD_WANT(view_site(store_header, own)->node == view_site(store_header, inherited)->node);
        CHILD_WANT(site_of(&trace, LEAK_KIND_MALLOC) == own);
        fill(&other, 30, 1);
        CHILD_WANT(site_of(&other, LEAK_KIND_NEW) > own);
        CHILD_WANT(context_tree_check());
        _exit(0);
    }
    sites_fork_unlock();
    context_tree_fork_unlock();
    unit_await_success(pid);
    ck_assert_uint_eq(view_counts(store_header, inherited).allocs, 5);
    ck_assert_uint_eq(site_of(&trace, LEAK_KIND_MALLOC), inherited);
    ck_assert(context_tree_check());
}
END_TEST

START_TEST(a_site_is_inherited_without_its_threads_and_times)
{
    fill(&trace, 3, 0);
    store_header->epoch = 4000; /* the parent is old */
    uint32_t inherited = site_of(&trace, LEAK_KIND_MALLOC);
    ck_assert_uint_eq(view_site(store_header, inherited)->first, 4000);
    for (uint32_t serial = 1; serial <= LEAK_SITE_THREADS + 2; serial++)
        count_at(inherited, serial, (struct leak_counts){1, 1, 0, 0});
    ck_assert_uint_eq(view_site(store_header, inherited)->more_threads, 1);
    pid_t pid = fork();
    if (pid == 0) {
        struct leak_header *parent;
        uint64_t size;
        CHILD_WANT(store_create_child(&parent, &size));
        CHILD_WANT(context_tree_fork_child() && sites_fork_child());
        CHILD_WANT(view_site(store_header, inherited)->first <= store_header->epoch);
        CHILD_WANT(view_site(store_header, inherited)->threads[0] == 0);
        CHILD_WANT(view_site(store_header, inherited)->more_threads == 0);
        _exit(0);
    }
    unit_await_success(pid);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("tree");
    TCase *identity = tcase_create("identity");
    tcase_add_checked_fixture(identity, setup, NULL);
    tcase_add_test(identity, equal_stacks_of_equal_kind_are_one_site);
    tcase_add_loop_test(identity, a_stack_that_differs_anywhere_is_another_site, 0, CHANGES);
    tcase_add_test(identity, a_stack_without_frames_is_a_site_of_its_end);
    tcase_add_test(identity, shared_outer_frames_are_stored_once);
    tcase_add_loop_test(identity, a_reader_finds_the_stack_of_a_site_from_the_store_alone, 0, 6);
    suite_add_tcase(suite, identity);
    TCase *many = tcase_create("many");
    tcase_set_timeout(many, 120);
    tcase_add_checked_fixture(many, setup, NULL);
    tcase_add_loop_test(many, the_memo_changes_no_answer, 0, 3);
    tcase_add_test(many, an_answer_never_changes_while_the_index_grows);
    tcase_add_test(many, a_trace_as_deep_as_can_be_has_a_site);
    tcase_add_test(many, threads_that_meet_the_same_stacks_get_the_same_sites);
    tcase_add_test(many, readers_are_answered_right_while_tables_are_outgrown);
    tcase_add_test(many, nodes_and_sites_stay_within_their_memory);
    tcase_add_test(many, without_memory_there_is_no_site_and_old_ones_stay);
    suite_add_tcase(suite, many);
    TCase *forks = tcase_create("fork");
    tcase_add_checked_fixture(forks, setup, NULL);
    tcase_add_test(forks, a_fork_childs_store_knows_the_same_sites_and_counts_its_own);
    tcase_add_test(forks, a_site_is_inherited_without_its_threads_and_times);
    suite_add_tcase(suite, forks);
    return unit_main(argc, argv, suite);
}
