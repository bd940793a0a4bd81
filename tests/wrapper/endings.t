# leakrun ends as the program ended.

test_exit_status_is_the_programs() {
    for n in 0 1 2 7 23 77 100 124 125 126 127 128 200 255; do
        equal status "$(status_of leakrun sh -c "exit $n")" $n
    done
}
test_death_by_signal_is_passed_on() {
    need python3
    python3 - "$root/scripts/leakrun" <<'P'
import signal, subprocess, sys
for sig in "TERM KILL SEGV ABRT INT QUIT HUP USR1 PIPE XFSZ".split():
    number = getattr(signal, "SIG" + sig)
    got = subprocess.run([sys.argv[1], "sh", "-c", "kill -%s $$" % sig], capture_output=True).returncode
    assert got == -number, (sig, got)
P
}
test_kill_9_is_reported_from_the_store() {
    need python3
    leakrun -o report --keep=k.leak sh -c 'kill -9 $$' || :
    says report '^libleak: pid='
    "$O/leakreport" --format=json k.leak >json
    python3 -c 'import json; e = json.load(open("json"))["processes"][0]["end"]; assert e == {"how": "signal", "value": 9}, e'
}
test_signals_sent_to_leakrun_reach_the_program() {
    for sig in TERM HUP USR1 USR2; do # a background job ignores INT
        rm -f ready
        "$root/scripts/leakrun" -o report --force sh -c "trap 'echo got $sig >got; exit 3' $sig; : >ready; while :; do sleep 0.05; done" &
        pid=$!
        while [ ! -e ready ]; do sleep 0.02; done
        kill -$sig $pid
        status=0
        wait $pid || status=$?
        equal "status after $sig" $status 3
        equal signal "$(cat got)" "got $sig"
    done
}
test_terminal_interrupt_is_left_to_the_program() {
    need python3
    python3 "$here/terminal.py" "$root/scripts/leakrun"
}
test_stop_and_continue() {
    need python3
    python3 "$here/stop.py" "$root/scripts/leakrun"
}
test_orphans_are_not_adopted() {
    leakrun -o report sh -c '(sleep 0.3; cut -d" " -f4 /proc/self/stat >ppid.new; mv ppid.new ppid) & echo $PPID >watch' 2>/dev/null
    while [ ! -e ppid ]; do sleep 0.05; done
    [ "$(cat ppid)" != "$(cat watch)" ] || fail "leakwatch is a subreaper"
}
test_survivors_are_named_and_keep_their_account() {
    mkdir base
    leakrun --dir="$PWD/base" -o report sh -c 'sleep 5 >/dev/null 2>&1 & echo $! >pid; sleep 0.2' 2>err
    says err "still running: pid $(cat pid) \(sleep\); recording file: $PWD/base/libleak-run"
    account=$(sed -n 's/.*recording file: //p' err)
    [ -e "$account" ] || fail "no recording file at $account"
    kill "$(cat pid)"
    equal 'told to look here: kept' "$(leakrun --dir="$PWD/base" -o report2 true; sessions base)" 1
    touch -d '2 days ago' base/libleak-run.*/*
    leakrun --dir="$PWD/base" -o report3 true
    equal 'swept a day later' "$(sessions base)" 0
}
test_child_without_account_yet_keeps_the_link() {
    mkdir base
    leakrun --dir="$PWD/base" -o report sh -c '(sleep 0.5; exec ls >/dev/null) 2>child.err & exit 4' 2>err || equal status $? 4
    says err 'still running'
    sleep 0.8
    equal "the loader's words" "$(cat child.err)" ''
}
test_session_is_removed_after_the_run() {
    mkdir base
    leakrun --dir="$PWD/base" -o report sh -c 'ls; ls >/dev/null; exit 0' >/dev/null
    equal sessions "$(sessions base)" 0
}
test_dead_leakwatch_is_swept_and_nothing_else() {
    mkdir base
    mkdir base/libleak-run.notes base/other
    : >base/libleak-run.notes/mine.leak
    "$root/scripts/leakrun" --dir="$PWD/base" -o report sh -c 'echo $$ >pid; exec sleep 30' &
    pid=$!
    while [ ! -s pid ]; do sleep 0.02; done
    sleep 0.1
    kill -9 $pid
    wait $pid || :
    leakrun --dir="$PWD/base" -o report2 true
    equal 'its program still runs' "$(sessions base)" 2
    kill -9 "$(cat pid)"
    while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.02; done
    leakrun --dir="$PWD/base" -o report3 true
    equal 'swept' "$(ls base)" 'libleak-run.notes
other'
    [ -e base/libleak-run.notes/mine.leak ] || fail "removed what is not ours"
}
test_two_runs_at_once_do_not_meet() {
    mkdir base
    for i in 1 2 3 4 5 6; do
        "$root/scripts/leakrun" --dir="$PWD/base" -o report.$i sh -c "sleep 0.3; exit $i" &
        eval "pid$i=\$!"
    done
    for i in 1 2 3 4 5 6; do
        status=0
        eval "wait \$pid$i" || status=$?
        equal status $status $i
        equal 'processes in the report' "$(grep -c '^libleak: pid=' report.$i)" "$(grep -c '^libleak: pid=' report.1)"
    done
    equal sessions "$(sessions base)" 0
}
