# shellcheck shell=sh disable=SC2154
# leakreport log: names go where object+offset stood, everything else goes through as it is.

test_log_names_places_and_leaves_the_rest() {
    printf 'int f(void) { return 1; }\nint main(void) { return f(); }\n' >p.c
    cc -g -O0 -o p p.c
    at=$(nm p | awk '$3 == "f" { print $1 }')
    here=$(pwd)
    {
        printf '0.1 T1#1 malloc 1 at 0x10 in %s/p+0x%s\n    %s/p+0x%s\n' "$here" "$at" "$here" "$at"
        printf '    /\n    /+0x\n    /p+0xzz\n    /p+0x99999999999999999999\n0 in /\n\n'
        printf '    /no\\nsuch\\tfile\\\\+0x1\n\000\377 in /x+0x1\n1 in /<>&";+0x1\n@ %s/p:[0x1] + 0x1 0x2\n' "$here"
        head -c 20000 /dev/zero | tr '\000' x
        echo
    } >log
    "$O/leakreport" log log >out
    says out "^0.1 T1#1 malloc 1 at 0x10 in f at .*p.c:1\$"
    says out '^    f at .*p.c:1$'
    tail -n +3 log >want
    tail -n +3 out | cmp - want || fail "the rest is not the same"
    "$O/leakreport" log - <log | cmp - out || fail "standard input is read otherwise"
}
test_log_says_what_it_cannot_read() {
    status=0
    "$O/leakreport" log no-such-file 2>err || status=$?
    equal status $status 2
    says err 'no-such-file: No such file'
    status=0
    "$O/leakreport" log 2>err || status=$?
    equal status $status 2
    status=0
    "$O/leakreport" log --top=1 x 2>err || status=$?
    equal status $status 2
    says err "takes no option '--top=1'"
}
