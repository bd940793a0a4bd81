// Hard case 3: where a variadic function that calls exit saves its arguments, the places of vector
// registers and of named arguments hold nothing that earlier calls have left there, and neither does
// padding. On CPUs other than x86_64 nothing is left there, because libleak does not read their code.
// CFLAGS: -O0 -g
// CFLAGS: -O1 -g
// CFLAGS: -O2 -g
// CFLAGS: -O2 -g -fno-omit-frame-pointer
// JSON: verdict("lose") == {"lost": (1, 56)} and lost_total == (1, 56)

#include "lib/verdicts.h"
#include "lib/old_words.h"

TAKE(lose, 56)

FAR static void fatal(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    exit(0);
}

FAR static void lose_it(void)
{
    leave_words(lose());
}

int main(void)
{
    lose_it();
    fatal("%d of %s\n", 1, "us");
}
