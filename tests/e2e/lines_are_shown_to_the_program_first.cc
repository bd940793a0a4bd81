// libleak_set_report_hook: each line the library has to say is shown first; 0 writes it, 1 swallows it, 2 writes
// it and traps; NULL ends it. errno stays, and what the hook allocates or says itself harms nothing.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// ENV: LIBLEAK_OPTIONS=live_errors=on
// RUN: %leak %t
// EXPECT: ^written 1, swallowed 1, trapped 1 by 1 signal, unset 0, errno 7, as it should be 3 times$
// EXPECT: ^libleak: mismatched-free: 40 bytes of new\[\] released by free, in written
// EXPECT: ^libleak: mismatched-free: .* in trapped
// EXPECT: ^libleak: mismatched-free: .* in unset
// EXPECT: ^libleak: mismatched-free: .* in say_more
// REFUSE: released by free, in swallowed

#include "../../include/libleak.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int answer, shown, right;
static volatile sig_atomic_t traps;

static int note(const char *line, void *context)
{
    free(malloc(100));
    shown++;
    right += context == &answer && strncmp(line, "libleak: ", 9) == 0 && !strchr(line, '\n');
    errno = 99;
    return answer;
}

static void on_trap(int)
{
    traps++;
}

static char *volatile block;
#define WRONG(name)                                                                                \
    __attribute__((noinline)) static int name()                                                    \
    {                                                                                              \
        int before = shown;                                                                        \
        block = new char[40];                                                                      \
        free(block);                                                                               \
        return shown - before;                                                                     \
    }
WRONG(written)
WRONG(swallowed)
WRONG(trapped)
WRONG(unset)
WRONG(say_more)

int main()
{
    signal(SIGTRAP, on_trap);
    libleak_set_report_hook(note, &answer);
    errno = 7;
    int first = written();
    answer = 1;
    int second = swallowed();
    answer = 2;
    int third = trapped();
    int same = errno, signals = traps;
    libleak_set_report_hook(NULL, NULL);
    int none = unset();
    say_more();
    printf("written %d, swallowed %d, trapped %d by %d signal, unset %d, errno %d, as it should be %d times\n", first,
           second, third, signals, none, same, right);
    return 0;
}
