// libleak_set_report_hook and reports: each line of one that the program waits for is shown first, at the end too; what
// the hook swallows is in no file. All swallowed: there is no file. NULL: reports are as without it.
// CFLAGS: -O1 -g -fno-builtin
// ENV: LIBLEAK_OPTIONS=report=exit
// RUN: %leak %t
// RUN: grep -q in_secret some || echo hidden; grep -q in_public some && echo left
// RUN: cmp some seen && echo the same; test -e none || echo no file; grep -q in_secret whole && echo the whole
// EXPECT: ^lost 2, lines, a trap, lost 2, lost 2, none seen of the last$
// EXPECT: ^hidden$
// EXPECT: ^left$
// EXPECT: ^the same$
// EXPECT: ^no file$
// EXPECT: ^the whole$
// EXPECT: ^shown at the end: 1$
// EXPECT: 30 bytes in 1 block lost
// EXPECT: ^libleak: pid=.* lost=100/2/2 
// REFUSE: CHLD

#include "lib/verdicts.h"
#include <signal.h>

LOSE(in_secret, 30)
LOSE(in_public, 70)

static int lines;
static FILE *seen;
static volatile sig_atomic_t traps;

static int hide(const char *line, void *hidden)
{
    lines++;
    if (strchr(line, '\n') || strstr(line, hidden))
        return 1;
    fprintf(seen, "%s\n", line);
    return strstr(line, "in_public") ? 2 : 0;
}

static int swallow(const char *line, void *none)
{
    lines++;
    return 1;
}

static int at_end(const char *line, void *none)
{
    if (strstr(line, "libleak: pid="))
        write(2, "shown at the end: 1\n", 20);
    return 0;
}

static void note(int number)
{
    if (number == SIGTRAP)
        traps++;
    else
        write(2, "CHLD\n", 5);
}

int main(void)
{
    long first, second, third;
    int after;
    signal(SIGTRAP, note);
    signal(SIGCHLD, note);
    in_secret();
    in_public();
    seen = fopen("seen", "w");
    libleak_set_report_hook(hide, (void *)"in_secret");
    first = libleak_report("some");
    fclose(seen);
    printf("lost %ld, %s, %s, ", first, lines > 5 ? "lines" : "no lines", traps ? "a trap" : "no trap");
    libleak_set_report_hook(swallow, NULL);
    second = libleak_report("none");
    libleak_set_report_hook(NULL, NULL);
    after = lines;
    third = libleak_report("whole");
    printf("lost %ld, lost %ld, %s seen of the last\n", second, third, lines == after ? "none" : "some");
    libleak_set_report_hook(at_end, NULL);
    return 0;
}
