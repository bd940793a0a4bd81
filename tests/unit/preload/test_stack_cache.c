/* test_stack_cache.c - an entry that is found is what a walk from nothing would find, whatever has
 * changed.
 *
 * Half of the cases stand on real stacks of several shapes: every word of the stack is changed, one
 * after the other, and where the cache still answers a fresh walk through the changed stack must
 * answer the same. The other half stand on stacks made by hand, where it is known which leaf lies
 * where. That the cache answers at all is tested as well: one that never did would be right, too.
 */
#include "tests/unit/preload/unit.h"
#include "preload/unwind/stack_cache.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"
#include "preload/contexts/context_tree.h"
#include "preload/unwind/unwind.h"

#include <alloca.h>
#include <ucontext.h>

#define KEEP __asm__ volatile("" ::: "memory")
#define MALLOC LEAK_KIND_MALLOC

static struct unwind_bounds bounds;
static struct stack_cache leaves;

static void setup(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    ck_assert_msg(store_create(unit_directory, "leaves", environ), "no store");
    modules_start(cfi_cache_forget);
    sites_start();
    ck_assert(cfi_cache_start() && context_tree_start());
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    bounds = (struct unwind_bounds){(uintptr_t)low, (uintptr_t)low + size};
}

/* ---- Real stacks ----------------------------------------------------------------------------- */

static struct unwind_trace trace, fresh;

/* What unwind and tree say of a stack, nothing remembered. */
static uint32_t walk_to_site(const struct frame *caller, unsigned limit, struct unwind_trace *out)
{
    unwind_invalidate(out);
    unwind(&unit_guard, &bounds, caller, limit, out);
    return context_tree_site(&unit_guard, out, MALLOC);
}

/* The same, as a hook does it: the paths are worked out while the frames take their places. */
static uint32_t expect_site(const struct frame *caller, unsigned limit, struct unwind_trace *out)
{
    unwind_find(&unit_guard, &bounds, caller, limit, out);
    context_tree_prefetch(out, MALLOC);
    unwind_commit(&bounds, out);
    return context_tree_site(&unit_guard, out, MALLOC);
}

/* Did the walk read that word? */
static bool was_read(const uintptr_t *word)
{
    for (unsigned i = 1; i < trace.depth; i++) {
        const struct unwind_step *step = &trace.step[i];
        if (word == step->pc_slot || word == step->sp_slot ||
            (word == step->fp_slot && step[-1].fp_matters))
            return true;
    }
    return false;
}

static unsigned words_read(void)
{
    unsigned count = 0;
    for (unsigned i = 1; i < trace.depth; i++)
        count += (trace.step[i].pc_slot != NULL) + (trace.step[i].sp_slot != NULL) +
                 (trace.step[i].fp_slot != NULL && trace.step[i - 1].fp_matters);
    return count;
}

static unsigned captures, misses_wanted, hits_wanted, limit_now = UNWIND_DEPTH_MAX;
static bool shared;

/* With one word another: a miss where the walk had read it, and a hit only for the same site. */
__attribute__((no_sanitize("address"))) static void change(uintptr_t *word, uintptr_t value,
                                                           const struct frame *caller)
{
    uintptr_t kept = *word;
    uint32_t walked = 0, found;
    if (value == kept)
        return;
    *word = value;
    KEEP;
    found = stack_cache_find(&leaves, bounds.low, caller, MALLOC);
    if (found)
        walked = walk_to_site(caller, limit_now, &fresh);
    *word = kept;
    KEEP;
    UNIT_WANT_MSG(found == walked, "%p: site %u was found, a walk gives %u", (void *)word, found,
                  walked);
    UNIT_WANT_MSG(!found == was_read(word), "%p (%zu words above): %s", (void *)word,
                  (size_t)(word - (uintptr_t *)caller->sp),
                  found ? "was read, and changing it is no miss" : "was not read, and is compared");
    misses_wanted += !found;
    hits_wanted += found != 0;
}

/* Another frame pointer, kind, pc or sp in the caller's frame. */
static void change_registers(const struct frame *caller, uint32_t site)
{
    struct frame other = *caller;
    other.fp += 8;
    bool matters = trace.step[trace.depth - 1].fp_matters;
    uint32_t found = stack_cache_find(&leaves, bounds.low, &other, MALLOC);
    ck_assert_msg(found == (matters ? 0 : site), "another fp, which %s: found %u",
                  matters ? "matters" : "does not matter", found);
    ck_assert_uint_eq(stack_cache_find(&leaves, bounds.low, caller, LEAK_KIND_NEW), 0);
    other = *caller;
    other.pc++;
    ck_assert_uint_eq(stack_cache_find(&leaves, bounds.low, &other, MALLOC), 0);
    other = *caller;
    other.sp += 8;
    ck_assert_uint_eq(stack_cache_find(&leaves, bounds.low, &other, MALLOC), 0);
    ck_assert_uint_eq(stack_cache_find(&leaves, bounds.low, caller, MALLOC), site);
}

/* Called where a hook would be. */
__attribute__((no_sanitize("address"))) static NOINLINE void capture(void)
{
    struct frame caller = CALLER_FRAME();
    captures++;
    stack_cache_clear(&leaves);
    uint32_t site = walk_to_site(&caller, limit_now, &trace);
    ck_assert_uint_ne(site, 0);
    ck_assert_int_eq(trace.end, trace.depth < limit_now ? LEAK_ROOT_COMPLETE : LEAK_ROOT_DEPTH);
    if (shared) { /* once more: what is kept then comes from a trace that was verified, not walked
                   */
        unwind(&unit_guard, &bounds, &caller, limit_now, &trace);
        ck_assert_uint_eq(trace.shared, trace.depth);
        ck_assert_uint_eq(context_tree_site(&unit_guard, &trace, MALLOC), site);
    }
    ck_assert_uint_eq(stack_cache_find(&leaves, bounds.low, &caller, MALLOC), 0);
    stack_cache_add(&leaves, bounds.low, &trace, MALLOC, site);
    ck_assert_uint_eq(stack_cache_find(&leaves, bounds.low, &caller, MALLOC), site);
    change_registers(&caller, site);
    uintptr_t *last = (uintptr_t *)trace.step[1].pc_slot + 16;
    for (uintptr_t *word = (uintptr_t *)caller.sp; word < last; word++) {
        leaves.lookups = leaves.misses = 0; /* must not fall asleep over this */
        change(word, *word ^ 8, &caller);
        change(word, trace.step[0].pc, &caller);
        change(word, trace.step[trace.depth - 1].pc, &caller);
    }
    ck_assert_uint_eq(stack_cache_find(&leaves, bounds.low, &caller, MALLOC), site);
    KEEP;
}

static NOINLINE int recurse(int n)
{
    volatile char pad[24];
    pad[n % 24] = n;
    if (n == 0)
        capture();
    else
        recurse(n - 1);
    KEEP;
    return pad[n % 24];
}

/* Frames that are found by the frame pointer. */
static NOINLINE int with_alloca(int n)
{
    volatile char *room = alloca(16 + n * 37);
    room[0] = n;
    if (n == 0)
        capture();
    else
        with_alloca(n - 1);
    KEEP;
    return room[0];
}

/* Some frames that only keep the frame pointer, inside of one that is found by it. */
static NOINLINE int alloca_outside(int n)
{
    volatile char *room = alloca(16 + n * 29);
    room[0] = n;
    recurse(n);
    KEEP;
    return room[0];
}

/* Realigned and of variable size: the CFA is a word that fp points near. */
static NOINLINE int realigned_and_variable(int n)
{
    _Alignas(64) volatile char room[64];
    volatile char *more = alloca(16 + n * 29);
    more[0] = room[n % 64] = n;
    if (n == 0)
        capture();
    else
        realigned_and_variable(n - 1);
    KEEP;
    return room[n % 64] + more[0];
}

static int compare_and_capture(const void *a UNUSED, const void *b UNUSED)
{
    if (!captures)
        capture();
    return 0;
}

static int through_libc(int n)
{
    int numbers[] = {n, 2, 1};
    qsort(numbers, 3, sizeof numbers[0], compare_and_capture);
    return numbers[0];
}

#ifdef __clang__
#define UNOPTIMISED __attribute__((optnone))
#else
#define UNOPTIMISED __attribute__((optimize("O0")))
#endif

UNOPTIMISED static NOINLINE int unoptimised(int n)
{
    if (n == 0)
        capture();
    else
        unoptimised(n - 1);
    return n;
}

static const struct {
    const char *name;
    int (*run)(int n);
    int n;
} shapes[] = {{"recursion", recurse, 8},
              {"one frame", recurse, 0},
              {"variable frames", with_alloca, 6},
              {"a variable frame outside", alloca_outside, 4},
              {"realigned frames", realigned_and_variable, 4},
              {"through libc", through_libc, 0},
              {"unoptimised code", unoptimised, 6}};

static NOINLINE void compare_ways(unsigned deeper, bool expected_first)
{
    if (deeper) {
        compare_ways(deeper - 1, expected_first);
        KEEP;
    }
    struct frame caller = CALLER_FRAME();
    uint32_t before = expected_first ? 0 : walk_to_site(&caller, UNWIND_DEPTH_MAX, &fresh);
    uint32_t expected = expect_site(&caller, UNWIND_DEPTH_MAX, &trace);
    uint32_t after = walk_to_site(&caller, UNWIND_DEPTH_MAX, &fresh);
    ck_assert_uint_ne(expected, 0);
    ck_assert_uint_eq(expected, after);
    ck_assert(expected_first || before == expected);
}

START_TEST(paths_that_are_worked_out_early_lead_to_the_same_site)
{
    compare_ways(5, _i);
    compare_ways(8, _i); /* shares frames with the last one */
    ck_assert(context_tree_check());
}
END_TEST

START_TEST(any_word_that_was_read_is_a_miss_when_it_changes)
{
    int shape = _i / 2;
    shared = _i % 2;
    shapes[shape].run(shapes[shape].n);
    ck_assert_uint_eq(captures, 1);
    ck_assert_msg(misses_wanted >= 2 * (trace.depth - 1), "%s: only %u misses for %u frames",
                  shapes[shape].name, misses_wanted, trace.depth);
    ck_assert_msg(hits_wanted > 0, "%s: every word of the stack is compared", shapes[shape].name);
}
END_TEST

static NOINLINE void keep_and_ask(bool *kept)
{
    struct frame caller = CALLER_FRAME();
    stack_cache_clear(&leaves);
    uint32_t site = walk_to_site(&caller, UNWIND_DEPTH_MAX, &trace);
    stack_cache_add(&leaves, bounds.low, &trace, MALLOC, site);
    uint32_t found = stack_cache_find(&leaves, bounds.low, &caller, MALLOC);
    ck_assert(found == 0 || found == site);
    *kept = found != 0;
    KEEP;
}

static NOINLINE int keep_deep(int n, bool *kept)
{
    if (n == 0)
        keep_and_ask(kept);
    else
        keep_deep(n - 1, kept);
    KEEP;
    return n;
}

START_TEST(a_stack_is_kept_while_its_words_fit)
{
    unsigned kept_ones = 0;
    for (int n = 0; n < 600; n += 3) {
        bool kept;
        keep_deep(n, &kept);
        ck_assert_msg(kept == (words_read() <= STACK_CACHE_WORDS), "%u words in %u frames: kept %d",
                      words_read(), trace.depth, kept);
        kept_ones += kept;
    }
    ck_assert(kept_ones > 60 && kept_ones < 200);
}
END_TEST

/* Frames beyond the limit may be other ones the next time: the stack is the same. */
START_TEST(a_stack_that_was_cut_is_found_by_its_inner_frames)
{
    limit_now = 5;
    shared = _i;
    recurse(12);
    ck_assert_uint_eq(trace.depth, limit_now);
    ck_assert_uint_eq(captures, 1);
    ck_assert_uint_ge(misses_wanted, 2 * (trace.depth - 1));
    ck_assert_uint_gt(hits_wanted, 0);
}
END_TEST

static NOINLINE void keep_limited(unsigned limit, uint32_t *site)
{
    struct frame caller = CALLER_FRAME();
    uint32_t kept = stack_cache_find(&leaves, bounds.low, &caller, MALLOC);
    *site = expect_site(&caller, limit, &trace);
    ck_assert(!kept || kept == *site);
    stack_cache_add(&leaves, bounds.low, &trace, MALLOC, *site);
    ck_assert_uint_eq(walk_to_site(&caller, limit, &fresh), *site);
    KEEP;
}

/* Steps of a recursion, each of them with another outermost frame within the limit. */
static NOINLINE void descend(int n, unsigned limit)
{
    uint32_t before, after;
    keep_limited(limit, &before);
    if (n)
        descend(n - 1, limit);
    KEEP;
    keep_limited(limit, &after);
    KEEP;
}

START_TEST(sites_of_a_recursion_deeper_than_the_limit_are_those_of_a_walk)
{
    static const unsigned limits[] = {1, 2, 7, 64, 200};
    for (unsigned i = 0; i < ARRAY_LENGTH(limits); i++, stack_cache_clear(&leaves))
        for (int most = 5; most < 1300; most *= 4)
            descend(most, limits[i]);
    ck_assert(context_tree_check());
}
END_TEST

static bool kept_in_handler;

static void keep_in_handler(int number UNUSED)
{
    keep_and_ask(&kept_in_handler);
    KEEP;
}

static char signal_stack[64 << 10];

/* 0: on the same stack; 1: on one of its own. */
START_TEST(a_stack_with_a_signal_frame_is_not_kept)
{
    struct sigaction action = {.sa_handler = keep_in_handler, .sa_flags = _i ? SA_ONSTACK : 0};
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    kept_in_handler = true;
    raise(SIGUSR1);
    ck_assert(!kept_in_handler);
    bool kept;
    keep_and_ask(&kept);
    ck_assert(kept);
}
END_TEST

static ucontext_t main_context, fibre_context;
static bool kept_in_fibre = true;

static void fibre_body(void)
{
    keep_and_ask(&kept_in_fibre);
}

START_TEST(a_fibres_stack_is_not_kept)
{
    static char stack[256 << 10];
    getcontext(&fibre_context);
    fibre_context.uc_stack.ss_sp = stack;
    fibre_context.uc_stack.ss_size = sizeof stack;
    fibre_context.uc_link = &main_context;
    makecontext(&fibre_context, fibre_body, 0);
    swapcontext(&main_context, &fibre_context);
    ck_assert(!kept_in_fibre);
}
END_TEST

static NOINLINE uint32_t find_here(bool keep)
{
    struct frame caller = CALLER_FRAME();
    modules_refresh(&unit_guard);
    uint32_t site = stack_cache_find(&leaves, bounds.low, &caller, MALLOC);
    if (!site && keep) {
        uint32_t walked = walk_to_site(&caller, UNWIND_DEPTH_MAX, &trace);
        stack_cache_add(&leaves, bounds.low, &trace, MALLOC, walked);
    }
    KEEP;
    return site;
}

/* Rows may have gone with a module: what they said once says nothing now. */
START_TEST(after_a_change_of_modules_nothing_is_found)
{
    uint32_t found[5];
    for (volatile int n = 0; n < 5; n++) {
        if (n == 2)
            modules_note_change();
        found[n] = find_here(true);
    }
    ck_assert_uint_eq(found[0], 0);
    ck_assert_uint_ne(found[1], 0);
    ck_assert_uint_eq(found[2], 0);
    ck_assert_uint_eq(found[3], found[1]);
    ck_assert_uint_eq(found[4], found[1]);
    for (volatile int n = 0; n < 2; n++) {
        ck_assert_uint_eq(find_here(true) != 0, n);
        if (n)
            stack_cache_clear(&leaves);
    }
    ck_assert_uint_eq(find_here(false), 0);
}
END_TEST

/* ---- Stacks made by hand --------------------------------------------------------------------- */

static uintptr_t words[64];

static struct frame frame_of(uintptr_t pc)
{
    return (struct frame){.pc = pc, .sp = (uintptr_t)words, .fp = 0};
}

/* A caller at pc, whose own caller's return address is words[3]. */
static void keep(struct stack_cache *in, uintptr_t pc, uint32_t site)
{
    static struct unwind_trace made;
    words[3] = 0x400100;
    made.end = LEAK_ROOT_COMPLETE;
    made.depth = 2;
    made.shareable = true;
    made.looked = modules_generation();
    made.step[0] = (struct unwind_step){.pc = words[3], .sp = (uintptr_t)&words[4]};
    made.step[1] = (struct unwind_step){
        .pc = pc, .sp = (uintptr_t)words, .pc_slot = &words[3], .words = 1, .in_words = true};
    made.words = 1;
    made.offset[0] = (uintptr_t)&words[3] - (uintptr_t)words;
    made.word[0] = words[3];
    stack_cache_add(in, (uintptr_t)words, &made, MALLOC, site);
}

static uint32_t find(struct stack_cache *in, uintptr_t pc)
{
    struct frame caller = frame_of(pc);
    return stack_cache_find(in, (uintptr_t)words, &caller, MALLOC);
}

/* Callers that share a set with the first of them. */
static void find_rivals(uintptr_t *pcs, unsigned count)
{
    uintptr_t sp = (uintptr_t)words;
    pcs[0] = 0x500000;
    for (unsigned found = 1; found < count; found++)
        for (pcs[found] = pcs[found - 1] + 4; stack_cache_set_index(&leaves, pcs[found] + sp) !=
                                              stack_cache_set_index(&leaves, pcs[0] + sp);)
            pcs[found] += 4;
}

START_TEST(two_leaves_of_one_set_both_stay)
{
    uintptr_t pcs[3];
    find_rivals(pcs, 3);
    for (unsigned i = 0; i < 2; i++)
        keep(&leaves, pcs[i], 10 + i);
    for (unsigned n = 0; n < 10000; n++)
        UNIT_WANT(find(&leaves, pcs[n % 2]) == 10 + n % 2);
    /* A third takes the place of the one that was not used last. */
    ck_assert_uint_eq(find(&leaves, pcs[0]), 10);
    keep(&leaves, pcs[2], 12);
    ck_assert_uint_eq(find(&leaves, pcs[0]), 10);
    ck_assert_uint_eq(find(&leaves, pcs[1]), 0);
    ck_assert_uint_eq(find(&leaves, pcs[2]), 12);
}
END_TEST

/* Entries of many words: the ring goes around several times. The outermost word is another one each time,
 * or none of them would be written twice. */
static void keep_long(uintptr_t pc, uint32_t site, unsigned count)
{
    unsigned outermost = site % ARRAY_LENGTH(words);
    static struct unwind_trace made;
    made = (struct unwind_trace){.depth = 2, .shareable = true, .looked = modules_generation()};
    made.step[0] = (struct unwind_step){.pc = words[0], .sp = (uintptr_t)&words[1]};
    made.step[1] = (struct unwind_step){
        .pc = pc, .sp = (uintptr_t)words, .pc_slot = words, .words = count, .in_words = true};
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i ? i % ARRAY_LENGTH(words) : outermost;
        made.offset[i] = at * sizeof words[0];
        made.word[i] = words[at];
    }
    stack_cache_add(&leaves, (uintptr_t)words, &made, MALLOC, site);
}

/* Each stack has a pc of its own, so what is found is that stack or none. */
START_TEST(an_entry_whose_words_were_overwritten_is_empty)
{
    enum { STACKS = 4000, BACK = 32 };
    static unsigned written[STACKS + 1]; /* steps of the ring before stack n */
    unsigned found = 0, empty = 0;
    for (unsigned i = 0; i < ARRAY_LENGTH(words); i++)
        words[i] = 0x400000 + i;
    for (unsigned n = 0; n < STACKS; n++) {
        unsigned count = 1 + n * 7 % STACK_CACHE_WORDS;
        keep_long(0x500000 + n * 20, n + 1, count);
        written[n + 1] = written[n] + (count + STACK_STEP_WORDS - 1) / STACK_STEP_WORDS;
        ck_assert_uint_eq(find(&leaves, 0x500000 + n * 20), n + 1);
        for (unsigned before = 1; before < BACK && before <= n; before++) {
            uint32_t site = find(&leaves, 0x500000 + (n - before) * 20);
            bool overwritten = written[n + 1] - written[n - before] > STACK_CACHE_RING_MIN;
            ck_assert(site == 0 || (site == n - before + 1 && !overwritten));
            found += site != 0;
            empty += overwritten;
        }
        leaves.lookups = leaves.misses = 0; /* must not fall asleep over this */
    }
    /* The ring has room for 17 of the mean length, and most of these do not meet in a set. */
    ck_assert_uint_gt(found, STACKS * 8);
    ck_assert_uint_gt(empty, STACKS * 8);
    words[7]++;
    ck_assert_uint_eq(find(&leaves, 0x500000 + (STACKS - 1) * 20), 0);
}
END_TEST

/* A stack whose frames are one word each, outermost first. Below it lies the caller, at the same sp. */
static uintptr_t tall[STACK_CACHE_WORDS];

static uint32_t find_tall(uintptr_t pc)
{
    struct frame caller = {.pc = pc, .sp = (uintptr_t)tall};
    return stack_cache_find(&leaves, (uintptr_t)tall, &caller, MALLOC);
}

/* Were most of its words there already? */
static bool keep_tall(uintptr_t pc, uint32_t site, unsigned count)
{
    static struct unwind_trace made;
    made = (struct unwind_trace){.depth = 2, .shareable = true, .looked = modules_generation()};
    made.step[0] = (struct unwind_step){.pc = tall[0], .sp = (uintptr_t)&tall[1]};
    made.step[1] = (struct unwind_step){
        .pc = pc, .sp = (uintptr_t)tall, .pc_slot = tall, .words = count, .in_words = true};
    for (unsigned i = 0; i < count; i++) {
        made.offset[i] = i * sizeof tall[0];
        made.word[i] = tall[i];
    }
    uint64_t before = leaves.written;
    stack_cache_add(&leaves, (uintptr_t)tall, &made, MALLOC, site);
    ck_assert_uint_eq(find_tall(pc), site);
    return leaves.written - before < count / STACK_STEP_WORDS;
}

static void fill_tall(uintptr_t from)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(tall); i++)
        tall[i] = from + i;
}

/* The outer words are kept once, and compared for each of the stacks. */
START_TEST(stacks_share_their_outer_words)
{
    enum { COUNT = 40 };
    fill_tall(0x400000);
    ck_assert(!keep_tall(0x500000, 1, COUNT)); /* the base */
    tall[COUNT - 2]++;
    ck_assert(keep_tall(0x500014, 2, COUNT));
    tall[4]++;
    ck_assert(!keep_tall(0x500028, 3, COUNT)); /* has too little in common with it */
    tall[4]--;
    ck_assert_uint_eq(find_tall(0x500028), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(find_tall(0x500014), 2);
        tall[i]++;
        ck_assert_msg(!find_tall(0x500014), "word %u is not compared", i);
        tall[i]--;
    }
    tall[COUNT - 2]--;
    ck_assert_uint_eq(find_tall(0x500000), 1);
    ck_assert_uint_eq(find_tall(0x500014), 0);
}
END_TEST

/* When the ring has gone around, other words are where those of the base were: even if the stack has
 * exactly these, it is not the stack that was kept. */
START_TEST(an_entry_whose_base_was_overwritten_is_empty)
{
    fill_tall(0x400000);
    keep_tall(0x500000, 1, STACK_CACHE_WORDS);
    tall[STACK_CACHE_WORDS - 2]++;
    ck_assert(keep_tall(0x500014, 2, STACK_CACHE_WORDS));
    uintptr_t inner = tall[STACK_CACHE_WORDS - 2];
    unsigned stacks = 2 * STACK_CACHE_RING_MIN * STACK_STEP_WORDS / STACK_CACHE_WORDS;
    for (unsigned n = 0; n < stacks; n++) {
        fill_tall(0x600000 + n * 0x1000);
        tall[STACK_CACHE_WORDS - 2] = inner;
        tall[STACK_CACHE_WORDS - 1] = 0x400000 + STACK_CACHE_WORDS - 1;
        tall[STACK_CACHE_WORDS - 3] = 0x400000 + STACK_CACHE_WORDS - 3;
        tall[STACK_CACHE_WORDS - 4] = 0x400000 + STACK_CACHE_WORDS - 4;
        ck_assert(!keep_tall(0x700000, 3 + n, STACK_CACHE_WORDS));
        ck_assert_uint_eq(find_tall(0x500014), 0);
        leaves.lookups = leaves.misses = 0; /* must not fall asleep over this */
    }
}
END_TEST

static struct unwind_trace rival;

/* A stack of the same pc and sp as all others here; its outer words differ from theirs. */
static uint32_t find_rival(uintptr_t middle, uintptr_t outer, bool keep)
{
    static uintptr_t room[40];
    struct frame caller = {.pc = 0x600000, .sp = (uintptr_t)room};
    room[5] = 0x600100;
    room[11] = middle;
    room[30] = outer;
    rival = (struct unwind_trace){.depth = 4, .shareable = true, .looked = modules_generation()};
    rival.step[3] = (struct unwind_step){
        .pc = caller.pc, .sp = caller.sp, .pc_slot = &room[5], .words = 3, .in_words = true};
    const unsigned at[] = {30, 11, 5};
    for (unsigned i = 0; i < 3; i++) {
        rival.offset[i] = at[i] * sizeof room[0];
        rival.word[i] = room[at[i]];
    }
    uint32_t found = stack_cache_find(&leaves, (uintptr_t)room, &caller, MALLOC);
    if (!found && keep)
        stack_cache_add(&leaves, (uintptr_t)room, &rival, MALLOC, middle + outer);
    return found;
}

/* As below one wrapper of malloc that many functions call. */
START_TEST(stacks_with_one_pc_and_sp_are_told_apart_by_words_further_out)
{
    enum { MIDDLES = 3, OUTERS = 8 };
    unsigned found = 0;
    for (unsigned n = 0; n < 60 * MIDDLES * OUTERS; n++) {
        uintptr_t middle = 1000 + n % MIDDLES * 100, outer = 1 + n / MIDDLES % OUTERS;
        uint32_t site = find_rival(middle, outer, true);
        ck_assert(site == 0 || site == middle + outer);
        found += n >= 50 * MIDDLES * OUTERS && site;
        leaves.lookups = leaves.misses = 0; /* must not fall asleep over this */
    }
    ck_assert_msg(found > 10 * MIDDLES * OUTERS * 3 / 4, "of %d stacks %u were found",
                  10 * MIDDLES * OUTERS, found);
    ck_assert_uint_eq(find_rival(7, 7, false), 0);
}
END_TEST

START_TEST(every_set_is_used)
{
    unsigned found = 0;
    for (unsigned n = 0; n < STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS / 2; n++)
        keep(&leaves, 0x500000 + n * 20, n + 1);
    for (unsigned n = 0; n < STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS / 2; n++)
        found += find(&leaves, 0x500000 + n * 20) == n + 1;
    ck_assert_msg(found >= STACK_CACHE_SETS_MIN * 3 / 4, "of %d leaves %u are there",
                  STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS / 2, found);
}
END_TEST

/* Looks for that many leaves in turn, again and again, and keeps the missing; hits of the last
 * round. */
static unsigned visit(struct stack_cache *in, unsigned count)
{
    unsigned hits = 0;
    for (unsigned round = 0; round < 40; round++) {
        hits = 0;
        for (unsigned n = 0; n < count; n++) {
            uint32_t site = find(in, 0x500000 + n * 20);
            UNIT_WANT(site == 0 || site == n + 1);
            hits += site != 0;
            if (!site)
                keep(in, 0x500000 + n * 20, n + 1);
        }
    }
    return hits;
}

START_TEST(the_order_of_stacks_decides_nothing)
{
    enum { STACKS = STACK_CACHE_SETS_MIN / 2 };
    for (unsigned n = 0; n < STACKS; n++)
        keep(&leaves, 0x500000 + n * 20, n + 1);
    unsigned found = 0;
    /* The same order again and again, then another one, then none. */
    for (unsigned n = 0; n < 3000; n++) {
        unsigned at = n < 1000 ? n % STACKS : n < 2000 ? n * 3 % STACKS : hash_u64(n) % STACKS;
        uint32_t site = find(&leaves, 0x500000 + at * 20);
        UNIT_WANT(site == 0 || site == at + 1);
        found += site != 0;
        UNIT_WANT(n % 10 || !find(&leaves, 0x900000 + n * 4));
    }
    ck_assert_uint_gt(found, 2000);
    words[3]++; /* no guess is an answer without a comparison */
    for (unsigned n = 0; n < STACKS; n++)
        ck_assert_uint_eq(find(&leaves, 0x500000 + n * 20), 0);
}
END_TEST

START_TEST(who_misses_often_gets_more_sets)
{
    unsigned count = STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS * 3 / 2, hits = visit(&leaves, count);
    ck_assert_ptr_nonnull(leaves.large);
    ck_assert_msg(hits > count * 3 / 4, "%u of %u", hits, count);
    stack_cache_clear(&leaves);
    for (unsigned n = 0; n < count; n++)
        ck_assert_uint_eq(find(&leaves, 0x500000 + n * 20), 0);
}
END_TEST

START_TEST(who_seldom_misses_does_not)
{
    visit(&leaves, STACK_CACHE_SETS_MIN / 4);
    for (unsigned n = 0; n < 100000; n++)
        find(&leaves, n % 32 ? 0x500000 : 0x900000 + n * 4);
    ck_assert_ptr_null(leaves.large);
}
END_TEST

START_TEST(few_threads_have_more_sets)
{
    static struct stack_cache each[STACK_CACHE_LARGE_THREADS + 3];
    unsigned grown = 0;
    for (unsigned i = 0; i < ARRAY_LENGTH(each); i++) {
        visit(&each[i], STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS * 3 / 2);
        grown += each[i].large != NULL;
    }
    ck_assert_uint_eq(grown, STACK_CACHE_LARGE_THREADS);
    struct stack_cache *late = &each[STACK_CACHE_LARGE_THREADS + 1];
    ck_assert_ptr_null(late->large);
    stack_cache_close(&each[3]); /* that thread has ended */
    ck_assert_ptr_null(each[3].large);
    unsigned count = STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS * 3 / 2, hits = visit(late, count);
    hits = visit(late, count);
    ck_assert_ptr_nonnull(late->large);
    ck_assert_msg(hits > count * 3 / 4, "%u of %u", hits, count);
    visit(&each[3], count);
    ck_assert_ptr_null(each[3].large);
}
END_TEST

START_TEST(a_fork_child_has_the_places_of_threads_it_has_not)
{
    static struct stack_cache each[STACK_CACHE_LARGE_THREADS], child[STACK_CACHE_LARGE_THREADS];
    unsigned grown = 0;
    for (unsigned i = 0; i < ARRAY_LENGTH(each); i++)
        visit(&each[i], STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS * 3 / 2);
    stack_cache_fork_child(_i ? &each[2] : NULL);
    for (unsigned i = 0; i < ARRAY_LENGTH(child); i++) {
        visit(&child[i], STACK_CACHE_SETS_MIN * STACK_CACHE_WAYS * 3 / 2);
        grown += child[i].large != NULL;
        UNIT_WANT(!_i || child[i].large != each[2].large);
    }
    ck_assert_uint_eq(grown, STACK_CACHE_LARGE_THREADS - _i);
}
END_TEST

/* One hit in that many lookups, for so long: does the cache still answer? */
static unsigned hits_of(unsigned one_in, unsigned lookups)
{
    unsigned hits = 0;
    for (unsigned n = 0; n < lookups; n++) {
        if (n % one_in)
            find(&leaves, 0x900000 + n * 4); /* never the same */
        else if (find(&leaves, 0x500000))
            hits++;
        else
            keep(&leaves, 0x500000, 1); /* learnt again after growth */
    }
    return hits;
}

START_TEST(it_sleeps_when_it_does_not_pay_and_wakes_again)
{
    unsigned slept = 0;
    keep(&leaves, 0x500000, 1);
    ck_assert_uint_ge(hits_of(3, 30000), 9999); /* pays */
    hits_of(8, 1000);                           /* does not */
    ck_assert_uint_ne(leaves.asleep, 0);
    keep(&leaves, 0x500004, 2); /* nothing is learnt in its sleep */
    while (!find(&leaves, 0x500000) && slept < 100000)
        slept++;
    ck_assert_msg(slept > 1000 && slept < 10000, "slept for %u lookups", slept);
    ck_assert_uint_eq(find(&leaves, 0x500004), 0);
    keep(&leaves, 0x500004, 2);
    ck_assert_uint_eq(find(&leaves, 0x500004), 2);
    ck_assert_uint_eq(hits_of(1, 10000), 10000); /* and stays awake */
}
END_TEST

START_TEST(forgetting_wakes_it)
{
    hits_of(1000, 2000);
    ck_assert_uint_ne(leaves.asleep, 0);
    stack_cache_clear(&leaves);
    keep(&leaves, 0x500000, 1);
    ck_assert_uint_eq(find(&leaves, 0x500000), 1);
}
END_TEST

/* ---- At any instruction ---------------------------------------------------------------------- */

/* A handler may come while a leaf is being made, and leave by longjmp: at no instant is there one
 * that answers wrongly. */
START_TEST(a_leaf_half_made_answers_nothing)
{
    uintptr_t pcs[3];
    if (!unit_can_trace())
        return UNIT_SKIP(UNIT_NO_TRACE);
    find_rivals(pcs, 3);
    struct stack_cache *ours =
        mmap(NULL, sizeof *ours, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(ours != MAP_FAILED);
    keep(ours, pcs[0], 10);
    keep(ours, pcs[1], 11);
    pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        keep(ours, pcs[2], 12);
        _exit(0);
    }
    int status;
    unsigned steps = 0, seen[3] = {0};
    waitpid(pid, &status, 0);
    while (WIFSTOPPED(status)) {
        for (unsigned i = 0; i < 3; i++) {
            uint32_t found = find(ours, pcs[i]);
            ck_assert_msg(!found || found == 10 + i, "step %u: caller %u is site %u", steps, i,
                          found);
            seen[i] += found != 0;
            words[3]++; /* another caller's caller */
            ck_assert_uint_eq(find(ours, pcs[i]), 0);
            words[3]--;
        }
        ours->lookups = ours->misses = 0;
        if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) != 0) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return UNIT_SKIP("ptrace is not allowed here");
        }
        waitpid(pid, &status, 0);
        steps++;
    }
    ck_assert_int_eq(status, 0);
    ck_assert(seen[2] > 0 && seen[0] + seen[1] > steps);
    ck_assert_uint_eq(find(ours, pcs[2]), 12);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("leaves");
    TCase *stacks = tcase_create("stacks");
    tcase_set_timeout(stacks, 60);
    tcase_add_checked_fixture(stacks, setup, NULL);
    tcase_add_loop_test(stacks, paths_that_are_worked_out_early_lead_to_the_same_site, 0, 2);
    tcase_add_loop_test(stacks, any_word_that_was_read_is_a_miss_when_it_changes, 0,
                        2 * ARRAY_LENGTH(shapes));
    tcase_add_test(stacks, a_stack_is_kept_while_its_words_fit);
    tcase_add_loop_test(stacks, a_stack_that_was_cut_is_found_by_its_inner_frames, 0, 2);
    tcase_add_test(stacks, sites_of_a_recursion_deeper_than_the_limit_are_those_of_a_walk);
    tcase_add_loop_test(stacks, a_stack_with_a_signal_frame_is_not_kept, 0, 2);
    tcase_add_test(stacks, a_fibres_stack_is_not_kept);
    tcase_add_test(stacks, after_a_change_of_modules_nothing_is_found);
    suite_add_tcase(suite, stacks);
    TCase *cache = tcase_create("cache");
    tcase_set_timeout(cache, 60);
    tcase_add_checked_fixture(cache, setup, NULL);
    tcase_add_test(cache, two_leaves_of_one_set_both_stay);
    tcase_add_test(cache, an_entry_whose_words_were_overwritten_is_empty);
    tcase_add_test(cache, stacks_share_their_outer_words);
    tcase_add_test(cache, an_entry_whose_base_was_overwritten_is_empty);
    tcase_add_test(cache, stacks_with_one_pc_and_sp_are_told_apart_by_words_further_out);
    tcase_add_test(cache, every_set_is_used);
    tcase_add_test(cache, the_order_of_stacks_decides_nothing);
    tcase_add_test(cache, who_misses_often_gets_more_sets);
    tcase_add_test(cache, who_seldom_misses_does_not);
    tcase_add_test(cache, few_threads_have_more_sets);
    tcase_add_loop_test(cache, a_fork_child_has_the_places_of_threads_it_has_not, 0, 2);
    tcase_add_test(cache, it_sleeps_when_it_does_not_pay_and_wakes_again);
    tcase_add_test(cache, forgetting_wakes_it);
    tcase_add_test(cache, a_leaf_half_made_answers_nothing);
    suite_add_tcase(suite, cache);
    return unit_main(argc, argv, suite);
}
