// Hard case 19: a filter that refuses clone, fork and vfork: no look can be made, which is said; nothing is
// called lost; the program ends with its own status.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^look: -[12]$
// EXIT: 5
// JSON: verdict("dropped") == {"unfreed": (1, 40)}
// JSON: p.snapshot is None or p.snapshot.rung == "none"
// JSON: "no look" in notes and p.end.value == 5

#include "lib/verdicts.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

LOSE(dropped, 40)

#define NO(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int main(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        NO(clone), NO(clone3),
#ifdef __NR_fork
        NO(fork), NO(vfork),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = { sizeof code / sizeof *code, code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
        return 1;
    dropped();
    if (fork() != -1 || errno != EPERM)
        return 2;
    dprintf(1, "look: %ld\n", look());
    return 5;
}
