# The recipes of docs/CI.md for a debugger, a service manager and a container, run as they stand there.
# shellcheck shell=sh disable=SC2154

recipe() { # language, a line of it: prints the block of docs/CI.md
    awk -v fence="\`\`\`$1" -v line="$2" '
        $0 == fence { inside = 1; text = ""; next }
        inside && /^```/ { if (index(text, line)) printf "%s", text; inside = 0 }
        inside { text = text $0 "\n" }' "$root/docs/CI.md"
}
shop() { # a program that loses a block, and runs until a signal ends it
    compile "$1" -g -fno-builtin <<'CODE'
#include <signal.h>
#include <stdlib.h>
static char *volatile receipt;
__attribute__((noinline)) static void sell(void) { receipt = malloc(48); receipt = NULL; }
int main(int argc, char **argv) {
    sigset_t end;
    int number;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    for (int i = 0; i < 3; i++) sell();
    return argc > 1 && argv[1] ? 0 : sigwait(&end, &number);
}
CODE
}

test_gdb_stops_where_the_report_says() {
    need gdb
    shop shop
    leakrun -v ./shop once 2>report
    says report 'T1#2: 48 bytes'
    recipe sh break-at | sed 's/--break-at=T1#[0-9]*/--break-at=T1#2/; s/\$ //; s#\./shop#./shop once#' >command
    says command 'leakrun --gdb --break-at=T1#2 ./shop once'
    printf 'set confirm off\nrun\nbacktrace\nframe function sell\ncontinue\nquit\n' >script
    # shellcheck disable=SC1091
    (HOME=$PWD DEBUGINFOD_URLS='' && export HOME DEBUGINFOD_URLS && . ./command) <script >out 2>&1 || :
    says out 'SIGTRAP'
    says out 'in sell \('
    says out 'exited normally'
}

test_a_service_with_a_private_tmp_leaves_its_account() {
    need_root
    need unshare systemctl
    [ -x /lib/systemd/systemd ] || skip 'no systemd here'
    shop shop
    cat >shop.service <<'END_OF_UNIT'
[Service]
ExecStart=/run/shop/shop
PrivateTmp=yes
ProtectSystem=strict
ProtectHome=read-only
NoNewPrivileges=yes
END_OF_UNIT
    recipe ini StateDirectory | sed 's#/usr/local/lib/libleak#/run/shop#' >libleak.conf
    says libleak.conf '^Environment=LD_PRELOAD=/'
    # A manager of a user: it does for its services what that of the system does. All is in /run, for the
    # service has a /tmp of its own.
    cat >manager <<'END_OF_MANAGER'
mount -t tmpfs none /run || exit 77
units=/run/home/.config/systemd/user
mkdir -p /run/systemd/system /run/user /run/shop $units/shop.service.d
chmod 700 /run/user
cp shop "$O/libleak.so" /run/shop/
cp shop.service $units/
cp libleak.conf $units/shop.service.d/
export XDG_RUNTIME_DIR=/run/user HOME=/run/home
/lib/systemd/systemd --user --log-target=console >manager.log 2>&1 &
manager=$!
for i in $(seq 50); do
    systemctl --user is-system-running >/dev/null 2>&1 && break
    kill -0 $manager 2>/dev/null || exit 77
    sleep 0.1
done
systemctl --user list-units >/dev/null 2>&1 || exit 77
systemctl --user start shop && sleep 0.5 && systemctl --user stop shop
systemctl --user show -p Result shop >result
kill $manager
wait $manager
find /run/home -name '*.leak' -exec "$O/leakreport" '{}' + >report
END_OF_MANAGER
    status=0
    unshare -m --propagation private sh manager || status=$?
    [ $status != 77 ] || skip 'systemd does not start here'
    says result 'Result=success'
    says report 'sell'
    says report '^libleak: .*lost=144/3/1 '
    [ -z "$(find /tmp -maxdepth 1 -name 'shop.*.leak')" ] || fail 'an account outside'
}

test_a_container_with_a_read_only_root_leaves_its_account() {
    need_root
    need unshare ldd
    place=$(mktemp -d /tmp/libleak-test-XXXXXX) # where everybody may go
    trap 'rm -rf "$place"' EXIT
    chmod 755 "$place"
    mkdir -p "$place/image/leaks" "$place/image/proc" "$place/image/usr/local/lib/libleak" "$place/leaks"
    chmod 777 "$place/leaks"
    mkdir -p "$place/image/bin"
    shop "$place/image/shop"
    cp "$(command -v env)" "$place/image/bin/"
    cp "$O/libleak.so" "$place/image/usr/local/lib/libleak/"
    for file in $(ldd "$place/image/shop" "$O/libleak.so" "$place/image/bin/env" | grep -o '/[^ :]*\.so[^ :]*' | sort -u); do
        [ "$file" = "$O/libleak.so" ] || { mkdir -p "$place/image/${file%/*}" && cp "$file" "$place/image/$file"; }
    done
    recipe Dockerfile LD_PRELOAD | sed -n 's/^ENV //p' >environment
    says environment '^LD_PRELOAD=/usr/local/lib/libleak/libleak.so$'
    says environment '^LIBLEAK_OPTIONS=dir=/leaks'
    cat >container <<'END_OF_CONTAINER'
mount --bind "$1/image" "$1/image" && mount --bind "$1/leaks" "$1/image/leaks" || exit 77
mount -o remount,ro,bind "$1/image" && mount -t proc none "$1/image/proc" || exit 77
# shellcheck disable=SC2046
exec chroot --userspec=65534:65534 "$1/image" /bin/env -i $(cat environment) /shop once
END_OF_CONTAINER
    status=0
    unshare -m --pid --fork --propagation private sh container "$place" || status=$?
    [ $status != 77 ] || skip 'nothing can be mounted here'
    equal status $status 0
    "$O/leakreport" --sysroot="$place/image" "$place"/leaks/*.leak >report
    says report 'sell'
    says report '^libleak: .*lost=144/3/1 '
}
