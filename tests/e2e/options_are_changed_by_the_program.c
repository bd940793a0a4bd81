// libleak_set_option: what can change while the program runs is in force at once and stands in the account;
// what cannot, what does not exist and what has no such value is refused, and nothing has changed.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t
// RUN: ls report; grep -ao 'depth=3 (libleak_set_option)' store/t.*.leak
// EXPECT: ^refused: -1 -1 -1 -1 -1 -1$
// EXPECT: ^before: 128 none 32 2147483648 30s$
// EXPECT: ^after: 3 exit 0 1048576 5s, changed: 0 0 0 0 0 0$
// EXPECT: ^no room: -1 ''$
// EXPECT: ^report$
// EXPECT: ^depth=3 \(libleak_set_option\)$
// JSON: len(one("lose_deep").frames) > 10 and len(one("lose_shallow").frames) == 3

#include "lib/verdicts.h"

FAR static void lose_deep(int depth)
{
    if (depth)
        lose_deep(depth - 1);
    else
        sink = malloc(100);
    sink = NULL;
}
FAR static void lose_shallow(int depth)
{
    if (depth)
        lose_shallow(depth - 1);
    else
        sink = malloc(50);
    sink = NULL;
}

static const char *option(const char *name)
{
    static char buffers[5][64];
    static int next;
    char *buffer = buffers[next++ % 5];
    if (libleak_get_option(name, buffer, sizeof buffers[0]))
        return "?";
    return buffer;
}

static void tell(const char *when)
{
    const char *depth = option("depth"), *report = option("report"), *content = option("content"),
               *memory = option("look_mem"), *budget = option("exit_budget");
    printf("%s: %s %s %s %s %s", when, depth, report, content, memory, budget);
}

int main(void)
{
    char small[3] = "xx";
    lose_deep(12);
    printf("refused: %d %d %d %d %d %d\n", libleak_set_option("sample", "1m"), libleak_set_option("no_such", "1"),
           libleak_set_option("depth", "0"), libleak_set_option("depth", "x"), libleak_set_option("roots", "nowhere"),
           libleak_set_option("on_error", "laugh"));
    tell("before");
    int changed[] = {libleak_set_option("depth", "3"),      libleak_set_option("report", "exit"),
                     libleak_set_option("content", "0"),    libleak_set_option("look_mem", "1m"),
                     libleak_set_option("exit_budget", "5s"), libleak_set_option("report_file", "report")};
    tell("\nafter");
    printf(", changed: %d %d %d %d %d %d\n", changed[0], changed[1], changed[2], changed[3], changed[4], changed[5]);
    printf("no room: %d '%s'\n", libleak_get_option("report_file", small, sizeof small), small);
    lose_shallow(12);
    return 0;
}
