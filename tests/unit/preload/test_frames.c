/* test_frames.c - frames of kinds that not every CPU has: signed return addresses, frame records
 * far below the CFA, leaves that a signal interrupted before they had saved anything.
 *
 * libgcc is the oracle: it authenticates what we only strip. Where a CPU has no such thing the same
 * code is compiled without it, and must be walked all the same.
 */
#include "tests/unit/preload/unit.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/store/store.h"
#include "preload/unwind/unwind.h"

#include <setjmp.h>
#include <unwind.h>

#define KEEP __asm__ volatile("" ::: "memory")

#ifdef __aarch64__
#define SIGNED __attribute__((target("branch-protection=pac-ret")))
#define SIGNED_B __attribute__((target("branch-protection=pac-ret+b-key")))
#define SIGNED_LEAF __attribute__((target("branch-protection=pac-ret+leaf")))
#else
#define SIGNED
#define SIGNED_B
#define SIGNED_LEAF
#endif

static struct unwind_bounds bounds;

static void setup(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    ck_assert_msg(store_create(unit_directory, "frames", environ), "no store");
    modules_start(cfi_cache_forget);
    ck_assert(cfi_cache_start());
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    bounds = (struct unwind_bounds){(uintptr_t)low, (uintptr_t)low + size};
}

#define DEEP 200

static struct unwind_trace ours;
static uintptr_t theirs[DEEP];
static unsigned their_count, taken, words_signed;

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *unused UNUSED)
{
    int before = 0;
    uintptr_t pc = _Unwind_GetIPInfo(context, &before);
    if (their_count == DEEP || !pc)
        return _URC_END_OF_STACK;
    theirs[their_count++] = pc + before; /* where a signal interrupted we keep the pc plus one */
    return _URC_NO_REASON;
}

static NOINLINE void capture(void)
{
    struct frame start = CALLER_FRAME();
    unwind(&unit_guard, &bounds, &start, DEEP, &ours);
    their_count = words_signed = 0;
    _Unwind_Backtrace(note, NULL);
    for (unsigned i = 0; i + 1 < ours.depth; i++) {
        const struct unwind_step *step = unwind_step_at(&ours, i);
        words_signed += step->pc_slot && *step->pc_slot != unwind_step_at(&ours, i + 1)->pc;
    }
    taken++;
    KEEP;
}

static void compare(const char *what, unsigned least)
{
    ck_assert_msg(taken, "%s: no trace", what);
    ck_assert_msg(ours.end == LEAK_ROOT_COMPLETE && ours.depth >= least,
                  "%s: ended with %d after %u frames", what, ours.end, ours.depth);
    for (unsigned i = 0; i < ours.depth || i + 1 < their_count; i++) /* their frame 0 is capture */
        ck_assert_msg(i < ours.depth && i + 1 < their_count &&
                          unwind_step_at(&ours, i)->pc == theirs[i + 1],
                      "%s: frame %u of %u is %#" PRIxPTR ", libgcc's of %u is %#" PRIxPTR, what, i,
                      ours.depth, i < ours.depth ? unwind_step_at(&ours, i)->pc : 0,
                      their_count - 1, i + 1 < their_count ? theirs[i + 1] : 0);
}

static NOINLINE SIGNED int signed_frames(int n)
{
    volatile char pad[24];
    pad[n % 24] = n;
    if (n == 0) {
        capture();
        capture();
    } else {
        signed_frames(n - 1);
    }
    KEEP;
    return pad[n % 24];
}

static NOINLINE SIGNED_B int frames_signed_with_b(int n)
{
    if (n == 0)
        capture();
    else if (n % 2)
        frames_signed_with_b(n - 1);
    else
        signed_frames(n - 1);
    KEEP;
    return n;
}

START_TEST(signed_return_addresses_are_followed_and_shared)
{
    for (int round = 0; round < 3; round++) {
        signed_frames(20);
        compare("signed", 22);
        ck_assert_msg(ours.depth - ours.shared <= 2, "%u frames of %u were walked again",
                      ours.depth - ours.shared, ours.depth);
        frames_signed_with_b(7);
        compare("signed with the B key", 9);
    }
    if (ARCH_LINK_REGISTER && !words_signed)
        return UNIT_SKIP("this CPU signs no return addresses");
}
END_TEST

/* A frame record lies below the locals: far from the CFA. */
static NOINLINE int large_frames(int n)
{
    volatile char pad[50000];
    pad[n * 999] = n;
    if (n == 0)
        capture();
    else
        large_frames(n - 1);
    KEEP;
    return pad[n * 999];
}

START_TEST(frames_with_large_locals_are_passed)
{
    large_frames(10);
    compare("50 KB of locals", 12);
}
END_TEST

/* ---- Signals --------------------------------------------------------------------------------- */

static sigjmp_buf after;

static void fault_handler(int number UNUSED)
{
    capture();
    siglongjmp(after, 1);
}

/* Leaves: nothing is saved, and where a call leaves the return address in a register it is there.
 */
static NOINLINE void leaf(volatile int *nowhere)
{
    *nowhere = 1;
}

static NOINLINE SIGNED_LEAF void signed_leaf(volatile int *nowhere)
{
    *nowhere = 1;
}

static NOINLINE int call_leaf(void (*leaf_of)(volatile int *), int n)
{
    if (n)
        call_leaf(leaf_of, n - 1);
    else
        leaf_of(NULL);
    KEEP;
    return n;
}

static char signal_stack[65536];

START_TEST(an_interrupted_leaf_leads_to_its_caller)
{
    void (*const leaves[])(volatile int *) = {leaf, signed_leaf};
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    struct sigaction action = {.sa_handler = fault_handler, .sa_flags = _i / 2 ? SA_ONSTACK : 0};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (int round = 0; round < 4; round++) { /* the first walks, the others verify */
        taken = 0;
        if (!sigsetjmp(after, 1))
            call_leaf(leaves[_i % 2], 5);
        compare("leaf", 10);
    }
}
END_TEST

/* Only there: anywhere else the frame has called somebody since. */
START_TEST(a_frame_that_saved_nothing_cannot_have_called)
{
    struct frame start = CALLER_FRAME();
    start.pc = (uintptr_t)leaf + 4;
    unwind(&unit_guard, &bounds, &start, DEEP, &ours);
    ck_assert_uint_eq(ours.depth, 1);
    ck_assert_int_eq(ours.end, LEAK_ROOT_BROKEN);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("frames");
    TCase *calls = tcase_create("calls");
    tcase_add_checked_fixture(calls, setup, NULL);
    tcase_add_test(calls, signed_return_addresses_are_followed_and_shared);
    tcase_add_test(calls, frames_with_large_locals_are_passed);
    suite_add_tcase(suite, calls);
    TCase *signals = tcase_create("signals");
    tcase_add_checked_fixture(signals, setup, NULL);
    if (!UNIT_SANITIZED) /* the sanitizer's own handler is in the way */
        tcase_add_loop_test(signals, an_interrupted_leaf_leads_to_its_caller, 0, 4);
    if (ARCH_LINK_REGISTER)
        tcase_add_test(signals, a_frame_that_saved_nothing_cannot_have_called);
    suite_add_tcase(suite, signals);
    return unit_main(argc, argv, suite);
}
