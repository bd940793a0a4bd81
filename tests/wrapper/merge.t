# leakreport merge: the reports of many processes and hosts as one.

# app LEAKS: that many lost blocks of 40 bytes in keep(), and one of 100 in other() when there is a second word.
program() {
    compile app -g -O1 <<'END'
#include <stdlib.h>
void *volatile sink;
__attribute__((noinline)) static void keep(int n) { while (n--) { sink = malloc(40); sink = NULL; } }
__attribute__((noinline)) static void other(void) { sink = malloc(100); sink = NULL; }
int main(int argc, char **argv) { keep(atoi(argv[1])); if (argc > 2) other(); return 0; }
END
}
store() { # name, leaks, "other"
    name=$1
    shift
    leakrun --no-report --keep="$name.leak" ./app "$@"
}
elsewhere() { # host, store: its report, as if it came from there
    "$O/leakreport" --format=json "$2.leak" | jq --arg h "$1" '.host = $h' >"$1.$2.json"
}
merge() { "$O/leakreport" merge --color=never "$@"; }

test_one_leak_of_many_processes_is_one_record() {
    need gcc jq
    program
    for n in 1 2 3 4; do
        store s$n $n
    done
    store more 1 other
    elsewhere web1 s3
    elsewhere web2 s4
    merge s1.leak s2.leak web1.s3.json web2.s4.json more.leak >out
    says out '^5 processes of app on 3 hosts, 2[0-9-]+ [0-9:]+( to .*)? UTC:$'
    says out '^1\. 440 bytes in 11 blocks lost \(malloc\) '
    says out '^     in 5 processes on 3 hosts, 2[0-9-]+ [0-9:]+( to .*)? UTC$'
    says out "^     in 1 process on $(uname -n), "
    equal 'the last line' "$(tail -n 1 out | cut -d ' ' -f 1-4)" 'libleak: processes=5 hosts=3 lost=540/12/2'
    merge --top=1 s1.leak more.leak >out
    says out '^\.\.\. and 1 more record \(--top=0\)\.$'
    equal 'the status' "$(status_of "$O/leakreport" merge s1.leak s2.leak)" 0
    equal 'the wanted one' "$(status_of "$O/leakreport" merge --error-exitcode=7 s1.leak s2.leak)" 7
}
test_a_process_that_is_met_again_is_counted_once() {
    need gcc jq
    program
    store s1 1
    store s2 2
    "$O/leakreport" --format=json s2.leak >s2.json
    merge s1.leak s2.leak >once
    merge s1.leak s2.json s2.leak s1.leak >out 2>err
    equal 'what it says' "$(cat out)" "$(cat once)"
    equal 'the words' "$(cat err)" "leakreport: s2.leak: left out 1 process, counted before
leakreport: s1.leak: left out 1 process, counted before"
    merge --format=json s1.leak s2.leak >both.json
    equal 'what is in both' "$(status_of "$O/leakreport" merge s2.leak both.json)" 2
    merge s2.leak both.json >out 2>err || true
    says err '^leakreport: both.json has 1 of the processes that were counted before: '
    says out '^libleak: processes=1 .* lost=80/2/1 '
}
test_what_was_merged_is_read_as_reports_are() {
    need gcc jq
    program
    store s1 1
    store s2 2 other
    store s3 3
    merge --format=json -o all.json s1.leak s2.leak s3.leak
    valid all.json merged
    equal 'its records' "$(jq -c '[.records[] | select(.verdict == "lost") | [.bytes, .blocks, .processes, .hosts, .on[0],
        .frames[0].function]]' all.json)" "[[240,6,3,1,\"$(uname -n)\",\"keep\"],[100,1,1,1,\"$(uname -n)\",\"other\"]]"
    merge s1.leak s2.leak s3.leak >stores
    merge all.json >out
    equal 'as text' "$(cat out)" "$(cat stores)"
    merge --format=json all.json >again.json
    equal 'as JSON' "$(cat again.json)" "$(cat all.json)"
    merge --format=json s1.leak s2.leak >two.json
    merge two.json s3.leak >out
    equal 'in two steps' "$(cat out)" "$(cat stores)"
    "$O/leakreport" diff two.json all.json >out
    says out '^grown +240 bytes in 6 blocks lost '
    says out '^libleak: diff new=0 grown=1 shrunk=0 fixed=0 unchanged=1$'
    equal 'what is in it is known' "$(status_of "$O/leakreport" --baseline=all.json s2.leak)" 0
    merge --format=json s1.leak s3.leak >less.json
    equal 'what is not is new' "$(status_of "$O/leakreport" --baseline=less.json s2.leak)" 1
}
test_damaged_files_are_named_and_the_others_merged() {
    need gcc jq
    program
    store s1 1
    store s2 2
    store s3 4
    head -c 8000 s3.leak >cut.leak
    echo no >no.leak
    : >empty.leak
    echo '{"format":"libleak","version":1,"processes":[' >cut.json
    echo '{"format":"libleak-merged","version":2,"processes":[]}' >new.json
    echo '{"format":"libleak-merged","version":1,"processes":[1,{"pid":-7,"host":3}],"records":[7,{"signature":"zz"},
        {"signature":"0123456789abcdef","verdict":"lost","bytes":-1,"blocks":"x","on":[4,"h"],"processes":2,
        "tags":[1,{"name":3},{"bytes":8},{"name":"odd","bytes":-1,"blocks":"x"},[]],
        "frames":[null,3]}]}' >odd.json
    merge s1.leak cut.leak no.leak empty.leak cut.json new.json odd.json s2.leak nothing >out 2>err || status=$?
    equal 'the status' "${status:-0}" 2
    says out '^libleak: processes=5 hosts=2 lost=120/3/2 '
    says out '^     under the tag odd$'
    equal 'tags that hold' "$(grep -c 'under the tag' out)" 1
    says err '^leakreport: cut.leak is damaged: it counts as far as it can be read$'
    says err '^leakreport: no.leak is too short to be a recording of libleak'
    says err '^leakreport: empty.leak is empty: no recording of libleak'
    says err '^leakreport: cut.json is no JSON: line [0-9]+: .*; write the report again$'
    says err '^leakreport: new.json is a libleak report of another version: '
    says err '^leakreport: nothing cannot be opened: '
    says err '^leakreport: merged 4 of 9 files: mend the others, or leave them out$'
    equal 'lines about it' "$(wc -l <err)" 7
    merge cut.json >out 2>err || status=$?
    equal 'the status of none' "$status$(cat out)" 2
}
test_merge_says_what_it_goes_without() {
    echo '{"format":"libleak","version":1,"processes":[]}' >empty.json
    for option in --stable --anonymize --owners --freed=0x10 --baseline=empty.json --gen-suppressions=lsan; do
        "$O/leakreport" merge "$option" empty.json >out 2>err && fail "$option was taken"
        says err 'merge goes without --gen-suppressions'
    done
    "$O/leakreport" merge --format=html empty.json 2>err && fail 'html was taken'
    says err 'merge writes text or json'
    merge empty.json >out
    says out '^0 processes:$'
    says out 'nothing of what --show names'
}
test_descriptors_and_blocks_of_one_stack_are_distinguished() {
    need gcc jq
    compile app -g -O1 <<'END'
#include <fcntl.h>
#include <stdlib.h>
void *volatile sink;
int main(void) { for (int i = 0; i < 3; i++) { open("/dev/null", O_RDONLY); sink = malloc(40); } sink = NULL; return 0; }
END
    store s1
    store s2
    merge s1.leak s2.leak >out
    says out '^1\. 240 bytes in 6 blocks lost '
    says out '^2\. 6 times left open \(fd\) '
    "$O/leakreport" diff -v s1.leak s2.leak >out
    says out '^unchanged +120 bytes in 3 blocks lost '
    says out '^unchanged +3 times left open \(fd\) '
}
# one() of 40 bytes: the first argument's number under "mesh", one under the second argument, one under none.
tagged() {
    compile app -g -O1 -I"$root/include" <<'END'
#include <libleak.h>
#include <stdlib.h>
void *volatile sink;
__attribute__((noinline)) static void one(const char *tag) {
    if (tag) LIBLEAK_TAG_PUSH(tag);
    sink = malloc(40);
    sink = NULL;
    if (tag) LIBLEAK_TAG_POP();
}
int main(int argc, char **argv) {
    for (int i = atoi(argv[1]) + 1; i >= 0; i--) one(i > 1 ? "mesh" : i ? argv[2] : NULL);
    return 0;
}
END
}
test_tags_of_many_processes_are_added_up() {
    need gcc jq
    tagged
    store s1 2 text
    store s2 3 'a "name"'
    store s3 1 mesh
    merge s1.leak s2.leak s3.leak >out
    says out '^1\. 480 bytes in 12 blocks lost '
    says out '^     under the tag mesh: 280 bytes in 7 blocks$'
    says out '^     under the tag a "name": 40 bytes in 1 block$'
    says out '^     under the tag text: 40 bytes in 1 block$'
    equal 'tags' "$(grep -c 'under the tag' out)" 3
    elsewhere web1 s2
    merge s1.leak web1.s2.json s3.leak | grep 'under the tag' >reports
    grep 'under the tag' out | cmp - reports
    merge --format=json -o all.json s1.leak s2.leak s3.leak
    valid all.json merged
    equal 'as JSON' "$(jq -c '[.records[] | select(.verdict == "lost") | .tags[] | [.name, .bytes, .blocks]]' all.json)" \
        '[["mesh",280,7],["a \"name\"",40,1],["text",40,1]]'
    merge all.json | cmp - out
    program
    store without 2
    merge without.leak >out
    silent_about out 'under the tag'
    merge --format=json without.leak >out
    equal 'tags of none' "$(jq -c '[.records[].tags] | add' out)" '[]'
}
test_tags_of_what_changed_are_reported() {
    need gcc jq
    tagged
    store s1 2 text
    store s2 4 mesh
    "$O/leakreport" --format=json -o s2.json s2.leak
    "$O/leakreport" diff s1.leak s2.json >out
    says out '^grown +240 bytes in 6 blocks lost '
    equal 'its tags' "$(grep 'under the tag' out)" '          under the tag mesh: 200 bytes in 5 blocks'
    "$O/leakreport" diff --format=json s1.leak s2.json >out
    equal 'as JSON' "$(jq -c '.changes[] | [.old, .new] | map([.tags[] | [.name, .blocks]])' out)" \
        '[[["mesh",2],["text",1]],[["mesh",5]]]'
}
