// Hard case 27: a handler on an alternate stack allocates; the trace passes through the signal frame
// to the interrupted function; afterwards the main stack is right again.
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -DPLAIN_STACK
// EXPECT: handled 500
// JSON: of("handler").blocks == 500 and at("handler").line == line("handler")
// JSON: any("interrupted" in [f.function for f in r.frames] for r in hits("handler"))
// JSON: of("after_signal").blocks == 500 and at("after_signal").line == line("after")
// JSON: all("main" in [f.function for f in r.frames] and "handler" not in [f.function for f in r.frames] for r in hits("after_signal"))

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
void *volatile sink;
volatile int handled;

FAR void handler(int s)
{
    sink = malloc(16); // handler
    handled++;
}

FAR void interrupted(void)
{
    kill(getpid(), SIGUSR1);
    sink = NULL;
}

FAR void after_signal(void)
{
    sink = malloc(17); // after
    sink = NULL;
}

int main(void)
{
    struct sigaction sa = { .sa_handler = handler };
#ifndef PLAIN_STACK
    stack_t alt = { .ss_sp = malloc(65536), .ss_size = 65536 };
    sa.sa_flags = SA_ONSTACK;
    sigaltstack(&alt, NULL);
#endif
    sigaction(SIGUSR1, &sa, NULL);
    for (int i = 0; i < 500; i++) {
        interrupted();
        after_signal();
    }
    dprintf(1, "handled %d\n", handled);
    return 0;
}
