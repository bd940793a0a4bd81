# libleak.h: what a program may ask builds, links and runs the same with the library, without and disabled.

# tests/wrapper/asks.c calls everything by its alias in capitals; lower_case makes of it one that calls the functions.
asking='#include <libleak.h>
#include <stdio.h>
int main(void)
{
    libleak_mark("m");
    libleak_add_root(stdout, sizeof stdout);
    if (libleak_present()) libleak_at_report(NULL);
    libleak_disable();
    long lost = libleak_present() ? libleak_snapshot() : -7;
    return printf("lost %d", (int)lost) < 0;
}'

# What asks.c prints without libleak.
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
lower_case() {
    sed -e 's/LIBLEAK_DISABLE_THREAD/libleak_disable/; s/LIBLEAK_ENABLE_THREAD/libleak_enable/' \
        -e '/_SCOPE(/!s/LIBLEAK_[A-Z_]*(/\L&/g' "$here/asks.c"
}
# shellcheck disable=SC2154,SC2086
runs_the_same() {
    for how in '-O0 -fPIE -pie' '-O2 -fno-pie -no-pie'; do
        $compile $how -o program "$source"
        ./program >alone
        equal "$named $how alone" "$(tr '\n' ' ' <alone)" "$nothing"
        leakrun -o report.%p --format=json ./program >out 2>err
        equal "$named $how" "$(tr '\n' ' ' <out)" 'calls 1 0 0 counts 0 0 reports 0 0 tags 0 0 0 1 beyond -1 options 0 0 50 moment 1 1 failed 1 1 2 once known 0 0 pools 0 1 found 0 1 answers farewell '
        says err '^#0 .*program'
        equal "$named $how lost" "$(jq -c '.processes[0].summary.lost | [.blocks, .bytes]' report.*)" '[1,77]'
        rm report.*
    done
    $compile -static -o program "$source"
    ./program >out
    equal "$named static" "$(tr '\n' ' ' <out)" "$nothing"
    $compile -DLIBLEAK_DISABLE -o program "$source"
    leakrun -q ./program >out
    equal "$named disabled" "$(tr '\n' ' ' <out)" "$nothing"
}
test_calls_need_neither_the_library_nor_a_question() {
    need jq
    lower_case >calls.c
    source=calls.c
    in_each_of "$c" runs_the_same
}
test_calls_need_neither_the_library_nor_a_question_in_cxx() {
    need jq
    lower_case >calls.c
    source=calls.c
    in_each_of "$cxx" runs_the_same
}
test_aliases_in_capitals_do_what_the_functions_do() {
    need jq
    source=$here/asks.c
    in_each_of "gcc:c:-std=c99 g++:c++:-std=c++17" runs_the_same
}
# shellcheck disable=SC2154,SC2086
leaves_nothing() {
    echo "$asking" >asking.c
    for source in "$here/asks.c" asking.c; do
        for level in -O0 -O2; do
            $compile $level -DLIBLEAK_DISABLE -c -o program.o "$source"
            equal "$named $level" "$(nm program.o | grep -i libleak)" ''
        done
    done
    $compile -DLIBLEAK_DISABLE -o asking asking.c
    equal "$named" "$(./asking)" 'lost -7'
    $compile -o asking asking.c
    equal "$named alone" "$(./asking)" 'lost -7'
    leakrun -q ./asking >out
    equal "$named under libleak" "$(cat out)" 'lost 0'
}
test_disabled_header_leaves_nothing_in_an_object() { in_each_of "$c $cxx" leaves_nothing; }
test_every_function_has_an_alias_and_is_called() {
    header=$root/include/libleak.h
    for name in $(sed -n 's/^LIBLEAK_\(FUNCTION([a-z *]*, \|PROCEDURE(\)\(libleak_[a-z_]*\),.*/\2/p' "$header"); do
        capitals=$(sed -n "s/^#define \(LIBLEAK_[A-Z_]*\)(.* $name(.*/\1/p" "$header")
        [ -n "$capitals" ] || fail "$name has no alias in capitals"
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
