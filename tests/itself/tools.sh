# tools.sh - each tool of the project in real use, under libleak. Words of tests/wrapper/lib.sh may be used.
# shellcheck shell=sh disable=SC2154
#
# A function whose name begins with tool_ is a case. What runs with "under" is judged; its answer is too, for a tool that
# failed early has nothing to lose. Other processes leave their stores in live/.

under() { LIBLEAK_DIR=$d/stores LD_PRELOAD=$O/libleak.so "$@"; }
# Of a tool that is to fail: the exit status that it must have.
fails() { # status, command...
    wanted=$1
    shift
    status=0
    under "$@" >said 2>&1 || status=$?
    equal "status of $*" $status "$wanted"
}
# One store with everything to tell: blocks of every verdict, wrong releases, growth, what was left open.
plant() {
    "$root/scripts/leakrun" --no-report --keep="$PWD/plant.leak" "$O/leakplant" all >plants
    "$root/scripts/leakrun" --no-report --keep="$PWD/other.leak" "$O/leakplant" double-free >plants 2>&1 || true
    [ -s plant.leak ] && [ -s other.leak ] || fail 'nothing was planted'
}
# A program under libleak that lives until the case ends: its pid is $live.
begin_live() {
    mkdir -p live
    mkfifo stay
    LIBLEAK_DIR=$PWD/live LD_PRELOAD=$O/libleak.so sed -n p <stay &
    live=$!
    exec 9>stay
    trap 'exec 9>&-; wait' EXIT
    until ls live/sed.*.leak >store 2>/dev/null; do sleep 0.1; done
    store=$(cat store)
}

# ---- What judges them --------------------------------------------------------------------------

tool_planted_mistakes_would_be_found() {
    under "$O/leakplant" all >plants
    ! /usr/bin/python3 "$here/judge.py" "$O" "$d/stores" leakplant >found || fail 'leakplant passes'
    says found '^lost: 1001 bytes in 1 blocks'
    says found '^indirect: 3001 bytes'
    says found '^mismatched-free'
    silent_about found '4001 bytes' # that one is reachable
    under "$O/leakreport" --version >out
}

# ---- leakreport --------------------------------------------------------------------------------

tool_leakreport_in_every_format() {
    plant
    "$O/leakreport" --help | sed -n '/^Formats:/,/^$/s/^  *\([a-z-]*\)  .*/\1/p' >formats
    [ "$(wc -l <formats)" -gt 10 ] || fail "formats: $(cat formats)"
    while read -r format; do
        under "$O/leakreport" --format="$format" --content --show=all -o "out.$format" plant.leak other.leak
        [ -s "out.$format" ] || [ "$format" = github ] || fail "$format says nothing"
    done <formats
}
tool_leakreport_in_other_orders() {
    plant
    for key in function file module size kind thread site tag; do
        under "$O/leakreport" --by="$key" plant.leak >out
        under "$O/leakreport" --by="$key" --format=json plant.leak >out
    done
    for key in retained bytes count age growth; do
        under "$O/leakreport" --sort="$key" --top=3 plant.leak >out
    done
    for what in --owners --growing --blocks --all-frames --full-names --apart --inherited --anonymize --stable \
        --quiet --verbose --only=function:lose_by_malloc --modules=+libc --functions=-lose_by_malloc --threads=T1 \
        --wrappers=lose_by_malloc --freed=0x1000 --who=0x1000; do
        under "$O/leakreport" "$what" plant.leak >out
    done
}
tool_leakreport_with_suppressions_and_baseline() {
    plant
    for syntax in lsan valgrind libleak; do
        under "$O/leakreport" --gen-suppressions="$syntax" plant.leak >"supp.$syntax"
        under "$O/leakreport" --suppressions="supp.$syntax" --show-suppressed plant.leak >out
    done
    "$O/leakreport" --format=json -o base.json plant.leak
    under "$O/leakreport" --baseline=base.json plant.leak >out
    fails 23 "$O/leakreport" --error-exitcode=23 plant.leak
}
tool_leakreport_diff_and_merge() {
    plant
    "$O/leakreport" --format=json -o old.json plant.leak
    under "$O/leakreport" diff plant.leak plant.leak >out
    fails 1 "$O/leakreport" diff other.leak plant.leak
    under "$O/leakreport" diff --format=json old.json plant.leak >out
    fails 2 "$O/leakreport" diff --survivors plant.leak plant.leak plant.leak # without a requested leak check
    under "$O/leakreport" merge plant.leak other.leak >out
    under "$O/leakreport" merge --format=json old.json other.leak >out
    under "$O/leakreport" preflight "$O/leakplant" >out
}
tool_leakreport_log() {
    LIBLEAK_OPTIONS=log=3:log_file=events LIBLEAK_DIR=$PWD LD_PRELOAD=$O/libleak.so "$O/leakplant" all >plants
    under "$O/leakreport" log events >out
    [ -s out ] || fail 'the log says nothing'
}
tool_leakreport_with_nothing_to_read() {
    plant
    head -c 5000 plant.leak >short.leak
    head -c 3000 "$O/leakplant" >strange.leak
    fails 2 "$O/leakreport" none.leak
    fails 2 "$O/leakreport" strange.leak
    under "$O/leakreport" short.leak >out 2>&1
    fails 2 "$O/leakreport" --format=nonesuch plant.leak
    fails 2 "$O/leakreport" --suppressions=none plant.leak
    fails 2 "$O/leakreport" diff plant.leak
    under "$O/leakreport" --help >out
}

# ---- leakctl and leaktop -------------------------------------------------------------------------

tool_leakctl_every_verb() {
    begin_live
    under "$O/leakctl" snapshot --dir=live "$live" >out
    under "$O/leakctl" mark --dir=live "$live" deploy >out
    under "$O/leakctl" disable --dir=live "$live" >out
    under "$O/leakctl" enable --dir=live "$live" >out
    under "$O/leakctl" report --dir=live "$live" --format=json >out
    under "$O/leakctl" who --dir=live "$live" 0x1000 >out || [ $? = 1 ] || fail "who: $(cat out)"
    under "$O/leakctl" clean --dir=live >out
    fails 1 "$O/leakctl" snapshot --dir=live nonesuch
    fails 2 "$O/leakctl" nonesuch
    under "$O/leakctl" --help >out
}
tool_leakgraph_every_verb() {
    LD_PRELOAD=$O/libleak.so LIBLEAK_OPTIONS=dir=$PWD:graph=$PWD/sed.lg sed -n '$p' /dev/null
    address=$("$O/leakgraph" sed.lg retained --json --top=1 | grep -o '0x[0-9a-f]*' | head -1)
    for verb in summary retained dominators suspects cycles waste "path $address" "refs $address" "out $address" 'find size>9' 'diff sed.lg'; do
        # shellcheck disable=SC2086 # a list of words
        under "$O/leakgraph" sed.lg $verb >out
        # shellcheck disable=SC2086
        under "$O/leakgraph" sed.lg $verb --json >out
    done
    head -c 500 sed.lg >cut.lg
    fails 2 "$O/leakgraph" cut.lg
    fails 2 "$O/leakgraph" sed.lg nonesuch
    fails 2 "$O/leakgraph" sed.lg find nonesuch
    fails 1 "$O/leakgraph" sed.lg path 0x10
}
tool_leaktop_once() {
    begin_live
    under "$O/leaktop" --dir=live >out
    for form in --once '--once --json' '--once --csv' '--once --sort=bytes --filter=sed' '--once --top=0'; do
        # shellcheck disable=SC2086 # a list of words
        under "$O/leaktop" --dir=live --interval=0.2 $form "$live" >out
        [ -s out ] || fail "$form says nothing"
    done
    under "$O/leaktop" --dir=live --interval=0.2 --once --openmetrics=metrics
    grep -q libleak_processes metrics || fail "$(cat metrics)"
    fails 2 "$O/leaktop" --dir=live --once nonesuch
}
tool_leaktop_on_a_screen() {
    need tmux
    begin_live
    terminal=$root/tests/terminal
    "$terminal" open "$PWD/tmux" 90 24 C.UTF-8 \
        "LIBLEAK_DIR='$d/stores' LD_PRELOAD='$O/libleak.so' '$O/leaktop' --dir='$PWD/live' --interval=0.3 $live; echo \$? >ended; sleep 60"
    for key in '' s Enter Escape '?' Escape; do
        [ -z "$key" ] || "$terminal" send "$PWD/tmux" "$key"
        sleep 0.4
    done
    until [ -s ended ]; do
        "$terminal" send "$PWD/tmux" q
        sleep 0.3
    done
    "$terminal" close "$PWD/tmux"
    equal 'status of leaktop' "$(cat ended)" 0
}

# ---- leakrun and the self-test -------------------------------------------------------------------

tool_leakrun_with_a_report() { # without the script, which keeps libleak out of leakwatch
    under "$O/leakwatch" --format=json -o out true
    under "$O/leakwatch" --keep=kept.leak sh -c 'true; (exit 0)' >out 2>&1
    fails 3 "$O/leakwatch" --no-report sh -c 'exit 3'
    fails 127 "$O/leakwatch" ./none
    fails 125 "$O/leakwatch" --nonesuch true
    under "$O/leakwatch" --help >out
}
tool_leakselftest() {
    under "$O/leakselftest" "$O/leakwatch" "$O/libleak.so" "$O/leakreport" "$O/leakplant" >out
    grep -q ' 0 failed' out || fail "$(cat out)"
}
