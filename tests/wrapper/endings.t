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

# ---- What stays when somebody goes early -------------------------------------------------------

dead_leakrun() { # dir: a run whose leakwatch is killed, and its program, whose pid is in ./pid, goes on
    rm -f pid
    "$root/scripts/leakrun" --dir="$1" -o report sh -c 'echo $$ >pid; exec sleep 30' &
    while [ ! -s pid ]; do sleep 0.02; done
    until ls "$1"/libleak-run.*/sleep.*.leak >ready 2>/dev/null; do sleep 0.02; done
    kill -9 $!
    wait $! || :
}
end_program() {
    kill -9 "$(cat pid)"
    while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.02; done
}
clean() { "$O/leakctl" clean "$@"; }

test_reader_that_leaves_early_leaves_nothing_behind() {
    echo 'int main(void) { for (int i = 0; i < 200; i++) { if (!fork()) { malloc(i); exit(0); } wait(0); } malloc(9); }' | compile many
    for way in '' -v --to=stderr --format=json; do
        # shellcheck disable=SC2086
        { leakrun $way --error-exitcode=9 ./many 2>&1 >/dev/null || echo $? >status; } | head -c 1 >first
        equal "status with '$way'" "$(cat status)" 9
        equal "sessions with '$way'" "$(sessions .run)" 0
    done
    leakrun --to=stdout ./many 2>/dev/null | head -c 1 >first
    equal 'sessions with --to=stdout' "$(sessions .run)" 0
    leakrun ./many 2>/dev/full
    equal 'sessions when nobody can be told' "$(sessions .run)" 0
}
test_recording_that_a_message_names_stays() {
    printf '#!/bin/sh\nexit 3\n' >failing
    chmod +x failing
    "$O/leakwatch" --with-report="$PWD/failing" true 2>err
    [ -e "$(sed -n 's/.*recording file kept: leakreport //p' err)" ] || fail "$(cat err)"
    equal 'too recent' "$(clean)" '0 recording files removed, 1 too recent'
    clean --older=0 >said
    says said '^removed /.*/libleak-run\.'
    equal 'last line' "$(tail -n1 said)" '1 recording file removed'
    equal sessions "$(sessions .run)" 0
}
test_interrupted_report_leaves_nothing_behind() {
    need python3
    printf '#!/bin/sh\n: >started\nexec sleep 30\n' >slow
    chmod +x slow
    for sig in INT TERM HUP QUIT; do
        rm -f started
        python3 - "$O/leakwatch" "$PWD/slow" $sig <<'P'
import os, signal, subprocess, sys, time
watch, slow, sig = sys.argv[1:]
run = subprocess.Popen([watch, "--with-report=" + slow, "sh", "-c", "exit 5"])
while not os.path.exists("started"):
    time.sleep(0.02)
run.send_signal(getattr(signal, "SIG" + sig))
assert run.wait() == 5, (sig, run.returncode)
P
        equal "sessions after SIG$sig" "$(sessions .run)" 0
    done
}
test_clean_removes_what_a_killed_leakrun_left() {
    mkdir base
    dead_leakrun "$PWD/base"
    equal 'while its program runs' "$(clean --older=0 --dir="$PWD/base")" '0 recording files removed, 1 run of leakrun in progress'
    end_program
    mkdir base/libleak-run.notes
    : >base/libleak-run.notes/mine.leak
    clean --dir="$PWD/base" >said
    says said "^removed $PWD/base/libleak-run\.[0-9]+\."
    says said '^[1-9] recording files? removed$'
    equal 'what is not ours' "$(ls base)" 'libleak-run.notes'
}
test_clean_leaves_a_running_leakrun_alone() {
    "$root/scripts/leakrun" -o report sh -c ': >ready; while [ ! -e go ]; do sleep 0.05; done' &
    while [ ! -e ready ]; do sleep 0.02; done
    says_running=$(clean --older=0)
    : >go
    wait $! || fail "leakrun failed"
    equal clean "$says_running" '0 recording files removed, 1 run of leakrun in progress'
    says report '^libleak: pid='
}
test_clean_finds_every_place_of_leakrun_within_the_runtime_directory() {
    dead_leakrun "$XDG_RUNTIME_DIR"
    end_program
    mkdir elsewhere
    dead_leakrun "$PWD/elsewhere"
    end_program
    printf '#!/bin/sh\nexit 3\n' >failing
    chmod +x failing
    outside=$(XDG_RUNTIME_DIR='' "$O/leakwatch" --with-report="$PWD/failing" true 2>&1 | sed -n 's|.*kept: leakreport \(.*\)/true.*|\1|p')
    case $outside in /dev/shm/* | /tmp/*) ;; *) fail "not outside: $outside" ;; esac
    clean --older=0 >said
    kept=no
    [ ! -d "$outside" ] || kept=yes
    rm -rf "$outside"
    equal 'outside of XDG_RUNTIME_DIR' $kept yes
    equal 'in XDG_RUNTIME_DIR' "$(sessions .run)" 0
    equal 'elsewhere' "$(sessions elsewhere)" 1
    LIBLEAK_DIR="$PWD/elsewhere" clean >said
    equal 'in the directory of the environment' "$(sessions elsewhere)" 0
}
test_clean_leaves_what_belongs_to_another_user() {
    need_root
    need setpriv
    copy_for_all_users "$O/leakctl"
    mkdir "$place/base"
    chmod 1777 "$place/base"
    dead_leakrun "$place/base"
    end_program
    said=$(setpriv --reuid=65534 --clear-groups "$place/tool" clean --older=0 --dir="$place/base")
    equal 'as another' "$said" '0 recording files removed'
    equal 'it stays' "$(sessions "$place/base")" 1
    chown -R 65534 "$place"/base/libleak-run.*
    equal 'not even as root' "$(clean --older=0 --dir="$place/base")" '0 recording files removed'
    equal 'it stays, too' "$(sessions "$place/base")" 1
}
