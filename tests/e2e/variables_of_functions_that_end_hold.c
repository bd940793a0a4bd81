// Hard case 3: functions that are left by exit hold what is in their variables, however these come into
// the frame: as an argument with or without a name, through an address, from the end of an array
// downwards, with vector registers in use.
// CFLAGS: -O0 -g
// CFLAGS: -O1 -g
// CFLAGS: -O2 -g
// CFLAGS: -O2 -g -fno-omit-frame-pointer
// JSON: all(verdict(f) == {"reachable": (1, n)} for f, n in (("in_argument", 24), ("in_name", 40), ("in_variable", 56), ("by_address", 72), ("downwards", 88), ("in_register", 104)))
// JSON: lost_total == (0, 0)

#include "lib/verdicts.h"
#include <stdarg.h>

static void (*volatile leave)(int) = exit; /* the compiler does not know that it never returns */
TAKE(in_argument, 24)
TAKE(in_name, 40)
TAKE(in_variable, 56)
TAKE(by_address, 72)
TAKE(downwards, 88)
TAKE(in_register, 104)

FAR static void put(void **place, void *p)
{
    *place = p;
}

FAR static void put_below(void **end, void *p)
{
    end[-3] = p;
}

FAR static void finish(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    leave(0);
}

FAR static void through_end(int count, ...)
{
    void *words[3];

    put_below(words + 3, downwards());
    finish("%d %f\n", count, 1.5);
    opaque(words);
}

FAR static void through_address(const char *name, ...)
{
    void *word;
    va_list arguments;

    put(&word, by_address());
    va_start(arguments, name);
    through_end(va_arg(arguments, int), 2.5);
    opaque(&word);
}

FAR static void in_variables(int count, ...)
{
    void *volatile variable = in_variable();
    void *saved = in_register();

    through_address("name", count, 3.5);
    opaque(variable);
    opaque(saved);
}

FAR static void with_name(void *name, int count, ...)
{
    in_variables(count, 4.5);
    opaque(name);
}

FAR static void with_argument(int count, ...)
{
    va_list arguments;

    va_start(arguments, count);
    with_name(in_name(), count, 5.5);
    opaque(va_arg(arguments, void *));
}

int main(void)
{
    with_argument(1, in_argument(), 6.5);
}
