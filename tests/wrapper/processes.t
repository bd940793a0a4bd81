# The text report of several processes: what was asked for comes first, then what lost something.

programs() { # leaf [BYTES]: loses them; shim: a script that executes others before it executes leaf
    compile leaf -g <<'END'
void *volatile sink;
__attribute__((noinline)) void forget(int n) { sink = malloc(n); sink = 0; }
int main(int argc, char **argv)
{
    free(malloc(1));
    if (argc > 1) forget(atoi(argv[1]));
    if (argc > 2) { free(sink = malloc(7)); free(sink); }
    return 0;
}
END
    # shellcheck disable=SC2016
    printf '#!/usr/bin/env bash\nexec bash -c '\''exec env X=1 "$@"'\'' shim "%s/leaf" "$@"\n' "$PWD" >shim
    chmod +x shim
}
report() { leakrun --color=never "$@" 2>out; }
lines() { # of the report that end its first process
    grep -n -m1 '^libleak: pid=' out | cut -d: -f1
}

test_what_was_asked_for_comes_first_behind_wrappers() {
    need bash env
    programs
    report ./shim
    says out '^leaf \(pid [0-9]+\) exited with 0:$'
    equal 'first' "$(sed -n '1s/ .*//p' out)" leaf
    equal 'result' "$(sed -n 2p out)" 'no leaks (1 allocation)'
    says out '^Before exec: env, bash \([3-9] programs, at most [0-9,]+ bytes unfreed; -v lists them\)\.$'
    [ "$(wc -l <out)" -le 10 ] || fail "long: $(cat out)"
    report ./shim 48
    equal 'first' "$(sed -n '1s/ .*//p' out)" leaf
    says out '^1\. 48 bytes in 1 block lost'
    says out '^     forget '
    silent_about out ' bytes in [0-9]+ blocks? unfreed \(malloc\)'
    # What they held is there for who asks.
    for option in -v --show=lost,unfreed; do
        report $option ./shim 48
        equal "first with $option" "$(grep -m1 -E '^[a-z]+ .*\(pid' out | sed 's/ .*//')" leaf
        says out ' bytes in [0-9]+ blocks? unfreed \(malloc\)'
    done
}
test_headline_says_what_other_processes_lost() {
    need bash
    programs
    headline() { leakrun -o out --force "$@" && sed -n '2,3p' out; }
    summaries() { grep -c "^libleak: pid=$(sed -n 's/^libleak: pid=\([0-9]*\) .*/\1/p' out | head -1) .*$1" out || :; }
    says_so() { printf '%s\n' "$words" >words && says words "$1"; }
    words=$(headline bash -c './leaf 48; true')
    says_so '^no leaks \([0-9,]+ allocations\), but 48 bytes lost in leaf \(pid [0-9]+\)$'
    equal 'the sum is marked' "$(summaries 'resources=0 processes=2$')" 1
    equal 'one process is not' "$(summaries 'resources=0$')" 1
    equal 'the summary alone' "$(leakrun -q bash -c './leaf 48; true' 2>&1 | grep -c 'lost=48/1/1 .* processes=2$')" 1
    words=$(headline bash -c './leaf 48; ./leaf 2; true')
    says_so ', but 50 bytes lost in 2 other processes$'
    words=$(headline bash -c './leaf 0; ./leaf 0; true')
    says_so ', but 2 empty blocks lost in 2 other processes$'
    words=$(headline bash -c './leaf 0; ./leaf 3; true')
    says_so ', but 3 bytes lost in 2 other processes$'
    words=$(headline bash -c './leaf; true')
    says_so '^no leaks \([0-9,]+ allocations\)$'
    words=$(headline ./leaf 48)
    says_so '^48 bytes in 1 block lost \(1 record\)$'
    equal 'one process alone' "$(grep -c 'processes=' out)" 0
    words=$(headline bash -c 'exec ./leaf 48')
    equal 'a process that called exec is one' "$(grep -c 'processes=' out)" 0
}
test_what_was_asked_for_comes_first_in_every_format() {
    need bash env jq
    programs
    leakrun --keep=k.leak --no-report ./shim 48
    "$O/leakreport" --format=json -o json k.leak k.*.leak
    equal 'first' "$(jq -r '.processes[0].exe' json | sed 's|.*/||')" leaf
    [ "$(jq '.processes | length' json)" -ge 4 ] || fail "processes are missing: $(jq -c '[.processes[].exe]' json)"
    # In whatever order the files are given.
    # shellcheck disable=SC2046
    "$O/leakreport" --format=json -o backwards $(ls k.leak k.*.leak | sort -r)
    equal 'first' "$(jq -r '.processes[0].exe' backwards | sed 's|.*/||')" leaf
    for format in lsan valgrind markdown junit short github; do
        "$O/leakreport" --format=$format k.leak k.*.leak >out
        says out 'forget|48'
        silent_about out ' bytes .*unfreed'
    done
}
test_equal_children_are_a_line_and_those_that_lose_something_a_report() {
    need sed
    programs
    report sh -c 'for i in 1 2 3 4 5; do echo x | sed p >sed.out; done; ./leaf; ./leaf 48; :'
    equal 'first' "$(sed -n '1s/ .*//p' out)" sh
    equal 'its result' "$(sed -n '2s/ (.*//p' out)" 'no leaks'
    # The leak is on the first screen.
    head -n 12 out >first
    says first '^1\. 48 bytes in 1 block lost'
    says out '^Other processes:$'
    says out '^  sed \(5 processes\): no leaks\.$'
    says out '^  leaf \(pid [0-9]+\): no leaks\.$'
    equal 'processes in full' "$(grep -cE '^[a-z]+ .*\(pid [0-9]+\) exited' out)" 2
    # A wrong free comes before any leak.
    report sh -c './leaf 48; ./leaf 4 twice; :'
    sed -n '/^leaf/p' out >order
    says order '^leaf 4 twice .* exited|^leaf 4 twice .* killed'
    equal 'the worst first' "$(sed -n 1p order | cut -d' ' -f1-3)" 'leaf 4 twice'
}
test_of_many_that_lose_something_the_worst_are_listed() {
    programs
    many='for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ./leaf ${i}00; done; :'
    report sh -c "$many"
    equal 'in full' "$(grep -cE '^leaf [0-9]+ \(pid [0-9]+\) exited' out)" 5
    equal 'the largest first' "$(grep -m1 -oE '^leaf [0-9]+' out)" 'leaf 1200'
    says out '^  leaf \(7 processes\): 2,800 bytes lost\.$'
    says out '^libleak: pid=[0-9]+ lost=7800/12/12 '
    for option in --top=0 -v; do
        report $option sh -c "$many"
        equal "in full with $option" "$(grep -cE '^leaf [0-9]+ \(pid [0-9]+\) exited' out)" 12
    done
}
# Possibly lost blocks of a process that has only a line are listed by the next command.
test_next_command_lists_what_a_line_hides() {
    compile inside <<'END'
char *volatile inside;
int main(int argc, char **argv) { inside = (char *)malloc(argc > 1 ? atoi(argv[1]) : 9) + 5; return 0; }
END
    report sh -c 'for i in 1 2 3 4 5 6 7 8; do ./inside ${i}00; done; :'
    says out '^  inside \([0-9] processes\): [0-9,]+ bytes possibly lost\.$'
    says out '^Next: leakrun --top=0 sh -c '
    report --top=0 sh -c 'for i in 1 2 3 4 5 6 7 8; do ./inside ${i}00; done; :'
    silent_about out '^Next: leakrun --top=0'
    report sh -c './inside 100; :'
    silent_about out '^Next: leakrun --top=0'
}
# What another process opened once and left open is no finding, and is listed on request.
test_resources_of_another_process_are_listed_on_request() {
    programs
    compile opens -g <<'END'
#include <fcntl.h>
int main(void) { free(malloc(9)); return open("/etc/passwd", O_RDONLY) < 0; }
END
    report sh -c './leaf 48; ./opens; :'
    says out '^  opens \(pid [0-9]+\): no lost blocks, resources still open\.$'
    silent_about out '/etc/passwd'
    for option in --top=0 -v; do
        report $option sh -c './leaf 48; ./opens; :'
        says out '^opens \(pid [0-9]+\) exited with 0:$'
        says out '/etc/passwd'
        silent_about out '^  opens '
    done
}
# What nobody can fix has less room than what was built here.
test_own_programs_come_before_those_of_the_system() {
    need gcc
    programs
    echo 'int main(void) { return 0; }' >empty.c
    report sh -c 'gcc -o empty empty.c; ./leaf 10; :'
    equal 'second' "$(grep -E '^[^ ]+ .*\(pid [0-9]+\) exited' out | sed -n 2p | cut -d' ' -f1)" leaf
    [ "$(grep -cE '^[^ ]+ .*\(pid [0-9]+\) exited' out)" -le 4 ] || fail "many: $(cat out)"
    says out '^  gcc .*lost|^  (cc1|as|ld|collect2) .*lost'
}
# A server names its processes by a title, in which the last slash is not behind its directory.
test_a_title_is_the_name_of_a_process() {
    compile server <<'END'
void *volatile sink;
int main(int argc, char **argv)
{
    if (argc < 3) { execl("./server", "server: worker /etc/server.conf", "x", "y", (char *)0); return 9; }
    sink = malloc(10);
    sink = 0;
    return 0;
}
END
    report ./server
    says out '^server: worker /etc'
    report "$PWD/server" x y
    says out '^server \(pid'
}
test_a_child_that_still_runs_is_a_line() {
    programs
    compile daemon <<'END'
void *volatile kept;
int main(void) { if (fork()) return 0; setsid(); kept = malloc(100); close(open("up", 0101, 0600)); close(0); close(1); close(2); pause(); }
END
    "$root/scripts/leakrun" --color=never sh -c './daemon; while [ ! -e up ]; do sleep 0.02; done' 2>out
    says out '^  daemon \(pid [0-9]+\): running, 100 bytes unfreed\.$'
    says out '^leakrun: still running: pid [0-9]+ \(daemon\); recording file: '
    kill "$(sed -n 's/^leakrun: still running: pid \([0-9]*\) .*/\1/p' out)"
}
# A program that becomes one that libleak cannot track: it is what there is.
test_the_last_program_seen_leads() {
    need gcc
    echo 'int main(void) { return 5; }' >s.c
    gcc -static -o static s.c || skip "no static libc here"
    status=0
    report sh -c 'exec ./static' || status=$?
    equal status $status 5
    says out '^sh \(pid [0-9]+\) called exec:$'
    equal 'asked' "$(status_of leakrun --error-exitcode=9 sh -c 'exec ./static; :')" 5
    echo 'int main(void) { return 0; }' >s.c
    gcc -static -o good s.c
    equal 'the asked one was not tracked' "$(status_of leakrun --error-exitcode=9 sh -c 'exec ./good')" 124
    equal 'a static child is another matter' "$(status_of leakrun --error-exitcode=9 sh -c './good; :')" 0
    silent_about out '^1\.'
    report -v sh -c 'exec ./static' || :
    says out '^1\.'
}
