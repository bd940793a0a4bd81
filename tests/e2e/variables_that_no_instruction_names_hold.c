// Hard case 3: a word that no instruction of its function names may still hold the only pointer to a
// block: it is an argument that was pushed, a word in front of the address that the function computes,
// the end of an object that begins with a va_list, or a part of an argument that the called function
// has written; and with an aligned stack the words are elsewhere.
// CFLAGS: -O0 -g
// CFLAGS: -O1 -g
// CFLAGS: -O2 -g
// CFLAGS: -Os -g -fno-omit-frame-pointer
// CFLAGS: -O2 -g -fstack-protector-strong
// JSON: all(verdict(f) == {"reachable": (1, n)} for f, n in (("pushed", 40), ("in_front", 56), ("behind_list", 72), ("in_structure", 88), ("in_aligned", 104)))
// JSON: lost_total == (0, 0)

#include "lib/verdicts.h"
#include <stdarg.h>

static void (*volatile leave)(int) = exit; /* the compiler does not know that it never returns */
TAKE(pushed, 40)
TAKE(in_front, 56)
TAKE(behind_list, 72)
TAKE(in_structure, 88)
TAKE(in_aligned, 104)

struct list_and_word {
    va_list list;
    void *word;
};

struct words {
    long before;
    void *word;
    long behind[2];
};

static char *base; /* so far away from the block that it does not hold it */

#define FAR_AWAY 0x10000000

FAR static void finish(void)
{
    opaque(NULL);
    leave(0);
}

/* The caller pushes the last argument, and keeps it nowhere else. */
FAR static void with_seven(long a, long b, long c, long d, long e, long f, void *last)
{
    sink = (void *)(a + b + c + d + e + f);
    finish();
    opaque(last);
}

FAR static void push_argument(void)
{
    char *far = base;

    base = NULL;
    with_seven(1, 2, 3, 4, 5, 6, far - FAR_AWAY);
    opaque(NULL);
}

FAR static void keep_argument(void)
{
    base = (char *)pushed() + FAR_AWAY;
    push_argument();
    opaque(NULL);
}

FAR static void put_in_front(void **end)
{
    end[-1] = in_front();
}

FAR static void through_end(void)
{
    void *word;

    put_in_front(&word + 1);
    keep_argument();
    opaque(&word + 1);
}

FAR static void put_behind(struct list_and_word *both)
{
    both->word = behind_list();
}

FAR static void through_list(int count, ...)
{
    struct list_and_word both;

    va_start(both.list, count);
    put_behind(&both);
    through_end();
    opaque(&both);
    va_end(both.list);
}

FAR static void with_structure(struct words words)
{
    words.word = in_structure();
    opaque(&words);
    through_list(1, 2, 3.5);
    opaque(&words);
}

FAR static void pass_structure(void)
{
    struct words words;

    words.before = 1;
    words.behind[1] = 2;
    with_structure(words);
    opaque(NULL);
}

FAR static void in_aligned_frame(int count, ...)
{
    _Alignas(64) void *volatile words[24];
    va_list list;

    for (int i = 0; i < 24; i++)
        words[i] = NULL;
    words[count] = in_aligned();
    va_start(list, count);
    vfprintf(stderr, "%d %f\n", list);
    va_end(list);
    pass_structure();
    opaque((void *)words);
}

int main(int count, char **arguments)
{
    char room[16 * count];

    opaque(room);
    opaque(arguments);
    in_aligned_frame(23, 3, 1.5);
}
