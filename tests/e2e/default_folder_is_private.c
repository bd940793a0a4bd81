// Without dir=: $XDG_RUNTIME_DIR, else /dev/shm, else /tmp, a folder of the user's own with mode 0700.
// A folder prepared by somebody else, a symlink or one open to others is not used.
// NEEDS: root unshare
// BUILD: chmod 755 %d
// RUN: cat >inside <<'END'
// RUN: mount -t tmpfs none /dev/shm; mkdir -p %d/run; chmod 700 %d/run; unset XDG_RUNTIME_DIR LIBLEAK_OPTIONS
// RUN: run() { env LD_PRELOAD=%O/libleak.so "$@" %t 2>e; echo "$? lines=$(grep -c '^libleak: ' e)"; }
// RUN: echo "shm: $(run) $(stat -c '%a %u' /dev/shm/libleak-0) $(ls /dev/shm/libleak-0 | wc -l)"
// RUN: echo "xdg: $(run XDG_RUNTIME_DIR=%d/run) $(find %d/run -name '*.leak' | wc -l) $(find %d/run -mindepth 1 -type d -exec stat -c %a {} +)"
// RUN: rm -rf /dev/shm/libleak-0; mkdir -p %d/trap; ln -s %d/trap /dev/shm/libleak-0; run >/dev/null; echo "symlink: $(find %d/trap -name '*.leak' | wc -l)"
// RUN: rm -f /dev/shm/libleak-0; mkdir -m 777 /dev/shm/libleak-0; chown 65534 /dev/shm/libleak-0; run >/dev/null; echo "foreign: $(find /dev/shm/libleak-0 -name '*.leak' | wc -l)"
// RUN: rm -rf /dev/shm/libleak-0; mount -o remount,ro /dev/shm; mount -t tmpfs none /mnt; cp %O/libleak.so %t /mnt; mount -t tmpfs none /tmp; echo "tmp: $(env LD_PRELOAD=/mnt/libleak.so /mnt/t 2>e; echo "$? lines=$(grep -c '^libleak: ' e)") $(find /tmp -name '*.leak' | wc -l)"
// RUN: END
// RUN: unshare -m sh ./inside; %leak %t
// EXPECT: ^shm: 0 lines=0 700 0 1$
// EXPECT: ^xdg: 0 lines=0 1 700$
// EXPECT: ^symlink: 0$
// EXPECT: ^foreign: 0$
// EXPECT: ^tmp: 0 lines=0 1$
// JSON: of("main").blocks == 1

#include <stdlib.h>

void *volatile sink;

int main(void)
{
    sink = malloc(10);
    return 0;
}
