// Hard case 19: a seccomp filter that refuses what we would like to call, set after the start: the
// program goes on, its own calls answer as before, blocks are counted as far as there is room.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t 2>e; s=$?; grep -c '^libleak: ' e | sed 's/^/lines: /'; exit $s
// EXIT: 5
// EXPECT: lines: [01]$
// EXPECT: refused as asked
// JSON: of("before").blocks == 1
// JSON: of("sites").blocks > 0

#include "lib/sites.h"
#include "../filter.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

__attribute__((noinline)) static void before(void) { sites_sink = malloc(10); sites_sink = NULL; }

#define NO(call) FILTER_REFUSE(SYS_##call, EPERM)

int main(void)
{
    before();
    if (!FILTER_SET(NO(madvise), NO(openat), NO(open), NO(readlink), NO(rt_sigprocmask), NO(gettid), NO(getpid),
                    NO(process_vm_readv), NO(prctl), NO(clock_gettime), NO(sigaltstack), NO(fcntl), NO(ftruncate)))
        return 1;
    sites(30000);
    if (open("/etc/passwd", O_RDONLY) < 0 && errno == EPERM)
        write(1, "refused as asked\n", 17);
    return 5;
}
