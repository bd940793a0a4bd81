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
test_sources_of_rust_and_go_are_found() {
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
