# The versions of recording files: tests/recordings has one of each, and the recipe they were made by.

current() { sed -n 's/^#define LEAK_STORE_VERSION \([0-9]*\).*/\1/p' "$root/include/leak_store.h"; }
unpack() { gunzip -c "$root/tests/recordings/$1.leak.gz" >"$1.leak"; }
set_version() { # file, a version below 256
    printf "\\$(printf %o "$2")" | dd of="$1" bs=1 seek=8 conv=notrunc status=none
}
one_line_says() { # file, extended regular expression
    equal 'number of lines' "$(wc -l <"$1")" 1
    says "$1" "$2"
}

test_recordings_of_every_version_are_read() {
    for version in $(seq "$(current)"); do
        [ -e "$root/tests/recordings/$version.leak.gz" ] || fail "no recording of version $version: tests/recordings/make $version"
        unpack "$version"
        "$O/leakreport" "$version.leak" >"$version.report"
        says "$version.report" 'pid=[0-9]* lost=144/3/1 indirect=144/3/1 .* reachable=2872/51/2 .* errors=0 resources=1$'
        says "$version.report" 'stream: /dev/null'
        silent_about "$version.report" 'damaged|cut off|broken'
        "$O/leakreport" --format=json -o "$version.json" "$version.leak"
    done
    for version in $(seq "$(current)"); do # the same leaks, by name
        "$O/leakreport" diff "$version.json" "$(current).json" >difference
        says difference '^libleak: diff new=0 grown=0 shrunk=0 fixed=0 unchanged=1$'
    done
}
test_newer_recording_is_refused_in_one_line() {
    unpack "$(current)"
    newer=$(($(current) + 1))
    set_version "$(current).leak" "$newer"
    equal status "$("$O/leakreport" "$(current).leak" >out 2>err || echo $?)" 2
    [ ! -s out ] || fail "printed: $(cat out)"
    one_line_says err "^leakreport: $(current).leak was recorded by a newer libleak \\(version $newer .* to $(current)\\): use leakreport of that libleak\$"
    # A number that no version has is damage.
    set_version "$(current).leak" 0
    "$O/leakreport" "$(current).leak" 2>err && fail 'version 0 was read'
    one_line_says err 'damaged recording of libleak: its version is 0$'
}
test_process_with_a_newer_libleak_is_told_in_one_line() {
    mkdir dir
    LD_PRELOAD=$O/libleak.so LIBLEAK_OPTIONS=dir=$PWD/dir:report=none sleep 30 &
    sleeper=$!
    trap 'kill $sleeper' EXIT
    until_says out '^sleep .*paused' env LIBLEAK_DIR="$PWD/dir" "$O/leakctl" snapshot $sleeper
    set_version dir/sleep.*.leak $(($(current) + 1))
    equal status "$(LIBLEAK_DIR=$PWD/dir "$O/leakctl" snapshot $sleeper >out 2>&1 || echo $?)" 1
    one_line_says out 'another version of libleak'
    LIBLEAK_DIR=$PWD/dir "$O/leaktop" --once $sleeper >out 2>&1 && fail 'leaktop read it'
    one_line_says out 'newer libleak|another version'
}
