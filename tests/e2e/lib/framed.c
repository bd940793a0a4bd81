/* The same code at the same place whatever FRAME is, but for the size of one frame: a row that is kept from
 * the last library at this address leads astray. */
#include <stdlib.h>

void *volatile kept;

__attribute__((noinline)) void in_frame(void)
{
    volatile char room[FRAME];

    room[3] = 1;
    kept = malloc(10);
    room[2] = 2;
}

void run(void)
{
    in_frame();
    kept = NULL;
}
