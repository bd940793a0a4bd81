# Formats of reports on a real program, read by others than us: tests/formats has the readers.

# Inlined frames, a ring, what hangs under a lost block, a mismatched free, what was freed again.
shelf='#include <cstdlib>
#include <string>
#include <vector>
struct Book { char title[40]; Book *next; };
void *volatile sink;
static inline __attribute__((always_inline)) Book *make_book() { return new Book(); }
__attribute__((noinline)) void fill(int n) {
    for (int i = 0; i < n; i++) { Book *b = make_book(); b->next = make_book(); sink = b; }
    sink = nullptr;
}
__attribute__((noinline)) void ring() {
    Book *a = new Book, *b = new Book;
    a->next = b; b->next = a; sink = a; sink = nullptr;
}
__attribute__((noinline)) void wrong() { sink = new char[30]; free(sink); }
__attribute__((noinline)) void busy() { for (int i = 0; i < 1000; i++) { sink = malloc(100); free(sink); } }
static std::vector<std::string> kept;
int main(int, char **argv) {
    fill(atoi(argv[1])); ring(); wrong(); busy();
    for (int i = 0; i < 20; i++) kept.emplace_back(200, 0x78);
    sink = nullptr;
    exit(0);
}'
shelve() { # format, output
    echo "$shelf" | g++ -O1 -g -x c++ -o shelf -
    leakrun --no-report --keep=10.leak ./shelf 10
    "$O/leakreport" --format=json -o json --all --show-suppressed 10.leak
    "$O/leakreport" --format="$1" -o "$2" --all --show-suppressed 10.leak
}

test_pprof_reads_our_profiles() {
    need go python3 g++
    shelve pprof 10.pb.gz
    /usr/bin/python3 "$root/tests/formats/pprof.py" 10.pb.gz json allocations
    top() { go tool pprof -symbolize=none -top "$@" 2>/dev/null; }
    top -sample_index=leaked_space 10.pb.gz >out
    says out '^ *960B .* make_book \(inline\)$'
    says out '^ *96B .* ring'
    top -sample_index=alloc_objects 10.pb.gz >out
    says out '^ *1000 .* busy'
    top -sample_index=inuse_objects 10.pb.gz >out
    silent_about out ' busy'
    top -sample_index=leaked_objects -tagfocus=verdict=indirect 10.pb.gz >out
    says out '^ *10 .* make_book'
    go tool pprof -symbolize=none -sample_index=leaked_space -traces 10.pb.gz >out
    says out '^ *480B +make_book \(inline\)$'
    says out '^ +bytes: +48B$'
}
test_profiles_of_two_runs_are_compared() {
    need go g++
    shelve pprof 10.pb.gz
    leakrun --format=pprof -o 13.pb.gz ./shelf 13
    go tool pprof -symbolize=none -unit=bytes -sample_index=leaked_space -diff_base 10.pb.gz -top 13.pb.gz >out 2>/dev/null
    says out '^ *288B .* make_book'
    silent_about out '[0-9]B .* ring'
}
test_no_format_tells_where_when_it_is_to_be_anonymous() {
    need g++ gzip
    shelve json again
    for format in json ndjson sarif pprof folded; do
        "$O/leakreport" --format=$format --all --anonymize -o "out.$format" 10.leak
        gzip -dcf "out.$format" >plain
        grep -q make_book plain || fail "$format: not even what leaked"
        if grep -F "$PWD" plain; then fail "$format: where it was"; fi
    done
    grep -qF "$PWD" again || fail "it would not be there in any case"
}
test_a_profile_is_not_written_to_a_terminal() {
    need script g++
    shelve pprof 10.pb.gz
    script -qec "$O/leakreport --format=pprof 10.leak" /dev/null >out && fail "it was"
    says out 'pprof is nothing for a terminal: give -o FILE'
    equal lines "$(wc -l <out)" 1
    "$O/leakreport" --format=pprof 10.leak | gzip -t
}
test_flame_graphs_are_drawn_of_our_stacks() {
    need python3 g++
    shelve folded stacks
    /usr/bin/python3 "$root/tests/formats/folded.py" stacks json bytes
    "$O/leakreport" --format=folded 10.leak >lost
    says lost ';main;fill\(int\);make_book 960$'
    says lost ';main;ring\(\) 96$'
    silent_about lost 'basic_string'
    "$O/leakreport" --format=folded-blocks 10.leak >blocks
    says blocks ';main;fill\(int\);make_book 20$'
}
test_stacks_are_weighed_by_what_is_wanted() {
    need python3 g++
    shelve folded stacks
    sum() { "$O/leakreport" --format=folded --weight="$1" 10.leak | awk '{ n += $NF } END { print n + 0 }'; }
    told() { /usr/bin/python3 -c 'import json, sys; p, = json.load(open("json"))["processes"]; print(eval(sys.argv[1]))' "$1"; }
    equal leaked "$(sum leaked)" "$(told 'p["summary"]["lost"]["bytes"] + p["summary"]["indirect"]["bytes"]')"
    equal live "$(sum live)" "$(told 'p["totals"]["live_bytes"]')"
    equal allocated "$(sum allocated)" "$(told 'p["totals"]["bytes_allocated"]')"
    "$O/leakreport" --format=folded --weight=allocated 10.leak >out
    says out ';main;busy\(\) 100000$'
    "$O/leakreport" --format=folded-blocks --weight=allocated 10.leak >out
    says out ';main;busy\(\) 1000$'
    equal nonsense "$(status_of "$O/leakreport" --format=folded --weight=heavy 10.leak)" 2
    "$O/leakreport" --weight=leaked 10.leak 2>err && fail 'text is not weighed'
    says err '^leakreport: --weight goes with folded, tree and pprof, not with: text'
}
test_callgrind_annotate_reads_our_profiles() {
    need callgrind_annotate python3 g++
    shelve callgrind profile
    /usr/bin/python3 "$root/tests/formats/callgrind.py" JSON json <profile
    callgrind_annotate --show=AllocatedBlocks --sort=AllocatedBlocks profile >out
    says out '^ *1,000 \([0-9.]+%\) +<stdin>:busy\(\)'
}
test_ms_print_draws_our_snapshots() {
    need ms_print python3 g++
    shelve massif snapshots
    /usr/bin/python3 "$root/tests/formats/massif.py" JSON json <snapshots
    ms_print snapshots >out
    says out '^->[0-9.]+% \(960B\) 0x[0-9A-F]+: make_book \(<stdin>:6\)'
    # A run that is long enough for the composition of its peak to be known.
    compile peak <<'END'
#include <stdlib.h>
#include <unistd.h>
void *kept[1000];
void swell(void) { for (int i = 0; i < 1000; i++) kept[i] = malloc(1000); }
int main(void) { for (int n = 0; n < 3; n++) { swell(); usleep(600000); for (int i = 0; i < 1000; i++) free(kept[i]); usleep(600000); } return 0; }
END
    leakrun --no-report --keep=peak.leak ./peak
    "$O/leakreport" --format=json --all -o peak.json peak.leak
    "$O/leakreport" --format=massif -o snapshots --force peak.leak
    /usr/bin/python3 "$root/tests/formats/massif.py" JSON peak.json <snapshots
    ms_print snapshots >out
    says out '\(peak\)'
    says out '\((9[0-9]{2}|1,000),000B\) 0x[0-9A-F]+: swell '
    "$O/leakreport" --format=folded --weight=peak peak.leak >out
    equal 'the peak' "$(awk '/;main;swell / { print $NF }' out)" "$(sed -n 's/^mem_heap_B=//p' snapshots | sort -n | tail -n 1)"
}
test_a_spreadsheet_gets_a_row_for_each_record() {
    need python3 g++
    shelve csv rows
    /usr/bin/python3 "$root/tests/formats/csv_rows.py" JSON json <rows
}
test_speedscope_shows_our_profiles() {
    need python3 g++ npm chromium
    shelve speedscope profile.json
    timeout 50 npm install --silent --prefix=package speedscope@1.25.0 >npm.log 2>&1 || skip 'npm has no speedscope'
    /usr/bin/python3 "$root/tests/formats/speedscope.py" profile.json json package/node_modules/speedscope
}
test_sarif_names_the_line_that_leaks() {
    need python3 g++
    shelve sarif sarif
    /usr/bin/python3 "$root/tests/formats/sarif.py" sarif json
    echo "$shelf" >shelf.cc
    g++ -O1 -g -o shelf "$PWD/shelf.cc"
    echo 'leak:^ring' >known
    leakrun --format=sarif -o out --suppressions=known ./shelf 10
    /usr/bin/python3 - out <<'END'
import json, sys
run, = json.load(open(sys.argv[1]))["runs"]
at = {}
for result in run["results"]:
    place = result["locations"][0]["physicalLocation"]
    at[result["ruleId"], place["region"]["startLine"]] = result
    assert place["artifactLocation"] == {"uri": "shelf.cc", "uriBaseId": "%SRCROOT%"}, place
assert set(at) == {("lost", 6), ("lost", 12), ("mismatched-free", 15)}, set(at)
lost, ring, wrong = at["lost", 6], at["lost", 12], at["mismatched-free", 15]
steps = lost["codeFlows"][0]["threadFlows"][0]["locations"]
assert [s["location"]["message"]["text"] for s in steps] == ["main", "fill(int)", "make_book"]
assert " in 20 blocks" in lost["message"]["text"]
assert not lost["suppressions"] and ring["suppressions"][0]["justification"] == "leak:^ring"
assert wrong["relatedLocations"][0]["message"]["text"] == "allocated here"
assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"].startswith("file:///")
END
}

# ---- Suppressions ----

generate() { # syntax, of all but what ring() lost
    echo 'leak:^ring' >ring
    shelve json again
    "$O/leakreport" --gen-suppressions="$1" --suppressions=ring -o "$1" 10.leak
}
test_generated_suppressions_fit_what_they_are_of() {
    need g++
    for syntax in lsan valgrind libleak; do
        rm -f 10.leak json again
        generate $syntax
        leakrun --suppressions=$syntax ./shelf 10 2>err
        says err '^1\. 48 bytes in 1 of 2 blocks lost'
        silent_about err '^2\. '
        says err ' lost=48/1/1 indirect=48/1/1 '
    done
    equal 'another run' "$(status_of leakrun --suppressions=libleak --suppressions=ring \
        --error-exitcode=9 --errors-for=lost ./shelf 10)" 0
    sed 's/# count/count/' libleak >few
    equal 'as many' "$(status_of leakrun --suppressions=few --suppressions=ring \
        --error-exitcode=9 --errors-for=lost ./shelf 10)" 0
    equal 'more' "$(status_of leakrun --suppressions=few --suppressions=ring \
        --error-exitcode=9 --errors-for=lost ./shelf 11)" 9
}
test_valgrind_takes_what_is_generated_for_it() {
    need valgrind g++
    generate valgrind
    valgrind --leak-check=full --suppressions=valgrind ./shelf 10 >out 2>&1
    says out 'definitely lost: 48 bytes in 1 blocks'
    valgrind --leak-check=full ./shelf 10 >out 2>&1
    says out 'definitely lost: 528 bytes in 11 blocks'
    "$O/leakreport" --gen-suppressions=libleak -o libleak 10.leak
    valgrind --leak-check=full --suppressions=libleak ./shelf 10 >out 2>&1
    says out 'definitely lost: 528 bytes in 11 blocks' # it passes over what is not its own
}
test_leak_sanitizer_takes_what_is_generated_for_it() {
    need g++
    generate lsan
    echo "$shelf" | g++ -O1 -g -fsanitize=leak -x c++ -o sanitized - 2>err || skip "no LeakSanitizer here"
    LSAN_OPTIONS=suppressions=lsan ./sanitized 10 >out 2>&1 && fail "ring() is forgotten"
    says out '96 byte\(s\) leaked in 2 allocation\(s\)'
    says out '^ *20 +960 \^make_book\$$'
}
test_expired_suppressions_are_said_and_hold_no_more() {
    need g++
    generate libleak
    sed 's/# expires=.*/expires=2001-01-01/; s/# reason=/reason=until we know/' libleak >old
    leakrun --suppressions=old --suppressions=ring --format=json -o out ./shelf 10 2>err
    leakrun --suppressions=old --suppressions=ring ./shelf 10 2>err
    says err '^Suppression expired on 2001-01-01: 480 bytes in 10 blocks lost, .* \(old:2\)$'
    says err ' lost=480/10/1 '
    sed -i 's/2001-/9999-/' old
    leakrun --suppressions=old --suppressions=ring --show-suppressed ./shelf 10 2>err
    silent_about err 'expired'
    says err 'suppressed by 480 bytes .* \(old:2\): until we know$'
    says err ' lost=0/0/0 '
}
test_built_in_rules_are_printed_and_are_a_suppression_file() {
    "$O/leakreport" --default-suppressions=print >printed
    "$O/leakreport" --default-suppressions >bare
    leakrun --default-suppressions=print >run
    cmp printed bare && cmp printed run || fail 'they differ'
    says printed '^   fontconfig$'
    says printed '^   managed_by=ruby'
    equal 'it is read' "$(status_of leakrun --suppressions=printed --default-suppressions=off true)" 0
    equal 'nonsense' "$(status_of "$O/leakreport" --default-suppressions=some 10.leak)" 2
}
test_suppressions_are_generated_instead_of_a_report() {
    need g++
    generate libleak
    equal 'both' "$(status_of "$O/leakreport" --gen-suppressions=lsan --format=json 10.leak)" 2
    equal 'nonsense' "$(status_of "$O/leakreport" --gen-suppressions=massif 10.leak)" 2
    leakrun --gen-suppressions=lsan -o out ./shelf 10
    says out '^leak:\^make_book\$$'
    silent_about out '^libleak:'
}
test_sarif_says_what_became_of_a_baseline() {
    need python3 g++ jq
    shelve sarif none
    silent_about none baselineState
    "$O/leakreport" --format=json -o base.json --all 10.leak
    # No ring any more, more in fill(), a new one in late().
    echo "$shelf" | sed -e 's/ring(); wrong();/wrong(); late();/' \
        -e 's/^int main/__attribute__((noinline)) void late() { sink = malloc(77); sink = nullptr; }\n&/' |
        g++ -O1 -g -x c++ -o shelf -
    leakrun --no-report --keep=12.leak ./shelf 12
    for form in json sarif; do
        "$O/leakreport" --format=$form -o now.$form --all --show-suppressed --baseline=base.json 12.leak ||
            equal 'the status' $? 1
    done
    /usr/bin/python3 "$root/tests/formats/sarif.py" now.sarif now.json
    "$O/leakreport" diff --format=json --all base.json 12.leak |
        jq -r '.changes[] |
            ({new: "new", grown: "updated", shrunk: "updated", unchanged: "unchanged", fixed: "absent"}[.change]) +
            " " + .signature' | sort -u >wanted
    jq -r '.runs[0].results[] | .baselineState + " " +
        .partialFingerprints["libleakSignature/v1"]' now.sarif | sort -u >got
    equal 'the states' "$(cat got)" "$(cat wanted)"
    equal 'how many of each' "$(cut -d ' ' -f 1 got | sort | uniq -c | tr -s ' ' | tr '\n' ';')" \
        ' 1 absent; 1 new; 2 unchanged; 1 updated;'
    equal 'what hides those that are gone' "$(jq -c '[.runs[0].results[] | select(.baselineState == "absent") |
        .suppressions[0].status] | unique' now.sarif)" '["accepted"]'
}

# ---- Text beyond the records ----

test_trees_and_sizes_are_commands_of_their_own() {
    need g++
    shelve json again
    for word in tree peak temporary histogram; do
        "$O/leakreport" $word 10.leak >out
        "$O/leakreport" --format=$word 10.leak | cmp - out || fail "$word is not its format"
        [ -s out ] || fail "$word says nothing"
    done
    "$O/leakreport" tree 10.leak >out
    says out '^ *[0-9.]+ % +960 bytes +20 +fill +<stdin>:8$'
    says out '^ *[0-9.]+ % +96 bytes +2 +ring +<stdin>:12$'
    silent_about out '__libc_start'
    "$O/leakreport" tree --inverted 10.leak >out
    says out '^ *[0-9.]+ % +960 bytes +20  make_book +<stdin>:6$'
    "$O/leakreport" tree --weight=allocated 10.leak >out
    says out '100 kB +1,000 +busy +<stdin>:16$'
    "$O/leakreport" temporary 10.leak >out
    says out '^1\. (9[0-9]{2}|1,000) temporary blocks, 100 % of those freed, 100 kB \(malloc\)$'
    says out '^ +busy +<stdin>:16$'
    "$O/leakreport" histogram 10.leak >out
    says out ' 64 to 127 +1,00[0-9] +100 kB '
    equal 'inverted text' "$(status_of "$O/leakreport" --inverted 10.leak)" 2
    leakrun --format=tree ./shelf 10 2>out
    says out ' fill +<stdin>:8$'
}
test_long_reports_on_a_terminal_have_a_pager() {
    need script g++
    shelve json again
    show() { # variables and options: what a terminal shows
        script -qec "$*" /dev/null </dev/null >out 2>&1
    }
    show "LIBLEAK_PAGER='sed s/^/paged:/' $O/leakreport 10.leak"
    says out '^paged:.*bytes in .* blocks lost'
    show "PAGER='sed s/^/paged:/' $O/leakreport --all 10.leak"
    says out '^paged:'
    show "PAGER='sed s/^/paged:/' LIBLEAK_PAGER=cat $O/leakreport 10.leak"
    silent_about out '^paged:'
    show "PAGER='sed s/^/paged:/' $O/leakreport --no-pager 10.leak"
    silent_about out '^paged:'
    says out 'bytes in .* blocks lost'
    show "LIBLEAK_PAGER=/nowhere/less $O/leakreport 10.leak"
    says out 'bytes in .* blocks lost'
    show "LIBLEAK_PAGER='head -n 1' $O/leakreport --format=json 10.leak; echo status=\$?"
    says out 'status=0'
    LIBLEAK_PAGER='sed s/^/paged:/' "$O/leakreport" 10.leak >out # no terminal
    silent_about out '^paged:'
    show "LIBLEAK_PAGER='sed s/^/paged:/' $root/scripts/leakrun ./shelf 10"
    silent_about out '^paged:'
    show "$O/leakreport -o there 10.leak"
    says out '^leakreport: wrote there'
    "$O/leakreport" -o again.txt 10.leak >out 2>&1
    [ ! -s out ] || fail "words for nobody: $(cat out)"
}
