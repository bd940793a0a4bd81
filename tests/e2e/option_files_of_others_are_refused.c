// Only option files are obeyed that belong to the caller or to root and that nobody else may write: ./.libleakrc,
// ./vld.ini, the user's and that of /etc, also behind a link. One line in a tree of processes says which is refused,
// why, and what to do; a pipe of that name blocks nobody. At verbosity=1 the files that are obeyed are named.
// NEEDS: root unshare mount setpriv containers
// CFLAGS: -O1 -g -fno-builtin
// RUN: chmod 755 .; cp %O/libleak.so .; mkdir -p conf/libleak all; chmod 1777 all; unset LIBLEAK_OPTIONS; export LIBLEAK_DIR=%d/all
// RUN: lib=%d/libleak.so; say() { echo "$1: $(grep -o 'option.*' told | tr '\n' '|') $(grep -c . told)"; }
// RUN: try() { name=$1; shift; LD_PRELOAD=$lib timeout 20 "$@" 2>told; echo "$name: exit $?"; say "$name"; }
// RUN: echo 'mount --bind etc /etc; export LD_PRELOAD=%d/libleak.so; exec "$@"' >in_etc; sed -i '1s/^/[ "$IN" ] || IN=1 exec unshare -m sh $0 "$@"; /' in_etc
// RUN: echo depth=7 >.libleakrc; try own %t depth=7; try loud env LIBLEAK_OPTIONS=verbosity=1 %t depth=7
// RUN: chown 65534 .libleakrc; try foreign %t depth=; try tree sh -c '%t depth=; (%t depth=); true'; try loud_tree sh -c 'LIBLEAK_OPTIONS=verbosity=1 %t depth=; true'
// RUN: try theirs setpriv --reuid=65534 --clear-groups env LD_PRELOAD=%d/libleak.so %t depth=7
// RUN: chown 0 .libleakrc; try roots setpriv --reuid=65534 --clear-groups env LD_PRELOAD=%d/libleak.so %t depth=7
// RUN: chmod g+w .libleakrc; try group %t depth=; chmod g-w,o+w .libleakrc; try world %t depth=; chmod o-w .libleakrc
// RUN: mv .libleakrc mine; ln -s mine .libleakrc; try link %t depth=7; chown -h 65534 .libleakrc; try foreign_link %t depth=; rm .libleakrc
// RUN: mkfifo .libleakrc; try pipe %t depth=; rm .libleakrc
// RUN: echo MaxTraceFrames=7 >vld.ini; try vld %t depth=7; chown 65534 vld.ini; try foreign_vld %t depth=; rm vld.ini
// RUN: cp mine conf/libleak/config; export XDG_CONFIG_HOME=%d/conf; try user %t depth=7; chown 65534 conf/libleak/config; try foreign_user %t depth=; unset XDG_CONFIG_HOME
// RUN: cp -a /etc etc; cp mine etc/libleak.conf; lib=; try system sh in_etc %t depth=7; try mapped sh in_etc unshare -U %t depth=7
// RUN: chown 65534 etc/libleak.conf; try foreign_system sh in_etc %t depth=; rm -rf etc
// EXPECT: ^own: exit 0$
// EXPECT: ^own:  0$
// EXPECT: ^loud: exit 0$
// EXPECT: ^loud: .*option file ./.libleakrc\|
// EXPECT: ^foreign: exit 0$
// EXPECT: ^foreign: option file ./.libleakrc ignored: it belongs to another user; [^|]*\| 1$
// EXPECT: ^tree: exit 0$
// EXPECT: ^tree: option file [^|]*\| 1$
// EXPECT: ^loud_tree: option file [^|]*\|option file ./.libleakrc ignored
// EXPECT: ^theirs: exit 0$
// EXPECT: ^roots: exit 0$
// EXPECT: ^group: exit 0$
// EXPECT: ^group: .*others may write it; chmod go-w [^|]*\| 1$
// EXPECT: ^world: exit 0$
// EXPECT: ^world: .*others may write it; chmod go-w [^|]*\| 1$
// EXPECT: ^link: exit 0$
// EXPECT: ^link:  0$
// EXPECT: ^foreign_link: exit 0$
// EXPECT: ^foreign_link: .*the link belongs to another user; [^|]*\| 1$
// EXPECT: ^pipe: exit 0$
// EXPECT: ^pipe: .*no regular file; [^|]*\| 1$
// EXPECT: ^vld: exit 0$
// EXPECT: ^foreign_vld: exit 0$
// EXPECT: ^foreign_vld: option file vld.ini ignored: [^|]*\| 1$
// EXPECT: ^user: exit 0$
// EXPECT: ^foreign_user: exit 0$
// EXPECT: ^foreign_user: option file /.*/conf/libleak/config ignored: [^|]*\| 1$
// EXPECT: ^system: exit 0$
// EXPECT: ^mapped: exit 0$
// EXPECT: ^foreign_system: exit 0$
// EXPECT: ^foreign_system: option file /etc/libleak.conf ignored: [^|]*\| 1$

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>

/* The option depth begins with the word given: depth=7, or any depth but 7. */
int main(int argc, char **argv)
{
    int (*get)(const char *, char *, size_t) = dlsym(RTLD_DEFAULT, "libleak_get_option");
    char value[64] = "";
    free(malloc(11));
    if (!get)
        return 3;
    get("depth", value, sizeof value);
    return (strcmp(value, "7") == 0) != (strcmp(argv[1], "depth=7") == 0);
}
