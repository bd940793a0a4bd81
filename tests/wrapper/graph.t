# leakgraph on a program with a known structure: a cache that holds a thousand entries in lists, each with a key; five
# lost pairs that hold each other and one that is kept; a spare block that only one variable holds.

cached='#include <stdlib.h>
#include <stdio.h>
#include <string.h>
struct entry { long number; struct entry *next; char *key; long spare[4]; };
struct cache { long count; struct entry **buckets; };
struct pair { long number; struct pair *peer; };
static struct cache *the_cache;
static struct pair *volatile kept;
static void *spare;
__attribute__((noinline)) static char *key_new(void) { char *key = malloc(24); memset(key, 107, 24); return key; }
__attribute__((noinline)) static struct entry *entry_new(void) { struct entry *entry = calloc(1, sizeof *entry); entry->key = key_new(); return entry; }
__attribute__((noinline)) static struct cache *cache_new(void) { return calloc(1, sizeof(struct cache)); }
__attribute__((noinline)) static void buckets_new(struct cache *cache) { cache->buckets = calloc(64, sizeof *cache->buckets); }
__attribute__((noinline)) static struct pair *half_new(void) { return calloc(1, sizeof(struct pair)); }
__attribute__((noinline)) static void spare_new(void) { spare = malloc(777); memset(spare, 0, 777); }
__attribute__((noinline)) static void fill(void)
{
    the_cache = cache_new();
    buckets_new(the_cache);
    for (int i = 0; i < 1000; i++) {
        struct entry *entry = entry_new();
        entry->next = the_cache->buckets[i % 64];
        the_cache->buckets[i % 64] = entry;
    }
    for (int i = 0; i < 6; i++) {
        struct pair *one = half_new();
        one->peer = half_new();
        one->peer->peer = one;
        kept = one;
    }
    spare_new();
}
int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    fill();
    volatile char wipe[65536];
    memset((char *)wipe, 0, sizeof wipe);
    printf("%p %p %p\n", (void *)the_cache, (void *)the_cache->buckets[5], spare);
    if (argc > 1)
        free(spare), spare = NULL;
    return argc > 2 ? getchar() : 0;
}'
make_graph() { # file, arguments: of the program; $cache, $entry and $spare are addresses
    [ -x cached ] || printf '%s\n' "$cached" | compile cached -O1 -g
    file=$1
    shift
    LIBLEAK_OPTIONS=dir=$PWD:graph=$file LD_PRELOAD=$O/libleak.so ./cached "$@" >said.cached
    read -r cache entry spare <said.cached
}
graph() { "$O/leakgraph" "$@"; }
value() { # expression of the document d: of leakgraph's JSON on stdin
    /usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"
}

test_graph_of_a_cache_names_its_owner() {
    need gcc
    make_graph heap.lg
    graph heap.lg >out
    says out '^Blocks: 2,015$'
    says out '^lost +5 '
    says out ' 1,000  struct entry +entry_new \(<stdin>:[0-9]+\)$'
    graph heap.lg suspects >out
    equal suspects "$(grep -c 'of the heap' out)" 1
    says out '^One struct cache from cache_new .*, held by the_cache .* 9[0-9] % of the heap .* most of it 1,000 × struct entry from entry_new '
    graph heap.lg dominators >out
    says out ' 1 × struct cache from cache_new .*, held by the_cache '
    says out ' 2 × struct pair from half_new .*, the largest held by kept '
    graph heap.lg dominators --json >json
    equal 'the tree' "$(value '[(o["site"].split()[0], o["blocks"], o["lost"]) for o in d["owners"]]' <json)" \
        "[('cache_new', 1, False), ('spare_new', 1, False), ('half_new', 10, True), ('half_new', 2, False)]"
    equal 'below the cache' "$(value '[d["owners"][0]["holds"][0][k] for k in ("blocks", "held")], d["owners"][0]["holds"][0]["holds"][0]["blocks"]' <json)" \
        '([1, 2001], 1000)'
    equal 'all is in it' "$(value 'sum(o["retained"] for o in d["owners"])' <json)" "$(graph heap.lg summary --json | value 'd["bytes"]')"
}
test_graph_shows_the_way_to_a_block_and_who_points_there() {
    need gcc
    make_graph heap.lg
    graph heap.lg path "$entry" --json >json
    equal root "$(value 'd["root"].split()[0]' <json)" the_cache
    equal steps "$(value '[(s["offset"], s["address"]) for s in d["path"]][0::2], d["path"][1]["offset"], d["path"][2]["offset"]' <json)" \
        "([(None, '$cache'), (40, '$entry')], 8, 40)"
    graph heap.lg refs "$spare" --json >json
    equal 'one root' "$(value '[r["root"].split()[0] for r in d["roots"]], d["blocks"]' <json)" "(['spare'], [])"
    graph heap.lg out "$entry" --json >json
    equal 'its pointers' "$(value '[(b["offset"], b["site"].split()[0]) for b in d["blocks"]]' <json)" "[(8, 'entry_new'), (16, 'key_new')]"
    inside=$(printf '0x%x' $((entry + 9)))
    equal 'an address inside' "$(graph heap.lg out "$inside" --json | value 'd["address"]')" "$entry"
    signature=$("$O/leakreport" --format=json --show=reachable cached.*.leak | grep -B30 '"function": "spare_new"' | grep -o '"signature": "[0-9a-f]*"' | tail -1 | cut -d'"' -f4)
    equal 'a record by its signature' "$(graph heap.lg path "$signature" --json | value 'd["address"]')" "$spare"
}
test_cycles_are_named_by_the_words_that_close_them() {
    need gcc
    make_graph heap.lg
    graph heap.lg cycles --no-types --json >json
    equal cycles "$(value '[(c["cycles"], c["blocks"], c["lost_blocks"], c["closed_by"].count("half_new"), c["closed_by"].count("+0x8")) for c in d["cycles"]]' <json)" \
        '[(6, 12, 10, 2, 2)]'
    graph heap.lg cycles --json >json
    equal 'with types' "$(value '[(c["cycles"], c["closed_by"], c["words"]) for c in d["cycles"]]' <json)" \
        "[(6, 'struct pair.peer -> struct pair.peer -> the first', 'struct pair.peer')]"
}
test_graph_knows_types_and_fields_where_there_is_debug_information() {
    need gcc
    make_graph heap.lg
    graph heap.lg types --json >json
    equal types "$(value '[(t["type"], t["blocks"], t["bytes"], t["lost_blocks"]) for t in d["types"]]' <json)" \
        "[('struct entry', 1000, 56000, 0), ('char[24]', 1000, 24000, 0), ('struct entry *[64]', 1, 512, 0), ('struct pair', 12, 192, 10), ('struct cache', 1, 16, 0)]"
    equal 'what entries hold, one entry once' "$(value 'd["types"][0]["retained"], d["types"][4]["retained"]' <json)" '(80000, 80528)'
    equal 'all but the spare block' "$(value 'd["typed_bytes"]' <json)" "$(($(graph heap.lg --json | value 'd["bytes"]') - 777))"
    graph heap.lg path "$entry" --json >json
    equal 'in the source' "$(value 'd["words"].split(" (")[0], d["type"], [s["field"] for s in d["path"]]' <json)" \
        "('the_cache->buckets[5]', 'struct entry', [None, 'buckets', '[5]'])"
    equal 'its pointers' "$(graph heap.lg out "$entry" --json | value '[(b["field"], b["type"]) for b in d["blocks"]]')" \
        "[('next', 'struct entry'), ('key', 'char[24]')]"
    equal 'who points to it' "$(graph heap.lg refs "$entry" --json | value '[(w["pointers"], w["field"], w["type"]) for w in d["words"]]')" \
        "[(1, '[]', 'struct entry *[64]')]"
    equal 'by type' "$(graph heap.lg find 'type = "struct entry" or type ~ cache' --json | value 'd["blocks"]')" 1001
    equal 'none of that' "$(graph heap.lg find 'type ~ nosuch' --json | value 'd["blocks"]')" 0
    equal 'no entry' "$(graph heap.lg find 'type != "struct entry"' --json | value 'd["blocks"]')" 1015
    graph heap.lg dominators --by=type --json >json
    equal 'the tree' "$(value '[(o["type"], o["blocks"]) for o in d["owners"]]' <json)" \
        "[('struct cache', 1), (None, 1), ('struct pair', 10), ('struct pair', 2)]"
    graph heap.lg path "$entry" >out
    says out '^In the source: the_cache->buckets\[5\] \(<stdin>:[0-9]+\)$'
    graph heap.lg path "$entry" --no-types >out
    equal 'without' "$(grep -c -e struct -e source out || true)" 0
    equal 'no types' "$(status_of "$O/leakgraph" heap.lg types --no-types)" 2
    equal 'no condition' "$(status_of "$O/leakgraph" heap.lg find 'type ~ entry' --no-types)" 2
    strip --strip-debug cached
    make_graph bare.lg
    equal 'without debug information' "$(graph bare.lg types --json | value '[t["type"] for t in d["types"]], d["typed_bytes"]')" '([], 0)'
}
test_types_keep_two_calls_of_one_line_apart() {
    need gcc
    printf '%s\n' '#include <stdlib.h>
struct a { long a[3]; }; struct b { long b[5]; };
struct a *first[8]; struct b *second[8];
int main(void)
{
    for (int i = 0; i < 8; i++) { first[i] = malloc(sizeof *first[i]); second[i] = malloc(sizeof *second[i]); }
    return 0;
}' | compile both -O0 -g
    LIBLEAK_OPTIONS=dir=$PWD:graph=both.lg LD_PRELOAD=$O/libleak.so ./both
    equal 'two calls of one line' "$(graph both.lg summary --json | value 'sorted((s["type"], s["blocks"]) for s in d["sites"] if s["type"])')" \
        "[('struct a', 8), ('struct b', 8)]"
    equal 'one call without types' "$(graph both.lg summary --no-types --json | value '[s["blocks"] for s in d["sites"]]')" '[16]'
}
test_a_cycle_of_shared_pointers_is_named_by_the_member_that_closes_it() {
    need g++
    printf '%s\n' '#include <map>
#include <memory>
#include <vector>
struct Sheet;
struct Chart { int kind = 3; std::shared_ptr<Sheet> source; };
struct Sheet { std::vector<int> numbers; std::map<int, std::shared_ptr<Chart>> charts; std::weak_ptr<Sheet> itself; };
__attribute__((noinline)) static void make(bool plot)
{
    auto sheet = std::make_shared<Sheet>();
    sheet->numbers.assign(100, 1);
    for (int i = 0; plot && i < 3; i++) {
        auto chart = std::make_shared<Chart>();
        chart->source = sheet;
        sheet->charts[i] = chart;
    }
}
int main() { make(true); make(false); volatile char wipe[8192]; for (auto &c : wipe) c = 0; return 0; }' >sheets.cc
    g++ -g -O1 -std=c++17 -o sheets sheets.cc
    LIBLEAK_OPTIONS=dir=$PWD:graph=sheets.lg LD_PRELOAD=$O/libleak.so ./sheets
    graph sheets.lg cycles --json >json
    equal 'one cycle' "$(value 'len(d["cycles"]), d["cycles"][0]["cycles"], d["cycles"][0]["blocks"]' <json)" '(1, 1, 7)'
    equal 'the shortest of shared pointers' "$(value 'd["cycles"][0]["closed_by"].split(" -> ")[0], d["cycles"][0]["closed_by"].split(" -> ")[1:][1]' <json)" \
        "('std::_Sp_counted_ptr_inplace<Sheet>.charts._M_parent', 'std::_Sp_counted_ptr_inplace<Chart>.source._M_ptr')"
    equal 'the vector is on none' "$(grep -c -e numbers -e itself json || true)" 0
    equal 'no other' "$(value 'd["weak_cycles"]' <json)" '[]'
}
test_pointers_inside_containers_and_weak_ones_close_no_cycle() {
    need g++
    printf '%s\n' '#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
struct Child;
struct Parent { std::vector<std::shared_ptr<Child>> children; };
struct Child { std::weak_ptr<Parent> parent; };
struct Self : std::enable_shared_from_this<Self> { int number = 1; };
struct Tree { std::list<Tree> branches; long number = 1; };
struct Index { std::unordered_map<int, std::string> names; std::set<long> numbers; std::map<int, std::list<int>> lists; };
struct Node { std::shared_ptr<Node> next, previous; };
struct Raw { std::list<Raw *> all; };
struct Kept { std::shared_ptr<Parent> parent; std::shared_ptr<Self> self; Tree *tree; Index *index; Raw *raw; };
static Kept *kept;
__attribute__((noinline)) static void closed_by_shared_pointers()
{
    auto first = std::make_shared<Node>(), second = std::make_shared<Node>();
    first->next = second;
    second->previous = first;
}
__attribute__((noinline)) static void fill()
{
    kept = new Kept{std::make_shared<Parent>(), std::shared_ptr<Self>(new Self), new Tree, new Index, new Raw};
    for (int i = 0; i < 20; i++) {
        kept->parent->children.push_back(std::make_shared<Child>());
        kept->parent->children.back()->parent = kept->parent;
        kept->tree->branches.emplace_back();
        kept->tree->branches.back().branches.resize(3);
        kept->index->names[i] = "x";
        kept->index->numbers.insert(i);
        kept->index->lists[i].assign(3, 1);
    }
    kept->raw->all.push_back(kept->raw);
}
int main() { fill(); closed_by_shared_pointers(); return 0; }' >kinds.cc
    for level in -O0 -O2; do
        g++ -g "$level" -std=c++17 -o kinds kinds.cc
        rm -f kinds.lg
        LIBLEAK_OPTIONS=dir=$PWD:graph=kinds.lg LD_PRELOAD=$O/libleak.so ./kinds
        graph kinds.lg cycles --json >json
        equal "$level: the others" "$(value 'sorted((next(t for t in ("_ptr_inplace<Node>", "Raw") if t in c["words"]), c["cycles"], c["blocks"]) for c in d["cycles"])' <json)" \
            "[('Raw', 1, 2), ('_ptr_inplace<Node>', 1, 2)]"
        equal "$level: apart" "$(value 'sorted((next(t for t in ("Parent", "Self", "Tree", "Index") if t in c["words"]), c["cycles"], c["blocks"]) for c in d["weak_cycles"])' <json)" \
            "[('Index', 1, 102), ('Parent', 1, 22), ('Self', 1, 2), ('Tree', 1, 81)]"
    done
    graph kinds.lg cycles >out
    says out '^Cycles only by pointers back inside containers, or by weak pointers:$'
    graph kinds.lg cycles --no-types --json >json
    equal 'without types all are alike' "$(value 'len(d["cycles"]) > 4, d["weak_cycles"]' <json)" '(True, [])'
}
test_weak_and_parent_pointers_of_rust_close_no_cycle() {
    need rustc
    printf '%s\n' 'use std::cell::RefCell;
use std::collections::{BTreeMap, LinkedList};
use std::rc::{Rc, Weak};
struct Leaf { up: RefCell<Weak<Tree>> }
struct Tree { leaves: RefCell<Vec<Rc<Leaf>>> }
struct Ring { next: RefCell<Option<Rc<Ring>>> }
fn main() {
    let tree = Rc::new(Tree { leaves: RefCell::new(vec![]) });
    for _ in 0..3 {
        tree.leaves.borrow_mut().push(Rc::new(Leaf { up: RefCell::new(Rc::downgrade(&tree)) }));
    }
    std::mem::forget(tree);
    let mut numbers = Box::new(BTreeMap::new());
    let mut list = Box::new(LinkedList::new());
    for i in 0..200u64 { numbers.insert(i, i); list.push_back(i); }
    Box::leak(numbers);
    Box::leak(list);
    let first = Rc::new(Ring { next: RefCell::new(None) });
    let second = Rc::new(Ring { next: RefCell::new(Some(first.clone())) });
    *first.next.borrow_mut() = Some(second);
}' >rings.rs
    rustc -g -o rings rings.rs
    LIBLEAK_OPTIONS=dir=$PWD:graph=rings.lg LD_PRELOAD=$O/libleak.so ./rings
    graph rings.lg cycles --json >json
    equal 'by Rc' "$(value '[(c["cycles"], c["blocks"], c["words"].split(".")[0], ".next." in c["words"]) for c in d["cycles"]]' <json)" \
        "[(1, 2, 'alloc::rc::RcInner<rings::Ring>', True)]"
    equal 'apart' "$(value 'sorted(next(t for t in ("btree", "linked_list", "Leaf") if t in c["words"]) for c in d["weak_cycles"])' <json)" \
        "['Leaf', 'btree', 'linked_list']"
}
test_find_says_which_blocks_and_waste_what_malloc_adds() {
    need gcc
    make_graph heap.lg
    equal entries "$(graph heap.lg find 'site ~ entry_new and size = 56' --json | value 'd["blocks"], len(d["found"])')" '(1000, 20)'
    equal 'none' "$(graph heap.lg find 'site ~ entry_new and size > 56' --json | value 'd["blocks"]')" 0
    equal 'the lost' "$(graph heap.lg find 'verdict = lost or verdict = indirect' --json --top=0 | value 'd["blocks"], len(d["found"])')" '(10, 10)'
    equal 'by what it retains' "$(graph heap.lg find 'retained > 50k and refs = 0' --json | value '[b["address"] for b in d["found"]]')" "['$cache']"
    equal 'all keys are as large' "$(graph heap.lg waste --json | value '[s["extra_bytes"] for s in d["sites"] if s["site"].startswith("key_new")]')" '[8000]'
}
test_diff_knows_what_went_and_what_stayed() {
    need gcc
    make_graph old.lg
    make_graph new.lg free
    graph old.lg diff new.lg --json >json
    equal 'two runs' "$(value 'd["change_bytes"], d["change_blocks"], [(s["site"].split()[0], s["change_blocks"]) for s in d["sites"]], "stayed" in d' <json)" \
        "(-777, -1, [('spare_new', -1)], False)"
    graph old.lg diff old.lg --json >json
    equal 'one twice' "$(value 'd["change_bytes"], d["sites"], d["stayed"], d["new"], d["gone"]' <json)" '(0, [], 2015, 0, 0)'
}
test_diff_compares_by_type_and_by_owner() {
    need gcc
    printf '%s\n' '#include <stdlib.h>
#include <string.h>
struct ant { struct ant *next; long legs[3]; }; struct bee { struct bee *next; long wings[5]; };
struct hill { struct ant *ants; }; struct hive { struct bee *bees; };
static struct hill *hill; static struct hive *hive;
extern long libleak_snapshot_graph(const char *file) __attribute__((weak));
__attribute__((noinline)) static struct hill *hill_new(void) { struct hill *hill = calloc(1, sizeof *hill); return hill; }
__attribute__((noinline)) static struct hive *hive_new(void) { struct hive *hive = calloc(1, sizeof *hive); return hive; }
__attribute__((noinline)) static void ant_new(void) { struct ant *ant = calloc(1, sizeof *ant); ant->next = hill->ants; hill->ants = ant; }
__attribute__((noinline)) static void bee_new(void) { struct bee *bee = calloc(1, sizeof *bee); bee->next = hive->bees; hive->bees = bee; }
__attribute__((noinline)) static void ant_end(void) { struct ant *ant = hill->ants; hill->ants = ant->next; memset(ant, 0, sizeof *ant); free(ant); }
__attribute__((noinline)) static void begin(void) { hill = hill_new(); hive = hive_new(); for (int i = 0; i < 100; i++) ant_new(); }
__attribute__((noinline)) static void change(void) { for (int i = 0; i < 10; i++) ant_end(); for (int i = 0; i < 30; i++) bee_new(); }
int main(void)
{
    volatile char wipe[8192];
    begin(); memset((char *)wipe, 0, sizeof wipe); libleak_snapshot_graph("before.lg");
    change(); memset((char *)wipe, 0, sizeof wipe); libleak_snapshot_graph("after.lg");
    return 0;
}' | compile insects -O1 -g
    LIBLEAK_OPTIONS=dir=$PWD LD_PRELOAD=$O/libleak.so ./insects
    rows='[(r.get("type"), (r.get("site") or "").split(" ")[0], r["change_bytes"], r["change_blocks"], r["blocks"], r["stayed"]) for r in d[sys.argv[2]]]'
    compare() { # from, to, by, key
        graph "$1" diff "$2" --by="$3" --json | /usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$rows" "$4"
    }
    equal 'by site' "$(compare before.lg after.lg site sites)" "[(None, 'bee_new', 1440, 30, 30, 0), (None, 'ant_new', -320, -10, 90, 90)]"
    equal 'by type' "$(compare before.lg after.lg type types)" "[('struct bee', '', 1440, 30, 30, 0), ('struct ant', '', -320, -10, 90, 90)]"
    equal 'by owner' "$(compare before.lg after.lg owner owners)" \
        "[('struct hive', 'hive_new', 1440, 30, 31, 1), ('struct hill', 'hill_new', -320, -10, 91, 91)]"
    equal 'back' "$(compare after.lg before.lg type types)" "[('struct bee', '', -1440, -30, 0, 0), ('struct ant', '', 320, 10, 100, 90)]"
    graph before.lg diff after.lg --by=owner >out
    says out '^ *\+1,440 bytes +\+30 +.* 31 +1  struct hive +hive_new '
    for by in site type owner; do
        equal "nothing by $by" "$(compare after.lg after.lg $by ${by}s)" '[]'
    done
    graph after.lg diff after.lg --by=type >out
    equal 'nothing in words' "$(grep -c struct out || true)" 0
    strip --strip-debug insects
    equal 'without debug information' "$(compare before.lg after.lg type types)" "[(None, '', 1120, 20, 122, 92)]"
    equal 'an owner of what' "$(status_of "$O/leakgraph" after.lg dominators --by=owner)" 2
    equal 'by nothing' "$(status_of "$O/leakgraph" after.lg diff before.lg --by=type --no-types)" 2
}
test_a_page_shows_who_holds_the_heap() {
    need gcc chromium python3
    make_graph heap.lg
    mv cached '<img src=x onerror=alert(1)>'
    LIBLEAK_OPTIONS=dir=$PWD:graph=page.lg LD_PRELOAD=$O/libleak.so './<img src=x onerror=alert(1)>' >said.cached
    graph page.lg html >page.html
    graph page.lg html --json >page.json
    graph page.lg retained --top=0 --json >retained.json
    equal 'all blocks as leakgraph has them' "$(/usr/bin/python3 -c 'import json
page, rows = json.load(open("page.json")), json.load(open("retained.json"))["blocks"]
rows = {int(r["address"], 16): (r["size"], r["retained"], r["held"], r["verdict"], r["site"], r["type"]) for r in rows}
texts = page["texts"]
print(len(rows), page["explored"], all(rows[a] == (page["size"][i], page["retained"][i], page["held"][i], texts[page["verdict"][i]], texts[page["site"][i]], texts[page["type"][i]])
    for i, a in enumerate(page["address"])))')" '2015 2015 True'
    python3 "$root/tests/formats/clicks.py" page.html page.json heap picture.png
}
test_the_page_of_a_report_has_the_heap_when_there_is_a_graph() {
    need gcc chromium python3
    printf '%s\n' "$cached" | compile cached -O1 -g
    leakrun --keep=cached.leak --graph=heap.lg --format=html -o page.html ./cached >out 2>&1
    graph heap.lg html --json >page.json
    python3 "$root/tests/formats/clicks.py" page.html page.json heap picture.png
    leakrun --format=html -o alone.html ./cached >out 2>&1
    equal 'without a graph' "$(grep -c 'id="graph"' alone.html || true)" 0
    "$O/leakreport" --format=html --heap=nowhere.lg cached.leak >page.html 2>err
    says err '^leakgraph: nowhere.lg cannot be opened: No such file or directory$'
    says err '^leakreport: the page is without the heap of nowhere.lg$'
    equal 'the page is there' "$(grep -c '</html>' page.html)" 1
    equal 'a text has no map' "$(status_of "$O/leakreport" --heap=heap.lg cached.leak)" 2
}
test_leakctl_makes_a_graph_of_a_running_process() {
    need gcc
    printf '%s\n' "$cached" | compile cached -O1 -g
    mkfifo input
    LIBLEAK_OPTIONS=dir=$PWD LD_PRELOAD=$O/libleak.so ./cached free wait <input >said.cached &
    running=$!
    exec 3>input
    until_says said.now '^0x' cat said.cached
    "$O/leakctl" snapshot --dir=. --graph="$PWD/a file" "$running" >out
    says out "^heap graph: leakgraph '.*/a file'\$"
    "$O/leakctl" snapshot --dir=. --graph "$running" >out
    says out "^heap graph: leakgraph .*/cached\.$running\.leakgraph\$"
    equal 'nothing changed' "$(graph 'a file' diff "cached.$running.leakgraph" --json | value 'd["change_blocks"], d["gone"], d["new"]')" '(0, 0, 0)'
    status=0
    "$O/leakctl" snapshot --dir=. --graph=/nowhere/x "$running" >out 2>err || status=$?
    equal 'no such directory' $status 1
    says err '^leakctl: cached \(pid [0-9]+\): no heap graph was written: /nowhere/x: No such file or directory$'
    "$O/leakctl" snapshot --dir=. "$running" >out
    equal 'without one' "$(wc -l <out)" 1
    equal files "$(ls | grep -c -e leakgraph -e part -e 'a file')" 2
    echo >&3
    wait "$running" || true
}
test_leakgraph_refuses_what_it_does_not_know() {
    need gcc
    make_graph heap.lg
    head -c 2000 heap.lg >cut.lg
    for wrong in '' 'nowhere.lg' 'cut.lg' 'said.cached' 'heap.lg nosuch' 'heap.lg path' 'heap.lg path xyz' 'heap.lg find' 'heap.lg find size' \
        'heap.lg summary x' 'heap.lg diff nowhere' 'heap.lg out 0x1 2' '--bogus heap.lg' 'heap.lg --top=x'; do
        # shellcheck disable=SC2086 # words
        equal "leakgraph $wrong" "$(status_of "$O/leakgraph" $wrong)" 2
        # shellcheck disable=SC2086
        equal "lines of $wrong" "$("$O/leakgraph" $wrong 2>&1 | wc -l)" 1
    done
    equal 'no block' "$(status_of "$O/leakgraph" heap.lg path 0x10)" 1
    equal 'no record' "$(status_of "$O/leakgraph" heap.lg path 0123456789abcdef)" 1
    graph cut.lg 2>err || true
    says err '^leakgraph: cut.lg is incomplete'
    graph cached.*.leak 2>err || true
    says err ' is a recording, which has no graph; '
    graph heap.lg suspcts 2>err || true
    says err "unknown command: 'suspcts'; did you mean suspects\?"
    equal 'a full disk' "$(graph heap.lg >/dev/full 2>err || echo $?)" 2
    says err 'cannot write the output'
}
test_leakrun_replaces_the_graph_of_an_earlier_run_only_by_force() {
    need gcc
    printf '%s\n' "$cached" | compile cached -O1 -g
    leakrun --graph=heap.lg ./cached >out 2>&1
    equal 'the first' "$(graph heap.lg --json | value 'd["blocks"]')" 2015
    equal 'the second' "$(status_of leakrun --graph=heap.lg ./cached)" 125
    leakrun --force --graph=heap.lg ./cached free >out 2>&1
    equal 'by force' "$(graph heap.lg --json | value 'd["blocks"]')" 2014
    leakrun --graph=%e.%n.lg sh -c './cached; ./cached' >out 2>&1
    equal 'one for each' "$(ls cached.*.lg | wc -l)" 2
}

under_gdb() { # preloaded library, a line each: what gdb is told in main's frame, in the call of printf
    preload=$1
    shift
    printf '%s\n' 'set confirm off' 'set pagination off' "set exec-wrapper env LIBLEAK_OPTIONS=dir=$PWD LD_PRELOAD=$preload" \
        "source $root/share/libleak_gdb.py" 'break printf' run up-silently "$@" >told.gdb
    gdb -q -batch -nx -x told.gdb ./cached 2>&1
}
test_gdb_asks_who_holds_a_block() {
    need gcc gdb
    printf '%s\n' "$cached" | compile cached -O1 -g
    export TMPDIR=$PWD
    under_gdb "$O/libleak.so" 'libleak block the_cache' 'libleak who the_cache->buckets[6]' 'libleak types' \
        'libleak graph suspects' 'set var the_cache->buckets[5]->key = 0' 'libleak graph summary' 'stepi' 'libleak graph summary' 'delete' 'continue' >out
    says out '^Type: struct cache$'
    says out ' \+0x8 .*buckets +struct entry \*\[64\]'
    says out '^In the source: the_cache->buckets\[6\] '
    says out ' 1,000 +80 kB .*  struct entry$'
    says out '^One struct cache from cache_new '
    equal 'one file until the program runs on' "$(sed -n 's/^lost  *\([0-9]*\) .*/\1/p' out | tr '\n' ' ')" '5 6 '
    says out '^0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+$' # the program's own output
    says out '^\[Inferior 1 .* exited normally\]$'
    equal 'nothing is left' "$(ls -d libleak-gdb-* 2>/dev/null | wc -l)" 0
    under_gdb '' 'libleak types' >out || true
    says out 'does not run under libleak'
    under_gdb "$O/libleak.so" 'libleak block 16' >out || true
    says out 'no block is at 0x10$'
}
test_gdb_asks_a_program_with_threads_and_keeps_its_signals() {
    need gcc gdb
    printf '%s\n' '#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct thing { struct thing *next; int n; };
static struct thing *things[4];
static volatile int stop;
static void *work(void *mine)
{
    for (int i = 0; !stop; i++) {
        struct thing *thing = malloc(sizeof *thing);
        if (i < 100) thing->next = *(struct thing **)mine, *(struct thing **)mine = thing;
        else free(thing);
    }
    return NULL;
}
int main(void)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, work, &things[i]);
    usleep(300000);
    printf("%d\n", 7);
    stop = 1;
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    return 0;
}' | compile cached -O1 -g -pthread
    export TMPDIR=$PWD
    under_gdb "$O/libleak.so" 'handle SIG60 nostop print nopass' 'info signals' 'libleak types' 'info signals' delete continue >out
    says out ' 40[0-4] .*  struct thing$' # each thread may have one more for a moment
    says out '^\[Inferior 1 .* exited normally\]$'
    equal 'its signals, twice each' "$(grep '^SIG[3-6][0-9] ' out | sort | uniq -c | awk '$1 != 2' | wc -l)" 0
    says out '^SIG60[[:space:]]+No[[:space:]]+Yes[[:space:]]+No[[:space:]]'
}

# ---- In a terminal ----

browse() { # columns, lines, locale: of heap.lg
    open_screen "$1" "$2" "$3"
    send "stty -a >before; '$O/leakgraph' heap.lg; echo status=\$?; stty -a >after" Enter
}

test_a_graph_is_browsed_with_keys() {
    need gcc tmux
    make_graph heap.lg
    for size in '80 24 C.UTF-8' '200 60 C.UTF-8' '80 24 C'; do
        # shellcheck disable=SC2086 # a list
        browse $size
        until_says out '98.8 % .*struct cache' shown
        equal 'the largest first' "$(shown | sed -n 4p | grep -c 'struct cache')" 1
        shown >out
        says out 'struct pair.*, lost$'
        says out '^Enter open '
        send Enter; until_says out '^leakgraph > owners > struct cache' shown
        send Enter; until_says out '1,000 .* struct entry' shown
        send b; until_says out '> blocks$' shown
        send a; until_says out '^address: ' shown
        send -l "$entry"; send Enter
        until_says out '^Why it is there: the_cache' shown
        says out ' \[5\] .*buckets_new'
        says out '^ +0x[0-9a-f]+ +24 bytes +key '
        send End Enter; until_says out '^24 bytes, reachable, holds 24 bytes' shown # the key
        send Left; until_says out "> $entry\$" shown
        send t; until_says out '^leakgraph > owners$' shown
        send / p a i r Enter; until_says out 'filter: pair' shown
        equal 'pairs alone' "$(shown | grep -c -e 'struct pair' -e 'spare_new')" 2
        send '?'; until_says out '^Left +back' shown
        send '?' q; until_says out 'status=0' shown
        equal 'the terminal is what it was' "$(cat after)" "$(cat before)"
        close_screen
    done
}
test_a_window_of_any_size_shows_the_graph() {
    need gcc tmux
    make_graph heap.lg
    browse 80 24 C.UTF-8
    until_says out 'struct cache' shown
    for size in '20 5' '200 60' '3 2' '80 24'; do
        # shellcheck disable=SC2086
        resize $size
        send Down Up
    done
    until_says out '98.8 % .*struct cache' shown
    send a; send -l 0x10; send Enter; until_says out 'no block is there' shown
    send q; until_says out 'status=0' shown
    close_screen
    equal 'not on a terminal' "$(status_of "$O/leakgraph" heap.lg browse)" 2
    graph heap.lg >out
    says out '^Blocks: 2,015$' # summary
}
