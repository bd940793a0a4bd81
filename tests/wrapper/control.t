# leakctl asks programs that run: a shelf whose books are kept, with three cards lost from the start. Each
# line on its standard input has it lose another one; "done" is said for each.

shelf='#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
struct book { struct book *next; char text[1000]; } *books;
static char *volatile card;
static unsigned long last; /* of the cards that were lost, as no pointer */
__attribute__((noinline)) static void wipe(void) /* what the stack below still has of it */
{
    volatile char room[8192];
    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = 0;
}
__attribute__((noinline)) static void lose_one(void) { card = malloc(48); card[0] = 1; last = (unsigned long)card * 3; card = NULL; }
__attribute__((noinline)) static void lose(void) { lose_one(); wipe(); }
__attribute__((noinline)) static void keep(void)
{
    struct book *book = malloc(sizeof *book);
    book->next = books;
    books = book;
}
static void raw_mask(int how)
{
    unsigned long all = ~0ul;
    syscall(SYS_rt_sigprocmask, how, &all, NULL, 8);
}
int main(int argc, char **argv)
{
    char line[100];
    for (int i = 0; i < 3; i++)
        lose();
    keep();
    keep();
    if (argc > 1 && !strcmp(argv[1], "blocks"))
        raw_mask(SIG_SETMASK);
    dprintf(1, "%p %p %#lx\n", (void *)books, (void *)books->next, last / 3);
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] == 108) /* l */
            lose();
        else if (line[0] == 120) /* x */
            execl("./static", "static", NULL);
        else if (line[0] == 117) /* u */
            raw_mask(SIG_UNBLOCK);
        dprintf(1, "done\n");
    }
    return 7;
}'
open_shelf() { # arguments: runs, with its input at descriptor 3; $running, and said.$running when it is ready
    [ -x shelf ] || printf "%s\n" "$shelf" | compile shelf -O1 -g
    mkdir -p -m 700 stores
    rm -f input
    mkfifo input
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores ./shelf "$@" <input >said.shelf &
    running=$!
    exec 3>input
    until_says said.now '^0x' cat said.shelf
}
tell() { # word: and the program has done it
    lines=$(wc -l <said.shelf)
    echo "$1" >&3
    while [ "$(wc -l <said.shelf)" = "$lines" ]; do sleep 0.02; done
}
close_shelf() { # it ends as it would have without us
    exec 3>&-
    status=0
    wait "$running" || status=$?
    equal 'its own end' $status 7
}
ctl() { "$O/leakctl" "$@" --dir=stores; }
ctl_refuses() { # regular expression, arguments: one line, and nothing else
    words=$1 status=0
    shift
    "$O/leakctl" "$@" >out 2>err || status=$?
    equal "status of $*" $status 1
    equal 'lines said' "$(cat out err | wc -l)" 1
    says err "^leakctl: $words"
}
summary() { "$O/leakreport" -q stores/shelf."$running".1.leak; }

# ---- What the verbs do -----------------------------------------------------

test_snapshot_says_what_is_lost_now() {
    need gcc
    open_shelf
    for count in 3 4 5; do
        ctl snapshot "$running" >out
        equal lines "$(wc -l <out)" 1
        says out "^shelf \(pid $running\): paused [0-9.]+ ms, analysed in [0-9.]+ ms; lost: $count blocks, $((48 * count)) bytes; leakreport stores/shelf\.$running\.1\.leak\$"
        summary | grep -q " lost=$((48 * count))/$count/1 .* unfreed=0/0/0 " || fail "leakreport says $(summary)"
        tell lose
    done
    LIBLEAK_DIR=$PWD/stores "$O/leakctl" snapshot shelf >out
    says out ' lost: 6 blocks, 288 bytes; '
    close_shelf
}
test_readers_use_the_directory_that_programs_use() {
    need gcc
    open_shelf
    export HOME=$PWD
    unset LIBLEAK_DIR LIBLEAK_OPTIONS XDG_CONFIG_HOME
    equal 'no directory given' "$(status_of "$O/leakctl" mark shelf here)" 1
    equal 'nor to leaktop' "$(status_of "$O/leaktop" --once shelf)" 2
    LIBLEAK_OPTIONS="depth=9:dir=$PWD/stores" "$O/leakctl" mark shelf here >out
    LIBLEAK_OPTIONS="depth=9:dir=$PWD/stores" "$O/leaktop" >out
    says out "shelf"
    echo "dir=$PWD/stores" >.libleakrc
    "$O/leakctl" mark shelf there >out
    "$O/leaktop" >out
    says out "shelf"
    equal 'LIBLEAK_DIR wins' "$(LIBLEAK_DIR=$PWD status_of "$O/leaktop" --once shelf)" 2
    close_shelf
}
test_process_whose_main_thread_has_ended_lives() {
    need gcc
    mkdir -m 700 stores
    mkfifo input
    compile later -O1 -g -pthread <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *volatile sink;
static void *goes_on(void *first)
{
    char byte;
    pthread_join(*(pthread_t *)first, NULL);
    sink = malloc(4711);
    sink = NULL;
    puts("ready");
    fflush(stdout);
    read(0, &byte, 1);
    exit(7);
}
int main(void)
{
    static pthread_t first, thread;
    first = pthread_self();
    pthread_create(&thread, NULL, goes_on, &first);
    pthread_exit(NULL);
}
END
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores ./later <input >said.later &
    running=$!
    exec 3>input
    until_says said.now '^ready' cat said.later
    ctl snapshot "$running" >out
    says out "^later \(pid $running\): .* lost: 1 block, 4,?711 bytes"
    "$O/leaktop" --dir=stores >out
    says out 'later'
    "$O/leakreport" --format=json stores/later.*.leak >json
    says json '"how": ?"running"'
    exec 3>&-
    status=0
    wait "$running" || status=$?
    equal 'its own end' $status 7
    ctl_refuses '.' snapshot "$running" # that one is dead
}
test_report_looks_and_hands_the_options_on() {
    need gcc jq
    open_shelf
    tell lose
    ctl report --no-look "$running" -q >out
    says out ' lost=0/0/0 .* unfreed=[1-9]'
    ctl report "$running" --format=json >json
    equal found "$(jq -c '[.processes[0].end.how, .processes[0].summary.lost.blocks, .processes[0].snapshot.rung]' json)" '["running",4,"parked"]'
    tell lose
    ctl report shelf --no-look -q >out # what the look before has found
    says out ' lost=192/4/1 .* unfreed=48/1/1 '
    equal 'status is of leakreport' "$(status_of ctl report shelf -q --error-exitcode=9)" 9
    equal 'its options' "$(status_of ctl report shelf --no-such-option)" 2
    kill -STOP "$running"
    until_says out 'T' sed -n 's/^State:.//p' "/proc/$running/status"
    ctl_refuses "shelf \(pid $running\): stopped: kill -CONT $running " report --dir=stores shelf
    ctl report --no-look shelf -q >out # asks for nothing
    says out ' lost=240/5/1 '
    kill -CONT "$running"
    close_shelf
}
test_mark_names_a_moment_once_more_if_it_must() {
    need gcc
    open_shelf
    for again in 1 2; do
        ctl mark "$running" 'a deploy' >out
        equal lines "$(wc -l <out)" 1
        says out "^shelf \(pid $running\): marked; leakctl report --dir=stores $running '--since=a deploy' shows .*; |, leakreport '--since=a deploy' stores/shelf\.$running\.1\.leak\$"
    done
    grep -q -a 'a deploy' stores/shelf."$running".1.leak || fail 'it is not in the store'
    ctl report "$running" '--since=a deploy' -q >out
    says out ' lost=0/0/0 '
    tell lose
    ctl report "$running" '--since=a deploy' -q >out
    says out ' lost=48/1/1 '
    for wrong in '' '#1' 12345678901234567890123456789012 'two
lines'; do
        equal "status of '$wrong'" "$(status_of ctl mark "$running" "$wrong")" 2
    done
    ctl mark "$running" 1234567890123456789012345678901 >out
    close_shelf
}
test_who_names_a_block_and_what_points_at_it() {
    need gcc
    open_shelf
    read -r first second lost <said.shelf
    ctl who "$running" "$first" >out
    says out "^$first is the start of a block of 1,008 bytes, still reachable\$"
    says out '^   allocated \(malloc\) .* by T1 \(shelf\) as T1#[0-9]+:$'
    says out '^     keep '
    says out '^     books \(<stdin>:[0-9]+\)$'
    inside=$(printf '0x%x' $((second + 16)))
    ctl who "$running" "$inside" >out
    says out "^$inside is in a block of 1,008 bytes at $second \(\+0x10\), still reachable\$"
    says out "^     $first, 1,008 B from keep\(\)\$"
    silent_about out '^     books'
    ctl who shelf "${lost#0x}" >out
    says out "^$lost is the start of a block of 48 bytes, lost\$"
    says out '^     lose_one '
    says out '^   nothing points to it$'
    ctl who "$running" 0x1234 >out
    says out '^0x1234 is in no known block\.$'
    ctl snapshot "$running" >out
    "$O/leakreport" --who "$lost" stores/* >out # that look was about everything
    says out "^$lost was not part of the last leak check: leakctl who $running $lost "
    equal 'text alone' "$(status_of "$O/leakreport" --who=1 --format=json stores/*)" 2
    close_shelf
}
test_who_names_for_a_word_in_an_arena_the_innermost_block_alone() {
    need gcc
    compile arena -O1 -g -I"$root/include" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include "libleak.h"
static char *heap;
static char memory[4096] __attribute__((aligned(8)));
/* A block that nothing points at but a word there. */
__attribute__((noinline)) static void *hide(char *there) { return *(void **volatile *)&there[0] = malloc(100); }
int main(void)
{
    char line[10];
    heap = malloc(8192);
    libleak_block_new(heap + 1024, 64);
    libleak_block_new(memory + 1024, 64);
    for (unsigned at = 1032; at < 4096; at += 2000)
        printf("%lu\n%lu\n", 3 * (unsigned long)hide(heap + at), 3 * (unsigned long)hide(memory + at));
    fflush(stdout);
    return !fgets(line, sizeof line, stdin);
}
END
    mkdir -m 700 stores
    mkfifo input
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores ./arena <input >said &
    running=$!
    exec 3>input
    until_says said.now '^[0-9]' cat said
    asked() { # the next one
        read -r target <&4
        ctl who "$running" "$(printf '0x%x' $((target / 3)))" >out
    }
    exec 4<said
    asked
    says out '^     0x[0-9a-f]+, 64 B from main\(\) \+0x8$'
    silent_about out '8,192 B'
    asked
    says out '^     0x[0-9a-f]+, 64 B from main\(\) \+0x8$'
    silent_about out '^     memory'
    asked # and beside them
    says out '^     0x[0-9a-f]+, 8,192 B from main\(\) \+0xbd8$'
    silent_about out ' 64 B '
    asked
    says out '^     memory .*\+0xbd8$'
    silent_about out ' 64 B '
    exec 3>&-
    wait "$running" || :
}
test_what_comes_while_disabled_is_no_leak() {
    need gcc
    open_shelf
    for again in 1 2; do ctl disable "$running" >out; done
    says out "^shelf \(pid $running\): disabled: "
    tell lose
    tell lose
    ctl snapshot "$running" >out
    says out ' lost: 3 blocks, '
    for again in 1 2; do ctl enable "$running" >out; done
    says out "^shelf \(pid $running\): enabled: "
    tell lose
    ctl snapshot "$running" >out
    says out ' lost: 4 blocks, '
    close_shelf
}
test_two_who_ask_at_once_both_get_answers() {
    need gcc
    open_shelf
    for i in 1 2 3 4 5 6; do
        ctl snapshot "$running" >out.$i 2>&1 &
        ctl mark "$running" "mark$i" >mark.$i 2>&1 &
    done
    for i in 1 2 3 4 5 6; do
        until_says now . cat out.$i
        until_says now . cat mark.$i
        says out.$i ' lost: 3 blocks, 144 bytes; '
        says mark.$i ': marked; '
    done
    close_shelf
}
test_another_signal_is_used_when_the_program_has_another() {
    need gcc
    export LIBLEAK_OPTIONS=snapshot_signal=50
    open_shelf
    unset LIBLEAK_OPTIONS
    ctl snapshot "$running" >out
    says out ' lost: 3 blocks, '
    close_shelf
}

# ---- Programs in use ---------------------------------------------------------

test_asking_python_changes_nothing_in_it() {
    cat >work.py <<'P'
import json, os, select, signal, threading, time
r, w = os.pipe()
stop = threading.Event()
gone = []
def wait(call):
    try: call()
    except Exception as e: gone.append(repr(e))
threads = [threading.Thread(target=wait, args=(call,)) for call in
           (lambda: os.read(r, 1), lambda: select.select([r], [], []), stop.wait, lambda: time.sleep(1))]
for thread in threads: thread.start()
while not os.path.exists("stop"):
    json.loads(json.dumps({str(i): [i] * 10 for i in range(1000)}))
    time.sleep(0.01)
os.write(w, b"xy")
stop.set()
for thread in threads: thread.join()
print(gone, sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), signal.getsignal(62))
P
    touch stop
    /usr/bin/python3 work.py >wanted
    rm stop
    mkdir -m 700 stores
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores LIBLEAK_OPTIONS=exit_look=off /usr/bin/python3 work.py >got &
    running=$!
    while ! ls stores/python3*."$running".*.leak >/dev/null 2>&1; do sleep 0.05; done
    for i in 1 2 3 4 5 6 7 8; do
        ctl snapshot --timeout=50s "$running" >out 2>err || fail "look $i: $(cat err)"
        ctl mark --timeout=50s "$running" m >out 2>err || fail "mark $i: $(cat err)"
        ctl disable "$running" >out
        ctl enable "$running" >out
    done
    touch stop
    wait "$running"
    equal 'what it printed' "$(cat got)" "$(cat wanted)"
}
test_asking_redis_loses_no_request_of_its_clients() {
    need redis-server redis-cli redis-benchmark
    mkdir -m 700 stores
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' --daemonize no >log &
    running=$!
    until_says out PONG redis-cli -s redis.sock ping
    redis-benchmark -s redis.sock -q -n 30000 -t set,get -r 1000 >bench 2>&1 &
    clients=$!
    for i in 1 2 3 4 5; do
        ctl snapshot "$running" >out 2>err || fail "$(cat err)"
        says out "^redis-[a-z-]+ \(pid $running\): paused "
        ctl mark "$running" "m$i" >/dev/null
        ctl disable "$running" >/dev/null
        ctl enable "$running" >/dev/null
    done
    wait $clients || fail "$(cat bench)"
    redis-cli -s redis.sock set key value >out
    says out OK
    silent_about log 'Interrupted|EINTR'
    redis-cli -s redis.sock shutdown nosave 2>/dev/null || :
    wait "$running"
}
test_waiting_calls_do_not_notice_requests() {
    need gcc
    compile waits -g -pthread <<'C'
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
static int silent[2], which;
static sem_t never;
static sigset_t usr2;
static long wait_in(int call)
{
    struct pollfd p = {silent[0], POLLIN};
    struct timespec day = {86400, 0};
    struct epoll_event event;
    siginfo_t info;
    fd_set set;
    char c;
    FD_ZERO(&set);
    FD_SET(silent[0], &set);
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    switch (call) {
    case 0: return read(silent[0], &c, 1);
    case 1: return poll(&p, 1, -1);
    case 2: return select(silent[0] + 1, &set, NULL, NULL, NULL);
    case 3: return epoll_wait(epoll_create1(0), &event, 1, -1);
    case 4: return sem_wait(&never);
    case 5: return nanosleep(&day, NULL);
    case 6: return clock_nanosleep(CLOCK_REALTIME, 0, &day, NULL);
    case 7: return pause();
    default: return sigwaitinfo(&usr2, &info);
    }
}
int main(int argc, char **argv)
{
    sigset_t before, after;
    sem_init(&never, 0, 0);
    pipe(silent);
    sigprocmask(SIG_BLOCK, NULL, &before);
    malloc(100);
    dprintf(1, "waits\n");
    long r = wait_in(atoi(argv[1])); /* in the first thread, which the kernel takes for a signal to all */
    dprintf(1, "came back with %ld, %s\n", r, strerror(errno));
}
C
    mkdir -m 700 stores
    for call in 0 1 2 3 4 5 6 7 8; do
        LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores ./waits $call >said.$call &
        running=$!
        until_says now waits cat said.$call
        for i in 1 2 3; do
            ctl snapshot "$running" >out 2>err || fail "call $call: $(cat err)"
            ctl mark "$running" m >/dev/null
        done
        equal "call $call" "$(cat said.$call)" waits
        kill -KILL "$running"
        wait "$running" 2>/dev/null || :
    done
}

# ---- Refusals ------------------------------------------------------------------

test_each_refusal_says_why_and_what_to_do() {
    need gcc
    open_shelf
    one=$running
    ctl_refuses 'nonesuch: no such process uses libleak: leaktop .*leakreport --last nonesuch ' snapshot --dir=stores nonesuch
    ctl_refuses '999999999: no such process' snapshot --dir=stores 999999999
    sleep 50 &
    ctl_refuses "$!: it does not use libleak: start it with leakrun" mark --dir=stores $! m
    kill $!
    ctl_refuses "$one: its recording file is in another directory: give --dir=$PWD/stores\$" disable --dir=. "$one"
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores ./shelf <input >said.two &
    two=$!
    until_says said.now '^0x' cat said.two
    ctl_refuses "shelf: several processes have this name: give the pid of one: $one $two\$" snapshot --dir=stores shelf
    kill -KILL $two
    wait $two 2>/dev/null || :
    ctl_refuses "$two: it has ended: leakreport stores/shelf\.$two\.1\.leak shows .*leakreport --last" report --dir=stores $two
    rm stores/shelf."$one".1.leak
    ctl_refuses "$one: its recording file was removed: $PWD/stores/shelf.$one.1.leak: " snapshot --dir=stores "$one"
    close_shelf
}
test_a_process_without_a_recording_is_distinguished() {
    need gcc
    printf "%s\n" "$shelf" | compile shelf -O1 -g
    mkfifo input
    LD_PRELOAD=$O/libleak.so LIBLEAK_OPTIONS=enabled=0 ./shelf <input >said.shelf &
    running=$!
    exec 3>input
    until_says said.now '^0x' cat said.shelf
    ctl_refuses "$running: it has no recording file: .*enabled=0" snapshot "$running"
    close_shelf
    rm input
    mkfifo input
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=/proc/none ./shelf <input >said.shelf 2>err.shelf &
    running=$!
    exec 3>input
    until_says said.now '^0x' cat said.shelf
    says err.shelf 'in memory only'
    ctl_refuses "$running: it has no recording file: its recording is in memory only" mark "$running" m
    close_shelf
}
test_where_blocks_are_not_known_no_verb_pretends_otherwise() {
    need gcc
    export LIBLEAK_OPTIONS=crash=only
    open_shelf
    ctl_refuses "shelf \(pid $running\): it tracks no blocks \(crash=only\): " mark --dir=stores "$running" m
    close_shelf
    export LIBLEAK_OPTIONS=min_size=100
    open_shelf
    ctl_refuses "shelf \(pid $running\): no leak check was possible: blocks left out by size " snapshot --dir=stores "$running"
    ctl report "$running" >out # it says so as well, and what it knows
    says out 'no leak check was made: blocks left out by size'
    close_shelf
    export LIBLEAK_OPTIONS=look_mem=8k
    open_shelf
    ctl_refuses "shelf \(pid $running\): no leak check was possible: the leak check needed more memory " who --dir=stores "$running" 1234
    close_shelf
    export LIBLEAK_OPTIONS=max_memory=1m
    open_shelf 2>/dev/null
    ctl_refuses "shelf \(pid $running\): libleak has no signal handler there: " disable --dir=stores "$running"
    close_shelf
}
test_only_the_owner_may_ask() {
    need gcc
    need_root
    need setpriv
    open_shelf
    copy_for_all_users "$O/leakctl"
    status=0
    setpriv --reuid=65534 --clear-groups "$place/tool" snapshot "$running" >out 2>&1 || status=$?
    equal status $status 1
    says out "^leakctl: $running: only the owner may send requests: it belongs to root\$"
    close_shelf
}
test_a_stopped_process_is_refused_at_once() {
    need gcc
    open_shelf
    kill -STOP "$running"
    until_says out 'T' sed -n 's/^State:.//p' "/proc/$running/status"
    for verb in snapshot enable disable; do
        ctl_refuses "shelf \(pid $running\): stopped: kill -CONT $running continues it; " $verb --timeout=1h --dir=stores "$running"
    done
    kill -CONT "$running"
    ctl snapshot "$running" >out
    close_shelf
}
test_what_an_exec_made_of_it_is_not_killed_by_the_signal() {
    need gcc
    compile static -static <<'C' || skip 'no static libc here'
#include <stdio.h>
int main(void) { char line[10]; dprintf(1, "static\n"); fgets(line, 10, stdin); return 7; }
C
    open_shelf
    echo x >&3
    until_says now static cat said.shelf
    ctl_refuses "shelf \(pid $running\): it called exec: .*; leakreport stores/shelf" snapshot --dir=stores "$running"
    close_shelf
}
test_a_process_that_blocks_the_signal_is_named_and_asked_again_when_it_lets_it_in() {
    need gcc flock
    open_shelf blocks
    ctl_refuses "shelf \(pid $running\): it blocks signal 62: .*snapshot_signal=" snapshot --timeout=500ms --dir=stores "$running"
    for number in 9 15; do # killed during a request: it blocks no later request
        "$O/leakctl" snapshot --timeout=1h --dir=stores "$running" >out 2>&1 &
        asking=$!
        while flock -n stores/shelf."$running".1.leak true; do sleep 0.02; done
        kill -$number $asking
        status=0
        wait $asking 2>/dev/null || status=$?
        equal "ended by signal $number" $status $((128 + number))
        equal 'said nothing' "$(cat out)" ''
        ctl_refuses "shelf \(pid $running\): it blocks signal 62: " mark --timeout=500ms --dir=stores "$running" m
    done
    "$O/leakctl" snapshot --timeout=1h --dir=stores "$running" >out 2>&1 &
    asking=$!
    tell u
    wait $asking || fail "$(cat out)"
    says out ' lost: 3 blocks, '
    close_shelf
}
test_leakctl_refuses_words_it_does_not_know() {
    for wrong in 'snapshot' 'snapshot --timeout=x 1' 'snapshot --timeout' 'snapshot --bogus 1' 'snapshot 1 2' 'mark 1' 'mark 1 a b' \
        'who 1' 'who 1 hello' 'who 1 0' 'enable --dir= 1' 'report --no-look' 'snapshot --no-look 1' 'attach' 'attach x' 'attach --for=x 1' 'detach' 'reset 1'; do
        # shellcheck disable=SC2086 # words
        equal "leakctl $wrong" "$(status_of "$O/leakctl" $wrong)" 2
    done
    for verb in snapshot mark enable disable attach detach report who scan clean; do
        "$O/leakctl" $verb --help >out
        says out "^usage: leakctl $verb "
    done
}
