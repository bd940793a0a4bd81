// Hard case 10: a pointer mangled with libc's pointer guard, as setjmp does it: hidden. (x86-64.)
// NEEDS: /lib64/ld-linux-x86-64.so.2
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("mangled") == {"hidden": (1, 200)}
// JSON: verdict("plain") == {"reachable": (1, 40)}
// JSON: lost_total == (0, 0)

#include "lib/verdicts.h"

static volatile unsigned long word[2];
TAKE(mangled, 200)
TAKE(plain, 40)

FAR static void make(void)
{
    unsigned long p = (unsigned long)mangled();

    asm("xor %%fs:0x30, %0; rol $0x11, %0" : "+r"(p));
    word[0] = p;
    word[1] = (unsigned long)plain();
}

int main(void)
{
    make();
    return 0;
}
