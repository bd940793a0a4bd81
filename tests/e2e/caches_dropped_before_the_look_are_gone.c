// libleak_at_report: called once, last one first, before the look at exit, in the program: what they free
// is not reported. They do not run for a look that is asked for.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^asked second first $
// JSON: of("cache").blocks == 0
// JSON: verdict("dropped") == {"lost": (1, 40)}

#include "lib/verdicts.h"

LOSE(dropped, 40)
TAKE(cache, 56)
static void *volatile first_cache, *volatile second_cache;
static void first(void) { write(1, "first ", 6), free(first_cache), first_cache = NULL; }
static void second(void) { write(1, "second ", 7), free(second_cache), second_cache = NULL; }
static void newline(void) { write(1, "\n", 1); }

int main(void)
{
    if (libleak_present()) {
        libleak_at_report(newline);
        libleak_at_report(first);
        libleak_at_report(second);
    }
    first_cache = cache(), second_cache = cache();
    dropped();
    look();
    write(1, "asked ", 6);
    return 0;
}
