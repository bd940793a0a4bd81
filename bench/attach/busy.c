/* busy WORK SECONDS - computes without a pause, and checks its own results. Prints "ready", a line
 * for each wrong result, and "done ROUNDS LONGEST", the longest round in ms. SIGTERM ends the
 * program early.
 *
 *   spin     a loop without calls
 *   malloc   two threads that allocate, fill, compare and free: 95 % of the time in malloc and free
 *   forks    forks children that allocate, and loads and unloads libraries
 *   timers   a timer's signal 10,000 times a second, the handler on a stack of its own
 *   faults   SIGSEGV for each page that is written: the handler makes it writable
 *   threads  starts and joins threads all the time
 *   jumps    longjmp out of a signal handler, and coroutines that switch stacks
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;

static void end_soon(int number)
{
    (void)number;
    is_over = 1;
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void expect(bool right, const char *what)
{
    if (!right)
        printf("wrong: %s: %s\n", what, strerror(errno));
}

/* ---- spin ------------------------------------------------------------------------------------ */

static void spin_round(void)
{
    volatile double sum = 0;
    unsigned hash = 1;

    for (unsigned i = 0; i < 20000000; i++) {
        hash = hash * 1664525 + 1013904223;
        if (i % 16 == 0)
            sum += 0.5;
    }
    expect(hash == 1u * 2664602625u || sum == 625000, "a sum");
    expect(sum == 625000, "a sum of doubles");
}

/* ---- malloc ---------------------------------------------------------------------------------- */

static void *allocate_and_compare(void *seed)
{
    unsigned number = (unsigned)(size_t)seed;
    static __thread unsigned char *slot[256];
    static __thread size_t size[256];

    for (unsigned i = 0; i < 400000; i++) {
        unsigned at = (number = number * 1664525 + 1013904223) >> 24;

        if (slot[at]) {
            expect(slot[at][0] == (unsigned char)at && slot[at][size[at] - 1] == (unsigned char)at,
                   "what a block holds");
            if (number & 0x8000) {
                free(slot[at]);
                slot[at] = NULL;
                continue;
            }
            size[at] = 1 + (number >> 4) % 2000;
            slot[at] = realloc(slot[at], size[at]);
        } else {
            size[at] = 1 + (number >> 4) % 2000;
            slot[at] = malloc(size[at]);
        }
        slot[at][0] = slot[at][size[at] - 1] = (unsigned char)at;
    }
    for (unsigned i = 0; i < 256; i++) {
        free(slot[i]);
        slot[i] = NULL;
    }
    return NULL;
}

static void malloc_round(void)
{
    pthread_t other;

    pthread_create(&other, NULL, allocate_and_compare, (void *)7);
    allocate_and_compare((void *)9);
    pthread_join(other, NULL);
}

/* ---- forks ----------------------------------------------------------------------------------- */

static void forks_round(void)
{
    static const char *const libraries[] = {"libz.so.1", "libexpat.so.1", "libm.so.6",
                                            "libbz2.so.1.0"};

    for (unsigned i = 0; i < 4; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW);
        int status = 0;
        pid_t child = fork();

        if (child == 0) {
            char *text = malloc(1000 + i);

            memset(text, 3, 1000);
            free(text);
            _exit(40 + (int)i);
        }
        expect(child > 0 && waitpid(child, &status, 0) == child, "a child");
        expect(WIFEXITED(status) && WEXITSTATUS(status) == 40 + (int)i, "the end of a child");
        expect(library, "a library");
        if (library)
            dlclose(library);
    }
    expect(system("exit 3") >> 8 == 3, "a command");
}

/* ---- timers ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t ticks, misplaced;
static char *handler_stack;

static void on_tick(int number)
{
    char here;

    (void)number;
    ticks++;
    if (&here - handler_stack < 0 || &here - handler_stack > 65536)
        misplaced++;
}

static void timers_round(void)
{
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_ONSTACK | SA_RESTART};

    if (!handler_stack) {
        handler_stack = malloc(65536);
        sigaltstack(&(stack_t){.ss_sp = handler_stack, .ss_size = 65536}, NULL);
    }
    sigaction(SIGALRM, &action, NULL);
    ticks = 0;
    setitimer(ITIMER_REAL, &often, NULL);
    allocate_and_compare((void *)11);
    setitimer(ITIMER_REAL, &never, NULL);
    expect(ticks > 0 && !misplaced, "the signals of a timer");
}

/* ---- faults ---------------------------------------------------------------------------------- */

static char *pages;

static void on_fault(int number, siginfo_t *info, void *context)
{
    char *at = (char *)((size_t)info->si_addr & ~4095ul);

    (void)number, (void)context;
    if (at < pages || at >= pages + (64 << 12))
        _exit(99);
    mprotect(at, 4096, PROT_READ | PROT_WRITE);
}

static void faults_round(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    unsigned sum = 0;

    if (!handler_stack) {
        handler_stack = malloc(65536);
        sigaltstack(&(stack_t){.ss_sp = handler_stack, .ss_size = 65536}, NULL);
    }
    sigaction(SIGSEGV, &action, NULL);
    for (unsigned round = 0; round < 100; round++) {
        pages = mmap(NULL, 64 << 12, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (unsigned i = 0; i < 64; i++)
            pages[i << 12] = 1;
        for (unsigned i = 0; i < 64; i++)
            sum += (unsigned)pages[i << 12];
        munmap(pages, 64 << 12);
    }
    expect(sum == 6400, "what was written");
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *answer(void *number)
{
    char *block = malloc((size_t)number);

    memset(block, 1, (size_t)number);
    free(block);
    return (char *)number + 1;
}

static void threads_round(void)
{
    for (size_t i = 1; i < 200; i++) {
        pthread_t thread;
        void *result = NULL;

        expect(pthread_create(&thread, NULL, answer, (void *)i) == 0, "a thread");
        expect(pthread_join(thread, &result) == 0 && result == (void *)(i + 1), "its result");
    }
}

/* ---- jumps ----------------------------------------------------------------------------------- */

static sigjmp_buf back;
static ucontext_t outside, inside;
static unsigned switches;

static void jump_back(int number)
{
    siglongjmp(back, number);
}

static void switch_again_and_again(void)
{
    for (;;) {
        char *block = malloc(100 + switches % 50);

        switches++;
        swapcontext(&inside, &outside);
        free(block);
    }
}

static void jumps_round(void)
{
    static char *stack;
    unsigned before = switches;

    signal(SIGUSR2, jump_back);
    for (volatile unsigned i = 0; i < 1000; i++)
        if (sigsetjmp(back, 1) == 0)
            raise(SIGUSR2);
    if (!stack) {
        stack = malloc(65536);
        getcontext(&inside);
        inside.uc_stack = (stack_t){.ss_sp = stack, .ss_size = 65536};
        makecontext(&inside, switch_again_and_again, 0);
    }
    for (unsigned i = 0; i < 10000; i++)
        swapcontext(&outside, &inside);
    expect(switches - before == 10000, "coroutines");
}

/* ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*round)(void);
} works[] = {{"spin", spin_round},     {"malloc", malloc_round}, {"forks", forks_round},
             {"timers", timers_round}, {"faults", faults_round}, {"threads", threads_round},
             {"jumps", jumps_round}};

int main(int count, char **words)
{
    unsigned rounds = 0;
    double end, longest = 0;
    void (*round)(void) = NULL;

    for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
        if (count == 3 && strcmp(words[1], works[i].name) == 0)
            round = works[i].round;
    if (!round)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGTERM, end_soon);
    puts("ready");
    for (end = now_ms() + atof(words[2]) * 1e3; !is_over && now_ms() < end; rounds++) {
        double start = now_ms(), took;

        round();
        took = now_ms() - start;
        if (took > longest && !is_over)
            longest = took;
    }
    printf("done %u %.0f\n", rounds, longest);
    return 0;
}
