// A program's own handler runs first, and a crash that follows is reported.
// RUN: for m in once restores reraises aborts stacked nested blocked; do
// RUN:   %t $m >without 2>&1; a=$?; %leak %t $m >with 2>&1; b=$?
// RUN:   cmp without with; [ $a = $b ] || echo "$m: status $a, with libleak $b"; done
// RUN: %t exits; echo "exits: $?"; %leak %t exits; echo "exits: $?"
// EXPECT: ^exits: 7$
// REFUSE: differ|status|exits: [^7]
// JSON: {q.argv[1]: [(e.type, e.crash.signal) for e in q.errors] for q in procs if q.argv[1] not in ("nested", "blocked")} == {"once": [("crash", 11)], "restores": [("crash", 11)], "reraises": [("crash", 11)], "aborts": [("crash", 6)], "stacked": [("crash", 11)], "exits": []}
// JSON: all(any(f.function == "crash_here" for f in e.frames) for q in procs for e in q.errors)
// JSON: [e.crash.signal for q in procs if q.argv[1] == "nested" for e in q.errors] == [6]
// JSON: [q.end.value for q in procs if q.argv[1] == "exits"] == [7]

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *how;
static volatile int zero;

static void say(const char *text)
{
    write(1, text, strlen(text));
}

static void on_signal(int number)
{
    say("own handler\n");
    if (!strcmp(how, "restores") || !strcmp(how, "stacked"))
        signal(number, SIG_DFL);
    if (!strcmp(how, "reraises")) {
        signal(number, SIG_DFL);
        raise(number);
    }
    if (!strcmp(how, "nested"))
        abort();
    if (!strcmp(how, "blocked")) /* the kernel kills at once */
        *(volatile int *)(long)zero = 2;
    if (!strcmp(how, "exits"))
        _exit(7);
}

__attribute__((noinline)) static int crash_here(void)
{
    if (!strcmp(how, "aborts"))
        abort();
    *(volatile int *)(long)zero = 1;
    return zero + 1;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    how = argv[1];
    free(malloc(10));
    if (!strcmp(how, "once"))
        action.sa_flags = SA_RESETHAND;
    if (!strcmp(how, "stacked")) {
        stack_t stack = {.ss_sp = malloc(16384), .ss_size = 16384};
        sigaltstack(&stack, NULL);
        action.sa_flags = SA_ONSTACK;
    }
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
    if (!strcmp(how, "nested"))
        signal(SIGABRT, SIG_DFL);
    return crash_here();
}
