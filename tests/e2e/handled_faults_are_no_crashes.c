// What a small interpreter, a collector and a virtual machine do with faults of their own.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %t >without; %leak %t >with; echo "status $?"; cmp without with && cat with
// EXPECT: ^status 0$
// EXPECT: ^interpreter: 3 errors, 13$
// EXPECT: ^collector: 1000 pages written$
// EXPECT: ^machine: 1000 null checks, on its own stack$
// EXPECT: ^threads: 4 x 1000$
// JSON: p.errors == [] and p.end == {"how": "exit", "value": 0}

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- An interpreter: errors of a line are the line's end ------------------------------------- */

static sigjmp_buf next_line;

static void on_error(int number)
{
    siglongjmp(next_line, number);
}

static int evaluate(const char *line)
{
    int *copy = malloc(100), a = atoi(line), b = atoi(strchr(line, ' ') + 3);
    switch (strchr(line, ' ')[1]) {
    case '+':
        *copy = a + b;
        break;
    case '/':
        *copy = a / b;
        break;
    default:
        *copy = *(volatile int *)(long)b;
    }
    a = *copy;
    free(copy);
    return a;
}

static void interpreter(void)
{
    static const char *const program[] = {"1 + 2", "1 / 0", "4 / 2", "0 * 8", "3 / 0", "3 + 5"};
    volatile int errors = 0, sum = 0;
    signal(SIGSEGV, on_error);
    signal(SIGFPE, on_error);
    for (volatile int i = 0; i < 6; i++)
        if (sigsetjmp(next_line, 1))
            errors++;
        else
            sum += evaluate(program[i]);
    printf("interpreter: %d errors, %d\n", errors, sum);
}

/* ---- A collector: the first write to each page is seen --------------------------------------- */

#define PAGES 1000
static char *heap;
static volatile int written;

static void on_write(int number, siginfo_t *info, void *context)
{
    char *page = (char *)((unsigned long)info->si_addr & -4096ul);
    if (page < heap || page >= heap + PAGES * 4096)
        abort();
    written++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void collector(void)
{
    struct sigaction action = {.sa_sigaction = on_write, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    heap = mmap(NULL, PAGES * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < PAGES; i++)
            heap[i * 4096 + 8 * i % 4096] = i;
    printf("collector: %d pages written\n", written);
}

/* ---- A virtual machine: a null check is a load, and its fault goes on elsewhere ------------- */

static volatile int nulls, elsewhere;
static __thread char *frame_below;
static __thread sigjmp_buf handled;

static void on_null(int number, siginfo_t *info, void *context)
{
    ucontext_t *registers = context;
    long below = frame_below - (char *)__builtin_frame_address(0);
    __atomic_fetch_add(&nulls, 1, __ATOMIC_RELAXED);
    if (below < 0 || below > 100000 || info->si_addr != (void *)16)
        elsewhere++;
#ifdef __x86_64__
    registers->uc_mcontext.gregs[REG_RIP] += 2; /* mov (%rax), %eax */
    registers->uc_mcontext.gregs[REG_RAX] = 7;
#else
    registers->uc_mcontext.pc += 4;
#endif
}

static void *check(void *argument)
{
    frame_below = __builtin_frame_address(0);
    for (int i = 0; i < 1000; i++) {
#ifdef __x86_64__
        long at = 16;
        __asm__ volatile("mov (%%rax), %%eax" : "+a"(at));
        if (at != 7)
            abort();
#else
        long at = 16;
        __asm__ volatile("ldr wzr, [%0]" : : "r"(at));
#endif
    }
    return argument;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_null, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    pthread_t threads[4];
    interpreter();
    collector();
    sigaction(SIGSEGV, &action, NULL);
    check(NULL);
    printf("machine: %d null checks, on %s stack\n", nulls, elsewhere ? "another" : "its own");
    nulls = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, check, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("threads: 4 x %d%s\n", nulls / 4, elsewhere ? ", on other stacks" : "");
    return 0;
}
