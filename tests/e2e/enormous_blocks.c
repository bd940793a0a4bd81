// Hard case 14: blocks above 4 GiB and of 32 MiB, zero-size ones, a million tiny ones: bytes exact, peak
// at least what was live at once.
// CFLAGS: -O1 -g -fno-builtin
// JSON: of("giant").bytes == 6 << 30 and of("giant").blocks == 1
// JSON: of("mapped").bytes == 32 << 20 and of("shrunk").bytes == 5
// JSON: of("zero").blocks == 3 and of("zero").bytes == 0
// JSON: p.totals.peak_bytes >= (16 << 30) + (32 << 20) and p.totals.live_bytes >= (6 << 30) + (32 << 20)
// JSON: p.totals.peak_bytes < 17 << 30

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FAR __attribute__((noinline))
void *volatile sink;
FAR void giant(void) { sink = malloc((size_t)6 << 30); }
FAR void mapped(void) { sink = malloc(32 << 20); }
FAR void shrunk(void) { sink = realloc(malloc(48 << 20), 5); }
FAR void zero(void) { sink = malloc(0); sink = calloc(0, 5); sink = realloc(NULL, 0); }

int main(void)
{
    giant();
    mapped();
    free(sink = malloc((size_t)10 << 30));
    shrunk();
    zero();
    return 0;
}
