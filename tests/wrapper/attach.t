# leakctl attach and detach: libleak comes into a process that runs already, and is switched off again.

host='#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void *volatile sink;
static char *old[50];
__attribute__((noinline)) static void lose(void) { sink = malloc(1234); memset(sink, 1, 9); sink = NULL; }
static long blocked(const char *how) /* returns what the call returned, after about 0.3 s */
{
    struct timespec third = {0, 300000000};
    struct pollfd none = {-1, 0, 0};
    struct epoll_event event;
    static int pair[2] = {-1}, epoll, notify, sem;
    char byte[512];
    if (pair[0] < 0) {
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        epoll = epoll_create1(0);
        notify = inotify_init();
        inotify_add_watch(notify, ".", IN_CREATE);
        sem = semget(IPC_PRIVATE, 1, 0600);
    }
    if (!strcmp(how, "nanosleep")) return nanosleep(&third, NULL);
    if (!strcmp(how, "poll")) return poll(&none, 1, 300);
    if (!strcmp(how, "epoll")) return epoll_wait(epoll, &event, 1, 300);
    if (!strcmp(how, "pwait2")) return syscall(441 /* epoll_pwait2 */, epoll, &event, 1, &third, NULL, 0);
    if (!strcmp(how, "semop")) {
        struct sembuf take = {0, -1, 0};
        return semtimedop(sem, &take, 1, &third) < 0 && errno == EAGAIN ? 0 : -1;
    }
    if (!strcmp(how, "writev")) { /* to a full socket, with a time limit */
        struct timeval limit = {0, 300000};
        struct iovec part = {byte, sizeof byte};
        setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        while (send(pair[0], byte, sizeof byte, MSG_DONTWAIT) > 0)
            ;
        if (writev(pair[0], &part, 1) >= 0 || errno != EAGAIN) return -1;
        errno = 7;
        return 0;
    }
    pid_t child = fork();
    if (child == 0) {
        nanosleep(&third, NULL);
        if (!strcmp(how, "read")) write(pair[1], "x", 1);
        if (!strcmp(how, "inotify")) { char name[] = "newXXXXXX"; close(mkstemp(name)); unlink(name); }
        _exit(3);
    }
    if (!strcmp(how, "read")) { if (read(pair[0], byte, 1) != 1) return -1; }
    else if (!strcmp(how, "inotify")) { if (read(notify, byte, sizeof byte) <= 0) return -1; }
    int status;
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3 ? 0 : -1;
}
static void *wait_for_ever(void *mutex) { pthread_mutex_lock(mutex); return NULL; }
static void on_alarm(int number) { (void)number; }
int main(int argc, char **argv)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const char *how = argv[1];
    int rounds = atoi(argv[2]);
    double sum = 0;
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART}, after;
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 50; i++)
        old[i] = malloc(100 + i);
    pthread_mutex_lock(&mutex);
    if (!strcmp(how, "futex"))
        pthread_create(&thread, NULL, wait_for_ever, &mutex);
    dprintf(1, "ready\n");
    for (int i = 0; i < rounds; i++) {
        errno = 7;
        if (!strcmp(how, "spin") || !strcmp(how, "malloc")) {
            struct timespec begun, now;
            clock_gettime(CLOCK_MONOTONIC, &begun);
            do {
                for (int k = 0; k < 100000; k++)
                    if (*how == 115) sum += 0.5;
                    else { free(sink); sink = malloc(k % 700); }
                clock_gettime(CLOCK_MONOTONIC, &now);
            } while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < 300);
            free(sink);
            sink = NULL;
        } else if (blocked(!strcmp(how, "futex") ? "nanosleep" : how) != 0) {
            dprintf(1, "disturbed: %s\n", strerror(errno));
        }
        if (strcmp(how, "semop") && errno != 7)
            dprintf(1, "errno: %d\n", errno);
        lose();
    }
    for (int i = 0; i < 50; i++)
        free(old[i]);
    if (!strcmp(how, "futex")) {
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, NULL);
    }
    sigaction(SIGUSR1, NULL, &after);
    dprintf(1, "end %d %d %d\n", after.sa_handler == on_alarm, after.sa_flags & SA_SIGINFO, sum == (long)sum);
    return 5;
}'
need_ptrace() { # skips where this user may not attach to a process that is not its child
    need gcc
    [ "$(uname -m)" = x86_64 ] || skip 'attaching is for x86-64 so far'
    if [ "$(id -u)" != 0 ] && [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null)" -gt 0 ] 2>/dev/null; then
        skip 'ptrace_scope forbids it'
    fi
}
begin() { # arguments of the host: runs as $running
    [ -x host ] || printf "%s\n" "$host" | compile host -O1 -g -pthread
    mkdir -p -m 700 stores
    rm -f said.host said.now
    ./host "$@" >said.host 2>&1 &
    running=$!
    until_says said.now '^ready' cat said.host
}
attach() { "$O/leakctl" attach --dir="$PWD/stores" "$running" "$@" >said.attach 2>&1 || skip_or_fail "$(cat said.attach)"; }
skip_or_fail() {
    case $1 in *'refuses ptrace'* | *'ptrace_scope'*) kill "$running"; skip "$1" ;; esac
    fail "$1"
}
detach() { "$O/leakctl" detach "$running" >said.detach 2>&1 || fail "$(cat said.detach)"; }
finish() { # it ends as it would have alone
    status=0
    wait "$running" || status=$?
    equal 'its own end' $status 5
    equal 'what it said' "$(cat said.host)" "ready
end 1 0 1"
}
lost() { "$O/leakctl" report --dir=stores "$running" -q; }

test_leaks_since_an_attach_are_found_with_their_line() {
    need_ptrace
    begin nanosleep 8
    attach
    says said.attach "^host \(pid $running\): attached; one of its 1 thread stood still for [0-9.]+ ms.*; leakctl report --dir=$PWD/stores $running, or leakreport $PWD/stores/host\.$running\.1\.leak\$"
    sleep 0.8
    "$O/leakctl" report --dir=stores "$running" >report
    says report '^ +lose +<stdin>:20'
    says report 'bytes in [1-4] blocks? lost'
    says report 'loaded late'
    finish
    "$O/leakreport" --format=json stores/*.leak >report.json
    /usr/bin/python3 - <<'END' || fail 'blocks from before the attach'
import json
process = json.load(open("report.json"))["processes"][0]
assert process["coverage"]["unknown_frees"] == 50, process["coverage"]
assert not process["errors"]
END
}
test_process_that_is_not_attached_to_has_no_library() {
    need_ptrace
    begin nanosleep 3
    ! grep -q "libleak[^/]*\.so\|memfd:libleak" "/proc/$running/maps" || fail 'there is one'
    "$O/leakctl" detach "$running" >out 2>err && fail 'detached'
    says err "^leakctl: host \(pid $running\): nothing is attached: leakctl attach $running attaches\$"
    finish
}
test_detach_ends_recording_and_attach_goes_on() {
    need_ptrace
    begin nanosleep 25
    attach
    sleep 0.7
    detach
    says said.detach 'detached; .*; the library stays mapped, unused; leakreport '
    before=$("$O/leakreport" -q stores/*.leak | sed 's/.* unfreed=//')
    sleep 0.7
    equal 'what was recorded after the detach' "$("$O/leakreport" -q stores/*.leak | sed 's/.* unfreed=//')" "$before"
    "$O/leakctl" snapshot --dir=stores "$running" >out 2>err && fail 'a detached process answers'
    says err "^leakctl: host \(pid $running\): libleak is detached: leakctl attach $running; leakreport "
    "$O/leakreport" stores/*.leak >report
    says report 'libleak was detached: what the program did since then is unknown'
    attach
    sleep 0.7
    # What was lost before is told again, as from before this attach.
    "$O/leakctl" report --dir=stores "$running" >report
    says report '^[1-9]\. (1,234|2,468|3,702) bytes in [1-3] blocks? lost \(malloc\)'
    detach
    finish
}
test_handlers_and_slots_are_as_before_after_detach() {
    need_ptrace
    begin spin 12
    access_of_objects() { sed -n 's/^\([^ ]* ....\) .* \/.*\/\(host\|lib[cm]\.so\.6\|ld-linux[^ ]*\)$/\1 \2/p' "/proc/$running/maps"; }
    grep -E '^Sig(Cgt|Ign|Blk):' "/proc/$running/status" >before
    access_of_objects >access.before
    says access.before ' r--p host'
    attach
    access_of_objects >access.during
    cmp access.before access.during || fail "access: $(diff access.before access.during)"
    grep -E '^Sig(Cgt|Ign|Blk):' "/proc/$running/status" >during
    ! cmp -s before during || fail 'nothing is caught while attached'
    detach
    grep -E '^Sig(Cgt|Ign|Blk):' "/proc/$running/status" >after
    cmp before after || fail "signals: $(diff before after)"
    access_of_objects >access.after
    cmp access.before access.after || fail "access: $(diff access.before access.after)"
    kill -USR1 "$running"
    finish
}
test_the_nice_value_is_as_before() { # root's leakctl raises it while it has the thread
    need_ptrace
    begin spin 12
    renice -n 5 -p "$running" >/dev/null
    nice_of() { ps -L -o ni= -p "$running" | sort -u | tr -d ' '; }
    attach
    equal 'after attach' "$(nice_of)" 5
    detach
    equal 'after detach' "$(nice_of)" 5
    finish
}
test_blocked_calls_do_not_notice() {
    need_ptrace
    for how in nanosleep poll epoll read wait semop inotify writev futex; do
        begin $how 10
        attach
        sleep 0.15
        detach
        attach
        detach
        finish
        rm -r stores
    done
}
test_calls_by_number_do_not_notice_the_first_leak_check() { # the number is known from the attach alone
    need_ptrace
    for round in 1 2 3; do
        begin pwait2 6
        attach
        "$O/leakctl" snapshot --dir=stores "$running" >/dev/null || fail 'no leak check'
        finish
        rm -r stores
    done
}
test_busy_loops_do_not_notice() {
    need_ptrace
    for how in spin malloc; do
        begin $how 8
        attach
        detach
        attach
        finish
        rm -r stores
    done
}
test_process_in_another_mount_namespace_is_attached_to() {
    need_ptrace
    need unshare
    need_root
    printf "%s\n" "$host" | compile host -O1 -g -pthread
    unshare -m sh -c 'mount -t tmpfs none /dev/shm && mkdir -m 700 /dev/shm/x && exec ./host nanosleep 12' >said.host 2>&1 &
    running=$!
    until_says said.now '^(ready|.*(denied|permitted))' cat said.host
    grep -q ready said.host || skip "$(cat said.host)"
    "$O/leakctl" attach --dir=/dev/shm/x --for=1s -o report.txt "$running" >out 2>&1 || skip_or_fail "$(cat out)"
    says out "leakreport /proc/$running/[r]oot/dev/shm/x/host\.$running\.1\.leak"
    says report.txt '^ +lose +<stdin>:20'
    finish
}
test_attach_for_a_time_reports_and_detaches() {
    need_ptrace
    begin nanosleep 9
    "$O/leakctl" attach --dir="$PWD/stores" --for=1s -o report.html "$running" >out 2>&1 || skip_or_fail "$(cat out)"
    says out attached
    says out detached
    says report.html '<html'
    finish
}
test_leakrun_records_a_running_process_until_it_ends() {
    need_ptrace
    begin nanosleep 4
    leakrun --pid="$running" --dir="$PWD/stores" --top=1 >report 2>said.attach || skip_or_fail "$(cat said.attach)"
    says report "^host \(pid $running\) exited with 5"
    says report '^ +lose +<stdin>:20'
    equal 'heads of records' "$(grep -c '^[0-9]*\. ' report)" 1
    says said.attach 'recording until the process ends, or Ctrl-C'
    finish
}
test_interrupted_leakrun_reports_and_leaves_the_process_as_it_was() {
    need_ptrace
    begin nanosleep 12
    "$root/scripts/leakrun" --pid "$running" --dir="$PWD/stores" --format=json >report.json 2>said.attach &
    records=$!
    until_says said.now 'recording until|refuses|forbids' cat said.attach
    grep -q 'recording until' said.attach || skip_or_fail "$(cat said.attach)"
    sleep 0.8
    kill -INT $records
    wait $records || fail "$(cat said.attach)"
    /usr/bin/python3 - <<'END' || fail 'report.json is not the report alone, or it lost nothing'
import json
assert json.load(open("report.json"))["processes"][0]["summary"]["lost"]["blocks"]
END
    "$O/leakctl" snapshot --dir=stores "$running" >out 2>err && fail 'it is still attached'
    says err 'libleak is detached'
    finish
}
test_leakrun_with_a_pid_refuses_what_it_would_ignore() {
    for wrong in '--keep=x.leak' '--cwd=/' --gdb --when-lost --no-report '--error-exitcode=3'; do
        leakrun --pid=1 "$wrong" >out 2>err && fail "$wrong is taken"
        says err '^leakrun: --pid takes options of the report and of tracking only'
    done
    leakrun --pid=1 true >out 2>err && fail 'a program is taken'
    says err '^leakrun: --pid records a process that runs already, not true '
    "$O/leakctl" attach 1 --top=3 >out 2>err && fail 'an option of the report without a report is taken'
    says err '^leakctl: --top=3 is for a report: give --for=TIME'
    "$O/leakctl" attach --for=soon 1 >out 2>err && fail 'no time is taken'
    says err 'not a time'
}
test_each_refusal_to_attach_has_its_reason() {
    need_ptrace
    refuses() { # pid, regular expression
        status=0
        "$O/leakctl" attach "$1" >out 2>err || status=$?
        equal "status for $2" $status 1
        equal lines "$(cat out err | wc -l)" 1
        says err "^leakctl: .*: $2"
    }
    refuses 4194303 'no such process: '
    echo 'int main() { pause(); return 0; }' | compile static -static
    ./static & sleep 0.2; refuses $! 'a static program: '
    kill $!
    echo 'int main() { pause(); return 0; }' | compile sanitized -fsanitize=address &&
        { ./sanitized & sleep 0.3; refuses $! 'built with a sanitizer: '; kill $!; }
    echo 'void *malloc(unsigned long n) { static char a[1 << 20]; static unsigned long at; at += n + 15 & ~15ul; return a + at; }
void free(void *p) {} int main() { malloc(3); pause(); return 0; }' | compile own -fno-builtin -rdynamic
    ./own & sleep 0.2; refuses $! 'the program defines malloc itself: '
    kill $!
    sleep 20 & kill -STOP $!; sleep 0.1; refuses $! 'stopped: kill -CONT '
    kill -KILL $!
    mkdir -m 700 stores
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores sleep 20 & sleep 0.3
    refuses $! 'it runs under libleak already: leakctl report '
    "$O/leakctl" detach $! 2>err && fail 'detached from what was started with libleak'
    says err 'it was started with libleak: that cannot be undone: leakctl disable '
    kill $!
    sleep 20 & sleep 0.1
    "$O/leakctl" attach --options=depth=9:start_at=main $! 2>err && fail 'start_at is possible'
    says err 'the option start_at is not for attaching'
    kill $!
    status=0
    "$O/leakctl" attach host 2>err || status=$?
    equal 'status without a pid' $status 2
    says err '^leakctl: not a pid: host: '
}
test_fork_child_of_a_detached_process_gets_a_recording_of_its_own() {
    need_ptrace
    compile parent -O1 -g <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
static void *volatile sink;
static void lose(int times)
{
    struct timespec fifth = {0, 200000000};
    while (times-- > 0) {
        nanosleep(&fifth, NULL);
        sink = malloc(321);
        sink = NULL;
    }
}
int main(void)
{
    int status;
    lose(12);
    pid_t child = fork();
    if (child == 0) {
        lose(20);
        exit(4);
    }
    printf("%d\n", child);
    fflush(stdout);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) + 1;
}
END
    mkdir -m 700 stores
    ./parent >said.host & running=$!
    sleep 0.3
    attach
    sleep 0.7
    detach
    before=$("$O/leakreport" -q stores/parent.$running.1.leak)
    until_says said.now '^[0-9]' cat said.host
    first=$running running=$(cat said.host)
    attach
    sleep 0.7
    "$O/leakctl" report --dir=stores "$running" --format=json >report.json
    sleep 0.2
    detach
    equal 'the recording of the parent' "$("$O/leakreport" -q stores/parent.$first.1.leak)" "$before"
    status=0
    wait $first || status=$?
    equal 'its own end' $status 5
    /usr/bin/python3 - <<'END' || fail 'the recording of the child'
import json
records = json.load(open("report.json"))["processes"][0]["records"]
assert sum(record["blocks"] for record in records if record["kind"] != "before attach") in range(1, 8), records
END
}
test_thread_that_waits_for_its_vfork_child_is_waited_for() {
    need_ptrace
    compile waiter -O1 <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    pid_t child = vfork();
    if (child == 0) {
        struct timespec nap = {3, 0};
        syscall(SYS_nanosleep, &nap, NULL);
        _exit(3);
    }
    int status;
    printf("%d\n", waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    sleep(1);
    return 5;
}
END
    mkdir -m 700 stores
    ./waiter >said.host & running=$!
    sleep 0.5
    status=0
    "$O/leakctl" attach --timeout=300ms $running >out 2>err || status=$?
    equal status $status 1
    says err 'no thread came to a safe place within 0.3 s: waits in the kernel: try again'
    child=$(tr -d ' ' </proc/$running/task/$running/children)
    "$O/leakctl" attach "$child" >out 2>err && fail 'attached to the vfork child'
    says err 'a vfork child: it has the memory of its parent'
    "$O/leakctl" attach --dir=$PWD/stores --timeout=20s $running >out 2>err || skip_or_fail "$(cat err)"
    status=0
    wait $running || status=$?
    equal 'its own end' $status 5
    equal 'its child' "$(cat said.host)" 1
}
test_program_that_always_waits_for_vfork_children_is_refused_soon() {
    need_ptrace
    compile vforker -O1 <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 100; i++) {
        pid_t child = vfork();
        if (child == 0) {
            struct timespec nap = {0, 200000000};
            syscall(SYS_nanosleep, &nap, NULL);
            _exit(0);
        }
        if (waitpid(child, NULL, 0) != child) return 1;
    }
    return 0;
}
END
    mkdir -m 700 stores
    ./vforker & running=$!
    sleep 0.3
    begun=$(date +%s)
    "$O/leakctl" attach --dir=stores $running >out 2>err && fail 'attached'
    ended=$(date +%s)
    kill -0 $running || fail 'it has ended'
    kill $running
    says err 'its only thread waits for one vfork child after the other'
    [ $((ended - begun)) -le 6 ] || fail "after $((ended - begun)) s"
}
test_dead_leakctl_leaves_the_program_running() {
    need_ptrace
    begin nanosleep 30
    i=0
    while [ $i -lt 8 ]; do
        i=$((i + 1))
        "$O/leakctl" attach --dir="$PWD/stores" "$running" >/dev/null 2>&1 & tool=$!
        sleep 0.0$i
        kill -KILL $tool 2>/dev/null || true
        wait $tool 2>/dev/null || true
    done
    finish
}

# Blocks from before the attach: 7 objects, 3 texts and a block with a mapping of its own are lost; a list,
# a map and 100 blocks that are freed one by one are held. Afterwards a block is lost and the list grows.
older='#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unistd.h>
struct Shape { virtual ~Shape() {} int points[10]; };
struct Circle : Shape { double radius = 1; };
struct Node { Node *next; char text[40]; };
static void *volatile sink;
static Node *list;
static std::map<int, std::string> held;
__attribute__((noinline)) static void lose_older()
{
    for (int i = 0; i < 7; i++)
        sink = new Circle;
    for (int i = 0; i < 3; i++)
        strcpy((char *)(sink = malloc(200)), "an old text that is lost");
    sink = malloc(300000);
    sink = nullptr;
}
__attribute__((noinline)) static void lose_newer() { sink = malloc(777); sink = nullptr; }
__attribute__((noinline)) static void grow()
{
    for (int i = 0; i < 50; i++) {
        Node *node = (Node *)malloc(sizeof *node);
        node->next = list;
        list = node;
    }
}
__attribute__((noinline)) static void wipe() { volatile char room[16384]; for (volatile char &c : room) c = 0; }
int main()
{
    static void *old[100];
    lose_older();
    for (int i = 0; i < 1000; i++)
        held[i] = std::string(50, 120);
    for (int i = 0; i < 100; i++)
        old[i] = malloc(500);
    grow();
    wipe();
    puts("ready");
    fflush(stdout);
    for (int i = 0;; i++) {
        usleep(100000);
        if (i < 100)
            free(old[i]);
        if (i == 3)
            lose_newer();
        grow();
    }
}'
begin_older() { # runs as $running, with libleak attached
    need g++
    printf "%s\n" "$older" >older.cc
    g++ -O1 -g -o older older.cc || skip 'no C++ compiler'
    mkdir -p -m 700 stores
    ./older >said.host 2>&1 &
    running=$!
    until_says said.now '^ready' cat said.host
    attach
    sleep 1
}
end_older() {
    kill "$running"
    wait "$running" 2>/dev/null || :
}
test_blocks_lost_before_an_attach_are_told_by_size_and_type() {
    need_ptrace
    begin_older
    "$O/leakctl" report --dir=stores "$running" --format=json >report.json
    "$O/leakctl" report --dir=stores "$running" >report
    end_older
    says report '^[1-9]\. 600 bytes in 3 blocks lost \(before attach\)'
    says report '^ +7 × Circle'
    says report '^ +\[before the attach: 200 bytes\]'
    says report '^ +lose_newer +'
    says report '^Blocks allocated before libleak was loaded: [0-9,]+ in use'
    /usr/bin/python3 - <<'END' || fail 'verdicts of older blocks'
import json
process = json.load(open("report.json"))["processes"][0]
records = process["records"]
def lost(kind):
    found = [r for r in records if r["verdict"] == "lost" and (r["kind"] == "before attach") == kind]
    return sorted((r["blocks"], r["bytes"] // r["blocks"]) for r in found)
older = lost(True)
assert [blocks for blocks, size in older] == [1, 3, 7], older
assert older[0][1] >= 300000 and older[1][1] == 200 and older[2][1] in range(56, 72), older
assert lost(False) == [(1, 777)], lost(False)
circle = [r for r in records if r["kind"] == "before attach" and (r.get("type") or {}).get("name") == "Circle"]
assert sum(r["blocks"] for r in circle) == 7, circle
coverage = process["coverage"]
assert coverage["older_blocks"] > 1000 and coverage["unknown_frees"] in range(3, 100), coverage
assert process["allocations"] < 20000 if "allocations" in process else True
END
    "$O/leakreport" --only='kind:before attach' stores/*.leak >only || fail "$(cat only)"
    says only 'Circle'
    ! grep -q lose_newer only || fail 'a newer one is among them'
}
test_a_growing_list_is_named_soon_after_an_attach() {
    need_ptrace
    begin_older
    i=0
    while [ $((i += 1)) -lt 15 ]; do # half a minute
        sleep 2
        "$O/leakctl" report --dir=stores "$running" --growing >report
        ! grep -q '^[1-9]\. growing' report || break
    done
    end_older
    says report '^[1-9]\. growing '
    says report '^ +grow +/?.*older\.cc:'
    ! grep -q 'before.*attach.*growing' report || fail 'an older one grows'
}
test_blocks_from_before_an_attach_are_told_apart_in_every_format() {
    need_ptrace
    begin_older
    "$O/leakctl" snapshot --dir=stores "$running" >/dev/null
    end_older
    for format in text short full json ndjson html xml valgrind lsan junit github markdown sarif folded memreport; do
        "$O/leakreport" --format=$format stores/*.leak >"report.$format" 2>said.$format || :
        grep -q 'before.\(the.\)\?attach' "report.$format" || fail "$format: $(head -c 300 "report.$format" said.$format)"
    done
    "$O/leakreport" --format=pprof stores/*.leak | { gzip -dc 2>/dev/null || cat; } >report.pprof
    grep -qa 'before attach' report.pprof || fail pprof
}
test_a_thread_that_a_leak_check_stopped_in_a_call_is_detached_from() {
    need_ptrace
    for how in poll epoll futex semop; do
        begin $how 6
        attach
        "$O/leakctl" snapshot --dir=stores "$running" >/dev/null || fail "no leak check: $how"
        detach
        attach
        "$O/leakctl" snapshot --dir=stores "$running" >/dev/null || fail "no second leak check: $how"
        detach
        finish
        rm -r stores
    done
}
# The process lives in its handler: what that has interrupted decides.
begin_in_a_handler() { # what it interrupts
    [ -x handler ] || compile handler -O1 -g <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t stay;
static void *volatile sink;
static void on_signal(int number)
{
    (void)number;
    if (!stay)
        return;
    if (write(1, "ready\n", 6) != 6)
        _exit(1);
    sleep(3);
    _exit(7);
}
int main(int count, char **words)
{
    struct itimerval soon = {{0, 300}, {0, 300}};
    signal(SIGALRM, on_signal);
    signal(SIGUSR1, on_signal);
    if (count > 1 && strcmp(words[1], "malloc") == 0) {
        stay = 1;
        setitimer(ITIMER_REAL, &soon, NULL);
        for (;;) { /* almost always in one of these two */
            sink = malloc(200000);
            memset(sink, 1, 100);
            free(sink);
        }
    }
    stay = 1;
    if (fork() == 0) {
        usleep(100000);
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    struct timeval long_time = {100, 0};
    select(0, NULL, NULL, NULL, &long_time);
    return 1;
}
END
    mkdir -p -m 700 stores
    ./handler "$1" >said.host 2>&1 &
    running=$!
    until_says said.now '^ready' cat said.host
}
test_a_process_that_lives_in_a_signal_handler_is_attached_to() {
    need_ptrace
    begin_in_a_handler select
    attach
    detach
    status=0
    wait "$running" || status=$?
    equal 'its own end' $status 7
}

# ---- Containers, and what they leave out

in_namespaces() { # options of unshare, command: skips where this kernel lets nobody but root make them
    options=$1
    shift
    unshare $options true 2>/dev/null || skip "unshare $options is refused here"
    unshare $options "$@"
}
begin_in_namespaces() { # options of unshare: runs as $running, a child of $outer
    printf "%s\n" "$host" | compile host -O1 -g -pthread
    mkdir -p -m 700 stores
    in_namespaces "$1" true
    unshare $1 ./host nanosleep 12 >said.host 2>&1 &
    outer=$!
    until_says said.now '^ready' cat said.host
    running=$outer
    while child=$(cat "/proc/$running/task/$running/children") && [ -n "${child% }" ]; do running=${child% }; done
}
finish_outer() {
    running=$outer
    finish
}
refused() { # regular expression, command: one line, status 1
    expected=$1
    shift
    status=0
    "$@" >out 2>err || status=$?
    equal "status of $*" $status 1
    equal 'lines' "$(cat out err | wc -l)" 1
    says err "^leakctl: .*: $expected"
}
as_user= # begins a command of a user without any right of root
[ "$(id -u)" != 0 ] || as_user='setpriv --reuid=65534 --regid=65534 --clear-groups'
test_container_is_attached_to_from_outside() {
    need_ptrace
    need unshare
    for options in -Ur -Urm -Urpf '-Urpmf --mount-proc'; do
        begin_in_namespaces "$options"
        "$O/leakctl" attach --dir="$PWD/stores" --for=1s -o report.txt "$running" >out 2>&1 || skip_or_fail "$options: $(cat out)"
        says report.txt '^ +lose +<stdin>:20'
        says out detached
        finish_outer
        rm -r stores
    done
}
test_container_is_attached_to_from_inside() {
    need_ptrace
    need unshare
    printf "%s\n" "$host" | compile host -O1 -g -pthread
    mkdir -m 700 stores
    in_namespaces '-Urpmf --mount-proc' sh -c './host nanosleep 12 >said.host & sleep 0.3
        "$0"/leakctl attach --dir="$PWD/stores" --for=1s -o report.txt $! && wait $!' "$O" >out 2>&1 || status=$?
    says out detached
    equal 'its own end' "$status" 5
    says report.txt '^ +lose +<stdin>:20'
    equal 'what it said' "$(cat said.host)" "ready
end 1 0 1"
}
test_what_a_container_cannot_reach_is_refused_with_one_reason() {
    need_ptrace
    need unshare
    begin nanosleep 8
    in_namespaces -Ur true
    refused 'it is in another user namespace: run leakctl outside of the container' unshare -Ur "$O/leakctl" attach $running
    refused 'it is in another user namespace: run leakctl outside of the container' unshare -Ur "$O/leakctl" scan $running
    for verb in attach scan; do
        refused '/proc shows another pid namespace: mount -t proc proc /proc' unshare -Urpf "$O/leakctl" $verb 1
        refused '/proc is not mounted' unshare -Urm sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$O/leakctl" $verb $running
    done
    finish
}
test_root_without_proc_is_attached_to() {
    need_ptrace
    need unshare
    need ldd
    printf "%s\n" "$host" | compile host -O1 -g -pthread
    mkdir -p root/tmp
    for file in "$PWD/host" $(ldd host | grep -o '/[^ ]*'); do
        mkdir -p "root$(dirname "$file")"
        cp -L "$file" "root$file"
    done
    in_namespaces -Ur chroot root "$PWD/host" nanosleep 1 >said.host 2>&1 || [ $? = 5 ] || skip "no chroot: $(cat said.host)"
    for i in 1 2; do
        rm said.host
        unshare -Ur chroot root "$PWD/host" nanosleep 15 >said.host 2>&1 &
        running=$!
        until_says said.now '^ready' cat said.host
        "$O/leakctl" attach --dir=/tmp "$running" >out 2>&1 || skip_or_fail "$(cat out)"
        sleep 0.5
        "$O/leakctl" report "$running" >report || :
        says report 'no leak check was made: /proc/self/maps cannot be read'
        detach
        finish
    done
    says report ' bytes in [1-9] blocks? '
}
test_report_of_a_container_reads_the_files_of_the_container() {
    need_ptrace
    need unshare
    need ldd
    printf "%s\n" "$host" | compile host -O1 -g -pthread
    mkdir -p root/tmp root/proc root/only-there
    for file in $(ldd host | grep -o '/[^ ]*'); do
        mkdir -p "root$(dirname "$file")"
        cp -L "$file" "root$file"
    done
    cp host root/only-there
    in_namespaces -Urmpf sh -c 'mount -t proc proc root/proc' >out 2>&1 || skip "no /proc: $(cat out)"
    unshare -Urmpf sh -c 'mount -t proc proc root/proc && exec chroot root /only-there/host nanosleep 15' >said.host 2>&1 &
    outer=$!
    until_says said.now '^ready' cat said.host
    running=$(tr -d ' ' <"/proc/$outer/task/$outer/children")
    attach --dir=/tmp
    sleep 0.9
    "$O/leakctl" report "$running" >report
    says report '^ +lose +<stdin>:20'
    "$O/leakreport" "/proc/$running/root"/tmp/*.leak >report # its files are not those of this root
    silent_about report '^ +lose '
    detach
    finish_outer
}
test_tracer_is_told_by_its_name() {
    need_ptrace
    need strace
    begin nanosleep 10
    strace -qq -o strace.out -p "$running" &
    tracer=$!
    until grep -q "TracerPid:.$tracer" "/proc/$running/status"; do sleep 0.05; done
    refused "strace \(pid $tracer\) traces it: end that debugger first" "$O/leakctl" attach "$running"
    kill "$tracer"
    wait "$tracer" 2>/dev/null || :
    attach
    finish
}
test_no_directory_for_a_recording_is_said() {
    need_ptrace
    begin nanosleep 5
    status=0
    "$O/leakctl" attach --dir=/proc --for=30s "$running" >out 2>&1 || status=$?
    says out 'its recording is in memory only: no directory for a file can be written there: --dir=DIRECTORY names one$'
    says out detached
    equal 'status' $status 1
    finish
}
test_request_to_a_recording_in_memory_is_refused_as_such() {
    need_ptrace
    begin nanosleep 5
    refused 'it does not use libleak' "$O/leakctl" report "$running"
    "$O/leakctl" attach --dir=/proc "$running" >out 2>&1 || :
    refused 'its recording is in memory only, .*: start it, or attach again, with a dir= that can be written' \
        "$O/leakctl" report "$running"
    detach
    finish
}
begin_filtered() { # action, number of the call
    [ -x host ] || printf "%s\n" "$host" | compile host -O1 -g -pthread
    compile_filter
    mkdir -p -m 700 stores
    rm -f said.host
    ./filter "$1" "$2" ./host nanosleep 20 >said.host 2>&1 &
    outer=$! running=$!
    until_says said.now '^ready' cat said.host
    [ -n "${OWN:-}" ] || running=$(tr -d ' ' <"/proc/$outer/task/$outer/children")
}
test_filter_of_a_container_lets_libleak_in_unless_it_kills() {
    need_ptrace
    kill_process=0x80000000 memfd_create=319 ppoll=271 sysinfo=99
    for answer in $kill_process 0x00050001; do # the same for a call that nobody makes: it kills, it fails
        begin_filtered $answer $sysinfo
        attach
        sleep 0.9
        "$O/leakctl" report --dir=stores "$running" >report
        says report '^ +lose +<stdin>:20'
        detach
        finish_outer
        rm -r stores
    done
    for call in $memfd_create $ppoll; do
        begin_filtered $kill_process $call
        refused 'its seccomp filter kills for calls that leakctl makes: nothing has changed' "$O/leakctl" attach "$running"
        finish_outer
    done
    begin_filtered 0x00050001 $memfd_create
    refused 'it cannot make the system call memfd_create: Operation not permitted' "$O/leakctl" attach "$running"
    finish_outer
    OWN=1
    export OWN
    begin_filtered $kill_process $sysinfo
    refused 'a seccomp filter restricts it: ' "$O/leakctl" attach "$running"
    finish_outer
}
test_user_without_rights_is_refused_with_one_reason() {
    need_ptrace
    need setpriv
    printf "%s\n" "$host" | compile host -O1 -g -pthread
    compile quiet <<'END'
#include <sys/prctl.h>
#include <unistd.h>
int main(void) { prctl(PR_SET_DUMPABLE, 0); return pause(); }
END
    copy_for_all_users "$O/leakctl" host quiet "$O/libleak.so"
    for verb in attach scan; do
        refused 'it belongs to another user: run leakctl as that user, or as root$' $as_user "$place/tool" $verb 1
    done
    cd "$place"
    $as_user "$place/quiet" & running=$!
    sleep 0.3
    for verb in attach scan; do
        (cd "$OLDPWD" && refused 'it forbids ptrace \(PR_SET_DUMPABLE\): run leakctl as root$' $as_user "$place/tool" $verb $running) || { kill $running; exit 1; }
    done
    kill $running
    cd "$OLDPWD"
    $as_user setpriv --no-new-privs "$place/host" nanosleep 6 >said.host & running=$!
    until_says said.now '^ready' cat said.host
    mkdir -m 777 "$place/stores"
    $as_user setpriv --no-new-privs "$place/tool" attach --dir="$place/stores" $running >out 2>&1 || skip_or_fail "$(cat out)"
    finish
    need_root
    need capsh
    begin nanosleep 4
    refused 'this root lacks CAP_SYS_PTRACE: run leakctl outside' capsh --drop=cap_sys_ptrace -- -c "$O/leakctl attach $running"
    finish
}
