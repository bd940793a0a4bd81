// __lsan_ignore_object, of the start of a block and of its middle: reachable, "ignored", and what it holds is
// reachable; twice, of null, of a freed block, of a global, of the stack: nothing happens. A block that
// comes to the same address later is no ignored one. (LeakSanitizer: ignore_object, ignore_object_errors.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^goes on$
// JSON: verdict("ignored") == {"reachable": (2, 2 * 40)} and one("ignored").ignored is True
// JSON: verdict("below") == {"reachable": (2, 2 * 24)}
// JSON: verdict("dropped") == {"lost": (1, 56)} and verdict("later") == {"lost": (1, 72)}
// JSON: lost_total == (2, 56 + 72)

#include "lib/verdicts.h"
#include "lib/lsan.h"

TAKE(ignored, 40)
TAKE(below, 24)
TAKE(first, 72)
TAKE(later, 72)
LOSE(dropped, 56)
static int global;

FAR static void make(void)
{
    void **p = ignored();

    p[1] = below();
    LSAN(__lsan_ignore_object(p));
    LSAN(__lsan_ignore_object(p));
    p = ignored();
    p[1] = below();
    LSAN(__lsan_ignore_object(p + 3));
    p = first();
    LSAN(__lsan_ignore_object(p));
    free(p);
    LSAN(__lsan_ignore_object(p));
    later();
    LSAN(__lsan_ignore_object(NULL));
    LSAN(__lsan_ignore_object(&global));
    LSAN(__lsan_ignore_object(&p));
    dropped();
}

int main(void)
{
    make();
    puts("goes on");
    return 0;
}
