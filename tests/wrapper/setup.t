# scripts/setup: silent and fast when nothing is missing, else one exact command.

fake() { # a PATH with only these commands (and awk, id)
    mkdir -p bin
    for command in sh awk id "$@"; do
        path=$(command -v "$command") || continue
        ln -sf "$path" bin/
    done
}
missing_here() { # the manager, what its command must look like [, the level]
    fake
    printf '#!/bin/sh\nexit 1\n' >"bin/$1"
    chmod +x "bin/$1"
    status=0
    PATH=$PWD/bin "$root/scripts/setup" "${3:-check}" >out 2>&1 || status=$?
    equal status $status 1
    equal 'lines' "$(wc -l <out)" 1
    says out "$2"
}
test_dnf_command() { missing_here dnf '^(sudo )?dnf install -y .*gcc .*ShellCheck'; }
test_pacman_command() { missing_here pacman '^(sudo )?pacman -S --needed --noconfirm .*gcc .*shellcheck'; }
test_zypper_command() { missing_here zypper '^(sudo )?zypper install -y .*gcc .*ShellCheck'; }
test_another_cpu_needs_its_compiler_and_qemu() {
    missing_here dnf '^(sudo )?dnf install -y .*gcc-aarch64-linux-gnu .*qemu-user' aarch64
    ! grep -E 'elfutils|ShellCheck' out || fail 'what only this CPU needs is asked for'
}
test_apt_command_when_not_allowed() {
    need_root
    need setpriv
    fake setpriv
    printf '#!/bin/sh\nexit 1\n' | tee bin/apt-get >bin/sudo
    chmod +x bin/apt-get bin/sudo
    copy_for_all_users "$root/scripts/setup"
    cp -rP bin "$place/"
    status=0
    PATH=$place/bin setpriv --reuid=65534 --clear-groups sh "$place/tool" build >out 2>&1 || status=$?
    equal status $status 1
    equal lines "$(wc -l <out)" 1
    says out '^sudo apt-get update && sudo apt-get install -y --no-install-recommends gcc make'
}
test_no_service_is_started_by_what_apt_installs() {
    need_root
    need unshare mount
    unshare --mount true 2>/dev/null || skip 'no namespaces here'
    fake env mktemp printf tee chmod rm tail cat
    cat >bin/apt-get <<'END_OF_APT'
#!/bin/sh
case "$*" in *install*) /usr/sbin/policy-rc.d && echo may >may || echo "no: $?" >may ;; esac
END_OF_APT
    printf '#!/bin/sh\necho "$@" >>disabled\n' >bin/systemctl
    chmod +x bin/apt-get bin/systemctl
    # A machine of its own, as far as services go: no policy forbids them here.
    cat >inside <<'END_OF_INSIDE'
mount -t tmpfs none /usr/sbin
PATH=$PWD/bin "$1/scripts/setup" check >out 2>&1
[ ! -e /usr/sbin/policy-rc.d ]
printf '#!/bin/sh\nexit 104\n' >/usr/sbin/policy-rc.d # somebody's own stays
chmod +x /usr/sbin/policy-rc.d
mv may before
PATH=$PWD/bin "$1/scripts/setup" check >out 2>&1
[ -e /usr/sbin/policy-rc.d ]
END_OF_INSIDE
    unshare --mount sh -e inside "$root" || fail "$(cat out)"
    equal 'may a service start?' "$(cat before)" 'no: 101'
    equal 'where that was forbidden' "$(cat may)" 'no: 104'
    [ ! -e /lib/systemd/system/prometheus.service ] || says disabled '^disable prometheus$'
}
test_silent_and_fast_when_nothing_is_missing() {
    "$root/scripts/setup" build >out 2>&1 || skip "something is missing here"
    equal words "$(cat out)" ''
    start=$(date +%s%N)
    "$root/scripts/setup" build
    took=$((($(date +%s%N) - start) / 1000000))
    [ $took -lt 200 ] || fail "took $took ms"
}
