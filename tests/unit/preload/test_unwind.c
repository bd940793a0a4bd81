/* test_unwind.c - real stacks, walked by us and by two others.
 *
 * Oracles: libunwind's unw_backtrace and libgcc's _Unwind_Backtrace. libunwind is opened, not linked:
 * it exports _Unwind_Backtrace as well, and linked it would be both. Every trace must be equal in
 * every pc, with one difference by design: where a signal interrupted, we keep the interrupted pc plus
 * one, so that all of a trace is looked up at pc - 1.
 *
 * The last third is stacks that are not right: whatever is there, a trace ends and nothing faults.
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/size.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/store/store.h"
#include "preload/heap/threads.h"
#include "preload/unwind/unwind.h"

#include <alloca.h>
#include <dlfcn.h>
#include "leak_cpu.h"
#include <setjmp.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unwind.h>

static int (*unw_backtrace)(void **, int);

static struct unwind_bounds bounds;

static void find_bounds(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    bounds = (struct unwind_bounds){(uintptr_t)low, (uintptr_t)low + size};
}

static void setup(void)
{
    ck_assert_msg(store_create(unit_directory, "unwind", environ), "no store");
    modules_start(cfi_cache_forget);
    ck_assert(cfi_cache_start());
    find_bounds();
#ifdef __ARM_FEATURE_PAC_DEFAULT
    void *library = NULL; /* 1.6 ends at the first signed return address */
#else
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
#endif
    if (library)
        unw_backtrace = (int (*)(void **, int))dlsym(library, "unw_backtrace");
}

/* ---- Three walks from one place ------------------------------------------------------------- */

#define DEEP 1000

/* A trace as these tests read it, innermost frame first. */
struct walked {
    enum leak_root end;
    unsigned depth;
    uintptr_t pc[UNWIND_DEPTH_MAX];
    struct unwind_trace trace; /* kept from walk to walk: the next one may share */
};

/* Every walk is made twice, with what the last one left and from nothing: sharing changes no answer. */
static NOINLINE void walk(const struct unwind_bounds *in, const struct frame *start, unsigned limit,
                          struct walked *out)
{
    static __thread struct unwind_trace alone;
    unwind(&unit_guard, in, start, limit, &out->trace);
    unwind_invalidate(&alone);
    unwind(&unit_guard, in, start, limit, &alone);
    out->end = out->trace.end;
    out->depth = out->trace.depth;
    bool same = out->end == alone.end && out->depth == alone.depth;
    for (unsigned i = 0; i < out->depth; i++) {
        out->pc[i] = unwind_step_at(&out->trace, i)->pc;
        same = same && out->pc[i] == unwind_step_at(&alone, i)->pc;
    }
    if (!same)
        dprintf(1, "shared %u of %u frames (end %d); alone %u frames (end %d)\n", out->trace.shared,
                out->depth, out->end, alone.depth, alone.end);
    ck_assert_msg(same, "a trace that shares %u frames differs from one that does not",
                  out->trace.shared);
}

static __thread struct trio {
    struct walked ours;
    void *theirs[DEEP + 8];
    int their_count;
    uintptr_t libgcc[DEEP + 8];
    bool interrupted[DEEP + 8];
    int libgcc_count;
    int taken;
} trio;

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *argument)
{
    int before = 0;
    struct trio *at = argument;
    if (at->libgcc_count >= DEEP)
        return _URC_END_OF_STACK;
    at->libgcc[at->libgcc_count] = _Unwind_GetIPInfo(context, &before);
    at->interrupted[at->libgcc_count++] = before;
    return _URC_NO_REASON;
}

/* Called where a hook would be: starts at its caller, as CALLER_FRAME does. */
static NOINLINE void capture(void)
{
    struct frame start = CALLER_FRAME();
    walk(&bounds, &start, DEEP, &trio.ours);
    trio.their_count = unw_backtrace ? unw_backtrace(trio.theirs, DEEP) : 0;
    trio.libgcc_count = 0;
    _Unwind_Backtrace(note, &trio);
    trio.taken++;
    __asm__ volatile("" ::: "memory");
}

static void show(const char *whose, const uintptr_t *pcs, int count)
{
    dprintf(1, "%s:\n", whose);
    for (int i = 0; i < count && i < 40; i++) {
        Dl_info info = {0};
        dladdr((void *)pcs[i], &info);
        dprintf(1, "  %2d %#" PRIxPTR " %s %s\n", i, pcs[i], info.dli_sname ? info.dli_sname : "",
                info.dli_fname ? info.dli_fname : "");
    }
}

#ifdef __aarch64__
#define LOOKS_BEFORE 1 /* what libunwind answers there is one less than the return address */
#else
#define LOOKS_BEFORE 0
#endif

#ifdef __riscv
#define STOPS_AT_SIGNALS 1 /* libunwind 1.8 there: behind a handler come addresses of the stack */
#define FIBRES_END                                                                                 \
    LEAK_ROOT_NO_RULE /* glibc's first function says that its return address is in s0 */
#else
#define STOPS_AT_SIGNALS 0
#define FIBRES_END LEAK_ROOT_COMPLETE
#endif

static bool some_interrupted(void)
{
    for (int i = 1; i < trio.libgcc_count; i++)
        if (trio.interrupted[i])
            return true;
    return false;
}

/* libgcc's walk is the reference for which frames were interrupted; both must have the same pcs. */
static void compare(const char *what)
{
    uintptr_t want[DEEP + 8];
    int count = 0;
    ck_assert_msg(trio.taken == 1, "%s: %d traces taken", what, trio.taken);
    trio.taken = 0;
    /* 0 is capture itself. Some walks end with a zero return address; a frame it is not. */
    for (int i = 1; i < trio.libgcc_count && trio.libgcc[i]; i++)
        want[count++] = trio.libgcc[i] + trio.interrupted[i];
    bool same =
        (int)trio.ours.depth == count && !memcmp(trio.ours.pc, want, count * sizeof want[0]);
    if (!same) {
        show("ours", trio.ours.pc, trio.ours.depth);
        show("libgcc", want, count);
    }
    ck_assert_msg(same, "%s: our %u frames (end %d) differ from libgcc's %d", what, trio.ours.depth,
                  trio.ours.end, count);
    if (!unw_backtrace || (STOPS_AT_SIGNALS && some_interrupted()))
        return;
    int their = 0;
    uintptr_t theirs[DEEP + 8];
    for (int i = 1; i < trio.their_count && trio.theirs[i]; i++, their++) {
        /* On aarch64 it says where to look a frame up, not where the frame goes on. */
        theirs[their] = (uintptr_t)trio.theirs[i] + (LOOKS_BEFORE || trio.interrupted[i]);
        /* There it also takes a fibre's first frame twice: by then x30 is what it was before. */
        if (LOOKS_BEFORE && their && theirs[their] == theirs[their - 1] - 1)
            break;
    }
    same = (int)trio.ours.depth == their && !memcmp(trio.ours.pc, theirs, their * sizeof theirs[0]);
    if (!same) {
        show("ours", trio.ours.pc, trio.ours.depth);
        show("libunwind", theirs, their);
    }
    ck_assert_msg(same, "%s: our %u frames (end %d) differ from libunwind's %d", what,
                  trio.ours.depth, trio.ours.end, their);
}

static void compare_until(const char *what, unsigned least, enum leak_root end)
{
    compare(what);
    ck_assert_msg(trio.ours.end == end, "%s: ended with %d after %u frames", what, trio.ours.end,
                  trio.ours.depth);
    ck_assert_msg(trio.ours.depth >= least, "%s: only %u frames", what, trio.ours.depth);
}

static void compare_complete(const char *what, unsigned least)
{
    compare_until(what, least, LEAK_ROOT_COMPLETE);
}

/* ---- Shapes of code ------------------------------------------------------------------------- */

#define KEEP __asm__ volatile("" ::: "memory")

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

START_TEST(recursion)
{
    static const int depths[] = {0, 1, 10, 100, 900};
    for (size_t i = 0; i < ARRAY_LENGTH(depths); i++) {
        recurse(depths[i]);
        compare_complete("recursion", depths[i] + 3);
    }
}
END_TEST

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

START_TEST(frames_of_variable_size)
{
    with_alloca(12);
    compare_complete("alloca", 14);
}
END_TEST

static NOINLINE int realigned(int n)
{
    _Alignas(64) volatile char room[64];
    room[n % 64] = n;
    if (n == 0)
        capture();
    else
        realigned(n - 1);
    KEEP;
    return room[n % 64];
}

/* Realigned and of variable size: the CFA is a word that fp points near (DRAP). */
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

START_TEST(realigned_frames)
{
    realigned(8);
    compare_complete("realigned", 10);
    realigned_and_variable(8);
    compare_complete("realigned with alloca", 10);
}
END_TEST

static NOINLINE long many_arguments(long a, long b, long c, long d, long e, long f, long g, long h,
                                    int n)
{
    if (n == 0)
        capture();
    else
        many_arguments(h, g, f, e, d, c, b, a, n - 1);
    KEEP;
    return a + b + c + d + e + f + g + h;
}

START_TEST(arguments_on_the_stack)
{
    many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 20);
    compare_complete("arguments on the stack", 22);
}
END_TEST

static int captured_in_callback;

static int order(const void *a, const void *b)
{
    if (!captured_in_callback++)
        capture();
    return *(const int *)a - *(const int *)b;
}

START_TEST(callbacks_through_libc)
{
    int numbers[] = {5, 3, 9, 1, 7, 2, 8};
    qsort(numbers, ARRAY_LENGTH(numbers), sizeof numbers[0], order);
    compare_complete("qsort", 4);
    captured_in_callback = 0;
    int key = 7;
    bsearch(&key, numbers, ARRAY_LENGTH(numbers), sizeof numbers[0], order);
    compare_complete("bsearch", 3);
}
END_TEST

static int visit_object(struct dl_phdr_info *info UNUSED, size_t size UNUSED, void *data UNUSED)
{
    if (!captured_in_callback++)
        capture();
    return 1;
}

START_TEST(callbacks_through_the_loader)
{
    captured_in_callback = 0;
    dl_iterate_phdr(visit_object, NULL);
    compare_complete("dl_iterate_phdr", 3);
}
END_TEST

#ifdef __clang__
#define UNOPTIMISED __attribute__((optnone))
#else
#define UNOPTIMISED __attribute__((optimize("O0")))
#endif

static NOINLINE UNOPTIMISED void not_optimised(void)
{
    capture();
}

START_TEST(unoptimised_code)
{
    not_optimised();
    compare_complete("-O0", 3);
}
END_TEST

#ifdef __x86_64__
/* As the loader's _dl_runtime_resolve: an area of unknown size, and the CFA counted from rbx. */
void counts_from_rbx(void (*function)(void));
__asm__(".text\n.type counts_from_rbx, @function\ncounts_from_rbx:\n"
        ".cfi_startproc\npush %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0\n"
        "mov %rsp, %rbx\n.cfi_def_cfa_register rbx\nand $-64, %rsp\nsub $512, %rsp\ncall *%rdi\n"
        "mov %rbx, %rsp\n.cfi_def_cfa_register rsp\npop %rbx\n.cfi_adjust_cfa_offset -8\nret\n"
        ".cfi_endproc\n.size counts_from_rbx, . - counts_from_rbx\n");

static NOINLINE void saves_rbx(void)
{
    __asm__ volatile("xor %%ebx, %%ebx" ::: "rbx");
    recurse(3);
    KEEP;
}

static NOINLINE void saves_it_further_in(void)
{
    saves_rbx();
    KEEP;
}

START_TEST(frames_counted_from_a_register_that_callees_keep)
{
    for (int i = 0; i < 3; i++) { /* the second and third trace could share */
        counts_from_rbx(saves_rbx);
        compare_complete("CFA of rbx", 7);
        counts_from_rbx(saves_it_further_in);
        compare_complete("CFA of rbx, saved further in", 8);
    }
    counts_from_rbx(capture); /* no frame between here and it has saved the register */
    ck_assert_uint_eq(trio.ours.depth, 1);
    ck_assert_int_eq(trio.ours.end, LEAK_ROOT_NO_RULE);
    trio.taken = 0;
}
END_TEST
#endif

/* ---- Threads, signals, fibres --------------------------------------------------------------- */

static void *thread_body(void *argument)
{
    find_bounds();
    recurse((int)(intptr_t)argument);
    compare_complete("thread", (intptr_t)argument + 2);
    return NULL;
}

START_TEST(a_thread_of_its_own)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_body, (void *)10);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_thread_on_a_stack_of_the_programs)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    void *stack = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_setstack(&attributes, stack, 1 << 20);
    pthread_create(&thread, &attributes, thread_body, (void *)10);
    pthread_join(thread, NULL);
}
END_TEST

static void handler(int number UNUSED)
{
    recurse(3);
}

static NOINLINE void raise_deep(int n)
{
    if (n == 0)
        raise(SIGUSR1);
    else
        raise_deep(n - 1);
    KEEP;
}

static void install(int flags, void *stack, size_t size)
{
    if (flags & SA_ONSTACK) {
        stack_t on = {.ss_sp = stack, .ss_size = size};
        ck_assert_int_eq(sigaltstack(&on, NULL), 0);
    }
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
}

START_TEST(a_signal_handler_on_the_same_stack)
{
    install(0, NULL, 0);
    raise_deep(5);
    compare_complete("signal", 12);
}
END_TEST

static char signal_stack[65536];

START_TEST(a_signal_handler_on_a_stack_of_its_own)
{
    install(SA_ONSTACK, signal_stack, sizeof signal_stack);
    raise_deep(5);
    compare_complete("signal on sigaltstack", 12);
}
END_TEST

/* Interrupted between any two instructions, not only behind a system call. */
static volatile sig_atomic_t timer_traces;
static char timer_failure[200];

static void timer_handler(int number UNUSED)
{
    int saved = trio.taken;
    if (timer_failure[0])
        return;
    capture();
    trio.taken = saved;
    int count = 0;
    uintptr_t want[DEEP + 8];
    for (int i = 1; i < trio.libgcc_count && trio.libgcc[i]; i++)
        want[count++] = trio.libgcc[i] + trio.interrupted[i];
    timer_traces++;
    if ((int)trio.ours.depth != count || memcmp(trio.ours.pc, want, count * sizeof want[0])) {
        show("ours", trio.ours.pc, trio.ours.depth);
        show("libgcc", want, count);
        strcpy(timer_failure, "a trace differs");
    }
}

static NOINLINE unsigned spin(unsigned n)
{
    unsigned sink = 0, local[8] = {0};
    for (unsigned i = 0; i < n; i++) {
        local[i % 8] ^= hash_u64(i + sink);
        sink += local[i % 8];
        if (i % 16 == 0)
            sink += strlen((const char *)memset((char *)alloca(32), 1, 31)) & 1;
        if (i % 64 == 0)
            break;
    }
    return sink;
}

static NOINLINE unsigned wind(unsigned n)
{
    unsigned sum = spin(n);
    if (n)
        sum += wind(n - 1) + spin(n * 7);
    KEEP;
    return sum;
}

START_TEST(a_program_interrupted_anywhere)
{
    if (UNIT_SANITIZED)
        return UNIT_SKIP("the sanitizer's own handlers are in the way");
    struct sigaction action = {.sa_handler = timer_handler};
    sigaction(SIGALRM, &action, NULL);
    const long period =
        300000L * (long)unit_step(); /* ns; a handler takes longer under an emulator */
    struct itimerspec every = {{0, period}, {0, period}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    capture(); /* everything lazily bound is bound before */
    trio.taken = 0;
    ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &every, NULL);
    unsigned sum = 0;
    for (time_t end = time(NULL) + 10;
         timer_traces < 1500 && time(NULL) < end && !timer_failure[0];)
        sum += wind(40);
    timer_delete(timer);
    ck_assert_msg(!timer_failure[0], "%s (sum %u)", timer_failure, sum);
    ck_assert_msg(timer_traces > 100, "only %d traces", (int)timer_traces);
}
END_TEST

static ucontext_t main_context, fibre_context;

static void fibre_body(void)
{
    recurse(6);
    swapcontext(&fibre_context, &main_context);
    recurse(2);
}

START_TEST(a_fibre_made_with_makecontext)
{
    size_t size = 256 << 10;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&fibre_context);
    fibre_context.uc_stack.ss_sp = stack;
    fibre_context.uc_stack.ss_size = size;
    fibre_context.uc_link = &main_context;
    makecontext(&fibre_context, fibre_body, 0);
    swapcontext(&main_context, &fibre_context);
    compare_until("fibre", 8, FIBRES_END);
    swapcontext(&main_context, &fibre_context);
    compare_until("fibre, resumed", 4, FIBRES_END);
    recurse(2);
    compare_complete("back on the main stack", 4);
}
END_TEST

static jmp_buf jump;

static void jumping_handler(int number UNUSED)
{
    longjmp(jump, 1);
}

START_TEST(after_a_longjmp_out_of_a_handler)
{
    struct sigaction action = {.sa_handler = jumping_handler, .sa_flags = SA_NODEFER};
    sigaction(SIGUSR1, &action, NULL);
    if (!setjmp(jump))
        raise_deep(4);
    recurse(2);
    compare_complete("after longjmp", 4);
}
END_TEST

/* ---- Cut ------------------------------------------------------------------------------------ */

static struct walked cut;

static NOINLINE void capture_limited(unsigned limit)
{
    struct frame start = CALLER_FRAME();
    walk(&bounds, &start, limit, &cut);
    KEEP;
}

static NOINLINE void recurse_limited(int n, unsigned limit)
{
    if (n == 0)
        capture_limited(limit);
    else
        recurse_limited(n - 1, limit);
    KEEP;
}

/* The steps of wander in a row, up and down a recursion of two functions. */
static unsigned wandered, walked_in_cut;
static const unsigned wander_limits[] = {1, 2, 5, 16, 60, 128, 900};

static NOINLINE void wander(unsigned limit, int most, int depth);

static NOINLINE void wander_beside(unsigned limit, int most, int depth)
{
    volatile char pad[48];
    pad[depth % 48] = depth;
    wander(limit, most, depth);
    KEEP;
    (void)pad[0];
}

/* Each call goes deeper or back by chance, and a trace is taken before and after. */
static NOINLINE void wander(unsigned limit, int most, int depth)
{
    for (int n = 0; n < 3 && wandered; n++) {
        wandered--;
        capture_limited(limit);
        int way = rand() % 8;
        if (way == 0 || depth == most)
            return;
        if (way % 2)
            wander(limit, most, depth + 1);
        else
            wander_beside(limit, most, depth + 1);
        KEEP;
    }
}

/* walk compares each trace with one that shares nothing. */
START_TEST(traces_of_a_recursion_deeper_than_the_limit_are_right)
{
    unsigned limit = wander_limits[_i];
    for (int most = 3; most <= 1500; most *= 3) {
        srand(most + limit);
        wandered = 4000;
        while (wandered)
            wander(limit, most, 0);
    }
}
END_TEST

static NOINLINE void count_steps_back(int depth)
{
    if (depth)
        count_steps_back(depth - 1);
    capture_limited(20);
    walked_in_cut += cut.trace.found;
    KEEP;
}

START_TEST(leaving_a_recursion_deeper_than_the_limit_does_not_walk_each_level)
{
    enum { LEVELS = 400 };
    walked_in_cut = 0;
    count_steps_back(LEVELS);
    ck_assert_msg(walked_in_cut < 5 * LEVELS, "%u frames were walked for %d traces", walked_in_cut,
                  LEVELS);
}
END_TEST

/* ---- Sharing -------------------------------------------------------------------------------- */

static NOINLINE void leaf_one(void)
{
    capture();
    KEEP;
}

static NOINLINE void leaf_two(int n)
{
    volatile char pad[64];
    pad[n % 64] = n;
    capture();
    (void)pad[0];
    KEEP;
}

static NOINLINE void from_two_places(int n)
{
    if (n % 3 == 0)
        leaf_one();
    else
        leaf_two(n);
    KEEP;
}

static unsigned fresh_frames, fresh_at_most;

static NOINLINE void deep_then_many(int depth)
{
    if (depth) {
        deep_then_many(depth - 1);
        KEEP;
        return;
    }
    for (int n = 0; n < 100; n++) {
        from_two_places(n);
        compare("shared");
        unsigned fresh = trio.ours.depth - trio.ours.trace.shared;
        fresh_frames += n ? fresh : 0;
        fresh_at_most = n && fresh > fresh_at_most ? fresh : fresh_at_most;
    }
}

/* A fault that silently disabled sharing would leave every trace right. */
START_TEST(outer_frames_are_shared_and_not_walked)
{
    fresh_frames = fresh_at_most = 0;
    deep_then_many(50);
    ck_assert_msg(fresh_at_most <= 3, "a trace of %u frames walked %u of them", trio.ours.depth,
                  fresh_at_most);
}

static NOINLINE void inner_of_both(void)
{
    capture();
    KEEP;
}

static NOINLINE void outer_with_two_calls(int which)
{
    if (which) {
        inner_of_both();
        KEEP;
    } else {
        inner_of_both();
        __asm__ volatile("nop" ::: "memory");
    }
}

/* main -> f(site 1) -> h and main -> f(site 2) -> h leave h's own words identical. */
START_TEST(a_middle_frame_that_moved_on_is_seen)
{
    uintptr_t seen[2];
    for (int n = 0; n < 20; n++) {
        outer_with_two_calls(n % 2);
        compare("two calls of one function from one frame");
        uintptr_t pc = trio.ours.pc[1];
        ck_assert(n < 2 || seen[n % 2] == pc);
        seen[n % 2] = pc;
    }
    ck_assert(seen[0] != seen[1]);
}

START_TEST(a_limit_cuts_the_outermost_frames_and_says_so)
{
    recurse_limited(20, DEEP);
    ck_assert_int_eq(cut.end, LEAK_ROOT_COMPLETE);
    unsigned full = cut.depth;
    uintptr_t pcs[DEEP];
    memcpy(pcs, cut.pc, full * sizeof pcs[0]);
    for (unsigned limit = 1; limit <= full + 1; limit++) {
        recurse_limited(20, limit);
        ck_assert_msg(cut.end == (limit < full ? LEAK_ROOT_DEPTH : LEAK_ROOT_COMPLETE),
                      "limit %u of %u frames: end %d", limit, full, cut.end);
        ck_assert_uint_eq(cut.depth, limit < full ? limit : full);
        /* all but the pc in this function, where the two calls differ */
        ck_assert(!memcmp(cut.pc, pcs, (cut.depth < 21 ? cut.depth : 21) * sizeof pcs[0]));
    }
}
END_TEST

/* ---- Stacks that are not right -------------------------------------------------------------- */

static struct walked wild;

/* A stack of our making with a hole above and one below; sp at its start. */
static uintptr_t *made_stack(size_t size)
{
    char *map = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(map != MAP_FAILED && mprotect(map + 4096, size, PROT_READ | PROT_WRITE) == 0);
    return (uintptr_t *)(map + 4096);
}

/* An address whose row needs sp, and one whose row needs fp: the return addresses of real calls. */
static uintptr_t real_pc(unsigned n)
{
    recurse(2);
    trio.taken = 0;
    return trio.ours.pc[n < trio.ours.depth ? n : trio.ours.depth - 1];
}

static const struct {
    const char *name;
    uintptr_t sp, fp, pc; /* pc 0: a real one */
} bad_registers[] = {
    {"sp 0", 0, 0, 0},
    {"sp -8", (uintptr_t)-8, 0, 0},
    {"sp -1", (uintptr_t)-1, 0, 0},
    {"sp in the middle of nowhere", 0x123456789000, 0, 0},
    {"sp odd", 0x7fffffffe001, 0, 0},
    {"sp not canonical", 0xdead00000000beef & ~7ull, 0, 0},
    {"fp 0", 1, 0, 0},
    {"fp -1", 1, (uintptr_t)-1, 0},
    {"fp not canonical", 1, 0x8000000000000000, 0},
    {"fp nowhere", 1, 0x123456789000, 0},
    {"pc 1", 1, 1, 1},
    {"pc in data", 1, 1, (uintptr_t)&wild},
    {"pc -1", 1, 1, (uintptr_t)-1},
    {"pc not canonical", 1, 1, 0x8000000000001000},
};

START_TEST(registers_full_of_garbage_end_the_trace)
{
    uintptr_t *stack = made_stack(8192);
    for (unsigned n = 0; n < 6; n++) {
        struct frame start = {
            .pc = bad_registers[_i].pc ? bad_registers[_i].pc : real_pc(n),
            .sp = bad_registers[_i].sp == 1 ? (uintptr_t)stack : bad_registers[_i].sp,
            .fp = bad_registers[_i].fp == 1 ? (uintptr_t)stack : bad_registers[_i].fp};
        struct unwind_bounds own = {(uintptr_t)stack, (uintptr_t)stack + 8192};
        for (int known = 0; known < 2; known++) {
            walk(known ? &own : &bounds, &start, DEEP, &wild);
            ck_assert_msg(wild.depth >= 1 && wild.end != LEAK_ROOT_NONE, "%s: depth %u end %d",
                          bad_registers[_i].name, wild.depth, wild.end);
        }
    }
}
END_TEST

/* Words that look like a stack's: code, the stack itself, and nonsense. */
static uintptr_t random_word(uint64_t *state, const uintptr_t *stack, size_t words)
{
    switch (unit_random(state) % 6) {
    case 0:
        return real_pc(unit_random(state) % 8);
    case 1:
        return (uintptr_t)(stack + unit_random(state) % (words + 16));
    case 2:
        return (uintptr_t)stack + unit_random(state) % (words * 8);
    case 3:
        return unit_random(state) % 8192;
    case 4:
        return unit_random(state);
    default:
        return (uintptr_t)compare + unit_random(state) % 4096;
    }
}

START_TEST(random_stacks_never_fault_and_always_end)
{
    enum { WORDS = 1024 };
    uint64_t state = unit_seed + (uint64_t)_i;
    uintptr_t *stack = made_stack(WORDS * 8);
    unsigned long frames = 0;
    for (int round = 0; round < 3000; round++) {
        for (int i = 0; i < 64; i++)
            stack[unit_random(&state) % WORDS] = random_word(&state, stack, WORDS);
        struct frame start = {.pc = real_pc(unit_random(&state) % 6),
                              .sp = (uintptr_t)(stack + unit_random(&state) % WORDS),
                              .fp = random_word(&state, stack, WORDS)};
        struct unwind_bounds own = {(uintptr_t)stack, (uintptr_t)(stack + WORDS)};
        walk(_i % 2 ? &own : &bounds, &start, DEEP, &wild);
        frames += wild.depth;
        ck_assert_msg(wild.depth >= 1 && wild.depth <= DEEP && wild.end != LEAK_ROOT_NONE,
                      "seed %" PRIu64 " round %d: depth %u end %d", unit_seed, round, wild.depth,
                      wild.end);
        for (unsigned i = 0; i < wild.depth; i++)
            ck_assert_msg(wild.pc[i] >= LEAK_KIND_PCS && !(wild.pc[i] >> LEAK_PC_BITS),
                          "seed %" PRIu64 " round %d: frame %u is at %#" PRIxPTR
                          ", which the tree takes for something else",
                          unit_seed, round, i, wild.pc[i]);
    }
    ck_assert_uint_gt(frames, 3000);
}
END_TEST

/* Calling through a NULL pointer and allocating in the handler is what crash handlers do. */
static sigjmp_buf after_crash;

/* Ours alone: libgcc reads the code at the pc, and would crash again. */
static void crash_handler(int number UNUSED)
{
    struct frame start = CALLER_FRAME();
    walk(&bounds, &start, DEEP, &wild);
    siglongjmp(after_crash, 1);
}

START_TEST(a_call_of_null_is_no_leaf_in_the_middle_of_a_trace)
{
    struct sigaction action = {.sa_handler = crash_handler, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL); /* what an odd pc is on aarch64 */
    void (*volatile nothing)(void) = (void (*)(void))(uintptr_t)_i;
    if (!sigsetjmp(after_crash, 1))
        nothing();
    ck_assert_msg(wild.depth > 0 && wild.end == LEAK_ROOT_BROKEN, "depth %u end %d", wild.depth,
                  wild.end);
    for (unsigned i = 0; i < wild.depth; i++)
        ck_assert_msg(wild.pc[i] >= LEAK_KIND_PCS, "frame %u is at %#" PRIxPTR, i, wild.pc[i]);
}
END_TEST

START_TEST(code_without_a_table_ends_the_trace_and_says_so)
{
#if defined __aarch64__ /* stp x29, x30, [sp, -16]!; blr x0; ldp x29, x30, [sp], 16; ret */
    enum { RETURNS_TO = 8 };
    static const uint32_t code[] = {0xa9bf7bfd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#elif defined __riscv /* addi sp, -16; sd ra, 8(sp); jalr a0; ld ra, 8(sp); addi sp, 16; ret */
    enum { RETURNS_TO = 12 };
    static const uint32_t code[] = {0xff010113, 0x00113423, 0x000500e7,
                                    0x00813083, 0x01010113, 0x00008067};
#else                 /* sub rsp, 8; call rdi; add rsp, 8; ret */
    enum { RETURNS_TO = 6 };
    static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
                                   0x48, 0x83, 0xc4, 0x08, 0xc3};
#endif
    uint8_t *jit = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(jit, code, sizeof code);
    __builtin___clear_cache((char *)jit, (char *)jit + sizeof code);
    ck_assert_int_eq(mprotect(jit, 4096, PROT_READ | PROT_EXEC), 0);
    ((void (*)(void (*)(void)))jit)(capture);
    ck_assert_int_eq(trio.ours.end, LEAK_ROOT_NO_RULE);
    ck_assert_uint_eq(trio.ours.depth, 1);
    ck_assert_uint_eq(trio.ours.pc[0], (uintptr_t)jit + RETURNS_TO);
}
END_TEST

START_TEST(an_address_with_high_bits_does_not_spoil_the_real_one)
{
    uintptr_t pc = real_pc(1), *stack = made_stack(4096);
    struct unwind_bounds own = {(uintptr_t)stack, (uintptr_t)stack + 4096};
    modules_start(cfi_cache_forget);
    ck_assert(cfi_cache_start()); /* a fresh table, which has not seen the real one */
    struct frame start = {
        .pc = pc | 0x7b00ull << 48, .sp = (uintptr_t)stack, .fp = (uintptr_t)stack};
    walk(&own, &start, DEEP, &wild);
    ck_assert_int_eq(wild.end, LEAK_ROOT_NO_RULE);
    recurse(2);
    compare_complete("after a garbage address", 4);
}
END_TEST

static bool passes[3];

/* sp of callers, from the outside: a frame's, an address in its middle, and what is above all. */
static NOINLINE void look_for_calls(uintptr_t outer)
{
    struct frame start = CALLER_FRAME();
    passes[0] = unwind_passes(&start, outer);
    passes[1] = unwind_passes(&start, outer - sizeof(uintptr_t));
    passes[2] = unwind_passes(&start, UINTPTR_MAX);
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void go_deeper(int depth, uintptr_t outer)
{
    volatile char room[256];
    room[0] = depth;
    if (depth)
        go_deeper(depth - 1, outer);
    else
        look_for_calls(outer);
    room[1] = room[0];
}

static NOINLINE void call_that_has_not_returned(void)
{
    struct frame caller = CALLER_FRAME();
    go_deeper(3, caller.sp);
    __asm__ volatile("" ::: "memory");
}

START_TEST(a_call_is_left_where_the_callers_go_past_it)
{
    call_that_has_not_returned();
    ck_assert(!passes[0]);
    ck_assert(passes[1]);
    ck_assert(!passes[2]); /* the walk ends below: not known */
}
END_TEST

/* Without address randomisation the main stack and the mappings lie near each other. */
#define AGAIN "UNIT_UNWIND_AGAIN"

START_TEST(bounds_of_the_main_stack_hold_nothing_but_the_stack)
{
    if (!getenv(AGAIN)) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            setenv(AGAIN, "1", 1);
            setenv("CK_RUN_CASE", "bounds", 1);
            setenv("CK_VERBOSITY", "silent", 1);
            if (personality(ADDR_NO_RANDOMIZE) == -1)
                _exit(77);
            execl("/proc/self/exe", "test_unwind", (char *)NULL);
            _exit(errno == ENOEXEC ? 76 : 78);
        }
        waitpid(pid, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            return UNIT_SKIP("personality is not allowed here");
        if (WIFEXITED(status) && WEXITSTATUS(status) == 76)
            return UNIT_SKIP("this kernel cannot start a program of this CPU (qemu-user)");
        ck_assert_int_eq(status, 0);
        return;
    }
    struct guard guard = {.sp = 1};
    struct locked shared;
    ck_assert(threads_start(&guard));
    struct thread *thread = threads_self(&guard, &shared);
    struct unwind_bounds main_bounds = thread->bounds;
    ck_assert_uint_lt((uintptr_t)__builtin_frame_address(0) - main_bounds.low,
                      main_bounds.high - main_bounds.low);
    FILE *maps = fdopen(open("/proc/self/maps", O_RDONLY), "r");
    char line[512], rest[400];
    uintptr_t low, high;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %399[^\n]", &low, &high, rest) == 3)
            ck_assert_msg(high <= main_bounds.low || low >= main_bounds.high ||
                              strstr(rest, "[stack]"),
                          "%s  is taken for the main stack, %#" PRIxPTR " to %#" PRIxPTR, line,
                          main_bounds.low, main_bounds.high);
    fclose(maps);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("unwind");
    TCase *code = tcase_create("code");
    tcase_add_checked_fixture(code, setup, NULL);
    tcase_add_test(code, recursion);
    tcase_add_test(code, frames_of_variable_size);
    tcase_add_test(code, realigned_frames);
    tcase_add_test(code, arguments_on_the_stack);
    tcase_add_test(code, callbacks_through_libc);
    tcase_add_test(code, callbacks_through_the_loader);
    tcase_add_test(code, unoptimised_code);
#ifdef __x86_64__
    tcase_add_test(code, frames_counted_from_a_register_that_callees_keep);
#endif
    suite_add_tcase(suite, code);
    TCase *stacks = tcase_create("stacks");
    tcase_set_timeout(stacks, 30);
    tcase_add_checked_fixture(stacks, setup, NULL);
    tcase_add_test(stacks, a_thread_of_its_own);
    tcase_add_test(stacks, a_thread_on_a_stack_of_the_programs);
    tcase_add_test(stacks, a_signal_handler_on_the_same_stack);
    tcase_add_test(stacks, a_signal_handler_on_a_stack_of_its_own);
    tcase_add_test(stacks, a_program_interrupted_anywhere);
    tcase_add_test(stacks, a_fibre_made_with_makecontext);
    tcase_add_test(stacks, after_a_longjmp_out_of_a_handler);
    tcase_add_test(stacks, a_call_is_left_where_the_callers_go_past_it);
    suite_add_tcase(suite, stacks);
    TCase *limits = tcase_create("limits");
    tcase_add_checked_fixture(limits, setup, NULL);
    tcase_add_test(limits, a_limit_cuts_the_outermost_frames_and_says_so);
    tcase_add_loop_test(limits, traces_of_a_recursion_deeper_than_the_limit_are_right, 0,
                        ARRAY_LENGTH(wander_limits));
    tcase_add_test(limits, leaving_a_recursion_deeper_than_the_limit_does_not_walk_each_level);
    tcase_add_test(limits, outer_frames_are_shared_and_not_walked);
    tcase_add_test(limits, a_middle_frame_that_moved_on_is_seen);
    suite_add_tcase(suite, limits);
    TCase *wrong = tcase_create("wrong");
    tcase_set_timeout(wrong, 60);
    tcase_add_checked_fixture(wrong, setup, NULL);
    tcase_add_loop_test(wrong, registers_full_of_garbage_end_the_trace, 0,
                        ARRAY_LENGTH(bad_registers));
    tcase_add_loop_test(wrong, random_stacks_never_fault_and_always_end, 0, 4);
    if (!UNIT_SANITIZED)
        tcase_add_loop_test(wrong, a_call_of_null_is_no_leaf_in_the_middle_of_a_trace, 0, 2);
    tcase_add_test(wrong, code_without_a_table_ends_the_trace_and_says_so);
    tcase_add_test(wrong, an_address_with_high_bits_does_not_spoil_the_real_one);
    suite_add_tcase(suite, wrong);
    TCase *own = tcase_create("bounds");
    tcase_add_checked_fixture(own, setup, NULL);
    tcase_add_test(own, bounds_of_the_main_stack_hold_nothing_but_the_stack);
    suite_add_tcase(suite, own);
    return unit_main(argc, argv, suite);
}
