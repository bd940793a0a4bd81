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
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <unistd.h>
#include <linux/audit.h>

__attribute__((noinline)) static void before(void) { sites_sink = malloc(10); sites_sink = NULL; }

#define NO(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int main(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        NO(madvise), NO(openat), NO(open), NO(readlink), NO(rt_sigprocmask), NO(gettid), NO(getpid),
        NO(process_vm_readv), NO(prctl), NO(clock_gettime), NO(sigaltstack), NO(fcntl), NO(ftruncate),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = { sizeof code / sizeof *code, code };

    before();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
        return 1;
    sites(30000);
    if (open("/etc/passwd", O_RDONLY) < 0 && errno == EPERM)
        write(1, "refused as asked\n", 17);
    return 5;
}
