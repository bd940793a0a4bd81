# leakrun --self-test: the first step when nothing is found, or too much.

without_hook() { # name: a library that does not stand before that function, and its self-test
    printf '{ local: %s; };\n' "$1" >hide
    make -s --no-print-directory -C "$root" O="${O#"$root"/}" LIB="$PWD/$1.so" LDFLAGS="-Wl,--version-script=$PWD/hide" \
        "$PWD/$1.so" >/dev/null
    status=0
    leakrun --with-library="$PWD/$1.so" --self-test >out 2>&1 || status=$?
    equal "status without $1" $status 1
}

test_self_test_passes_and_leaves_nothing() {
    export HOME=$PWD TMPDIR=$PWD
    echo 'enabled=0' >.libleakrc # the user's options are not what it is about
    LIBLEAK_OPTIONS=min_size=1m leakrun --self-test >out 2>err
    equal 'words of trouble' "$(cat err)" ''
    silent_about out '^FAIL'
    for what in 'malloc: lost, in lose_by_malloc\(\) at .*plant.c:[0-9]+$' 'realloc: lost' 'posix_memalign: lost' \
        'malloc: indirect, in plant_owned' 'malloc: reachable' 'free: the block that plant_free' 'free: double-free, in plant_double_free' \
        'history: the heap grows' 'history: growing, in plant_growing\(\) at .*plant.c:[0-9]+$' \
        'history: steady, in plant_steady' "own memory: libleak's own memory: .*, all accounted for"; do
        says out "^PASS  $what"
    done
    says out '^(PASS  _ZdlPv: mismatched-free|SKIP  C\+\+)'
    says out '^self-test: [0-9]+ passed, 0 failed '
    for line in $(sed -n 's/.*plant\.c:\([0-9]*\)$/\1/p' out); do # these lines are what they are called
        sed -n "${line}p" "$root/selftest/plant.c" | grep -q '^PLANT ' || fail "line $line is no plant"
    done
    equal 'status with a program' "$(status_of leakrun --self-test true)" 125
    for more in --depth=3 --top=3 -v --keep=x.leak --gdb --error-exitcode=3; do
        equal "status with $more" "$(status_of leakrun --self-test "$more")" 125
    done
}
test_self_test_knows_functions_of_a_stripped_program() {
    need strip
    make -s --no-print-directory -C "$root" O="${O#"$root"/}" install DESTDIR="$PWD/dest" PREFIX=/opt >/dev/null
    strip dest/opt/lib/libleak/*.so dest/opt/lib/libleak/leak[a-z]* dest/opt/bin/leak[c-t]* 2>/dev/null || true
    dest/opt/bin/leakrun --self-test >out
    says out '^PASS  malloc: lost, in lose_by_malloc\(\) \(leakplant has no line information\)'
    silent_about out '^FAIL'
}
test_self_test_names_the_hook_that_is_missing() {
    without_hook calloc
    says out '^FAIL  calloc: no record of .* lose_by_calloc\(\), which are lost: does the library hook calloc\?'
    says out '^PASS  malloc: lost'
    says out '^PASS  free: '
    without_hook free
    says out '^FAIL  free: .*plant_free\(\).*: does the library hook free\?'
    says out '^FAIL  double-free: .*does the library hook free\?'
    says out '^PASS  calloc: lost'
    says out '^self-test: [0-9]+ passed, [0-9]+ failed \(.*/free\.so\)'
    without_hook realloc
    says out '^FAIL  realloc: .* of lose_by_realloc\(\).*: does the library hook realloc\?'
}
test_self_test_that_is_ended_early_leaves_nothing() {
    "$root/scripts/leakrun" --self-test >out 2>err &
    pid=$!
    until folder=$(readlink /proc/$pid/cwd) && case $folder in /tmp/libleak-self-test-*) ;; *) false ;; esac; do sleep 0.02; done
    until [ -e "$folder/plants" ]; do sleep 0.02; done
    kill -TERM $pid
    wait $pid && fail 'it ended well' || equal status $? 143
    [ ! -e "$folder" ] || fail "left: $(ls "$folder")"
}
