# The files of share/ for CI servers and test frameworks, each run as its page or first lines say.

gate() { /usr/bin/python3 "$root/tests/ci.py" "$@"; }
prepare() {
    /usr/bin/python3 -c 'import yaml' 2>/dev/null || skip 'no python3-yaml here'
    gcc -g -o shelf "$root/examples/shelf.c"
    printf 'int main(void) { return 0; }\n' | compile clean
    export PATH="$root/scripts:$O:$PATH"
}

test_github_action_fails_for_leaks_and_annotates_them() {
    prepare
    equal status "$(gate github "$root/share/ci/action.yml" run=./shelf >said 2>&1 || echo $?)" 9
    says said '^::error .*shelf.c,line=44'
    says runner/summary 'growing_list'
    gate github "$root/share/ci/action.yml" run=./clean
    # The program's own failure is the status, and leaks that are known are none.
    equal status "$(gate github "$root/share/ci/action.yml" run='./clean; exit 3' >said 2>&1 || echo $?)" 3
    leakrun --format=json -o known.json ./shelf >/dev/null
    gate github "$root/share/ci/action.yml" run=./shelf baseline=known.json
}
test_github_action_unpacks_a_tarball() {
    prepare
    mkdir -p pack/libleak-1/bin
    printf '#!/bin/sh\nexec %s/scripts/leakrun "$@"\n' "$root" >pack/libleak-1/bin/leakrun
    printf '#!/bin/sh\nexec %s/leakreport "$@"\n' "$O" >pack/libleak-1/bin/leakreport
    chmod 755 pack/libleak-1/bin/*
    tar -C pack -czf libleak.tar.gz libleak-1
    PATH=/usr/bin:/bin
    equal status "$(gate github "$root/share/ci/action.yml" run=./shelf tarball=libleak.tar.gz >said 2>&1 || echo $?)" 9
    says said '^::error .*shelf.c'
}
test_gitlab_template_reports_leaks_as_failed_tests() {
    prepare
    equal status "$(gate gitlab "$root/share/ci/gitlab.yml" LIBLEAK_RUN='exec ./shelf' >said 2>&1 || echo $?)" 9
    cat leaks.*.xml >all
    says all '<failure'
    rm leaks.*.xml
    gate gitlab "$root/share/ci/gitlab.yml" LIBLEAK_RUN='exec ./clean'
}

test_catch2_listener_fails_the_test_case() {
    [ -e /usr/include/catch2/catch.hpp ] || skip 'no Catch2 here'
    cat >cards.cc <<'END'
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <libleak_catch2.h>
static void *volatile card;
TEST_CASE("lost") { card = malloc(48); card = nullptr; REQUIRE(true); }
TEST_CASE("kept") { card = malloc(48); free(card); card = nullptr; REQUIRE(true); }
END
    g++ -g -O0 -I"$root/share" -I"$root/include" -o cards cards.cc
    equal status "$(status_of leakrun -q ./cards)" 1
    leakrun -q -o line ./cards >said || :
    says said 'test case "lost" FAILED: 1 block lost'
    silent_about said '"kept" FAILED'
    says line 'lost=48/1/1' # the leak check at the end is made, too
    equal 'status of the other' "$(status_of leakrun -q ./cards kept)" 0
    equal 'status without libleak' "$(status_of ./cards)" 0
}
test_check_fixture_fails_the_test() {
    pkg-config --exists check || skip 'no check here'
    cat >cards.c <<'END'
#include <stdlib.h>
#include <libleak_check.h>
static void *volatile card;
START_TEST(lost) { card = malloc(48); card = NULL; } END_TEST
START_TEST(kept) { card = malloc(48); free(card); card = NULL; } END_TEST
int main(void)
{
    Suite *suite = suite_create("cards");
    TCase *tcase = tcase_create("cards");
    tcase_add_checked_fixture(tcase, libleak_check_start, libleak_check_end);
    tcase_add_test(tcase, lost);
    tcase_add_test(tcase, kept);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed;
}
END
    # shellcheck disable=SC2046
    gcc -g -I"$root/share" -I"$root/include" -o cards cards.c $(pkg-config --cflags --libs check)
    for fork in yes no; do
        equal "failed, CK_FORK=$fork" "$(CK_FORK=$fork status_of leakrun -q ./cards)" 1
        equal "without libleak, CK_FORK=$fork" "$(CK_FORK=$fork status_of ./cards)" 0
    done
}
test_pytest_repeats_tests_when_it_is_told() {
    /usr/bin/python3 -c 'import pytest' 2>/dev/null || skip 'no pytest here'
    cat >test_caches.py <<'END'
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
filled = []

def test_that_loses_once():
    if not filled:
        libc.malloc(48)
        filled.append(1)

def test_that_always_loses(tmp_path):
    libc.malloc(64)
END
    export PYTHONPATH="$root/share" PYTHONDONTWRITEBYTECODE=1
    leakrun -q /usr/bin/python3 -m pytest -q -p no:cacheprovider -p libleak_pytest --libleak-repeat=5 test_caches.py >said 2>&1 && fail 'passed'
    says said '^FAILED test_caches.py::test_that_always_loses'
    silent_about said '^FAILED test_caches.py::test_that_loses_once'
    /usr/bin/python3 -m pytest -p no:cacheprovider -p libleak_pytest test_caches.py >said 2>&1 || fail 'failed without libleak'
    says said '^libleak: not loaded'
}
test_meson_subproject_gives_the_header_and_a_test_setup() {
    need meson ninja
    make -s --no-print-directory -C "$root" O="${O#"$root"/}" install DESTDIR="$PWD/dest" PREFIX=/opt/leak >/dev/null
    mkdir -p project/subprojects
    cp -R dest/opt/leak/share/libleak/meson project/subprojects/libleak
    cp "$root/examples/shelf.c" project/
    echo 'int main(void) { return libleak_present() ? 0 : 3; }' | sed '1i#include <libleak.h>' >project/marks.c
    # As docs/CI.md has it.
    sed -n '/^```meson/,/^```/p' "$root/docs/CI.md" | sed '/^```/d' >project/meson.build
    says project/meson.build "subproject\\('libleak'\\)"
    export PATH="$PWD/dest/opt/leak/bin:$PATH" PKG_CONFIG_PATH=
    meson setup b project >said 2>&1 || fail "$(cat said)"
    meson test -C b --setup=libleak >said 2>&1 && fail 'the leak did not fail its test'
    says said 'shelf +FAIL'
    says said 'marks +OK'
    meson test -C b shelf >said 2>&1 || fail "without the setup: $(cat said)"
}
