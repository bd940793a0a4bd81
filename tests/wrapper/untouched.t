# The program finds everything as its caller left it.

test_arguments_arrive_word_for_word() {
    printf '#!/bin/sh\nfor a; do printf "[%%s]" "$a"; done\n' >show
    chmod +x show
    got=$(leakrun -- ./show 'a b' '' '*' -x --help -- "$(printf 'new\nline')" '~' "\$HOME" 2>/dev/null)
    equal arguments "$got" "$(./show 'a b' '' '*' -x --help -- "$(printf 'new\nline')" '~' "\$HOME")"
    got=$(leakrun ./show --top 2>/dev/null)
    equal 'options behind the program' "$got" '[--top]'
}
test_argv0_is_as_typed() {
    need bash
    cat >zero.c <<'C'
#include <stdio.h>
int main(int c, char **v) { puts(v[0]); }
C
    gcc -w -o zero zero.c
    equal typed "$(leakrun ./zero 2>/dev/null)" ./zero
    equal 'found in PATH' "$(PATH=$PWD:$PATH leakrun zero 2>/dev/null)" zero
}
test_standard_streams_are_the_programs_own() {
    head -c 100000 /dev/urandom >in
    leakrun -o report sh -c 'tee copy; cat copy >&2' <in >out 2>err
    cmp in out
    cmp in err
    leakrun cat <in 2>/dev/null | cmp - in
}
test_closed_streams_stay_closed() {
    show='for i in 0 1 2; do [ -e /proc/self/fd/$i ] && printf "%s " $i; done >>fds; echo >>fds'
    leakrun -o r1 sh -c "$show" <&-
    leakrun -o r2 sh -c "$show" >&-
    leakrun -o r3 sh -c "$show" 2>&-
    equal 'open streams' "$(cat fds)" "$(sh -c "$show" <&-; sh -c "$show" >&-; sh -c "$show" 2>&-; sed -n 4,6p fds)"
}
test_no_descriptor_of_ours_leaks() {
    leakrun -o report ls /proc/self/fd >with
    ls /proc/self/fd >without
    diff without with
    leakrun -o report2 ls /proc/self/fd 7</dev/null 9</dev/null >with
    ls /proc/self/fd 7</dev/null 9</dev/null >without
    diff without with
}
test_working_directory_umask_and_limits() {
    mkdir sub
    show='pwd -P; umask; ulimit -a'
    (cd sub; umask 027; ulimit -n 100; ulimit -c 0; sh -c "$show") >without
    (cd sub; umask 027; ulimit -n 100; ulimit -c 0; leakrun -o ../report sh -c "$show") >with
    diff without with
}
test_cwd_option_moves_only_the_program() {
    mkdir sub
    printf '#!/bin/sh\npwd -P\n' >sub/where
    chmod +x sub/where
    equal cwd "$(leakrun --cwd=sub -o report ./where)" "$PWD/sub"
    [ -e report ] || fail "the report did not stay here"
    equal 'no such directory' "$(status_of leakrun --cwd=none true)" 125
}
test_environment_gains_only_ours() {
    need python3
    env -i A=1 'b.c=2 3' E= "N=$(printf 'x\ny')" PATH="$PATH" python3 "$here/environment.py" \
        "$root/scripts/leakrun" env -0
}
test_empty_environment_stays_empty() {
    env -i "$root/scripts/leakrun" -o report /usr/bin/env | grep -v '^LIBLEAK_OPTIONS=\|^LD_PRELOAD=' >more || :
    equal 'more than ours' "$(cat more)" ''
}
test_environment_is_not_exposed() {
    PASSWORD=hunter2 leakrun -o report sh -c 'tr "\0" " " </proc/$PPID/cmdline' >out
    says out 'leakwatch -o report sh -c'
    silent_about out "$(printf hunter2 | od -An -tx1 | tr -d ' ')"
}
test_large_environments_pass() {
    for size in 100 390 900; do
        i=0
        while [ $i -lt $((size / 100 + 1)) ]; do
            i=$((i + 1))
            eval "export BIG$i=\$(head -c $((size * 1024 / (size / 100 + 1))) /dev/zero | tr '\\0' x)"
        done
        leakrun -o report.$size sh -c 'printf %s "$BIG1" | wc -c' >with
        equal "bytes of $size KiB" "$(cat with)" "${#BIG1}"
    done
}
test_own_preload_and_options_stay() {
    echo 'int other;' | compile libother.so -shared -fPIC
    LD_PRELOAD=$PWD/libother.so LIBLEAK_OPTIONS=depth=7 leakrun --depth=9 -o report env >out
    says out '^LD_PRELOAD=[^ :]*/libleak\.so:'"$PWD"'/libother\.so$'
    says out '^LIBLEAK_OPTIONS=.*depth=7:.*depth=9:.*dir='
}
test_signal_mask_and_dispositions() {
    need python3
    show='grep -E "^Sig(Blk|Ign)" /proc/self/status'
    sh -c "trap '' HUP PIPE USR1; $show; leakrun='$root/scripts/leakrun'; \$leakrun -o report $show" >out
    equal 'mask and ignored signals' "$(sed -n 3,4p out)" "$(sed -n 1,2p out)"
    python3 - "$O/leakwatch" <<'P'
import signal, subprocess, sys
def before():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGTERM])
show = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
run = lambda command: subprocess.run(command, preexec_fn=before, capture_output=True, text=True).stdout
assert run(show) == run([sys.argv[1], "-o", "/dev/null", "--force"] + show), "mask or dispositions differ"
P
}
test_process_group_and_session_are_the_callers() {
    show='cut -d" " -f5,6 /proc/self/stat'
    equal 'group and session' "$(leakrun -o report sh -c "$show")" "$(sh -c "$show")"
}
test_library_in_a_folder_with_spaces() {
    mkdir -p 'a b:c/build' 'a b:c/scripts' bin
    cp "$O/leakwatch" "$O/leakreport" "$O/libleak.so" 'a b:c/build/'
    cp "$root/scripts/leakrun" 'a b:c/scripts/'
    ln -s "$PWD/a b:c/scripts/leakrun" bin/leakrun
    PATH=$PWD/bin:$PATH env leakrun -o report sh -c 'echo "$LD_PRELOAD"' >out 2>err
    says out '^[^ :]*/libleak\.so$'
    equal stderr "$(cat err)" ''
}
test_own_tests_have_no_errors_under_themselves() {
    need python3
    [ -x "$O/tests/symbolize/test_output_file" ] || skip "the unit tests are not built: make unit"
    for test in crash group_records output_file; do
        (cd "$root" && leakrun --format=json -o "$OLDPWD/$test.json" "$O/tests/symbolize/test_$test") >"$test.out" ||
            fail "$test: $(tail -n 5 "$test.out")"
        python3 - "$test.json" <<'P'
import json, sys
processes = json.load(open(sys.argv[1]))["processes"]
assert len(processes) > 10, "only %d processes" % len(processes)
bad = [p[kind] for p in processes for kind in ("errors", "resources") if p[kind]]
assert not bad, bad[:3]
assert any(p["coverage"]["allocations"] > 100 for p in processes), "nothing was seen"
P
    done
}
test_valgrind_says_the_same_as_without_libleak() { # it would call what libleak does errors of the program
    need valgrind
    compile wrong -g <<'C'
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
int main(void) {
    char *volatile p = malloc(10);
    p[10] = 1;
    if (fork()) { wait(NULL); return 3; }
    return 0;
}
C
    for tool in memcheck helgrind massif; do
        equal "status with $tool" "$(status_of valgrind --tool=$tool --log-file=bare.$tool ./wrong)" 3
        equal 'status with libleak' "$(LD_PRELOAD=$O/libleak.so LIBLEAK_OPTIONS=dir=$PWD status_of valgrind --tool=$tool \
            --log-file=ours.$tool ./wrong)" 3
        for said in bare ours; do
            sed -E 's/^[=-]+[0-9]+[=-]+//; /[Pp]arent PID|^ *Command|Copyright/d; s/ +/ /g; s/0x[0-9A-Fa-f]+//g' $said.$tool | sort >$said
        done
        diff bare ours
    done
    [ "$(find . -name 'wrong*.leak')" = '' ] || fail 'a program under valgrind is recorded'
    LD_PRELOAD=$O/libleak.so LIBLEAK_OPTIONS=dir=$PWD:verbosity=1 valgrind -q ./wrong 2>err || :
    says err 'libleak: this program runs under valgrind: it runs untracked'
    # Valgrind's own files in the environment are not valgrind.
    LD_PRELOAD=$O/libleak.so LIBLEAK_OPTIONS=dir=$PWD VALGRIND_LIB=/usr/libexec/valgrind ./wrong || :
    [ "$(find . -name 'wrong*.leak')" != '' ] || fail 'a program is not recorded'
}
