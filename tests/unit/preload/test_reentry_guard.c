/* test_reentry_guard.c - the token: taken once, recovered after a longjmp left it behind, never before. */
#include "tests/unit/preload/unit.h"
#include "preload/base/reentry_guard.h"
#include "preload/store/store.h"

#include <setjmp.h>
#include <ucontext.h>

static void setup(void)
{
    ck_assert(store_create(unit_directory, "guard", environ));
}

static uint64_t abandoned(void)
{
    return store_header->untracked[LEAK_UNTRACKED_ABANDONED];
}

/* A hook: enters, does something inside, leaves. */
static NOINLINE bool hook(void (*inside)(void))
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = guard_enter(&caller);
    if (guard && inside)
        inside();
    if (guard)
        guard_leave(guard);
    __asm__ volatile("" ::: "memory");
    return guard != NULL;
}

static bool nested_got_in;

static NOINLINE void nested(void)
{
    nested_got_in = hook(NULL);
    __asm__ volatile("" ::: "memory");
}

START_TEST(a_call_inside_a_hook_gets_no_token)
{
    ck_assert(hook(nested));
    ck_assert(!nested_got_in);
    ck_assert(hook(NULL));
    ck_assert_uint_eq(abandoned(), 0);
}
END_TEST

static void signal_handler(int number UNUSED)
{
    nested();
}

static void raise_it(void)
{
    raise(SIGUSR1);
}

static char signal_stack[65536];

static void install(void (*handler)(int), bool own_stack)
{
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    if (own_stack)
        sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = handler, .sa_flags = own_stack ? SA_ONSTACK : 0};
    sigaction(SIGUSR1, &action, NULL);
}

/* On either stack: the hook is not over, so the handler's call is nested. */
START_TEST(a_handler_that_interrupts_a_hook_gets_no_token)
{
    install(signal_handler, _i);
    nested_got_in = true;
    ck_assert(hook(raise_it));
    ck_assert(!nested_got_in);
    ck_assert_uint_eq(abandoned(), 0);
    raise(SIGUSR1); /* outside a hook it does */
    ck_assert(nested_got_in);
}
END_TEST

static sigjmp_buf jump;

static void jumping_handler(int number UNUSED)
{
    siglongjmp(jump, 1);
}

static NOINLINE bool deep_hook(int depth)
{
    volatile char pad[200];
    pad[0] = depth;
    bool result = depth ? deep_hook(depth - 1) : hook(NULL);
    pad[1] = pad[0];
    return result;
}

/* From a deeper call as well as from a shallower one. */
START_TEST(a_token_left_by_longjmp_is_taken_by_the_next_hook)
{
    install(jumping_handler, _i % 2);
    if (!sigsetjmp(jump, 1))
        hook(raise_it);
    ck_assert_uint_ne(guard_self.sp, 0);
    ck_assert(_i / 2 ? deep_hook(10) : hook(NULL));
    ck_assert_uint_eq(abandoned(), 1);
    ck_assert_uint_eq(guard_self.sp, 0);
    ck_assert(hook(nested));
    ck_assert(!nested_got_in);
}
END_TEST

static NOINLINE bool hook_beyond_a_gap(void)
{
    volatile char gap[4096];
    gap[0] = 1;
    bool result = hook(NULL);
    gap[1] = gap[0];
    return result;
}

/* The abandoned hook's frame lies in somebody's gap now, every word of it as it was. */
START_TEST(a_token_left_by_longjmp_is_taken_where_nothing_was_overwritten)
{
    volatile bool got_in = false;
    install(jumping_handler, _i);
    if (!sigsetjmp(jump, 1))
        hook(raise_it);
    else
        got_in = hook_beyond_a_gap();
    ck_assert(got_in);
    ck_assert_uint_eq(abandoned(), 1);
}
END_TEST

static ucontext_t main_context, fibre_context;

static void switch_away(void)
{
    swapcontext(&fibre_context, &main_context);
}

static void fibre_body(void)
{
    hook(switch_away);
}

/* A fibre left inside a hook, and its stack unmapped: the token has no owner. */
START_TEST(a_token_on_a_stack_that_is_gone_is_left_behind)
{
    size_t size = 256 << 10;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&fibre_context);
    fibre_context.uc_stack.ss_sp = stack;
    fibre_context.uc_stack.ss_size = size;
    fibre_context.uc_link = &main_context;
    makecontext(&fibre_context, fibre_body, 0);
    swapcontext(&main_context, &fibre_context);
    ck_assert_uint_ne(guard_self.sp, 0);
    munmap(stack, size);
    ck_assert(hook(NULL));
    ck_assert_uint_eq(abandoned(), 1);
}
END_TEST

static void *other_thread(void *argument)
{
    *(bool *)argument = hook(NULL);
    return NULL;
}

static bool other_got_in;

static void start_other(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other_thread, &other_got_in);
    pthread_join(thread, NULL);
}

START_TEST(each_thread_has_a_token_of_its_own)
{
    ck_assert(hook(start_other));
    ck_assert(other_got_in);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("guard");
    TCase *all = tcase_create("guard");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, a_call_inside_a_hook_gets_no_token);
    tcase_add_loop_test(all, a_handler_that_interrupts_a_hook_gets_no_token, 0, 2);
    tcase_add_loop_test(all, a_token_left_by_longjmp_is_taken_by_the_next_hook, 0, 4);
    tcase_add_loop_test(all, a_token_left_by_longjmp_is_taken_where_nothing_was_overwritten, 0, 2);
    if (!UNIT_SANITIZED)
        tcase_add_test(all, a_token_on_a_stack_that_is_gone_is_left_behind);
    tcase_add_test(all, each_thread_has_a_token_of_its_own);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
