# The runner of make conformance-all, on a PATH of a few programs made for it.

run() { # options...: what is printed in out, the exit status in status
    status=0
    "$root/tests/conformance/all.py" "$here_build" --path="$PWD/bin" --tasks="$PWD/tasks" --limit=3 "$@" >out || status=$?
}
verdict() { says out "^  $1 +$2"; }
fake_path() {
    need bwrap prlimit gcc
    bwrap --unshare-all --ro-bind / / true 2>/dev/null || skip 'no sandbox here'
    # The state of this run stays here.
    here_build=$PWD/build
    mkdir -p bin build
    for part in libleak.so leakreport leakwatch; do cp "$O/$part" build/; done
    printf 'int main(int c, char **v) { return v[1][2] == 104 ? 3 : 0; }' | compile bin/same
    printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv("LD_PRELOAD") ? "preloaded" : "alone"); }' |
        compile bin/differs
    printf '#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%%d %%p\\n", getpid(), main); }' | compile bin/numbers
    printf '#!/bin/sh\nexport PATH=/usr/bin:/bin; head -c 9 /dev/urandom | base64 -w 0 | tr 0-9 a-j' >bin/noisy
    printf '#include <unistd.h>\nint main(void) { for (;;) pause(); }' | compile bin/hangs
    printf 'int main(void) { return 0; }' | compile bin/alone -static
    printf '#!/bin/sh\n/bin/rm -f "$0" /run/libleak/build/*\n: >/usr/bin/libleak-test-vandal\necho harmless\n' >bin/vandal
    printf '#include <stdlib.h>\nint main(void) { char *p = malloc(9); free(p + 1); }' | compile bin/wrong
    chmod +x bin/noisy bin/vandal
    printf '# a task\nfiles same: echo hi >a; kill -SEGV $$\nother missing: missing\n' >tasks
}

test_conformance_runner_says_of_each_program_how_it_behaves() {
    fake_path
    export PATH="/usr/bin:/bin"
    run
    equal 'exit status' $status 1
    for word in --version --help; do
        verdict identical "same:$word$"
        verdict differing "differs:$word .preload: stdout; leakrun: stdout"
        verdict identical "numbers:$word$"
        verdict noisy "noisy:$word .stdout"
        verdict refused "hangs:$word .does not end by itself"
        verdict refused "alone:$word .is statically linked"
        verdict identical "vandal:$word$"
    done
    [ -e bin/vandal ] && [ -e build/libleak.so ] && [ ! -e /usr/bin/libleak-test-vandal ] || fail 'the sandbox can be left'
    verdict identical 'task:files$'
    verdict refused 'task:other .not installed'
    says out '^conformance-all: 10 programs and tasks, 18 cases'
    [ -e build/conformance-all/differs:--help/preload/stdout ] || fail 'a difference is not kept'
    [ ! -e build/conformance-all/same:--help ] || fail 'what is identical is kept'
}

test_conformance_runner_goes_on_where_it_ended() {
    fake_path
    rm -f bin/hangs bin/wrong
    run --only='[ds]*'
    equal 'cases of --only' "$(grep -c -- ':--' out)" 4
    run
    silent_about out 'same:|differs:'
    verdict refused 'alone:--help'
    run
    silent_about out ':--|task:'
    compile bin/differs <<'END'
int main(void) { return 0; }
END
    run --again=differing
    equal 'cases of --again' "$(grep -c -- ':--' out)" 2
    verdict identical 'differs:--version$'
    equal 'exit status when nothing differs' $status 0
    run --summary
    says out 'refused +2 cases: is statically linked'
    silent_about out 'identical +same:'
}
