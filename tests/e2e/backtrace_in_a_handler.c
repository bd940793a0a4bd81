// CFLAGS: -O1 -g -rdynamic
// RUN: %leak %t; echo "status $?"; %t; echo "without $?"
// EXPECT: ^#0  0x[0-9a-f]+ crash_here\+0x[0-9a-f]+ \(.*/t\+0x[0-9a-f]+\)$
// EXPECT: ^#1  0x[0-9a-f]+ main\+0x
// EXPECT: _start
// EXPECT: ^here #0  0x[0-9a-f]+ asks_itself\+0x
// EXPECT: \.\.\. the last 1 of these [0-9]+ times more
// EXPECT: ^status 7$
// EXPECT: without 8$
// JSON: p.errors == []

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void libleak_backtrace_fd(const void *context, int fd) __attribute__((weak));
volatile int zero;

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (!libleak_backtrace_fd)
        _exit(8);
    libleak_backtrace_fd(context, 1);
    _exit(7);
}

__attribute__((noinline)) void crash_here(void)
{
    *(volatile int *)(long)zero = 1;
    zero++;
}

__attribute__((noinline)) void asks_itself(int depth)
{
    if (depth)
        asks_itself(depth - 1);
    else if (libleak_backtrace_fd)
        libleak_backtrace_fd(NULL, 1);
    zero = 0;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    write(1, "here ", 5);
    asks_itself(100);
    crash_here();
    return 0;
}
