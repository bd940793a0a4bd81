# The page of --format=html, in a real browser.

shop() { # shop.html and shop.json of one run
    cat >shop.cc <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <map>
#include <libleak.h>
struct Item { std::string name; };
static std::map<int, Item *> cache;
char *volatile last_error;
extern "C" void hostile(void);
__attribute__((noinline)) static Item *load(int id) { return new Item{"number " + std::to_string(id) + " with a long name"}; }
__attribute__((noinline)) static void price(int id) { Item *item = new Item; if (id > 13) return; delete item; }
__attribute__((noinline)) static void set_error(const char *text) { last_error = strdup(text); }
int main() {
    for (int i = 0; i < 20; i++) { libleak::tag tag(i > 17 ? "<b>last</b>" : "priced"); price(i); }
    for (int i = 0; i < 5; i++) cache[i] = load(i);
    set_error("the first one"); set_error("the second one");
    hostile();
    last_error = nullptr;
    FILE *f = fopen("/dev/null", "r"); (void)f;
    int *volatile v = new int[10]; delete v;
    if (cache.empty()) return 1;
    _Exit(0);
}
END
    printf '#include <stdlib.h>\nextern char *volatile last_error;\nvoid hostile(void) { last_error = calloc(1, 99); }\n' |
        gcc -w -x c -c -o hostile.o -
    g++ -g -O0 -w -I"$root/include" -c shop.cc
    for object in hostile.o shop.o; do
        objcopy --redefine-sym "hostile=</script><script>window.hacked=1</script><img src=x onerror=alert(1)>" $object
    done
    g++ -o shop shop.o hostile.o
    leakrun --keep=shop.leak --no-report ./shop
    "$O/leakreport" --format=html -o shop.html shop.leak
    "$O/leakreport" --format=json -o shop.json shop.leak
}
browse() { # case
    need chromium python3
    shop
    python3 "$root/tests/formats/clicks.py" shop.html shop.json "$1" picture.png
}

test_the_page_has_the_numbers_of_the_report() {
    need python3
    shop
    python3 "$root/tests/formats/clicks.py" shop.html shop.json numbers
}
test_the_page_shows_records_with_their_source() { browse reading; }
test_the_page_shows_no_source_where_no_line_is_known() {
    need chromium python3
    echo 'void *volatile sink; void *malloc(unsigned long); int main(void) { sink = malloc(70); sink = 0; return 0; }' |
        compile bare -O1 -g0 -s
    leakrun --keep=bare.leak --no-report ./bare
    "$O/leakreport" --format=html -o bare.html bare.leak
    echo '{}' >none.json
    python3 "$root/tests/formats/clicks.py" bare.html none.json nameless
}
test_the_page_is_searched() { browse searching; }
test_the_page_zooms_into_flames_and_opens_trees() { browse zooming; }
test_the_page_is_used_with_keys() { browse keys; }
test_names_of_hostile_programs_are_only_text() { browse hostile; }
test_the_page_is_read_searched_zoomed_and_used_with_keys_in_firefox() {
    need firefox-esr python3
    shop
    BROWSER=firefox python3 "$root/tests/formats/clicks.py" shop.html shop.json reading,searching,zooming,keys
}
test_the_page_shows_what_was_allocated_in_a_chosen_time() {
    need chromium python3
    compile times -g -O0 <<'END'
#include <stdlib.h>
#include <time.h>
char *volatile kept;
void early(void) { kept = malloc(400); }
void late(void) { kept = malloc(500); }
int main(void) {
    char *held[100];
    early();
    for (int i = 0; i < 100; i++, nanosleep(&(struct timespec){0, 10000000}, NULL)) held[i] = malloc(1000);
    late();
    for (int i = 0; i < 100; i++) free(held[i]);
    kept = NULL;
    return 0;
}
END
    leakrun --keep=times.leak --no-report ./times
    "$O/leakreport" --format=html -o times.html times.leak
    "$O/leakreport" --format=json -o times.json times.leak
    python3 "$root/tests/formats/clicks.py" times.html times.json brushing
}
test_the_page_shows_what_grew_and_the_peak() {
    need chromium python3
    compile grows -g -O0 <<'END'
#include <stdlib.h>
#include <time.h>
struct note { struct note *next; char text[10000]; };
__attribute__((noinline)) static struct note *remember(struct note *list) {
    struct note *note = malloc(sizeof *note);
    note->next = list;
    return note;
}
int main(void) {
    struct note *list = NULL;
    for (int i = 0; i < 900; i++, nanosleep(&(struct timespec){0, 10000000}, NULL))
        list = remember(list);
    for (struct note *next; list; list = next) { next = list->next; free(list); }
    return 0;
}
END
    leakrun --keep=grows.leak --no-report ./grows
    "$O/leakreport" --format=html -o grows.html grows.leak
    "$O/leakreport" --format=json -o grows.json grows.leak
    python3 "$root/tests/formats/clicks.py" grows.html grows.json growing picture.png
}
weights() { # case
    need chromium python3
    compile weights -g -O0 <<'END'
#include <stdlib.h>
char *volatile kept;
void keep(void) { kept = malloc(400); }
void walk(int left) { keep(); if (left) walk(left - 1); }
void direct(void) { keep(); }
void scratch(void) { for (int i = 0; i < 50; i++) free(malloc(1000)); }
int main(void) { walk(2); direct(); scratch(); kept = NULL; return 0; }
END
    leakrun --keep=weights.leak --no-report ./weights
    "$O/leakreport" --format=html -o weights.html weights.leak
    "$O/leakreport" --format=json -o weights.json weights.leak
    python3 "$root/tests/formats/clicks.py" weights.html weights.json "$1"
}
test_the_page_draws_trees_from_both_ends_and_in_each_weight() { weights weighing; }
test_the_page_sorts_sums_up_and_shows_callers() { weights tables; }
test_links_lead_into_a_page_that_fits_a_phone() { weights narrow; }
test_the_page_of_a_comparison_shows_what_is_new_grown_and_fixed() {
    need chromium python3
    for run in before after; do
        compile $run -g -O0 -D$run <<'END'
#include <stdlib.h>
char *volatile kept;
void same(void) { kept = malloc(50); }
void more(int blocks) { while (blocks--) kept = malloc(100); }
void gone(void) { kept = malloc(4000); }
void added(void) { kept = malloc(700); }
int main(void) {
    same();
#ifdef before
    more(2), gone();
#else
    more(5), added();
#endif
    kept = NULL;
    return 0;
}
END
        mv $run program
        leakrun --keep=$run.leak --no-report ./program
        "$O/leakreport" --format=json -o $run.json $run.leak
    done
    "$O/leakreport" diff --format=json before.json after.leak >diff.json || [ $? = 1 ]
    for after in after.leak after.json; do
        "$O/leakreport" diff --format=html before.json $after >diff.html || [ $? = 1 ]
        python3 "$root/tests/formats/clicks.py" diff.html diff.json changes picture.png
    done
}
many_page() { # records: a page of a program that loses one block on each of so many stacks
    need chromium python3
    python3 "$root/bench/stacks.py" "$1" 10 30 | compile many -g -O1
    leakrun --keep=many.leak --no-report ./many
    "$O/leakreport" --format=html -o many.html many.leak
    echo '{}' >none.json
}
test_a_page_of_a_million_frames_draws_only_what_is_seen() {
    many_page 100000
    python3 "$root/tests/formats/clicks.py" many.html none.json large
}
test_a_page_of_more_records_has_the_rest_as_a_sum() {
    many_page 100500
    python3 "$root/tests/formats/clicks.py" many.html none.json bounded
}
