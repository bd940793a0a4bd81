# The pages of make site, and the README: links lead somewhere, and commands do what is said. As a reader has it: installed.

installed() {
    make -s --no-print-directory -C "$root" O="${O#"$root"/}" install DESTDIR="$PWD/dest" PREFIX=/opt/leak >/dev/null
    echo "$PWD/dest/opt/leak"
}
page_is_right() { /usr/bin/python3 "$root/tests/site.py" run "$root" "$(installed)" "$root/docs/site/$1.md"; }

test_links_of_the_site_lead_somewhere() {
    need cmark-gfm mandoc
    make -s --no-print-directory -C "$root" O="${O#"$root"/}" man >/dev/null
    "$root/scripts/make-site" site "$O/man"
    /usr/bin/python3 "$root/tests/site.py" links site
    # The opposite: a link to nowhere is found, and a heading that is missing.
    sed -i 's|href="crash.html"|href="crush.html"|; s|href="#the-other-two"|href="#the-others"|' site/index.html
    /usr/bin/python3 "$root/tests/site.py" links site >said && fail 'links to nowhere were not found'
    says said 'index.html: crush.html: there is no such file'
    says said 'index.html: #the-others: there is no such heading'
    "$root/scripts/make-site" . "$O/man" 2>said && fail 'another folder was replaced'
    says said 'name another folder'
}
test_every_page_of_the_site_is_tested() {
    for page in "$root"/docs/site/*.md; do
        name=$(basename "$page" .md)
        [ "$name" = reference ] || grep -q "page_is_right $name\$" "$root/tests/wrapper/site.t" || fail "$name.md: no test runs it"
    done
}
test_first_leak_is_found_as_the_site_says() {
    need patch
    page_is_right index
}
test_tests_fail_for_leaks_as_the_site_says() {
    need cmake meson ninja
    [ -e /usr/include/gtest/gtest.h ] || skip 'no GoogleTest here'
    /usr/bin/python3 -c 'import pytest' 2>/dev/null || skip 'no pytest here'
    page_is_right test-gate
}
test_growing_server_is_watched_as_the_site_says() {
    page_is_right growing-server
}
test_live_page_is_served_as_the_site_says() {
    need curl go promtool jq
    export PPROF_TMPDIR=$PWD
    page_is_right live-page
}
test_crash_is_explained_as_the_site_says() {
    page_is_right crash
}
test_container_is_recorded_as_the_site_says() {
    need_root
    unshare --mount --pid --fork true 2>/dev/null || skip 'no namespaces here'
    page_is_right container
}
test_python_extension_is_checked_as_the_site_says() {
    need python3-config
    page_is_right python-extension
}
test_html_report_is_written_as_the_site_says() {
    page_is_right html-report
}
test_site_that_says_something_else_is_noticed() {
    place=$(installed)
    { echo '```console'; echo '$ echo one; echo two'; echo two; echo '```'; } >wrong.md
    /usr/bin/python3 "$root/tests/site.py" run "$root" "$place" wrong.md >said && fail 'a wrong page passed'
    says said 'wrong.md:1: \$ echo one; echo two'
    { echo '```console'; echo '$ echo one; echo two'; echo …; echo two; echo '```'; } >right.md
    /usr/bin/python3 "$root/tests/site.py" run "$root" "$place" right.md
}
test_short_example_of_the_manual_is_what_shelf_prints() {
    cp "$root/examples/shelf.c" .
    gcc -g -o shelf shelf.c
    leakrun --format=short -o short ./shelf >/dev/null
    grep '^shelf\.c:' "$root/man/leakreport.1" >example
    equal 'lines of the example' "$(wc -l <example)" 1
    grep -qF "$(sed 's/…\]$//' example)" short || fail "leakreport(1) has $(cat example), shelf prints $(cat short)"
}

# Each command of README.md's list, with a program, a process, a core file and reports in the places of its words.
test_commands_of_the_readme_work() {
    export PATH="$(installed)/bin:$PATH"
    gcc -g -o app "$root/examples/shelf.c"
    compile server -g <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void) { for (int i = 0; i < 3000; i++) { free(malloc(100)); usleep(10000); } return 0; }
END
    LD_PRELOAD=$O/libleak.so LIBLEAK_OPTIONS=dir=$PWD/store:report=none ./server &
    under=$!
    ./server &
    alone=$!
    trap 'kill $under $alone 2>/dev/null' EXIT
    export LIBLEAK_DIR="$PWD/store"
    until [ -n "$(find store -name 'server.*.leak' 2>/dev/null)" ]; do sleep 0.1; done
    leakrun --format=json -o old.json ./app >/dev/null
    leakrun --format=json -o new.json ./app >/dev/null
    sed -n '/^## Use/,/^## /p' "$root/README.md" | sed -n '/^```/,/^```/p' | grep '^leak' >commands
    equal 'commands in the list' "$(wc -l <commands)" 9
    while read -r line; do
        command=$(printf '%s\n' "$line" | sed 's/   .*//; s/ args…//; s|\./server|./app|')
        case $command in
        *'snapshot PID'*) command="leakctl snapshot $under" ;;
        *attach*) command=$(echo "$command" | sed "s/PID/$alone/; s/10m/1s/; s/leaks.html/attached.html/") ;;
        *'scan PID'*) command="leakctl scan $alone" ;; # the core file: tests/wrapper/scan.t
        esac
        status=0
        sh -c "$command" >"said" 2>&1 || status=$?
        case $command in *--error-exitcode=9*) wanted=9 ;; *) wanted=0 ;; esac
        equal "status of $command ($(tail -n3 said))" "$status" "$wanted"
    done <commands
    for file in leaks.html attached.html; do says $file '<html'; done
}
