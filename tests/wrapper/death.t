# A program that was killed has left its account, and it can be found.

# grower SECONDS [kill]: a list that grows by EACH a hundred times a second; then it dies, or ends and
# gives all back.
make_grower() {
    compile grower -g "-DEACH=${1:-16000}" <<'C'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
struct item { struct item *next; char text[EACH]; } *list;
static void push(void)
{
    struct item *item = malloc(sizeof *item);
    memset(item->text, 1, sizeof item->text); /* it is really there */
    item->next = list;
    list = item;
}
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
int main(int argc, char **argv)
{
    double end = now() + atof(argv[1]);
    while (now() < end) {
        push();
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    if (argc > 2)
        raise(SIGKILL);
    while (list) {
        struct item *next = list->next;
        free(list);
        list = next;
    }
    return 0;
}
C
}
preloaded() { env LD_PRELOAD="$O/libleak.so" "$@"; }
in_background() { exec env LD_PRELOAD="$O/libleak.so" "$@"; } # with &: $! is the program's pid
ends_badly() { ! "$@" || fail "it ended well"; }
last() { "$O/leakreport" --last "$@"; }

test_what_grew_is_named_after_kill_9() {
    make_grower
    mkdir plain
    LIBLEAK_OPTIONS="dir=$PWD/plain:snapshot_every=1s" in_background ./grower 10 kill &
    alone=$!
    ends_badly leakrun -o watched --snapshot-every=1s ./grower 10 kill
    ends_badly wait $alone
    says watched '^grower .*killed by SIGKILL'
    LIBLEAK_OPTIONS="dir=$PWD/plain" last grower >plain.text
    says plain.text '^grower .*exit not observed'
    for report in watched plain.text; do
        says $report ' growing=1 '
        says $report 'growing \+[0-9.]+ MB/s for .*nothing freed'
        says $report '^ +push +<stdin>:8'
        says $report 'by snapshot_every' # the last look
    done
    LIBLEAK_OPTIONS="dir=$PWD/plain" last --format=json grower >json
    python3 -c 'import json; p = json.load(open("json"))["processes"][0]
assert len(p["history"]) > 20 and p["end"]["how"] == "lost", p["end"]'
}
# A control group for memory of that many megabytes, without swap; in_group runs a command in it.
make_group() {
    need_root
    if [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then
        group=/sys/fs/cgroup/memory/libleak-test.$$ most=memory.limit_in_bytes swap=memory.memsw.limit_in_bytes
    elif grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
        group=/sys/fs/cgroup/libleak-test.$$ most=memory.max swap=memory.swap.max
    else
        skip 'no control groups for memory here'
    fi
    mkdir "$group" 2>/dev/null || skip 'control groups cannot be made here'
    trap 'rmdir "$group"' EXIT
    echo "${1}M" >"$group/$most"
    if [ $swap = memory.swap.max ]; then set -- 0; fi
    echo "${1}M" 2>/dev/null >"$group/$swap" || :
}
in_group() { sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"; }

test_death_for_want_of_memory_is_said_with_what_grew() {
    make_grower 60000
    make_group 64
    ends_badly in_group "$root/scripts/leakrun" -o killed ./grower 50
    says killed '^grower .*killed by SIGKILL'
    says killed '^Note: killed by the kernel: out of memory in its cgroup'
    says killed ' growing=1 '
    says killed '^ +push +<stdin>:8'
    ends_badly in_group "$root/scripts/leakrun" -o other ./grower 0.5 kill
    says other '^grower .*killed by SIGKILL'
    silent_about other 'out of memory'
}
test_a_look_is_taken_near_the_limit_and_not_far_from_it() {
    make_grower 60000 # comes to 12 MB
    near() { # how ulimit takes it, share, seconds, where the report goes
        mkdir "$4"
        # shellcheck disable=SC2086 # two words, or none
        (ulimit $1 && ends_badly preloaded LIBLEAK_OPTIONS="dir=$PWD/$4:near_limit=$2" ./grower "$3" kill) >/dev/null
        LIBLEAK_DIR="$PWD/$4" last >"$4.text"
    }
    near '-S -d 20000' 50% 2 near
    says near.text '^Leak check near the memory limit'
    says near.text 'reachable=[1-9]'
    near '-d 20000' 50% 2 hard # the look, too, may have no more
    says hard.text '^Note: no leak check was made: the leak check needed more memory'
    near '-S -d 20000' 0 2 off
    near '-S -d 200000' 50% 2 far
    near '' 50% 0.5 none
    for report in off far none; do
        silent_about $report.text 'near to the limit'
        says $report.text 'reachable=0/0/0'
    done
    for wrong in 101% x % -1 9k; do
        equal "status of $wrong" "$(status_of leakrun "--near-limit=$wrong" true)" 125
    done
}
test_a_look_is_taken_near_the_limit_of_a_control_group() {
    make_grower 60000
    make_group 64
    ends_badly in_group env LD_PRELOAD="$O/libleak.so" LIBLEAK_OPTIONS="dir=$PWD/stores:near_limit=60%" \
        ./grower 50
    LIBLEAK_DIR="$PWD/stores" last grower >report
    says report '^Leak check near the memory limit'
    says report ' growing=1 '
}
test_the_limit_of_a_control_group_is_named_while_it_grows() {
    make_grower 60000
    make_group 64
    in_group env LD_PRELOAD="$O/libleak.so" LIBLEAK_DIR="$PWD/stores" ./grower 50 &
    until grep -q 'at this rate' report 2>/dev/null; do
        kill -0 $! || fail 'it is dead, and no report warned'
        sleep 0.2
        LIBLEAK_DIR="$PWD/stores" last grower >report 2>/dev/null || :
    done
    says report '; at this rate the memory limit of its cgroup, [0-9.]+ MB, is reached within'
    ends_badly wait $!
}
test_last_finds_a_store_by_name_pid_or_none() {
    make_grower
    mkdir stores
    export LIBLEAK_DIR="$PWD/stores"
    in_background ./grower 0.1 kill &
    pid=$!
    ends_badly wait $pid
    cp grower other
    preloaded ./other 0.1
    last grower | grep -q "^grower (pid $pid)" || fail 'not by name'
    last ./grower | grep -q "^grower (pid $pid)" || fail 'not by path'
    last $pid | grep -q "^grower (pid $pid)" || fail 'not by pid'
    last | grep -q '^other ' || fail 'not the newest of all'
    last grower other >both
    equal 'processes' "$(grep -c '^libleak: pid=' both)" 2
    equal 'half of a name' "$(status_of last grow)" 2
    equal 'another pid' "$(status_of last 1)" 2
}
test_last_takes_the_dead_one_rather_than_the_restarted() {
    make_grower
    mkdir stores
    export LIBLEAK_DIR="$PWD/stores"
    in_background ./grower 30 &
    restarted=$!
    while [ ! -e stores/grower.$restarted.1.leak ]; do sleep 0.02; done
    last grower >alone
    says alone "^grower \(pid $restarted\) is running"
    in_background ./grower 0.1 kill &
    dead=$!
    ends_badly wait $dead
    touch stores/*.$restarted.1.leak
    last grower >two
    says two "^grower \(pid $dead\) exit not observed"
    kill $restarted
}
test_last_looks_where_the_runtime_puts_stores() {
    make_grower
    mkdir option variable file
    export XDG_CONFIG_HOME="$PWD/none"
    preloaded ./grower 0.1 kill || :
    last grower >/dev/null
    cp grower second
    LIBLEAK_OPTIONS="depth=20:dir='$PWD/option'" preloaded ./second 0.1
    equal 'not in the default place' "$(status_of last second)" 2
    LIBLEAK_OPTIONS="depth=20:dir='$PWD/option'" last second >/dev/null
    LIBLEAK_DIR="$PWD/variable" LIBLEAK_OPTIONS="dir=$PWD/option" preloaded ./grower 0.1
    equal 'LIBLEAK_DIR wins' "$(ls variable | wc -l)" 1
    equal 'and is looked at' "$(LIBLEAK_DIR="$PWD/variable" LIBLEAK_OPTIONS="dir=$PWD/option" status_of last second)" 2
    echo " dir=$PWD/file " >.libleakrc
    cp grower third
    preloaded ./third 0.1
    equal 'in the file' "$(ls file | wc -l)" 1
    last third >/dev/null
}
test_last_says_where_it_looked_and_follows_no_link() {
    make_grower
    mkdir stores elsewhere
    LIBLEAK_DIR="$PWD/elsewhere" preloaded ./grower 0.1
    ln -s ../elsewhere/"$(ls elsewhere)" stores/grower.1.1.leak
    mkfifo stores/grower.2.1.leak
    echo nothing >stores/grower.3.1.leak
    status=0
    LIBLEAK_DIR="$PWD/stores" last grower >out 2>err || status=$?
    equal status $status 2
    equal lines "$(wc -l <err)" 1
    says err "^leakreport: no store of grower in $PWD/stores: "
    status=0
    LIBLEAK_DIR='' last no-such-program 2>err || status=$?
    equal status $status 2
    says err "$XDG_RUNTIME_DIR/libleak-[0-9]+ and /dev/shm/libleak-[0-9]+ and /tmp/libleak-[0-9]+: "
    status=0
    leakrun --last true 2>err || status=$?
    equal 'leakrun has none' $status 125
}

# ---- leakctl clean ---------------------------------------------------------

clean() { "$O/leakctl" clean "$@"; }

test_clean_removes_what_is_dead_and_nothing_else() {
    make_grower
    mkdir elsewhere
    export LIBLEAK_DIR="$PWD/stores"
    ends_badly preloaded ./grower 0.1 kill
    preloaded ./grower 0.1
    dead=$(echo stores/*)
    in_background ./grower 50 &
    while [ "$(ls stores | wc -l)" = 2 ]; do sleep 0.02; done
    preloaded ./grower 0.1
    LIBLEAK_DIR="$PWD/elsewhere" preloaded ./grower 0.1
    ln -s ../elsewhere/"$(ls elsewhere)" stores/link.1.1.leak
    echo text >stores/text.1.1.leak
    mkfifo stores/pipe.1.1.leak
    cp "$(ls stores/grower.*.leak | head -n1)" stores/another.name
    cp elsewhere/* stores/host.1.1.leak
    # the host's name in the header, so that it is another's
    python3 - stores/host.1.1.leak <<'P'
import socket, sys
data = bytearray(open(sys.argv[1], "rb").read(4096))
at = data.index(socket.gethostname().encode())
data[at] ^= 1
open(sys.argv[1], "r+b").write(data)
P
    kept=$(ls stores | grep -v '^grower' | sort)
    equal 'nothing is old enough' "$(clean)" '0 recording files removed, 1 of running processes, 3 too recent, 1 of other users or hosts'
    for file in $dead; do [ -e "$file" ] || fail "$file is gone"; done
    clean --older=0 >said
    for file in $dead; do
        says said "^removed $PWD/$file\$"
        [ ! -e "$file" ] || fail "$file is still there"
    done
    equal 'last line' "$(tail -n1 said)" '3 recording files removed, 1 of running processes, 1 of other users or hosts'
    equal 'what is no store of this host' "$(ls stores | grep -v '^grower' | sort)" "$kept"
    equal 'whose process runs' "$(ls stores | grep -c '^grower')" 1
    equal 'behind the link' "$(ls elsewhere | wc -l)" 1
    kill $!
    ends_badly wait $!
    clean --older=0 --dir="$PWD/elsewhere" >said
    equal 'only there' "$(ls stores | grep -c '^grower')" 1
    equal 'there' "$(ls elsewhere)" ''
    clean --older 0s >said
    equal 'dead by now' "$(ls stores | grep -c '^grower' || :)" 0
}
test_clean_refuses_what_it_does_not_know() {
    mkdir stores
    ln -s stores link
    export LIBLEAK_DIR="$PWD/stores" # never the real ones
    for wrong in --older=x --older=1y --older --dir --dir= --force stores; do
        equal "status of $wrong" "$(status_of clean "$wrong")" 2
    done
    equal 'no such directory' "$(status_of clean --dir="$PWD/none")" 1
    equal 'a link' "$(status_of clean --dir="$PWD/link")" 1
    equal 'nothing there' "$(clean)" '0 recording files removed'
    equal 'no verb' "$(status_of "$O/leakctl")" 2
    "$O/leakctl" --help | grep -q '^usage: leakctl '
    "$O/leakctl" --version | grep -q '^leakctl (libleak) [0-9]'
}
test_no_start_of_leakrun_removes_an_unread_recording() {
    make_grower
    ends_badly preloaded ./grower 0.1 kill
    touch -d '2 days ago' "$XDG_RUNTIME_DIR"/libleak-*/*.leak
    leakrun -o report true
    last grower | grep -q '^grower ' || fail 'it is gone'
}
test_clean_and_last_obey_no_option_file_of_another_user() {
    need_root
    mkdir file
    LIBLEAK_DIR="$PWD/file" LD_PRELOAD="$O/libleak.so" true
    LIBLEAK_DIR="$PWD/file" LD_PRELOAD="$O/libleak.so" cat /dev/null
    echo "dir=$PWD/file" >.libleakrc
    last cat >/dev/null 2>&1 || fail 'the own file is not obeyed'
    chown 65534 .libleakrc
    equal 'status of --last' "$(status_of last cat)" 2
    equal 'clean' "$(clean --older=0 2>err)" '0 recording files removed'
    says err '^leakctl: option file ./.libleakrc ignored: it belongs to another user; '
    chown 0 .libleakrc
    clean --older=0 | grep -q "^removed $PWD/file/" || fail 'the own file is not obeyed by clean'
}
