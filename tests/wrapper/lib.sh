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
copy_for_all_users() { # a command of the project, copied where everybody may go together with the files named
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
valid() { # file, NAME: is it what docs/NAME.schema.json says?
    /usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip 'no python3-jsonschema here'
    /usr/bin/python3 - "$root/docs" "$1" "$2" <<'END'
import json, jsonschema, os, sys
path = os.path.join(os.path.realpath(sys.argv[1]), sys.argv[3] + ".schema.json")
rules = json.load(open(path))
jsonschema.Draft7Validator.check_schema(rules)
resolver = jsonschema.RefResolver("file://" + path, rules)
jsonschema.Draft7Validator(rules, resolver=resolver).validate(json.load(open(sys.argv[2])))
END
}
until_says() { # file, extended regular expression, command...: again and again, until it says so
    what=$1 words=$2
    shift 2
    until "$@" >"$what" 2>&1 && grep -qE -e "$words" "$what"; do sleep 0.2; done
}
# A terminal, one at a time, in which a shell waits for keys.
open_screen() { # columns, lines, locale
    terminal=$PWD/tmux.$1
    "$root/tests/terminal" open "$terminal" "$1" "$2" "$3" sh
}
send() { "$root/tests/terminal" send "$terminal" "$@"; }
shown() { "$root/tests/terminal" shown "$terminal"; }
resize() { "$root/tests/terminal" size "$terminal" "$@"; }
close_screen() { "$root/tests/terminal" close "$terminal"; }
line() { shown | sed -n "$1p"; }
compile_filter() { # ./filter ACTION NUMBER PROGRAM... runs a program under a seccomp filter
    [ -x filter ] || compile filter <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) /* ACTION NUMBER PROGRAM...: under a filter; "own": put on by its process itself */
{
    unsigned answer = strtoul(argv[1], NULL, 0);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(argv[2]), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {4, code};
    int status;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 77;
    if (getenv("OWN") || fork() == 0)
        execv(argv[3], argv + 3);
    return wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
END
}
