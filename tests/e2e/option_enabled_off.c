// enabled=0: calls are only forwarded: no store, no line, the program as ever; enabled=1 tracks.
// RUN: LIBLEAK_OPTIONS=enabled=0 ; %leak %t; echo "off=$? stores=$(ls store | wc -l)"
// RUN: for w in off no; do LIBLEAK_OPTIONS=enabled=$w; %leak %t; echo "$w=$? stores=$(ls store | wc -l)"; done
// RUN: LIBLEAK_OPTIONS=enabled=1; %leak %t; echo "on=$? stores=$(ls store | wc -l)"
// EXPECT: ^off=6 stores=0$
// EXPECT: ^no=6 stores=0$
// EXPECT: ^on=6 stores=1$
// REFUSE: ^libleak: .*enabled=(0|no|off)
// JSON: of("leak").blocks == 5

#include <stdlib.h>

void *volatile sink;
__attribute__((noinline)) void leak(void) { sink = malloc(10); sink = NULL; }

int main(void)
{
    for (int i = 0; i < 5; i++)
        leak();
    return 6;
}
