# What a small program's report looks like: a screen of it, in words its author would use.

# Leaks of several kinds; how many is the first argument. With threads not all of them are one's.
leaky() { # output, language
    cat >"$1.src" <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; char *name; };
static void *volatile sink;
#define ALONE __attribute__((noinline)) static
ALONE struct node *node_new(const char *name)
{
    struct node *made = (struct node *)malloc(sizeof *made);
    made->next = NULL;
    made->name = strdup(name);
    return made;
}
ALONE void list(void)
{
    struct node *head = NULL;
    for (int i = 0; i < 9; i++) {
        struct node *made = node_new("the name of a node");
        made->next = head;
        head = made;
    }
    sink = head;
}
ALONE void table(void) { sink = calloc(100, 40); }
ALONE void copies(void) { for (int i = 0; i < 7; i++) sink = strdup("a copy"); }
ALONE void grow(void) { for (int i = 1; i < 4; i++) sink = malloc((size_t)i * 1000); }
ALONE void some_are_freed(void) { for (int i = 0; i < 20; i++) { sink = malloc(256); if (i % 2) free(sink); } }
ALONE void wipe(void) { volatile char stack[8192]; for (size_t i = 0; i < sizeof stack; i++) stack[i] = 0; }
static void *threaded(void *call) { ((void (*)(void))call)(); return NULL; }
int main(int argc, char **argv)
{
    void (*all[])(void) = {list, table, copies, grow, some_are_freed};
    for (int i = 0; i < atoi(argv[1]); i++)
        if (i % 2 && argc > 2) {
            pthread_t thread;
            pthread_create(&thread, NULL, threaded, (void *)all[i]);
            pthread_join(thread, NULL);
        } else {
            all[i]();
        }
    sink = NULL;
    wipe();
    return 0;
}
END
    "$2" -x "$3" -g -O1 -w -pthread -o "$1" "$1.src"
}
report() { leakrun --color=never "$@" 2>out; }

test_a_small_program_has_its_report_on_one_screen() {
    need gcc g++
    leaky c gcc c
    leaky cc g++ c++
    for program in c cc; do
        for count in 1 3 5; do
            for threads in '' threads; do
                # shellcheck disable=SC2086
                report ./$program $count $threads
                [ "$(wc -l <out)" -le 25 ] || fail "too long: $(cat out)"
                equal 'records' "$(grep -cE '^[0-9]\. .* bytes in [0-9]+( of [0-9]+)? blocks? lost' out)" $count
                # Each has its own line of source, and the next one is its caller's.
                equal 'their lines' "$(grep -v '^  *|' out |
                    grep -A 1 -E '^   [> ] (node_new|table|copies|grow|some_are_freed) .*src:[0-9]+$' |
                    grep -cE '^     (list|main|threaded) .*src:[0-9]+$')" $count
                says out '^     fixing this leak releases .* in 18 blocks$'
                says out '^Next: '
                says out '^libleak: pid='
                says out ' s before the end by T1 |, [0-9.]+ s( to [0-9.]+ s)? old \(T[12]\)'
            done
        done
    done
    report ./c 1
    says out '^       \| struct node \*made ='
    says out '^     holds '
    report ./c 5 threads
    report -v ./c 5 threads
    says out '^       \| struct node \*made ='
    says out '^     allocated [0-9.]+ s before the end by T1 '
}
test_records_are_numbered_and_keep_their_signature() {
    need gcc jq
    leaky c gcc c
    for run in 1 2; do
        leakrun --no-report --keep=$run.leak ./c 5
        "$O/leakreport" --apart --top=0 --color=never $run.leak | sed -n 's/^ *\([0-9]*\)\. .* \([0-9a-f]\{16\}\)$/\1 \2/p' >numbered.$run
        "$O/leakreport" --format=json $run.leak >json
        jq -r '.processes[0].records[] | select(.verdict == "lost") | .signature' json | sort >in_json
        cut -d ' ' -f 2 numbered.$run | sort >in_text
        cmp in_text in_json || fail "JSON has others: $(cat numbered.$run json)"
    done
    [ "$(wc -l <numbered.1)" -ge 5 ] || fail "few: $(cat numbered.1)"
    equal 'numbers from 1 on' "$(cut -d ' ' -f 1 numbered.1)" "$(seq "$(wc -l <numbered.1)")"
    equal 'each its own' "$(uniq -d in_text)" ''
    sort -k 2 numbered.1 >one
    sort -k 2 numbered.2 >two
    cmp one two || fail "another run has others: $(cat numbered.1 numbered.2)"
    "$O/leakreport" --apart --top=2 --color=never 1.leak | grep -E '^ *[0-9]+\. ' >few
    equal 'the first two alone' "$(wc -l <few)" 2
}
test_what_is_true_of_all_records_is_said_once() {
    need gcc
    leaky c gcc c
    report ./c 3
    equal 'where it is said' "$(grep -cE 'allocated 0\.[0-9] s before the end by T1' out)" 1
    says out '^All these blocks were allocated 0\.[0-9] s before the end by T1 \(c\)\.$'
    report ./c 2 threads
    silent_about out '^All these blocks'
    equal 'two threads' "$(grep -cE '^     allocated 0\.[0-9] s before the end by T[12] ' out)" 2
}
test_names_are_short_unless_they_are_asked_for_in_full() {
    need g++
    cat >app.cc <<'END'
#include <map>
#include <string>
#include <vector>
template <class T> struct keeper {
    __attribute__((noinline)) void keep(const T &value) { made = new T(value); }
    T *volatile made;
};
int main()
{
    keeper<std::map<int, std::vector<std::string>>> one;
    one.keep({});
    one.made = nullptr;
    return 0;
}
END
    g++ -g -O1 -std=c++17 -o app app.cc
    report ./app
    says out '^     keeper<std::map<int, std::vector<std::string>>>::keep +app.cc:5$'
    silent_about out 'allocator|basic_string'
    report --full-names ./app
    says out 'std::allocator<std::pair<int const, std::vector<.*keep\(std::map<.*> const&\)'
    says out "^ +$PWD/app.cc:5$"
    leakrun --format=json -o app.json ./app
    says app.json '"function": "keeper<std::map<.*std::allocator<std::pair<int const, std::vector<'
}
# The nodes of the map point back into the owner, to the head of the tree.
owner_of_a_map() { # what an entry of the map has in it
    cat >owner.cc <<END
#include <map>
struct owner { std::map<int, void *> entries; };
__attribute__((noinline)) static void lose(void)
{
    owner *made = new owner;
    for (int i = 0; i < 9; i++)
        made->entries[i] = $1;
}
__attribute__((noinline)) static void wipe(void)
{
    volatile char stack[8192];
    for (unsigned i = 0; i < sizeof stack; i++)
        stack[i] = 0;
}
int main() { lose(), wipe(); }
END
    g++ -g -O1 -fno-builtin -o owner owner.cc
    leakrun --color=never ./owner >out 2>report || :
    says report '^[0-9]+ bytes in 1 block lost \(1 record\), plus [0-9]+ bytes indirectly lost$'
}
test_owner_of_a_container_is_a_reference_cycle_only_if_an_entry_points_to_it() {
    owner_of_a_map nullptr
    silent_about report 'reference cycle'
    owner_of_a_map made
    says report '^     reference cycle$'
}

test_a_long_path_is_said_once() {
    need gcc
    mkdir -p sources/of/the/program elsewhere
    cat >sources/of/the/program/a.c <<'END'
#include <stdlib.h>
void *volatile sink;
__attribute__((noinline)) void forget(void) { sink = malloc(10); sink = 0; }
int main(void) { forget(); return 0; }
END
    gcc -g -O1 -o elsewhere/app "$PWD/sources/of/the/program/a.c"
    cd elsewhere
    report ./app
    says out "^Sources below ${PWD%/elsewhere}/sources/of/the/program:$"
    says out '^     forget +a.c:3$'
    says out '^       \| __attribute__'
    report --full-names ./app
    silent_about out '^Sources below'
    says out "/sources/of/the/program/a.c:3$"
    cd ..
    report elsewhere/app
    silent_about out '^Sources below'
    says out '^     forget +sources/of/the/program/a.c:3$'
}

# libdw loads libdebuginfod, and with it two dozen libraries, to see that no server is configured.
test_debuginfod_is_loaded_for_a_server_only() {
    need gcc
    ldconfig -p | grep -q libdebuginfod.so || skip "no libdebuginfod here"
    leaky plain gcc c
    strip plain
    LD_PRELOAD=$O/libleak.so LIBLEAK_OPTIONS=dir=store ./plain 1 || fail "status $?"
    for urls in '' http://127.0.0.1:9/; do
        env DEBUGINFOD_URLS="$urls" DEBUGINFOD_TIMEOUT=1 LD_DEBUG=files "$O/leakreport" store/*.leak >out 2>&1
        equal "loaded with the server '$urls'" "$(grep -q 'libdebuginfod.so.* \[' out && echo yes || echo no)" "$([ "$urls" ] && echo yes || echo no)"
    done
}
