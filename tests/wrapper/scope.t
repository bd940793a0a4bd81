# What a report is about: modules, functions and threads; said at the start, or to leakreport.

# a() and b() leak in libraries of their own; b() also has a() allocate for it.
libraries() {
    compile liba.so -g -O0 -fPIC -shared <<'END'
#include <stdlib.h>
void *volatile sink;
void a(void) { sink = malloc(100); }
END
    compile libb.so -g -O0 -fPIC -shared <<'END'
#include <stdlib.h>
void a(void);
void *volatile sink_b;
void b_calls_a(void) { a(); }
void b(void) { sink_b = malloc(30); b_calls_a(); sink_b = NULL; }
END
    compile both -g -O0 -L. '-Wl,-rpath,$ORIGIN' -Wl,--no-as-needed -l:liba.so -l:libb.so -pthread <<'END'
#include <pthread.h>
#include <stdlib.h>
void a(void), b(void);
extern void *volatile sink;
void *volatile mine;
static void both(void) { mine = malloc(7); mine = NULL; }
static void *work(void *unused) { pthread_setname_np(pthread_self(), "worker"); a(); both(); return unused; }
int main(void) {
    pthread_t thread;
    a(), b(), both();
    pthread_create(&thread, NULL, work, NULL), pthread_join(thread, NULL);
    sink = NULL;
    return 0;
}
END
}
lost() { # wanted, file, options...
    wanted=$1 file=$2
    shift 2
    "$O/leakreport" "$@" "$file" >out
    says out " lost=$wanted "
}

test_modules_functions_and_threads_narrow_a_report() {
    libraries
    leakrun --keep=both.leak --no-report ./both
    lost 344/6/6 both.leak
    lost 300/3/3 both.leak '--modules=+liba*'
    lost 300/3/3 both.leak '--modules=liba.so'
    lost 44/3/3 both.leak '--modules=-liba*'
    lost 330/4/4 both.leak '--modules=+lib*'
    lost 30/1/1 both.leak '--modules=+lib*,-liba*'
    lost 0/0/0 both.leak '--modules=+libc.so*'
    lost 130/2/2 both.leak '--modules=+libb*' --modules-match=any
    lost 214/4/4 both.leak '--modules=-libb*' --modules-match=any
    lost 100/1/1 both.leak --functions=b_calls_a
    lost 244/5/5 both.leak --functions=-b_calls_?
    lost 107/2/2 both.leak --threads=T2
    lost 107/2/2 both.leak --threads=worker
    lost 237/4/4 both.leak --threads=T1
    lost 237/4/4 both.leak --threads=-worker
    lost 107/2/2 both.leak --threads=-T1
    lost 100/1/1 both.leak --threads=T2 '--modules=liba*'
    "$O/leakreport" -v '--modules=liba*' both.leak >out
    says out '^Suppressed: 44 bytes in 3 blocks by 1 rule'
    says out '44 bytes in 3 blocks: modules=liba\* \(the command line\)'
    silent_about out '^[1-9]\. .*7 bytes'
    equal 'the status of what is left out' "$(status_of "$O/leakreport" --error-exitcode=3 '--modules=+libc.so*' both.leak)" 0
    equal 'the status with a name of no module' "$(status_of "$O/leakreport" --error-exitcode=3 --modules=none both.leak)" 124
    equal 'the status of what is not' "$(status_of "$O/leakreport" --error-exitcode=3 '--modules=liba*' both.leak)" 3
    for bad in --modules=+ --modules=a,,b --threads=- --functions=a, --modules-match=all; do
        equal "the status of $bad" "$(status_of "$O/leakreport" "$bad" both.leak)" 2
    done
}
test_a_scope_is_kept_in_the_account() {
    libraries
    LIBLEAK_OPTIONS='modules=+libb*:modules_match=any:threads=T1' leakrun --keep=kept.leak ./both 2>err
    says err ' lost=130/2/2 '
    says err '^Suppressed: 214 bytes in 4 blocks by 1 rule'
    lost 130/2/2 kept.leak
    lost 130/2/2 kept.leak --functions=b
    lost 300/3/3 kept.leak --threads= '--modules=+liba*' --modules-match=caller
    lost 344/6/6 kept.leak --modules= --threads=
    leakrun --keep=line.leak '--modules=liba*' --modules-match=caller --functions=b_calls_a ./both 2>err
    says err ' lost=100/1/1 '
    lost 100/1/1 line.leak
    lost 344/6/6 line.leak --modules= --functions=
    leakrun --modules-match=all ./both 2>err && fail "it takes modules-match=all"
    says err 'modules-match=all: it takes caller, any'
    leakrun --help >help
    equal 'times that help has it' "$(grep -c -e '--modules=' help)" 1
}
test_wrappers_named_by_the_user_are_no_headline() {
    compile passing -g -O0 -fno-builtin <<'END'
#include <stdlib.h>
void *volatile sink;
static void *take(size_t size) { return malloc(size); }
static void *node_malloc(void) { return malloc(24); }
static void parse(void) { sink = take(10); }
static void load(void) { sink = node_malloc(); }
int main(void) { parse(); load(); sink = NULL; return 0; }
END
    heads() { # wanted, file, options...
        wanted=$1 file=$2
        shift 2
        "$O/leakreport" --format=json "$@" "$file" >report.json
        equal "headlines with $*" "$(/usr/bin/python3 -c '
import json
print(*sorted(f["function"] for r in json.load(open("report.json"))["processes"][0]["records"]
              if r["verdict"] == "lost" for f in r["frames"] if f["user"]))')" "$wanted"
    }
    leakrun --keep=plain.leak --no-report ./passing
    heads 'load take' plain.leak
    heads 'load parse' plain.leak --wrappers=take
    heads 'node_malloc take' plain.leak --wrappers=-node_malloc
    heads 'node_malloc parse' plain.leak '--wrappers=-node_*,ta?e'
    heads 'main main' plain.leak --wrappers=take,parse,load
    "$O/leakreport" '--wrappers=*' plain.leak >out # no frame is left: still a reported leak
    says out ' lost=34/2/2 '
    says out '^     main '
    LIBLEAK_OPTIONS=wrappers=take leakrun --keep=named.leak ./passing 2>err
    says err '^     parse '
    heads 'load parse' named.leak
    heads 'load take' named.leak --wrappers=
    heads 'load parse' named.leak
    "$O/leakreport" --format=json named.leak plain.leak >report.json # each by its own
    /usr/bin/python3 -c '
import json
for process in json.load(open("report.json"))["processes"]:
    print(*sorted(f["function"] for r in process["records"] for f in r["frames"] if f["user"]))' >both
    equal 'headlines of two accounts' "$(tr '\n' , <both)" 'load parse,load take,'
}
test_sums_by_each_key_are_those_of_the_summary() {
    libraries
    leakrun --keep=both.leak --no-report ./both
    for key in function file module size kind thread site tag; do
        for top in 0 1; do
            "$O/leakreport" --format=json --by=$key --top=$top both.leak >report.json
            /usr/bin/python3 - report.json "$key" "$top" "$root/docs/schema.json" <<'END'
import json, sys
try:
    import jsonschema
    jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[4])))
except ImportError:
    print("no python3-jsonschema here")
process = json.load(open(sys.argv[1]))["processes"][0]
by, top = process["by"], int(sys.argv[3])
assert by["key"] == sys.argv[2]
assert "lost" in by["verdicts"] and "indirect" in by["verdicts"] and "runtime" not in by["verdicts"]
for what in "bytes", "blocks", "records":
    summary = sum(process["summary"][v][what] for v in by["verdicts"])
    rows = sum(row[what] for row in by["rows"])
    assert by["total"][what] == summary == rows + by["rest"][what], (what, by)
assert top == 0 or len(by["rows"]) == top
sizes = [row["bytes"] for row in by["rows"]]
assert sizes == sorted(sizes, reverse=True)
if not top:
    assert abs(sum(row["share"] for row in by["rows"]) - 1) < 0.01
    assert (by["rows"][0]["signature"] is not None) == (by["key"] == "site")
    wanted = {"function": {"a": 300, "b": 30, "both": 14}, "kind": {"malloc": 344},
              "size": {"64-127": 300, "16-31": 30, "4-7": 14},
              "thread": {"T1 (both)": 237, "T2 (worker)": 107},
              "tag": {"[no tag]": 344}}.get(by["key"])
    got = {row["name"]: row["bytes"] for row in by["rows"]}
    assert wanted is None or got == wanted, got
    assert by["key"] != "module" or [name.split("/")[-1] for name in got] == ["liba.so", "libb.so", "both"], got
END
        done
        "$O/leakreport" --by=$key --top=1 both.leak >out
        says out '^both \(pid [0-9]+\) has 344 bytes in 6 blocks, by '$key',$'
        says out '^Shown: .* Rest: '
    done
    "$O/leakreport" --by=function '--modules=-liba*' both.leak >out # what is suppressed is in no row
    says out 'has 44 bytes in 3 blocks'
    "$O/leakreport" --by=function --show=runtime both.leak >out
    says out '^runtime:$'
    for bad in --by=color '--by=function --format=xml' '--blocks --format=html' '--by=kind --gen-suppressions=lsan'; do
        # shellcheck disable=SC2086 # words
        equal "the status of $bad" "$(status_of "$O/leakreport" $bad both.leak)" 2
    done
    equal 'the status of diff' "$(status_of "$O/leakreport" diff --by=function both.leak both.leak)" 2
}
test_blocks_are_listed_one_by_one_as_far_as_they_are_known() {
    compile many -g -O0 -fno-builtin <<'END'
#include <stdlib.h>
void *volatile sink;
static void few(void) { sink = malloc(5000), sink = malloc(6000); }
static void many(void) { for (int i = 0; i < 50; i++) sink = malloc(100 + i); }
int main(void) { few(); many(); sink = NULL; return 0; }
END
    leakrun --keep=many.leak --no-report ./many
    "$O/leakreport" --blocks many.leak >out
    equal 'blocks of few' "$(grep -cE '^lost +0x[0-9a-f]+ +[56],000 bytes +T1#[12] +few ' out)" 2
    says out '^lost +0x[0-9a-f]+ +149 bytes +T1#52 +many '
    known=$(grep -c '^lost ' out)
    says out "^Listed: $known blocks of .* bytes, of 52 blocks of 17,225 bytes\."
    says out "^$((52 - known)) blocks, .* are not listed"
    "$O/leakreport" --blocks '--functions=few' many.leak >out
    says out '^Listed: 2 blocks of 11,000 bytes, of 2 blocks of 11,000 bytes\.'
    silent_about out 'known only'
    leakrun --exit-look=off --keep=unlooked.leak --no-report ./many
    "$O/leakreport" --blocks unlooked.leak >out
    says out '^Listed: 0 blocks of 0 bytes, of 52 blocks'
}
