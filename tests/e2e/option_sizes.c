// min_size and max_size: what is left out is not listed but counted; their frees are no "unknown frees".
// CFLAGS: -O1 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=min_size=100:max_size=1k; %leak %t; LIBLEAK_OPTIONS=; %leak %t
// JSON: of("small", procs[0]).blocks == 0 and of("big", procs[0]).blocks == 0
// JSON: of("middle", procs[0]).blocks == 3 and of("middle", procs[0]).bytes == 100 + 500 + 1024
// JSON: of("crossing", procs[0]).blocks == 1 and of("crossing", procs[0]).bytes == 200
// JSON: sum(u.count for u in procs[0].coverage.untracked if "min_size" in u.why) >= 32
// JSON: any("min_size" in str(u) for u in procs[0].coverage.untracked)
// JSON: procs[0].coverage.unknown_frees in (0, None)
// JSON: of("small", procs[1]).blocks == 10 and of("big", procs[1]).blocks == 10 and not any("min_size" in str(u) for u in procs[1].coverage.untracked)

#include <stdlib.h>

void *volatile sink;
#define FAR __attribute__((noinline))
FAR void small(void) { sink = malloc(99); sink = NULL; }
FAR void big(void) { sink = malloc(1025); sink = NULL; }
FAR void middle(size_t n) { sink = malloc(n); sink = NULL; }
FAR void crossing(void) { sink = realloc(malloc(50), 200); realloc(malloc(200), 2000); sink = NULL; }

int main(void)
{
    for (int i = 0; i < 10; i++) {
        small();
        big();
        free(malloc(10));
    }
    middle(100), middle(500), middle(1024);
    crossing();
    return 0;
}
