# Lines of source are found wherever the compiler ran, and whoever asks.

tree() { # tree: what is compiled in these cases
    mkdir -p tree/src tree/build elsewhere
    cat >tree/src/keep.h <<'END'
static inline __attribute__((always_inline)) void keep(int n) { sink = malloc(n); sink = 0; }
END
    cat >tree/src/x.c <<'END'
#include <stdlib.h>
void *volatile sink;
#include "keep.h"
__attribute__((noinline)) void forget(void) { keep(10); }
int main(void)
{
    forget();
    return 0;
}
END
}
shows() { # program: the lines of the three files' frames, with their source
    leakrun --color=never "$1" 2>out
    says out '^       \| static inline .*malloc'
    says out '^       \| .*void forget\(void\)'
}
paths() { # program: the source files of its record
    leakrun --format=json -o json --force "$1" 2>/dev/null
    jq -r '.processes[0].records[] | select(.verdict == "lost") | .frames[].file // empty' json | grep -E 'x\.c|keep\.h' | sort -u
}

test_sources_are_found_wherever_the_compiler_ran() {
    need gcc clang jq
    tree
    for compiler in gcc clang; do
        for format in '-gdwarf-4' '-gdwarf-5' '-gdwarf-4 -gsplit-dwarf' '-gdwarf-5 -gsplit-dwarf'; do
            for place in '. src/x.c' 'build ../src/x.c' 'src x.c' 'src ./../src/x.c'; do
                # shellcheck disable=SC2086
                (cd "tree/${place% *}" && $compiler -w -g -O1 $format -o x "${place#* }")
                cd elsewhere
                shows "../tree/${place% *}/x"
                equal "files of $place ($compiler $format)" "$(paths "../tree/${place% *}/x")" \
                    "${PWD%/elsewhere}/tree/src/keep.h
${PWD%/elsewhere}/tree/src/x.c"
                cd ..
            done
        done
    done
}
# DW_AT_comp_dir and the folders of the line table are relative: to the program's folder, and to each other.
test_sources_are_found_below_relative_folders() {
    need gcc clang
    for folder in m/sub s; do
        mkdir -p "tree/$folder"
        printf '#include <stdlib.h>\nvoid *volatile sink;\nint main(void)\n{\n    sink = malloc(7); // of %s\n    sink = 0;\n}\n' \
            "$folder" >"tree/$folder/x.c"
    done
    for compiler in gcc clang; do
        for format in -gdwarf-4 -gdwarf-5; do
            for map in "$PWD/tree/m=." "$PWD/tree=" "$PWD/tree=tree"; do
                for source in sub/x.c ../s/x.c ./sub/../../s/x.c; do
                    (cd tree/m && $compiler -w -g -O1 $format "-fdebug-prefix-map=$map" -o x "$source")
                    case $source in sub/*) is=m/sub ;; *) is=s ;; esac
                    (cd / && leakrun --color=never "$OLDPWD/tree/m/x") 2>out
                    says out "^       \| sink = malloc\(7\); // of $is\$"
                done
            done
        done
    done
}
test_sources_of_rust_are_found() {
    need rustc jq
    mkdir -p tree/src elsewhere
    echo 'pub fn forget() { std::mem::forget(vec![1u8; 100]); }' >tree/src/part.rs
    printf 'mod part;\nfn main() {\n    part::forget();\n}\n' >tree/src/main.rs
    (cd tree && rustc -g -o app src/main.rs)
    cd elsewhere
    leakrun --color=never ../tree/app 2>out
    says out '^       \| pub fn forget'
    says out '^       \| part::forget\(\);'
}
# Tabs are blanks, as an editor shows them; other control characters may do something to a terminal, and are escaped.
test_tabs_in_a_line_of_source_are_blanks() {
    need gcc
    printf '#include <stdlib.h>\nint main(void)\n{\n\treturn\t\t!malloc(7);\t/* \033[7m */\n}\n' >x.c
    gcc -w -g -O1 -o x x.c
    leakrun --color=never ./x 2>out
    says out '^       \| return !malloc\(7\); /\* \\x1b\[7m \*/$'
}
# The tree has moved: the program and its source lie beside each other as before.
test_sources_are_found_beside_a_program_that_moved() {
    need gcc jq
    tree
    for map in '' "-fdebug-prefix-map=$PWD/tree=."; do
        # shellcheck disable=SC2086
        (cd tree/build && gcc -w -g -O1 $map -o x ../src/x.c)
        mv tree moved
        cd elsewhere
        shows ../moved/build/x
        cd ..
        mv moved tree
    done
}
# Another file of that name is not the source.
test_far_files_of_the_same_name_are_not_shown() {
    need gcc
    tree
    (cd tree/build && gcc -w -g -O1 -o x ../src/x.c)
    mkdir -p other/deep/bin
    mv tree/build/x other/deep/bin/
    rm -r tree
    for file in x.c keep.h; do
        seq 1 20 | sed "s/^/another $file /" >other/deep/$file
    done
    leakrun --color=never other/deep/bin/x 2>out
    says out ' tree/src/x\.c:4$'
    silent_about out '^       \|'
}
# A link in a terminal is file://HOST/PATH, of a file that is there.
test_links_have_a_host_and_an_absolute_path() {
    need gcc script
    tree
    (cd tree/build && gcc -w -g -O1 "-fdebug-prefix-map=$PWD/tree=." -o x ../src/x.c)
    link=$(printf '\033]8;;file://%s%s/tree/src/x.c\033\\' "$(uname -n)" "$PWD")
    script -qec "$root/scripts/leakrun tree/build/x" /dev/null >out 2>&1
    grep -qF "$link" out || fail "no link $link: $(cat -v out)"
    mv tree/src gone
    script -qec "$root/scripts/leakrun tree/build/x" /dev/null >out 2>&1
    says out 'forget'
    ! grep -qF ']8;;file' out || fail "a link to nothing: $(cat -v out)"
}

stripped() { # COUNT: a program that leaks in so many libraries of its own without debug information
    i=0
    while [ $i -lt "$1" ]; do
        echo "#include <stdlib.h>
        void *volatile sink_$i; void forget_$i(void) { sink_$i = malloc($((i + 1))); sink_$i = 0; }" |
            gcc -w -shared -fPIC -O1 -x c -o libpart_with_a_long_name_$i.so -
        strip libpart_with_a_long_name_$i.so
        i=$((i + 1))
    done
    # shellcheck disable=SC2046
    {
        for n in $(seq 0 $(($1 - 1))); do echo "void forget_$n(void);"; done
        echo 'int main(void) {'
        for n in $(seq 0 $(($1 - 1))); do echo "forget_$n();"; done
        echo '}'
    } | gcc -w -x c -O1 -o app - -L. $(for n in $(seq 0 $(($1 - 1))); do echo "-lpart_with_a_long_name_$n"; done) -Wl,-rpath,"$PWD"
    strip app
}
advice() { # of the text report
    sed -n '/^No debug information/,/^Next\|^libleak:\|^Note/p' out | grep -v '^Next\|^libleak:\|^Note'
}
test_advice_about_debug_information_is_short() {
    need gcc strip
    for count in 1 12; do
        stripped $count
        leakrun --color=never ./app 2>out
        advice >said
        [ "$(wc -l <said)" -le 4 ] || fail "long: $(cat said)"
        awk 'length > 80 { exit 1 }' said || fail "wide: $(cat said)"
        says said '^No debug information: app, libpart_with_a_long_name_0\.so'
        says said '^Build with -g: app, '
        silent_about said 'build-id|Install|DEBUGINFOD|/'
    done
    says said ' and [0-9]+ more\.$'
    leakrun --color=never -v ./app 2>out
    equal 'each with -v' "$(grep -cE '^/.*(app|libpart_with_a_long_name_[0-9]+\.so): it has no debug information$' out)" 13
    # With debug information nothing is said.
    echo 'int main(void) { return !malloc(3); }' | compile good -g -include stdlib.h
    leakrun --color=never ./good 2>out
    silent_about out 'No debug information|-dbgsym|Build with'
}
test_packages_of_the_system_are_named() {
    need bash dpkg-query jq
    bash=$(readlink -f "$(command -v bash)")
    package=$(dpkg-query -S "$bash" 2>/dev/null || dpkg-query -S "${bash#/usr}") || skip 'bash is of no package'
    package=${package%%:*}
    unset DEBUGINFOD_URLS
    leakrun --color=never --show=reachable bash -c : 2>out
    ! dpkg-query -W "$package-dbgsym" 2>/dev/null || skip 'bash has debug information'
    says out "^No debug information: bash"
    says out "^Install .*$package-dbgsym"
    [ "$(advice | wc -l)" -le 4 ] || fail "long: $(advice)"
    . /etc/os-release
    [ "$ID" != debian ] || says out 'DEBUGINFOD_URLS=https://debuginfod\.debian\.net$'
    # A server that is set already is no advice.
    DEBUGINFOD_URLS=http://127.0.0.1:9/ DEBUGINFOD_TIMEOUT=1 leakrun --color=never --show=reachable bash -c : 2>out
    says out "^Install .*$package-dbgsym.*\.$"
    silent_about out 'DEBUGINFOD_URLS'
    leakrun --format=json -o json bash -c :
    equal 'package' "$(jq -r --arg path "$bash" '.processes[0].coverage.modules_without_debuginfo[] | select(.module | endswith("/bash")) | .package' json)" "$package"
}
# A frame without a name is its module and offset, in all formats.
test_frames_without_a_name_have_module_and_offset() {
    need gcc strip jq
    echo '#include <stdlib.h>
    void *volatile sink; __attribute__((noinline)) static void forget(void) { sink = malloc(9); sink = 0; }
    int main(void) { forget(); return 0; }' | gcc -x c -O1 -o nameless -
    strip nameless
    leakrun --no-report --keep=k.leak ./nameless
    "$O/leakreport" --format=json -o json k.leak
    offset=$(printf '%x' "$(jq '.processes[0].records[] | select(.verdict == "lost") | .frames[] | select(.user) | .offset' json)")
    for format in text full short html sarif folded github junit markdown lsan; do
        "$O/leakreport" --format=$format k.leak >out
        says out "nameless\+0x$offset"
    done
    for format in xml valgrind memreport; do # in fields of their own
        "$O/leakreport" --format=$format k.leak >out
        grep -iqE "0x$offset\b" out || fail "$format: no offset: $(cat out)"
        says out '/nameless'
    done
}
