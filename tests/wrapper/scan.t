# leakctl scan and leakreport core: processes that run without libleak, and their cores.

# What is known of this program: 3 lost texts, a lost node with another one below it, a cycle of two, one
# block that only an inside pointer holds, one hidden by its complement, what is reachable by a global, a
# thread's stack, thread-local storage and a register-like local, freed blocks in all caches of malloc, two
# mapped blocks, and two threads with arenas of their own, each of which lost a block of its own size.
known='#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct node { struct node *next; char text[40]; };
static void *keep, *inside, *mapped, *aligned;
static __thread void *own;
static unsigned long hidden;
static pthread_barrier_t ready;
static void *volatile sink;
__attribute__((noinline)) static void wipe(void)
{
    volatile char room[16384];
    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = 0;
}
__attribute__((noinline)) static struct node *node(void)
{
    struct node *made = malloc(sizeof *made);
    memset(made, 0, sizeof *made);
    return sink = made;
}
__attribute__((noinline)) static void lose(void)
{
    void *batch[50];
    struct node *one = node(), *other;
    one->next = node();
    one = node();
    other = one->next = node();
    other->next = one;
    for (int i = 0; i < 3; i++)
        strcpy(sink = malloc(200), "a lost text of a certain length");
    memset(sink = malloc(140000), 7, 140000); /* in 4 GiB some number looks like a pointer into a larger one */
    for (int size = 24; size < 3000; size = size * 3 / 2) { /* tcache, fast bins, bins */
        for (int i = 0; i < 50; i++)
            batch[i] = malloc(size);
        for (int i = 0; i < 50; i += 1 + (size > 500))
            free(batch[i]);
        for (int i = 1; i < 50 && size > 500; i += 2)
            free(batch[i]);
    }
    sink = NULL;
    memset(batch, 0, sizeof batch);
}
static void *run(void *size)
{
    void *mine;
    own = malloc(333);
    memset(sink = malloc((size_t)size), 1, (size_t)size);
    mine = malloc(444);
    sink = NULL;
    wipe();
    pthread_barrier_wait(&ready);
    pause();
    return mine;
}
int main(void)
{
    pthread_t one, other;
    lose();
    wipe();
    keep = node();
    inside = (char *)malloc(700) + 12;
    hidden = ~(unsigned long)malloc(800);
    mapped = malloc(3000000);
    aligned = memalign(1 << 21, 1 << 21);
    pthread_barrier_init(&ready, NULL, 3);
    pthread_create(&one, NULL, run, (void *)5000);
    pthread_create(&other, NULL, run, (void *)6000);
    pthread_barrier_wait(&ready);
    sink = NULL;
    wipe();
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}'
start_known() { # flags...; its words; $running
    printf "%s\n" "$known" | compile known -O0 -g -pthread "$@"
    ./known >said.known &
    running=$!
    until [ -s said.known ]; do sleep 0.05; done
}
end_known() { # stops it; the shell says nothing
    kill "$running"
    wait "$running" 2>/dev/null || :
}
dump_known() { # the kernel's core of another run; $found
    (
        # shellcheck disable=SC3045
        ulimit -c unlimited
        exec ./known >said.second
    ) &
    running=$!
    until [ -s said.second ]; do sleep 0.05; done
    kill -ABRT "$running"
    wait "$running" 2>/dev/null || :
    found=
    for core in core core."$running"; do
        [ ! -s "$core" ] || found=$core
    done
    [ "$found" ] || skip 'no core was written'
}
known_verdicts() { # file [indirect bytes, bytes of 3 texts, of each]: the report has exactly what the program is known to have
    says "$1" "^[0-9. ,MkB]+ in 8 blocks lost \(5 records\), plus ${2:-112} bytes indirectly lost"
    says "$1" 'in 1 block possibly lost'
    says "$1" 'in 1 block held by a hidden pointer'
    says "$1" "${3:-600} bytes in 3 blocks of ${4:-200} bytes lost"
    says "$1" 'a lost text of a certain length'
    says "$1" 'reference cycle'
    says "$1" '3 arenas, 3 caches of a thread, 3 mapped chunks'
}

test_a_running_process_is_scanned_without_libleak() {
    start_known
    "$O/leakctl" scan "$running" >report
    known_verdicts report
    says report 'Stopped for [0-9.]+ ms \(2 looks'
    "$O/leakctl" scan --pause=whole "$running" >whole
    known_verdicts whole
    says whole 'Stopped for [0-9.]+ ms \(1 look,'
    equal summary "$(tail -n 1 report)" "$(tail -n 1 whole)"
    kill -0 "$running" || fail 'it has ended'
    equal 'still traced by' "$(sed -n 's/TracerPid:\t//p' "/proc/$running/status")" 0
    end_known
}
test_a_core_file_has_the_verdicts_of_the_process() {
    need gcore
    start_known
    "$O/leakctl" scan "$running" >report
    gcore -o core "$running" >gcore.said 2>&1 || skip 'gcore cannot'
    end_known
    "$O/leakreport" core "core.$running" >core.report
    known_verdicts core.report
    equal summary "$(tail -n 1 core.report)" "$(tail -n 1 report)"
    "$O/leakreport" core "core.$running" ./known --format=json >core.json
    valid core.json scan
}
flags_32="-m32 -idirafter /usr/include/$(uname -m)-linux-gnu"
need_32_bits() { # a compiler, and a machine that runs both kinds of programs
    # shellcheck disable=SC2086 # a list of flags
    if ! echo 'int main(void) { return 0; }' | compile empty.32 $flags_32 2>/dev/null || ! ./empty.32; then
        skip 'no 32-bit programs here'
    fi
}
test_a_32_bit_process_and_its_core_have_these_verdicts_too() {
    need_32_bits
    need gcore
    # shellcheck disable=SC2086
    start_known $flags_32
    "$O/leakctl" scan "$running" >report
    known_verdicts report 88 612 204
    silent_about report 'damaged'
    "$O/leakctl" scan --pause=whole "$running" >whole
    equal summary "$(tail -n 1 report)" "$(tail -n 1 whole)"
    gcore -o core "$running" >gcore.said 2>&1 || skip 'gcore cannot'
    end_known
    "$O/leakreport" core "core.$running" >core.report
    known_verdicts core.report 88 612 204
    equal summary "$(tail -n 1 core.report)" "$(tail -n 1 report)"
}
test_a_core_of_the_kernel_is_read() {
    [ "$(cat /proc/sys/kernel/core_pattern)" = core ] || skip 'cores go elsewhere'
    start_known
    "$O/leakctl" scan "$running" >report
    end_known
    dump_known
    "$O/leakreport" core "$found" >core.report
    known_verdicts core.report
    equal summary "$(tail -n 1 core.report | sed 's/pid=[0-9]*//; s/reachable=[0-9]*//')" \
        "$(tail -n 1 report | sed 's/pid=[0-9]*//; s/reachable=[0-9]*//')" # of the aligned block more or less
}
test_a_core_of_the_kernel_of_a_32_bit_program_is_read() {
    [ "$(cat /proc/sys/kernel/core_pattern)" = core ] || skip 'cores go elsewhere'
    need_32_bits
    # shellcheck disable=SC2086
    printf "%s\n" "$known" | compile known -O0 -g -pthread $flags_32
    dump_known
    "$O/leakreport" core "$found" >core.report
    known_verdicts core.report 88 612 204
    silent_about core.report 'damaged'
}
test_a_truncated_core_is_read_as_far_as_it_goes() {
    need gcore
    start_known
    gcore -o core "$running" >gcore.said 2>&1 || skip 'gcore cannot'
    end_known
    size=$(stat -c %s "core.$running")
    for part in 0 10 63 64 500 3000 $((size / 4)) $((size / 2)) $((size - 100000)); do
        head -c "$part" "core.$running" >cut.core
        status=0
        "$O/leakreport" core cut.core >report 2>error || status=$?
        case $status in
        0)
            says report 'Warning: the core file is truncated.* none is called lost but possibly lost'
            says report ' lost=0/0/0 indirect=0/0/0 possible=[1-9]'
            ;;
        2) equal lines "$(wc -l <error)" 1 ;;
        *) fail "status $status with $part bytes" ;;
        esac
    done
}
test_other_allocators_are_named_and_not_guessed() {
    library=$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null) || skip 'no jemalloc here'
    LD_PRELOAD=$library sleep 60 &
    running=$!
    sleep 0.3
    equal status "$("$O/leakctl" scan "$running" >report 2>error || echo $?)" 1
    says error "^leakctl: $running: its allocator is jemalloc \(/.*\): only the heap of glibc's malloc can be read$"
    equal report "$(cat report)" ''
    end_known
}
test_what_cannot_be_scanned_is_said_in_one_line() {
    equal status "$("$O/leakctl" scan 999999999 2>error || echo $?)" 1
    says error '^leakctl: 999999999: no such process$'
    equal status "$("$O/leakctl" scan no-such-program-here 2>error || echo $?)" 1
    says error '^leakctl: no-such-program-here: no such process$'
    equal status "$("$O/leakctl" scan --pause=maybe 1 2>error || echo $?)" 2
    equal status "$("$O/leakreport" core 2>error || echo $?)" 2
    equal status "$("$O/leakreport" core /nowhere 2>error || echo $?)" 2
    says error '^leakreport: /nowhere: No such file or directory$'
    equal status "$("$O/leakreport" core /etc/passwd 2>error || echo $?)" 2
    says error '^leakreport: /etc/passwd: not a core file$'
    equal status "$("$O/leakreport" core "$O/leakctl" 2>error || echo $?)" 2
    says error 'an ELF file, but not a core file$'
    "$O/leakreport" core --help | grep -q '^usage: leakreport core CORE' || fail 'no help'
}
test_a_process_that_is_traced_already_is_said() {
    need strace
    start_known
    strace -f -qq -o /dev/null -p "$running" &
    tracer=$!
    until grep -q "TracerPid:.$tracer" "/proc/$running/status"; do sleep 0.05; done
    equal status "$("$O/leakctl" scan "$running" 2>error || echo $?)" 1
    says error "^leakctl: $running: a debugger \(pid $tracer\) is attached: detach it first$"
    kill "$tracer"
    wait "$tracer" 2>/dev/null || :
    end_known
}
test_classes_are_named_by_their_virtual_tables() {
    need g++
    cat >shapes.cc <<'END'
#include <cstdio>
#include <unistd.h>
struct Shape { virtual ~Shape() {} int corners = 3; };
namespace plane { template <class T> struct Circle : Shape { T radius = 1; }; }
struct Named { virtual ~Named() {} char name[24]; };
struct Both : Shape, Named {};
Named *second;
static void *volatile sink;
__attribute__((noinline)) static void lose() {
    for (int i = 0; i < 4; i++)
        sink = new plane::Circle<double>;
    sink = nullptr;
}
__attribute__((noinline)) static void wipe() {
    volatile char room[16384];
    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = 0;
}
int main() {
    lose();
    wipe();
    second = new Both;
    puts("ready");
    fflush(stdout);
    pause();
}
END
    g++ -O0 -rdynamic -o shapes shapes.cc
    ./shapes >said.shapes &
    running=$!
    until [ -s said.shapes ]; do sleep 0.05; done
    "$O/leakctl" scan shapes >report
    end_known
    says report 'in 4 blocks lost \(1 record\)$'
    says report '^     class plane::Circle<double>$'
    silent_about report 'possibly lost'
}
waiting_sees_nothing() { # flags of the compiler
    cat >waits.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0), count;
    epoll_ctl(set, EPOLL_CTL_ADD, 0, &event);
    puts("ready");
    fflush(stdout);
    count = epoll_wait(set, &event, 1, -1);
    printf("%d %d\n", count, count < 0 ? errno : 0);
    return 0;
}
END
    compile waits "$@" <waits.c
    rm -f input
    mkfifo input
    ./waits <input >said.waits &
    running=$!
    exec 3>input
    until [ -s said.waits ]; do sleep 0.05; done
    sleep 0.2
    for _ in 1 2 3 4 5; do
        "$O/leakctl" scan "$running" >report
    done
    echo >&3
    wait "$running"
    exec 3>&-
    equal 'what epoll_wait returned' "$(tail -n 1 said.waits)" '1 0'
}
test_a_waiting_process_sees_no_interrupted_call() {
    waiting_sees_nothing
}
test_a_waiting_32_bit_process_sees_no_interrupted_call() {
    need_32_bits
    # shellcheck disable=SC2086
    waiting_sees_nothing $flags_32
}
test_a_process_that_allocates_all_the_time_loses_nothing() {
    cat >busy.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct node { struct node *next; };
static pthread_mutex_t lock[64];
static struct node *list[64];
static void *run(void *seed)
{
    for (unsigned s = (unsigned)(long)seed;;) {
        unsigned i = (s = s * 1103515245 + 12345) >> 8 & 63;
        struct node *old = NULL, *made = malloc(sizeof *made + (s >> 16) % 900);
        pthread_mutex_lock(&lock[i]);
        if (s & 1 << 20) {
            old = list[i];
            list[i] = NULL;
        }
        made->next = list[i];
        list[i] = made;
        pthread_mutex_unlock(&lock[i]);
        for (struct node *next; old; old = next) {
            next = old->next;
            free(old);
        }
    }
}
int main(void)
{
    pthread_t thread;
    for (long i = 1; i <= 3; i++)
        pthread_create(&thread, NULL, run, (void *)i);
    sleep(1);
    puts("ready");
    fflush(stdout);
    sleep(100);
    return 0;
}
END
    gcc -O1 -pthread -o busy busy.c
    ./busy >said.busy &
    running=$!
    until [ -s said.busy ]; do sleep 0.05; done
    for pause in short whole short whole short; do
        "$O/leakctl" scan --pause=$pause "$running" >report
        says report ' lost=0/0/0 indirect=0/0/0 '
    done
    end_known
}
