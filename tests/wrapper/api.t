# libleak.h: what a program may ask builds, links and runs the same with the library, without and disabled.

# tests/wrapper/asks.c calls everything, in C99 and C++.
guarded='#include <libleak.h>
#include <stdio.h>
int main(void)
{
    if (libleak_mark) libleak_mark("m");
    if (libleak_add_root) libleak_add_root(stdout, sizeof stdout);
    if (libleak_at_report) libleak_at_report(NULL);
    if (libleak_disable) libleak_disable();
    long lost = libleak_snapshot ? libleak_snapshot() : -7;
    return printf("lost %d", (int)lost) < 0;
}'

# What asks.c prints where nobody answers.
nothing='calls 0 -1 -1 counts -1 -1 reports 1 1 tags -1 -1 -1 1 beyond -1 options -1 -1  moment 0 0 once known -1 -1 pools -1 -1 found -1 0 '

c='gcc:c:-std=c99 gcc:c:-std=c11 clang:c:-std=c99 clang:c:-std=c11'
cxx='g++:c++:-std=c++17 clang++:c++:-std=c++17'
in_each_of() { # ways, what to do with: compiler, language, standard, as $compile, under the name $named
    ways=$1
    shift
    for way in $ways; do
        compiler=${way%%:*} rest=${way#*:}
        command -v "$compiler" >/dev/null || { echo "no $compiler here"; continue; }
        compile="$compiler -x ${rest%:*} ${rest#*:} -g -Wall -Wextra -Wpedantic -Wshadow -Werror -I$root/include"
        named=$way
        "$@"
    done
}
# shellcheck disable=SC2154,SC2086 # $compile and $named are set above; it is a list of words
runs_the_same() {
    for how in '-O0 -fPIE -pie' '-O2 -fno-pie -no-pie'; do
        $compile $how -o program "$here/asks.c"
        ./program >alone
        equal "$named $how alone" "$(tr '\n' ' ' <alone)" "$nothing"
        leakrun -o report.%p --format=json ./program >out 2>err
        equal "$named $how" "$(tr '\n' ' ' <out)" 'calls 1 0 0 counts 0 0 reports 0 0 tags 0 0 0 1 beyond -1 options 0 0 50 moment 1 1 failed 1 1 2 once known 0 0 pools 0 1 found 0 1 answers farewell '
        says err '^#0 .*program'
        equal "$named $how lost" "$(jq -c '.processes[0].summary.lost | [.blocks, .bytes]' report.*)" '[1,77]'
        rm report.*
    done
    $compile -DLIBLEAK_DISABLE -o program "$here/asks.c"
    leakrun -q ./program >out
    equal "$named disabled" "$(tr '\n' ' ' <out)" "$nothing"
}
test_calls_in_capitals_need_neither_the_library_nor_a_question() {
    need jq
    in_each_of "$c" runs_the_same
}
test_calls_in_capitals_need_neither_the_library_nor_a_question_in_cxx() {
    need jq
    in_each_of "$cxx" runs_the_same
}
# shellcheck disable=SC2154,SC2086
leaves_nothing() {
    echo "$guarded" >guarded.c
    for source in "$here/asks.c" guarded.c; do
        for level in -O0 -O2; do
            $compile $level -DLIBLEAK_DISABLE -c -o program.o "$source"
            equal "$named $level" "$(nm program.o | grep -i libleak)" ''
        done
    done
    $compile -DLIBLEAK_DISABLE -o guarded guarded.c
    equal "$named" "$(./guarded)" 'lost -7'
    $compile -o guarded guarded.c
    equal "$named alone" "$(./guarded)" 'lost -7'
    leakrun -q ./guarded >out
    equal "$named under libleak" "$(cat out)" 'lost 0'
}
test_disabled_header_leaves_nothing_in_an_object() { in_each_of "$c $cxx" leaves_nothing; }
test_every_function_can_be_called_in_capitals_and_disabled() {
    header=$root/include/libleak.h
    for name in $(sed -n 's/^LIBLEAK_WEAK .*[ *]\([a-z_]*\)(.*/\1/p' "$header"); do
        grep -q "^    $name = 0" "$header" || fail "$name is not known to be no function when disabled"
        grep -q "^#define $name(" "$header" || fail "$name is not nothing when disabled"
        capitals=$(sed -n "/^#define LIBLEAK_.*[^)]$/N; s/^#define \(LIBLEAK_[A-Z_]*\)(.*LIBLEAK_CALL(${name#libleak_}, .*/\1/p" "$header")
        [ -n "$capitals" ] || fail "$name has no call in capitals"
        grep -q "$capitals(" "$here/asks.c" || fail "asks.c does not call $capitals"
    done
    [ -n "$name" ] || fail 'no function in libleak.h'
}
test_a_leaking_test_of_googletest_fails_by_its_name() {
    need g++
    [ -e /usr/include/gtest/gtest.h ] || skip 'no libgtest-dev here'
    cat >tests.cc <<'END'
#include <cstdlib>
#include <libleak_gtest.h>
static const bool listening = libleak::gtest_listen();
static void *volatile sink;
static int *kept;
TEST(Shelf, Leaks) { for (int i = 0; i < 3; i++) sink = malloc(100); sink = nullptr; }
TEST(Shelf, Frees) { sink = malloc(100); free(sink); sink = nullptr; }
TEST(Shelf, Keeps) { kept = new int(1); EXPECT_TRUE(listening); }
class Fixed : public ::testing::Test { protected: void SetUp() override { sink = malloc(50); } };
TEST_F(Fixed, Leaks) { sink = nullptr; }
END
    g++ -std=c++17 -g -Wall -Wextra -Wpedantic -Werror -I"$root/include" -o tests tests.cc -lgtest -lgtest_main -pthread
    ./tests >alone
    says alone '^\[  PASSED  \] 4 tests'
    equal 'status' "$(status_of leakrun -q ./tests)" 1
    leakrun -q ./tests >out || true
    says out '^\[  FAILED  \] Shelf\.Leaks$'
    says out '^\[  FAILED  \] Fixed\.Leaks$'
    says out '^\[  PASSED  \] 2 tests'
    says out '^tests.cc:6: Failure$'
    says out '^3 blocks were lost in this test'
    says out '^1 block was lost in this test'
}
