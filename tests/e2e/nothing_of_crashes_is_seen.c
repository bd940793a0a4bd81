// What a program can ask about its signals and their stacks answers as it does without us.
// RUN: %t >without; a=$?; %leak %t >with; b=$?
// RUN: cmp without with && diff without with; [ $a = $b ] || echo "status $a, with libleak $b"
// RUN: tail -n1 with
// EXPECT: ^done 100000$
// REFUSE: differ|status|[<>]
// JSON: p.errors == []
// JSON: p.end == {"how": "exit", "value": 0}

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static char *frame_of_main;
static sigjmp_buf back;
static volatile int faults;

static void show(int number)
{
    struct sigaction now;
    int result = sigaction(number, NULL, &now);
    printf("%d: %d default %d flags %#x mask", number, result, now.sa_handler == SIG_DFL,
           now.sa_flags);
    for (int i = 1; i < 65; i++)
        if (sigismember(&now.sa_mask, i) == 1)
            printf(" %d", i);
    putchar('\n');
}

static void show_stack(const stack_t *stack, const char *own)
{
    printf("stack %d %#x %zu\n", stack->ss_sp == own, stack->ss_flags, stack->ss_size);
}

static void jump_back(int number)
{
    faults++;
    siglongjmp(back, 1);
}

/* SA_ONSTACK without such a stack means the ordinary one. */
static void on_which_stack(int number, siginfo_t *info, void *context)
{
    long below = frame_of_main - (char *)__builtin_frame_address(0);
    printf("handler of %d, %s stack, code %d\n", number,
           below > 0 && below < 100000 ? "main's" : "another", info->si_code);
}

static void default_actions(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_RESTART}, old;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGBUS, &action, &old);
    printf("was %#x\n", old.sa_flags);
    show(SIGBUS);
    action.sa_flags = SA_NODEFER;
    sigaction(SIGBUS, &action, &old);
    printf("was %#x\n", old.sa_flags);
    show(SIGBUS);
    printf("signal %d\n", signal(SIGFPE, SIG_DFL) == SIG_DFL);
    show(SIGFPE);
    printf("sigset %d\n", sigset(SIGILL, SIG_DFL) == SIG_DFL);
    show(SIGILL);
    printf("signal %d\n", signal(SIGSYS, SIG_IGN) == SIG_DFL);
    printf("signal %d\n", signal(SIGSYS, SIG_DFL) == SIG_IGN);
    show(SIGSYS);
}

static void stacks(void)
{
    stack_t old, mine = {.ss_sp = malloc(65536), .ss_size = 65536}, none = {.ss_flags = SS_DISABLE};
    char *own = mine.ss_sp;
    memset(&old, 7, sizeof old);
    printf("%d\n", sigaltstack(NULL, &old));
    show_stack(&old, NULL);
    printf("%d\n", sigaltstack(&mine, &old));
    show_stack(&old, NULL);
    raise(SIGUSR2);
    sigaltstack(NULL, &old);
    show_stack(&old, own);
    printf("%d\n", sigaltstack(&none, &old));
    show_stack(&old, own);
    sigaltstack(NULL, &old);
    show_stack(&old, NULL);
    mine.ss_flags = 77;
    printf("%d", sigaltstack(&mine, NULL));
    printf(" %d\n", errno);
    mine = (stack_t){.ss_sp = own, .ss_size = 10};
    printf("%d", sigaltstack(&mine, NULL));
    printf(" %d\n", errno);
    printf("%d", sigaltstack(NULL, (void *)8));
    printf(" %d\n", errno);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_which_stack, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    double kept = 1.5;
    frame_of_main = __builtin_frame_address(0);
    for (int number = 1; number < 32; number++)
        show(number);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    printf("%g\n", kept * 2);
    action.sa_flags |= SA_RESETHAND;
    sigaction(SIGSEGV, &action, NULL);
    show(SIGSEGV);
    raise(SIGSEGV);
    show(SIGSEGV);
    default_actions();
    stacks();
    signal(SIGSEGV, jump_back);
    show(SIGSEGV);
    for (int i = 0; i < 100000; i++)
        if (!sigsetjmp(back, 1))
            *(volatile int *)8 = 1;
    printf("done %d\n", faults);
    return 0;
}
