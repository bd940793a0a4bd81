# lib.sh - words for the cases of tests/wrapper.
# shellcheck shell=sh disable=SC2154

leakrun() { "$root/scripts/leakrun" "$@"; }
fail() {
    echo "$*"
    exit 1
}
skip() {
    echo "$*"
    exit 77
}
need() { # commands
    for command; do
        command -v "$command" >/dev/null || skip "no $command here"
    done
}
need_root() { [ "$(id -u)" = 0 ] || skip "not root"; }

equal() { # what, got, wanted
    [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
}
status_of() { # prints the exit status, 128 + N for a signal, of a command whose words go nowhere
    "$@" >/dev/null 2>&1 && echo 0 || echo $?
}
says() { # file, extended regular expression
    grep -qE -e "$2" "$1" || fail "not said: $2; said: $(cat "$1")"
}
silent_about() {
    ! grep -E -e "$2" "$1" || fail "must not be said: $2"
}
sessions() { # how many session directories there are in a folder
    find "$1" -maxdepth 1 -name 'libleak-run.*' | wc -l
}
as_nobody() { # a command of the project, copied where everybody may go together with the files named
    place=$(mktemp -d /tmp/libleak-test-XXXXXX)
    trap 'rm -rf "$place"' EXIT
    chmod 755 "$place"
    tool=$1
    shift
    cp -p "$tool" "$place/tool"
    for copied; do
        cp -p "$copied" "$place/"
    done
}
compile() { # output, flags...; C on stdin
    out=$1
    shift
    gcc -w -x c -o "$out" - "$@"
}
