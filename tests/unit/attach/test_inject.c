/* test_inject.c - calls in a thread of another process: attach/inject.h, tracee.h, loaded_objects.h, safe_place.h. */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/inject.h"
#include "attach/loaded_objects.h"
#include "attach/safe_place.h"
#include "attach/tracee.h"
#include "tests/unit/suite.h"

#ifndef PR_SET_MDWE /* Linux 6.3 */
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

static struct shared {
    volatile int ready, value;
    volatile long slept;
} * shared;

static struct tracee tracee;
static struct objects objects;
static struct injection injection;
static struct safe_place *place;

/* A fork child: its functions have the addresses that they have here. */
static int add(int first, int second)
{
    shared->value = first + second;
    errno = EDOM;
    return first * second;
}

static int fault(void)
{
    raise(SIGSEGV);
    return 0;
}

static void hang(void)
{
    for (;;)
        pause();
}

static void sleep_once(void)
{
    struct timespec nap = {0, 400000000};

    shared->ready = 1;
    errno = ENOTTY;
    shared->slept = nanosleep(&nap, NULL) * 1000 + errno;
}

static void ignore_traps_and_sleep(void)
{
    signal(SIGTRAP, SIG_IGN);
    sleep_once();
    if (signal(SIGTRAP, SIG_DFL) != SIG_IGN)
        shared->slept = -1;
}

/* May not have memory that is executed and was ever written. */
static void sleep_without_code(void)
{
    shared->value = prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0 ? 0 : ENOSYS;
    sleep_once();
}

static int pause_half_a_second(void)
{
    struct timespec nap = {0, 500000000};

    return nanosleep(&nap, NULL) + 5;
}

/* A loop with a value in each kind of register. */
static void count(void)
{
    double sum = 0;
    long n = 0;

    shared->ready = 1;
    while (!shared->value)
        sum += 0.5, n++;
    shared->slept = sum == (double)n / 2;
}

static volatile sig_atomic_t handled;

static void wait_in_handler(int number)
{
    (void)number;
    shared->ready = 1;
    while (!shared->value)
        ;
    handled = 1;
}

static void enter_handler(void)
{
    signal(SIGUSR1, wait_in_handler);
    raise(SIGUSR1);
}

static void enter_handler_from_memchr(void)
{
    static char bytes[1 << 20];
    struct itimerval soon = {.it_value.tv_usec = 20000};
    static char *volatile found;

    signal(SIGALRM, wait_in_handler);
    setitimer(ITIMER_REAL, &soon, NULL);
    while (!handled && !found)
        found = memchr(bytes, 1, sizeof(bytes));
}

static void stay_in_malloc(void)
{
    static void *volatile block;

    shared->ready = 1;
    for (;;) {
        block = malloc(1000);
        free(block);
    }
}

static void begin(void (*run)(void))
{
    char path[64];
    pid_t child;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not end it */
        run();
        _exit(7);
    }
    while (!shared->ready)
        usleep(1000);
    usleep(20000);
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
    tracee = (struct tracee){.pid = child, .memory = open(path, O_RDWR | O_CLOEXEC)};
    ck_assert_int_ge(tracee.memory, 0);
    ck_assert(loaded_objects_read(&objects, &tracee));
    ck_assert(inject_prepare(&injection, &objects, &tracee));
    place = safe_place_begin(&tracee, &objects, NULL);
    ck_assert(tracee_seize(&tracee, child));
    ck_assert(tracee_interrupt(&tracee, 5000));
}

static int end(void)
{
    int status;

    safe_place_end(place);
    loaded_objects_end(&objects);
    close(tracee.memory);
    ck_assert_int_eq(waitpid(tracee.pid, &status, 0), tracee.pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static const struct inject_limits loosely = {2, 300, 5000};

static enum inject_result call(void *function, uint64_t first, uint64_t second, uint64_t *result)
{
    struct inject_step steps[2] = {inject_altstack(&injection),
                                   {(uint64_t)function, {first, second}, 0}};
    enum inject_result ran = inject_steps(&injection, steps, 2, loosely);

    *result = (uint32_t)steps[1].result;
    return ran;
}

START_TEST(call_returns_its_result_and_the_sleep_goes_on)
{
    uint64_t result = 0;

    begin(sleep_once);
    ck_assert_ptr_null(safe_place_obstacle(place, &tracee));
    ck_assert(inject_begin(&injection));
    ck_assert_int_eq(call(add, 6, 7, &result), INJECT_DONE);
    ck_assert_int_eq(result, 42);
    ck_assert_int_eq(call(add, 3, 4, &result), INJECT_DONE);
    ck_assert_int_eq(result, 12);
    inject_end(&injection);
    tracee_release(&tracee);
    ck_assert_int_eq(end(), 7);
    ck_assert_int_eq(shared->value, 7);
    ck_assert_int_eq(shared->slept, EDOM); /* 0, no EINTR; errno is for the caller to keep */
}
END_TEST

START_TEST(registers_of_a_loop_are_kept)
{
    uint64_t result;

    begin(count);
    ck_assert(inject_begin(&injection));
    ck_assert_int_eq(call(add, 0, 0, &result), INJECT_DONE);
    inject_end(&injection);
    tracee_release(&tracee);
    usleep(10000);
    shared->value = 1;
    ck_assert_int_eq(end(), 7);
    ck_assert_int_eq(shared->slept, 1);
}
END_TEST

START_TEST(thread_is_put_back_out_of_a_call_that_hangs_or_faults)
{
    uint64_t result;

    begin(sleep_once);
    ck_assert(inject_begin(&injection));
    ck_assert_int_eq(call(_i ? (void *)fault : (void *)hang, 0, 0, &result),
                     _i ? INJECT_FAULT : INJECT_TIMEOUT);
    ck_assert_int_eq(injection.fault, _i ? SIGSEGV : 0);
    inject_end(&injection);
    tracee_release(&tracee);
    ck_assert_int_eq(end(), 7);
    ck_assert_int_eq(shared->slept / 1000, 0);
}
END_TEST

/* The time of the loose steps is over while another one runs: the thread is stopped, and goes on. */
START_TEST(step_that_is_not_loose_runs_to_its_end)
{
    struct inject_step steps[3] = {inject_altstack(&injection), {(uint64_t)add, {2, 2}, 0}, {0}};
    struct inject_limits limits = {_i ? 2 : 3, 100, 5000};

    begin(sleep_once);
    steps[2].function = (uint64_t)pause_half_a_second;
    ck_assert(inject_begin(&injection));
    steps[0] = inject_altstack(&injection);
    ck_assert_int_eq(inject_steps(&injection, steps, 3, limits), _i ? INJECT_DONE : INJECT_TIMEOUT);
    ck_assert_uint_eq(injection.at, _i ? 3 : 2);
    ck_assert_uint_eq((uint32_t)steps[1].result, 4);
    ck_assert_uint_eq((uint32_t)steps[2].result, _i ? 5 : 0);
    ck_assert(!injection.running);
    inject_end(&injection);
    tracee_release(&tracee);
    ck_assert_int_eq(end(), 7);
    ck_assert_int_eq(shared->slept / 1000, 0);
}
END_TEST

START_TEST(ignored_sigtrap_stays_ignored)
{
    uint64_t result = 0;

    begin(_i ? ignore_traps_and_sleep : sleep_once);
    ck_assert(inject_begin(&injection));
    ck_assert_int_eq(call(add, 6, 7, &result), INJECT_DONE);
    inject_end(&injection);
    tracee_release(&tracee);
    ck_assert_int_eq(end(), 7);
    ck_assert_int_eq(shared->slept, EDOM);
}
END_TEST

START_TEST(thread_that_has_ended_is_told_from_one_that_may_not_be_traced)
{
    pid_t child = fork();
    struct tracee one;

    if (child == 0) {
        if (_i)
            pause();
        _exit(0);
    }
    one = (struct tracee){.pid = child, .tid = child};
    if (!_i)
        waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT);
    ck_assert_int_eq(tracee_has_ended(&one), !_i);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert(tracee_has_ended(&one));
}
END_TEST

/* Maps and unmaps the stack in the thread until the test kills this process. */
static void trace_for_ever(void)
{
    if (!tracee_seize(&tracee, tracee.pid) || !tracee_interrupt(&tracee, 5000))
        _exit(1);
    for (;;) {
        inject_begin(&injection);
        inject_end(&injection);
    }
}

START_TEST(thread_goes_on_when_its_tracer_dies)
{
    begin(count);
    tracee_release(&tracee);
    for (unsigned i = 0; i < 150; i++) {
        pid_t tracer = fork();

        if (tracer == 0)
            trace_for_ever();
        usleep(2000 + i * 13);
        kill(tracer, SIGKILL);
        waitpid(tracer, NULL, 0);
    }
    shared->value = 1;
    ck_assert_int_eq(end(), 7);
    ck_assert_int_eq(shared->slept, 1);
}
END_TEST

START_TEST(process_that_may_not_write_code_is_called)
{
    uint64_t result = 0;

    begin(sleep_without_code);
    if (!shared->value) {
        ck_assert(inject_begin(&injection));
        ck_assert_int_eq(call(add, 6, 7, &result), INJECT_DONE);
        ck_assert_int_eq(result, 42);
        inject_end(&injection);
    }
    tracee_release(&tracee);
    ck_assert_int_eq(end(), 7);
    ck_assert_int_eq(shared->slept / 1000, 0);
}
END_TEST

/* A handler may last as long as the process: what it has interrupted decides. */
START_TEST(signal_handler_is_as_safe_as_what_it_has_interrupted)
{
    const char *obstacle;

    begin(_i ? enter_handler_from_memchr : enter_handler);
    obstacle = safe_place_obstacle(place, &tracee);
    if (_i)
        ck_assert_ptr_nonnull(obstacle);
    else
        ck_assert_ptr_null(obstacle); /* a system call of libc */
    tracee_release(&tracee);
    shared->value = 1;
    ck_assert_int_eq(end(), 7);
}
END_TEST

START_TEST(malloc_is_no_safe_place)
{
    unsigned inside = 0, outside = 0;

    begin(stay_in_malloc);
    for (int i = 0; i < 200; i++) {
        const char *obstacle = safe_place_obstacle(place, &tracee);
        bool in_libc = loaded_objects_find(&objects, tracee.before.rip) == objects.libc;

        inside += obstacle != NULL;
        outside += !obstacle;
        if (in_libc) /* the loop calls nothing else */
            ck_assert_msg(obstacle != NULL, "taken at %#llx", tracee.before.rip);
        tracee_release(&tracee);
        usleep(200);
        ck_assert(tracee_seize(&tracee, tracee.pid));
        ck_assert(tracee_interrupt(&tracee, 5000));
    }
    ck_assert_uint_gt(inside, 0);
    ck_assert_uint_gt(outside, 0);
    kill(tracee.pid, SIGKILL);
    tracee_release(&tracee);
    ck_assert_int_eq(end(), -SIGKILL);
}
END_TEST

START_TEST(symbols_are_those_of_the_process)
{
    begin(sleep_once);
    ck_assert_uint_eq(object_symbol(objects.libc, "getpid"), (uint64_t)getpid);
    ck_assert_uint_eq(object_symbol(objects.libc, "there_is_no_such_function"), 0);
    ck_assert_ptr_eq(loaded_objects_find(&objects, (uint64_t)getpid), objects.libc);
    ck_assert_ptr_eq(loaded_objects_find(&objects, (uint64_t)add), objects.program);
    ck_assert_ptr_ne(objects.loader, objects.libc);
    ck_assert_ptr_null(objects.library);
    tracee_release(&tracee);
    ck_assert_int_eq(end(), 7);
}
END_TEST

/* A sanitizer's runtime, or libleak, is in the process that is attached to: then its malloc is theirs, and
 * it has such a library. */
static bool has_libc_alone(void)
{
#ifdef __SANITIZE_ADDRESS__
    return false;
#else
    return !dlsym(RTLD_DEFAULT, "libleak_version");
#endif
}

int main(void)
{
    Suite *suite = suite_create("inject");
    TCase *tests = tcase_create("inject");

    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, registers_of_a_loop_are_kept);
    tcase_add_loop_test(tests, thread_is_put_back_out_of_a_call_that_hangs_or_faults, 0, 2);
    tcase_add_loop_test(tests, signal_handler_is_as_safe_as_what_it_has_interrupted, 0, 2);
    tcase_add_loop_test(tests, step_that_is_not_loose_runs_to_its_end, 0, 2);
    tcase_add_loop_test(tests, ignored_sigtrap_stays_ignored, 0, 2);
    tcase_add_test(tests, thread_goes_on_when_its_tracer_dies);
    tcase_add_loop_test(tests, thread_that_has_ended_is_told_from_one_that_may_not_be_traced, 0, 2);
    tcase_add_test(tests, process_that_may_not_write_code_is_called);
    if (has_libc_alone()) {
        tcase_add_test(tests, call_returns_its_result_and_the_sleep_goes_on);
        tcase_add_test(tests, malloc_is_no_safe_place);
        tcase_add_test(tests, symbols_are_those_of_the_process);
    }
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
