# leakreport diff: what is new, fixed, grown, shrunk between two reports, of any user and machine.

# A program whose lines move with $1 blank lines, whose leaking function is called $2, and which leaks $3 times.
program() { # ... and the other one once if $4
    for _ in $(seq "$1"); do echo; done
    cat <<END
#include <stdlib.h>
void *volatile sink;
__attribute__((noinline)) static void $2(int n) { while (n--) { sink = malloc(40); sink = NULL; } }
__attribute__((noinline)) static void other(void) { sink = malloc(100); sink = NULL; }
int main(void) { $2($3); if ($4) other(); return 0; }
END
}
store() { # directory, blank lines, function, leaks, the other one, too: a store NAME.leak in that directory
    mkdir -p "$1"
    program "$2" "$3" "$4" "$5" >"$1/app.c"
    (cd "$1" && gcc -g -O1 -w -o app app.c)
    leakrun --keep="$1.leak" --no-report "./$1/app"
}
signature_of() { # store, function: of the record it is in
    "$O/leakreport" --format=json "$1" | jq -r --arg f "$2" '.processes[].records[]
        | select(.verdict == "lost" and any(.frames[]; .function == $f)) | .signature'
}

test_signatures_survive_another_directory_and_moved_lines() {
    need jq gcc
    store one 0 keep 2 1
    store two 7 keep 2 1
    [ -n "$(signature_of one.leak keep)" ] || fail 'no record'
    equal 'its signature' "$(signature_of two.leak keep)" "$(signature_of one.leak keep)"
    equal 'the status' "$(status_of "$O/leakreport" diff one.leak two.leak)" 0
    "$O/leakreport" diff one.leak two.leak >out
    equal 'what it says' "$(cat out)" 'libleak: diff new=0 grown=0 shrunk=0 fixed=0 unchanged=2'
    "$O/leakreport" diff -v one.leak two.leak >out
    says out '^unchanged 80 bytes in 2 blocks lost '
    says out 'keep\(\) at .*app.c:10$'
}
test_a_renamed_function_is_a_new_record_and_a_fixed_one() {
    need jq gcc
    store one 0 keep 2 0
    store two 0 hold 2 0
    [ "$(signature_of two.leak hold)" != "$(signature_of one.leak keep)" ] || fail 'the same signature'
    equal 'the status' "$(status_of "$O/leakreport" diff one.leak two.leak)" 1
    "$O/leakreport" diff one.leak two.leak >out || true
    says out '^new +80 bytes in 2 blocks lost '
    says out '^fixed +80 bytes in 2 blocks lost '
    says out '^libleak: diff new=1 grown=0 shrunk=0 fixed=1 unchanged=0$'
    equal 'the order' "$(grep -oE '(keep|hold)\(\)' out | tr '\n' ' ')" 'hold() keep() '
}
test_more_of_the_same_has_grown_and_less_has_shrunk() {
    need gcc
    store one 0 keep 2 0
    store two 0 keep 5 0
    "$O/leakreport" diff one.leak two.leak >out
    says out '^grown +200 bytes in 5 blocks lost '
    says out '^ +was 80 bytes in 2 blocks lost$'
    says out '^libleak: diff new=0 grown=1 shrunk=0 fixed=0 unchanged=0$'
    "$O/leakreport" diff two.leak one.leak >out
    says out '^shrunk +80 bytes in 2 blocks lost '
    says out '^libleak: diff new=0 grown=0 shrunk=1 fixed=0 unchanged=0$'
}
test_reports_as_json_are_compared_like_their_stores() {
    need gcc jq
    store one 0 keep 2 0
    store two 3 keep 4 1
    "$O/leakreport" --format=json -o one.json one.leak
    "$O/leakreport" --format=json -o two.json two.leak
    "$O/leakreport" diff --color=never one.leak two.leak >stores || true
    "$O/leakreport" diff --color=never one.json two.json >reports || true
    "$O/leakreport" diff --color=never one.json two.leak >mixed || true
    equal 'of reports' "$(cat reports)" "$(cat stores)"
    equal 'of both' "$(cat mixed)" "$(cat stores)"
    equal 'the status' "$(status_of "$O/leakreport" diff one.json two.json)" 1
    equal 'the wanted status' "$(status_of "$O/leakreport" diff --error-exitcode=23 one.json two.json)" 23
    "$O/leakreport" diff --format=json one.json two.leak >out || true
    equal 'as JSON' "$(jq -c '[.format, .summary.new, .summary.grown, [.changes[] | [.change, .function, .old.count,
        .new.count]]]' out)" '["libleak-diff",1,1,[["new","other",null,1],["grown","keep",2,4]]]'
}
test_reachable_ones_are_compared_when_they_are_asked_for() {
    need gcc
    printf '#include <stdlib.h>\nvoid *kept;\nint main(void) { return 0; }\n' | compile one
    printf '#include <stdlib.h>\nvoid *kept;\nint main(void) { kept = malloc(64); return 0; }\n' | compile two
    leakrun --keep=one.leak --no-report ./one
    leakrun --keep=two.leak --no-report ./two
    equal 'the status' "$(status_of "$O/leakreport" diff one.leak two.leak)" 0
    equal 'the status of all' "$(status_of "$O/leakreport" diff --show=reachable one.leak two.leak)" 1
}
test_what_is_no_report_is_said_in_one_line() {
    echo '{"format":"other"}' >other.json
    echo '{"format":' >cut.json
    echo 'no' >text
    wrong() {
        words=$1
        shift
        status=0
        "$O/leakreport" diff "$@" >out 2>err || status=$?
        equal "status of $*" $status 2
        equal "lines for $*" "$(wc -l <err)" 1
        says err "$words"
        equal 'its report' "$(cat out)" ''
    }
    wrong 'takes two' other.json
    wrong 'no report of libleak' other.json other.json
    wrong 'cut.json is no JSON: line' cut.json other.json
    wrong 'text is ' text text
    wrong 'nothing cannot be opened' nothing nothing
}
test_a_store_of_a_program_that_was_built_anew_is_warned_of() {
    need gcc
    store one 0 keep 2 0
    program 3 keep 2 0 >one/app.c
    (cd one && gcc -g -O1 -w -o app app.c)
    "$O/leakreport" diff one.leak one.leak >out 2>err
    says err 'one.leak: .*/app: the file was replaced, .* keep reports'
    leakrun --keep=two.leak --no-report ./one/app
    "$O/leakreport" diff two.leak two.leak >out 2>err
    equal 'words about one that was not' "$(cat err)" ''
}
test_a_baseline_lets_only_what_is_new_fail() {
    need gcc
    store one 0 keep 2 0
    "$O/leakreport" --format=json -o base.json one.leak
    equal 'the status of the same' "$(status_of "$O/leakreport" --baseline=base.json one.leak)" 0
    "$O/leakreport" --baseline=base.json one.leak >out
    says out 'lost=0/0/0 '
    says out '^Suppressed: 80 bytes in 2 blocks by 1 rule'
    "$O/leakreport" --baseline=base.json --show-suppressed one.leak >out
    says out 'suppressed by in the baseline .base.json:[0-9]+.'
    store two 3 keep 4 1
    equal 'the status with a new one' "$(status_of "$O/leakreport" --baseline=base.json two.leak)" 1
    "$O/leakreport" --baseline=base.json two.leak >out || true
    says out 'lost=100/1/1 '
    equal 'the wanted status' "$(status_of "$O/leakreport" --error-exitcode=9 --baseline=base.json two.leak)" 9
    equal 'without one nothing fails' "$(status_of "$O/leakreport" two.leak)" 0
    equal 'of no report' "$(status_of "$O/leakreport" --baseline=one.leak two.leak)" 2
    leakrun --baseline=base.json --error-exitcode=5 ./one/app 2>out || fail 'known ones failed'
    equal 'leakrun with a new one' "$(status_of leakrun --baseline=base.json --error-exitcode=5 ./two/app)" 5
}
