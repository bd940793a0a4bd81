// Hard case 31: a full tmpfs, a tmpfs and an ext4 of 1 MB, /dev/shm of 64 KiB: the program runs to its
// end, no SIGBUS, one line says what was lost, and what fits is there. Not tried here: quota, NFS.
// NEEDS: root unshare mkfs.ext4
// BUILD: truncate -s 2M %d/disk && mkfs.ext4 -q -F -O ^has_journal %d/disk
// RUN: mkdir -p fs; LD_PRELOAD= ; export fs=%d/fs; cat >in_fs <<'END'
// RUN: run() { LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=$2 %t 200000 >o 2>e; echo "$1=$? lines=$(grep -c '^libleak: ' e) all=$(grep -c . e) out=$(cat o) $(head -n1 e)"; for f in $2/*.leak; do [ -s "$f" ] && %report "$f" | tail -n 1 | sed "s/^/$1 report: /"; done; }
// RUN: mount -t tmpfs -o size=1m none $fs && run tmpfs $fs
// RUN: umount $fs; mount -t tmpfs -o size=4k none $fs && run tiny $fs
// RUN: umount $fs; mount -t tmpfs -o size=64k none $fs && dd if=/dev/zero of=$fs/all bs=4k 2>/dev/null; run full $fs
// RUN: umount $fs; mount -o loop disk $fs && run ext4 $fs; dd if=/dev/zero of=$fs/all bs=4k 2>/dev/null; rm -f $fs/*.leak; dd if=/dev/zero bs=4k >>$fs/all 2>/dev/null; run ext4full $fs; umount $fs
// RUN: mount -t tmpfs -o size=64k none /dev/shm && unset XDG_RUNTIME_DIR && LD_PRELOAD=%O/libleak.so %t 200000 >o 2>e; echo "shm=$? lines=$(grep -c '^libleak: ' e) out=$(cat o)"
// RUN: END
// RUN: unshare -m sh ./in_fs; rm -rf /tmp/libleak-0/t.*; LIBLEAK_OPTIONS=; %leak %t 2000
// EXIT: 7
// EXPECT: ^tmpfs=7 lines=1 all=1 out=sum 200000 libleak: 
// EXPECT: ^tiny=7 lines=1 all=1 out=sum 200000 libleak: 
// EXPECT: ^full=7 lines=1 all=1 out=sum 200000 libleak: 
// EXPECT: ^ext4=7 lines=1 all=1 out=sum 200000 libleak: 
// EXPECT: ^ext4full=7 lines=1 all=1 out=sum 200000 libleak: 
// EXPECT: ^shm=7 lines=[01] out=sum 200000
// EXPECT: ^tmpfs report: libleak: pid=
// EXPECT: ^ext4 report: libleak: pid=
// JSON: of("sites").blocks == 2000

#include "lib/sites.h"
#include <stdio.h>

int main(int argc, char **argv)
{
    int n = atoi(argv[1]);

    sites(n);
    dprintf(1, "sum %d\n", n);
    return 7;
}
