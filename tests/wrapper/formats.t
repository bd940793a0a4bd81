# Formats in the hands of those they are for: programs that read what other tools write.

# A ring, an owner and what it owns, an inner pointer, a mismatched free; what is lost is lost for any
# tool: no pointer is left in registers or on the stack.
shelf='#include <cstdlib>
#include <cstring>
struct book { char title[40]; book *next; };
book *volatile sink;
char *volatile inside;
static inline __attribute__((always_inline)) book *make_book(const char *title)
{
    book *made = new book();
    strncpy(made->title, title, 39);
    return made;
}
__attribute__((noinline)) void fill() { sink = make_book("one"); sink->next = make_book("two"); }
__attribute__((noinline)) void ring()
{
    sink = make_book("x");
    sink->next = make_book("y");
    sink->next->next = sink;
}
__attribute__((noinline)) void wrong()
{
    char *volatile block = (char *)malloc(10);
    delete[] block;
}
__attribute__((noinline)) void wipe() { volatile char stack[8192]; for (char volatile &c : stack) c = 0; }
int main()
{
    fill();
#ifndef WITHOUT_RING
    ring();
#endif
    wrong();
    inside = (char *)malloc(100) + 10;
    sink = nullptr;
    wipe();
    return 0;
}'
build_shelf() { # program, flags...
    echo "$shelf" >shelf.cc
    out=${1-shelf}
    shift $(($# > 0))
    g++ -w -g -O1 -o "$out" "$@" shelf.cc
}

test_xml_says_of_a_program_what_valgrind_says() {
    need g++ valgrind python3
    build_shelf
    leakrun --format=xml -o ours.xml ./shelf 2>err
    valgrind --leak-check=full --xml=yes --xml-file=theirs.xml ./shelf 2>err
    # What checks ours must find theirs right, too.
    for file in ours theirs; do
        python3 "$root/tests/formats/valgrind_xml.py" <$file.xml || fail "$file.xml"
        python3 "$here/losses.py" $file.xml >$file
    done
    equal 'defects' "$(cat ours)" "$(cat theirs)"
    says ours 'Leak_DefinitelyLost 96 1 .* fill shelf'
    says ours 'MismatchedFree .* wrong shelf'
}
test_lsan_says_of_a_program_what_leak_sanitizer_says() {
    need g++ python3
    # Of a ring it calls every block indirect, which leaves none to mend: that is not compared.
    set -- -DWITHOUT_RING -fno-omit-frame-pointer
    build_shelf shelf "$@"
    build_shelf theirs -fsanitize=leak "$@" || skip 'g++ has no -fsanitize=leak here'
    status=0
    ./theirs 2>theirs.text || status=$?
    ! grep 'LeakSanitizer has encountered a fatal error' theirs.text || skip 'LeakSanitizer needs ptrace'
    equal 'their status' $status 23
    leakrun --format=lsan -o ours.text ./shelf
    for text in ours theirs; do
        python3 "$root/tests/formats/lsan.py" --leaks <$text.text >$text.leaks || fail "$(cat $text.leaks)"
    done
    equal 'leaks' "$(cat ours.leaks)" "$(cat theirs.leaks)"
    equal 'summary' "$(grep ^SUMMARY ours.text)" "$(grep ^SUMMARY theirs.text)"
    says ours.leaks '^Direct 48 1 make_book 8 fill 12 main '
    says ours.leaks '^Indirect 48 1 make_book 8 fill 12 main '
    # What is no leak there is said in words that are none.
    says ours.text '^==[0-9]*==NOTE: libleak: 100 bytes in 1 blocks possibly lost$'
    echo "$tidy" | g++ -x c++ -o tidy -
    leakrun --format=lsan -o tidy.text ./tidy
    equal 'without leaks' "$(cat tidy.text)" ''
}
test_junit_has_a_file_for_each_program_run() {
    need g++ xmllint
    build_shelf
    for run in 1 2; do
        equal 'status' "$(status_of leakrun --error-exitcode=9 --format=junit -o leaks.%e.%p.xml ./shelf)" 9
    done
    equal 'files' "$(ls leaks.shelf.[0-9]*.xml | wc -l)" 2
    for file in leaks.shelf.*.xml; do
        xmllint --noout --relaxng "$root/tests/formats/junit.rng" "$file" || fail "$file"
        says "$file" ' tests="4" failures="4" errors="0" skipped="0" '
        says "$file" 'name="mismatched-free in wrong '
    done
    equal 'names in two runs' "$(cat leaks.*.xml | grep '<testcase' | sort | uniq -c | grep -vc '^ *2 ')" 0
}
test_github_step_of_the_documentation_annotates_and_fails() {
    need g++ python3 cmark-gfm
    # A file whose name has all that the commands escape.
    mkdir '50%, a:b'
    echo "$shelf" >'50%, a:b/shelf.cc'
    g++ -w -g -O1 -o test '50%, a:b/shelf.cc'
    sed -n '/tests under libleak/,/^```/s/^          //p' "$root/docs/CI.md" >step
    says step '^leakreport --format=github'
    mkdir bin
    ln -s "$root/scripts/leakrun" "$O/leakreport" bin
    status=0
    PATH=$PWD/bin:$PATH GITHUB_STEP_SUMMARY=$PWD/summary sh -e step >out || status=$?
    equal status $status 9
    silent_about summary '^::'
    grep '^::' out >commands
    equal levels "$(cut -d' ' -f1 commands | sort | uniq -c | tr -s ' \n' ' ')" ' 3 ::error 1 ::warning '
    equal places "$(grep -c 'file=50%25%2C a%3Ab/shelf.cc,line=[0-9]*,' commands)" 4
    "$O/leakreport" --apart --show-suppressed test.leak >text # with all it has to say
    python3 "$root/tests/formats/github.py" --within text <commands || fail "not the words of $(cat text)"
    python3 "$root/tests/formats/markdown.py" <summary || fail "$(cat summary)"
    equal rows "$(grep -c '^| :' summary)" 4
}
test_children_and_crashes_stand_in_every_format() {
    need python3 xmllint cmark-gfm
    compile kids -g -fno-builtin <<'EOF'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile sink;
static void child_leaks(void) { sink = malloc(77); sink = NULL; }
static void parent_leaks(void) { sink = malloc(33); sink = NULL; }
int main(void)
{
    for (int i = 0; i < 3; i++)
        if (!fork()) {
            child_leaks();
            if (i == 2)
                *(volatile int *)8 = 1;
            exit(0);
        }
    while (wait(NULL) > 0)
        ;
    parent_leaks();
    return 0;
}
EOF
    leakrun --keep=k.leak --no-report ./kids
    for format in xml valgrind lsan github markdown; do
        "$O/leakreport" --format=$format k.leak k.*.leak >r.$format
        reader=$root/tests/formats/$format.py
        [ -e "$reader" ] || reader=$root/tests/formats/valgrind_$(echo $format | sed s/valgrind/text/).py
        python3 "$reader" <r.$format || fail "$format"
    done
    "$O/leakreport" --format=junit k.leak k.*.leak >r.junit
    xmllint --noout --relaxng "$root/tests/formats/junit.rng" r.junit
    "$O/leakreport" --format=memreport k.leak k.*.leak | xmllint --noout --relaxng "$root/tests/formats/memreport.rng" -
    # One document, in which what is another process's says so.
    equal 'documents' "$(grep -c '<valgrindoutput>' r.xml)" 1
    equal 'of others' "$(grep -c '<auxwhat>In process [0-9]*, .*/kids</auxwhat>' r.xml)" 3
    says r.xml '4 processes; pid, arguments and times are those of the first'
    equal 'signal' "$(xmllint --xpath 'string(//fatal_signal/signame)' r.xml)" SIGSEGV
    equal 'address' "$(xmllint --xpath 'string(//fatal_signal/siaddr)' r.xml)" 0x8
    # As Valgrind and LeakSanitizer do: every process, each with its number.
    equal 'summaries' "$(grep -c '== ERROR SUMMARY: ' r.valgrind)" 4
    says r.valgrind 'Process terminating with default action of signal 11 \(SIGSEGV\)'
    equal 'direct leaks' "$(grep -c '^Direct leak of 77 ' r.lsan)" 2
    # For people: what is the same in two processes once.
    says r.junit '<error type="SIGSEGV" message="crash by SIGSEGV: write to 0x8,'
    says r.junit '^Same result in 1 more process\.$'
    equal 'lost in children' "$(grep -c '^::error .*title=77 bytes in 1 block lost' r.github)" 1
    says r.github '^::error .*title=crash by SIGSEGV%3A write to 0x8%2C'
    says r.markdown 'crash by SIGSEGV: write to 0x8'
}
tidy='#include <cstdlib>
int main() { char *volatile block = (char *)malloc(3); free(block); }'

test_ctest_counts_our_defects() {
    need g++ cmake ctest
    echo "$shelf" >shelf.cc
    echo "$tidy" >tidy.cc
    cat >CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.10)
project(shelf CXX)
set(CMAKE_CXX_FLAGS "-g -O1 -w")
include(CTest)
foreach(name shelf tidy)
    add_executable(\${name} \${name}.cc)
    add_test(NAME \${name} COMMAND \${name})
endforeach()
EOF
    cmake -B build -DMEMORYCHECK_TYPE=Valgrind -DMEMORYCHECK_COMMAND="$root/scripts/memcheck" \
        -DMEMORYCHECK_COMMAND_OPTIONS=--leak-check=full >/dev/null
    cmake --build build >/dev/null
    (cd build && ctest -T memcheck) >out
    says out 'MemCheck: #1: shelf \.* *Defects: 4'
    silent_about out 'MemCheck: #2'
    says out '^Memory Leak - 2$'
    says out '^Potential Memory Leak - 1$'
    says out '^Mismatched deallocation - 1$'
    # With a suppression, and as a failure.
    printf '{\n ring\n Memcheck:Leak\n fun:*\n ...\n fun:_Z4ringv\n}\n' >known
    cmake -B build -DMEMORYCHECK_COMMAND_OPTIONS='--leak-check=full --error-exitcode=9' \
        -DMEMORYCHECK_SUPPRESSIONS_FILE="$PWD/known" >/dev/null
    ! (cd build && ctest -T memcheck) >out || fail "leaks fail no test: $(cat out)"
    says out '^Memory Leak - 1$'
    says out '1 tests failed out of 2'
}
test_meson_wraps_its_tests() {
    need g++ meson ninja
    echo "$shelf" >shelf.cc
    echo "$tidy" >tidy.cc
    cat >meson.build <<EOF
project('shelf', 'cpp', default_options: ['buildtype=debug'])
test('shelf', executable('shelf', 'shelf.cc'))
test('tidy', executable('tidy', 'tidy.cc'))
EOF
    meson setup build >/dev/null
    ! meson test -C build --wrap="$root/scripts/leakrun --error-exitcode=9" >out || fail "$(cat out)"
    says out 'shelf +FAIL .*exit status 9'
    says out 'tidy +OK'
    says build/meson-logs/testlog-leakrun.txt '^libleak: pid=.* lost=96/2/2 '
}
test_memcheck_takes_the_options_of_valgrind() {
    need g++
    build_shelf 'she lf'
    memcheck=$root/scripts/memcheck
    "$memcheck" -q --log-file="it's a log" --num-callers=50 './she lf' || fail "status $?"
    says "it's a log" '^==[0-9]+== ERROR SUMMARY: 4 errors from 4 contexts'
    silent_about "it's a log" 'still reachable in loss'
    "$memcheck" --log-file="it's a log" --show-reachable=yes -- './she lf' --leak-check=no
    says "it's a log" 'Command: \./she lf --leak-check=no$'
    equal 'with a status' "$(status_of "$memcheck" --error-exitcode=5 './she lf')" 5
    equal 'only the indirect' "$("$memcheck" --show-leak-kinds=indirect './she lf' 2>&1 | grep -c 'in loss record')" 2
    equal 'refused' "$(status_of "$memcheck" --leak-check=no './she lf')" 125
    equal 'no program' "$(status_of "$memcheck" -q)" 125
}
test_short_has_a_line_for_each_finding_with_its_place_first() {
    need g++ jq
    echo "$shelf" >shelf.cc
    g++ -g -O0 -w -o shelf shelf.cc
    leakrun --no-report --keep=shelf.leak ./shelf || true
    "$O/leakreport" --format=short shelf.leak >out
    "$O/leakreport" --format=json shelf.leak | jq -r --arg d "$PWD/" '.processes[] |
        (.errors[], (.records[] | select(.verdict | IN("lost", "possible")))) |
        [.frames[] | select(.user)][0] | .file[($d | length):] + ":" + (.line | tostring)' >wanted
    [ -s wanted ] || fail 'nothing was found'
    equal 'the places' "$(sed '$d' out | grep -oE '^[^ ]+:[0-9]+: ' | sed 's/: $//')" "$(cat wanted)"
    equal 'the last line' "$(tail -n 1 out)" "$("$O/leakreport" shelf.leak | tail -n 1)"
    "$O/leakreport" --format=short --top=1 shelf.leak >out
    says out 'more findings \(--top=0\)$'
    equal 'the lines of -q' "$("$O/leakreport" -q --format=short shelf.leak | wc -l)" 1
}
test_full_names_places_where_other_programs_find_the_same() {
    need g++ addr2line
    echo "$shelf" >shelf.cc
    g++ -g -O2 -w -o shelf shelf.cc
    leakrun --no-report --keep=shelf.leak ./shelf || true
    "$O/leakreport" --format=full shelf.leak >out
    says out '^ #0  wrong\(\)'
    says out 'kept by the C and C\+\+ runtime'
    "$O/leakreport" --format=full --show=lost shelf.leak >lost
    silent_about lost 'bytes .* kept by the C and C\+\+ runtime \(malloc'
    awk '/^ *#[0-9]/ { at = "" } / [^ ]*shelf\.cc:[0-9:]+$/ { at = $NF }
        at && $1 == "in" && /shelf\+0x/ { sub(/.*\+/, "", $2); print $2, at }' out | sort -u >places
    [ "$(wc -l <places)" -gt 3 ] || fail "too few places: $(cat places)"
    while read -r offset place; do
        addr2line -i -e shelf "$offset" >lines
        says lines "^${place%:*}( |\$)"
    done <places
}
