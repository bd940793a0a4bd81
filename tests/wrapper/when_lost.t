# leakrun --when-lost: the last pointer to a lost block, and the line that lost it.

# Each function loses a block in a way of its own; the program runs the ones that its arguments name.
# A comment behind a line is the name by which a test finds its number.
ways() {
    cat >ways.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct item { char name[56]; char *string; struct item *next; };
struct item *list;
char *global, *array[8];
static void busy(int n) { while (n--) free(malloc(900 + n)); }
static struct item *item_new(void) {
    struct item *item = calloc(1, sizeof *item);
    item->string = malloc(40);
    strcpy(item->string, "text");
    return item;
}
static void item_rename(struct item *item, const char *to) {
    busy(2);
    item->string = strdup(to); /*field*/
    busy(2);
}
static void field(void) {
    struct item *item = item_new();
    busy(3);
    item_rename(item, "other");
    free(item->string);
    free(item);
}
static void set_global(void) {
    busy(1);
    global = NULL; /*global*/
    busy(1);
}
static void reassigned(void) {
    global = malloc(41);
    busy(5);
    set_global();
}
static int parse(int n) {
    char *buffer = malloc(42);
    memset(buffer, n, 42);
    busy(2);
    if (n == 4)
        return -1;
    free(buffer);
    return 0; /*local*/
}
static void local(void) {
    for (int i = 0; i < 9; i++)
        parse(i);
}
static void advance(void) {
    struct item *first = list;
    list = list->next; /*head*/
    free(first->string);
    busy(1);
}
static void head(void) {
    for (int i = 0; i < 3; i++) {
        struct item *item = item_new();
        item->next = list;
        list = item;
    }
    busy(3);
    advance();
    while (list) {
        struct item *item = list;
        list = item->next;
        free(item->string);
        free(item);
    }
}
static void item_free(struct item *item) {
    busy(1);
    free(item); /*owner*/
}
static void owner(void) {
    struct item *item = item_new();
    global = (char *)item;
    busy(3);
    global = NULL;
    item_free(item);
}
static void drop_first(void) {
    array[0] = array[1]; /*moved*/
    busy(1);
}
static void moved(void) {
    char *made = malloc(43), *other = malloc(44);
    busy(2);
    global = made;
    made = NULL;
    busy(2);
    struct item *item = item_new();
    free(item->string);
    item->string = global;
    global = NULL;
    busy(2);
    array[0] = item->string;
    free(item);
    busy(2);
    array[1] = other;
    drop_first();
    free(other);
    array[0] = array[1] = NULL;
}
static void *work(void *unused) {
    global = malloc(45);
    busy(4);
    set_global();
    return unused;
}
static void thread(void) {
    pthread_t one;
    pthread_create(&one, NULL, work, NULL);
    pthread_join(one, NULL);
}
static void fifth(void) { /* only the fifth of ten blocks is lost */
    for (int i = 0; i < 10; i++) {
        char *block = malloc(46);
        array[i % 8] = block;
        busy(1);
        if (i == 4)
            set_fifth();
        free(array[i % 8]);
        array[i % 8] = NULL;
    }
}
static void random_order(void) {
    busy(getpid() % 7);
    reassigned();
}
static void kept(void) { global = malloc(47); }
static void input(void) {
    char *line = NULL;
    size_t size = 0;
    getline(&line, &size, stdin);
    global = malloc(48);
    busy(1);
    if (line && strcmp(line, "lose\n") == 0)
        set_global();
    free(line);
    free(global);
}
#define WAY(name) if (strcmp(argv[i], #name) == 0) name();
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        WAY(field) WAY(reassigned) WAY(local) WAY(head) WAY(owner) WAY(moved) WAY(thread) WAY(fifth)
        WAY(random_order) WAY(kept) WAY(input)
    }
    printf("done\n");
    return 0;
}
END
    sed -i 's|^static void fifth|static void set_fifth(void) {\n    busy(1);\n    array[4] = NULL; /*fifth*/\n    busy(1);\n}\n&|' ways.c
    gcc -w -g -fno-builtin "${1:--O0}" -pthread -o ways ways.c
}
line_of() { grep -n "/\*$1\*/" ways.c | cut -d: -f1; }
when_lost() { # program and arguments: the report is in err
    leakrun --when-lost --color=never "$@" >out 2>err
}
loses() { # way, expected words
    when_lost ./ways "$1"
    shift
    for words; do says err "$words"; done
}
loses_small() { # source on stdin, compiled as small.c with the options in OPTIMIZED; expected words
    cat >small.c
    gcc -w -g -fno-builtin "${OPTIMIZED:--O0}" -o small small.c
    when_lost ./small
    for words; do says err "$words"; done
}

test_when_lost_pointer_in_a_field_is_overwritten() {
    ways
    loses field " lost in item_rename at ways.c:$(line_of field), which overwrote the last pointer" \
        '\+56 in a block of 72 bytes from item_new\(\)'
}
test_when_lost_global_is_reassigned() {
    ways
    loses reassigned " lost in set_global at ways.c:$(line_of global), which overwrote" ' global \(ways.c:[0-9]+\)'
}
test_when_lost_local_goes_out_of_scope() {
    ways
    loses local ' lost in parse at ways.c:' 'buffer, a stack slot of parse\(\) \(T1\)'
    at=$(sed -n 's/.* lost in parse at ways.c:\([0-9]*\).*/\1/p' err)
    equal 'the line' "$at" $(($(line_of local) + 1))
}
test_when_lost_register_goes_out_of_scope() {
    ways -O2
    loses local ' lost in parse at ways.c:'
}
test_when_lost_head_of_a_list_advances() {
    ways
    loses head " lost in advance at ways.c:$(line_of head), which overwrote" ' list \(ways.c:'
}
test_when_lost_owner_is_freed() {
    ways
    loses owner " lost in item_free at ways.c:$(line_of owner), which freed the block with the last pointer" \
        '\+56 in a block of 72 bytes from item_new\(\)'
}
# What a destructor forgets belongs to its other lines: those that free others, and the one below which the
# block was used last.
forgetful() { # what the last line of forgetful() does with the object
    loses_small "$2" <<END
#include <stdlib.h>
struct member { long count; char *text; };
struct object { struct member *one, *two, *three; char *name; };
static void busy(void) { free(malloc(9)); }
static struct member *member_new(void) {
    struct member *member = malloc(sizeof *member);
    member->count = 7;
    member->text = malloc(3);
    return member;
}
static void member_log(struct member *member) { member->count++; }
static void member_show(struct member *member) { member_log(member); }
static void member_print(struct member *member) { member_show(member); }
static void member_free(struct member *member) {
    free(member->text);
    free(member);
}
static void object_free(struct object *object) {
    member_free(object->one);
    object->name = realloc(object->name, 5000);
    member_print(object->two);
    free(object->name);
    member_free(object->three);
    $1
}
static void unrelated(void) { busy(); }
int main(void) {
    struct object *object = malloc(sizeof *object);
    object->name = malloc(5);
    object->one = member_new();
    object->two = member_new();
    object->three = member_new();
    unrelated();
    object_free(object);
    busy();
    return 0;
}
END
}
test_when_lost_other_lines_that_free_are_told() {
    forgetful 'free(object);' '^     lost in object_free at small.c:24, which freed the block with the last pointer:$'
    says err '^       it frees other blocks at lines 19, 22 and 23$'
    says err '^       called by member_print at small.c:13,$'
    says err '^       below object_free at small.c:21$'
}
test_when_lost_other_lines_of_what_overwrites_are_not_told() {
    forgetful 'object->two = NULL; busy(); free(object);' '^     lost in object_free at small.c:24, which overwrote the last pointer:$'
    silent_about err 'it frees other blocks'
    says err '^       below object_free at small.c:21$'
}

# The key of the table, whose function allocates the owner.
owner_from_template() { # the key
    cat >small.cc <<END
#include <cstdlib>
struct descending_order {};
static void busy() { free(malloc(900)), free(malloc(901)); }
template <class Key, class Order> struct associative_table {
    char *name;
    __attribute__((noinline)) static associative_table *create(int size) {
        associative_table *table = (associative_table *)malloc(sizeof *table);
        table->name = (char *)malloc(size);
        return table;
    }
};
int main() {
    associative_table<$1, descending_order> *table = associative_table<$1, descending_order>::create(33);
    busy();
    free(table);
}
END
    g++ -w -g -fno-builtin -O0 -o small small.cc
    when_lost ./small
}
test_when_lost_owner_is_from_a_function_without_parameters() {
    owner_from_template int
    says err '^       \+0 in a block of 8 bytes from associative_table<…>::create\(\)$'
    leakrun --when-lost -v --color=never ./small >out 2>err
    says err '^       \+0 in a block of 8 bytes from associative_table<int, descending_order>::create\(int\)$'
}
test_when_lost_pointer_that_moves_is_followed() {
    ways
    loses moved " lost in drop_first at ways.c:$(line_of moved), which overwrote" ' array \(ways.c:'
}
test_when_lost_lost_by_a_thread() {
    ways
    loses thread " lost in set_global at ways.c:$(line_of global), which overwrote" ' global \(ways.c:'
}
test_when_lost_the_one_of_many_that_is_lost() {
    ways
    loses fifth " lost in set_fifth at ways.c:$(line_of fifth), which overwrote"
    silent_about err ' were freed'
}

# What the watchpoint says, single steps say, too; and without both it is between two calls.
test_when_lost_steps_find_the_instruction() {
    ways
    leakrun --keep=ways.leak ./ways field >/dev/null 2>&1
    block=$("$O/leakreport" --blocks-to-follow= ways.leak | sed -n 1p)
    for event in 0 1 2 3 4 5 6 7 8 9 10 11 12; do
        LIBLEAK_OPTIONS="follow_blocks=$block@$event" leakrun ./ways field 2>err >/dev/null
        says err "lost in item_rename at ways.c:$(line_of field), which overwrote"
    done
}

test_when_lost_record_is_chosen_by_number_or_signature() {
    ways
    leakrun --when-lost=2 --color=never ./ways field reassigned >out 2>err
    sed -n '/^2\. /,/^3\. /p' err >second
    says second ' lost in '
    [ "$(grep -c ' lost in ' err)" = 1 ] || fail "one record was asked for: $(cat err)"
    signature=$(sed -n 's/^2\. .* \([0-9a-f]\{16\}\)$/\1/p' err)
    leakrun "--when-lost=$signature" --color=never ./ways field reassigned >out 2>err
    sed -n '/^2\. /,/^3\. /p' err >second
    says second ' lost in '
    leakrun --when-lost=7 ./ways field >out 2>err
    says err 'no record of this number'
    leakrun --when-lost=fiveandtwenty ./ways field >out 2>err
    says err 'number of a record or its signature'
}

# Nodes that only their owner leads to do not hold it, although they point back to it.
back() { # what use() does with a node, expected words
    loses_small "$2" "$3" <<END
#include <stdlib.h>
struct node { struct owner *owner; char name[40]; };
struct owner { struct node *first[3]; char name[9]; };
struct node *registry;
static void busy(void) { free(malloc(9)); }
static struct owner *make(void) {
    struct owner *owner = calloc(1, sizeof *owner);
    for (int i = 0; i < 3; i++) {
        owner->first[i] = calloc(1, sizeof *owner->first[i]);
        owner->first[i]->owner = owner;
    }
    return owner;
}
static int use(void) {
    struct owner *owner = make();
    $1
    busy();
    return owner->name[0];
}
static void drop(void) {
    registry = NULL;
    busy();
}
int main(void) {
    use();
    busy();
    drop();
    return 0;
}
END
    silent_about err 'not lost in the second run'
}
test_when_lost_nodes_that_point_back_hold_nothing() {
    back '' ' lost in use at small.c:19,.* which overwrote the last pointer' 'owner, a stack slot of use\(\)'
}
test_when_lost_node_that_a_variable_holds_holds_its_owner() {
    back 'registry = owner->first[1];' ' lost in main between small.c:26 and 27; the last pointer was' \
        '\+0 in a block of 48 bytes from make\(\)'
}
test_when_lost_list_whose_head_is_a_local_variable() { # the head is a neighbour of the lost item, too
    loses_small ' lost in forget at small.c:14, which overwrote the last pointer' \
        '\+0 in a block of 56 bytes from main\(\)' <<'END'
#include <stdlib.h>
struct item { struct item *next, *before; char name[40]; };
static void busy(void) { free(malloc(9)); }
static void add(struct item *head) {
    struct item *item = calloc(1, sizeof *item);
    item->next = head->next;
    item->before = head;
    if (item->next) item->next->before = item;
    head->next = item;
}
static void forget(struct item *head) {
    struct item *item = head->next;
    busy();
    head->next = item->next;
    if (head->next) head->next->before = head;
    item = NULL;
    busy();
}
int main(void) {
    struct item *head = calloc(1, sizeof *head);
    for (int i = 0; i < 3; i++) { add(head); busy(); }
    forget(head);
    busy();
    while (head) { struct item *next = head->next; free(head); head = next; }
    return 0;
}
END
}
test_when_lost_map_in_the_block_holds_nothing() { # its nodes point to the header of the map
    cat >map.cc <<'END'
#include <map>
#include <stdlib.h>
struct object { std::map<int, int> members; };
__attribute__((noinline)) object *make(int n) {
    object *made = new object;
    for (int i = 0; i < n; i++) made->members[i] = i;
    return made;
}
__attribute__((noinline)) int use(int n) { return make(n)->members.size(); }
int main(int argc, char **argv) {
    int sum = use(atoi(argv[1]));
    for (int i = 0; i < 3; i++) free(malloc(9 + sum));
    return 0;
}
END
    g++ -g -O1 -o map map.cc
    for n in 0 1 5; do
        when_lost ./map "$n"
        sed -n 's/.* \(lost in .*\)/\1/p' err >said.$n
        says said.$n 'lost in (make|use|main) at map.cc:.* where a register held the last pointer'
        equal "with $n nodes" "$(cat said.$n)" "$(cat said.0)"
    done
}

# Without a number the first three records are followed, in runs that they share as far as possible.
test_when_lost_several_records_are_followed() {
    ways
    when_lost ./ways field reassigned local
    equal records "$(grep -c '^     lost in ' err)" 3
    for line in field global; do says err "lost in .* at ways.c:$(line_of $line)"; done
    says err ' lost in parse at ways.c:'
    equal uses "$(grep -c '^     .*last used in ' err)" 2 # each is of a run of its own; one is not used
    silent_about err 'Next: .*--when-lost'
}
# Four more share one run, which does not tell the last use.
test_when_lost_eighth_record_is_not_followed() {
    compile eight -g <<'END'
#include <stdlib.h>
char *volatile sink;
#define LOSE(n) static void lose##n(void) { sink = malloc(8 + n); *sink = n; sink = NULL; free(malloc(9)); }
LOSE(1) LOSE(2) LOSE(3) LOSE(4) LOSE(5) LOSE(6) LOSE(7) LOSE(8)
int main(void) {
    lose1(); lose2(); lose3(); lose4(); lose5(); lose6(); lose7(); lose8();
    return 0;
}
END
    when_lost ./eight
    equal records "$(grep -c '^     lost in lose' err)" 7
    equal uses "$(grep -c '^     .*last used in lose' err)" 3
    says err '^Next: leakrun --when-lost=8 ./eight'
    when_lost --when-lost=8 ./eight
    equal records "$(grep -c '^     lost in lose1' err)" 1
    equal uses "$(grep -c '^     .*last used in lose1' err)" 1
}
test_when_lost_block_of_another_record_is_none_of_this_one() {
    compile swapped -g <<'END'
#include <stdlib.h>
#include <unistd.h>
char *volatile sink;
static void first(void) { sink = malloc(10); sink = NULL; free(malloc(9)); }
static void second(void) { sink = malloc(20); sink = NULL; free(malloc(9)); }
int main(void) {
    if (access("once", F_OK) == 0) { second(); first(); }
    else { first(); second(); }
    creat("once", 0600);
    return 0;
}
END
    when_lost ./swapped
    silent_about err ' lost in '
    says err 'no later run allocated the followed blocks'
    when_lost ./swapped
    equal records "$(grep -c '^     lost in ' err)" 2
}
# Each run allocates one block more than the run before in front of the lost ones, so the numbers differ. Blocks that
# came from the same line hang on each lost one.
shifted() { # another statement of main
    compile shifted -g <<END
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
struct node { struct node *next; char text[40]; } *volatile sink;
static struct node *add(struct node *next) {
    struct node *node = calloc(1, sizeof *node);
    node->next = next;
    return node;
}
static void make(void) {
    struct node *last = add(NULL), *middle = add(NULL);
    sink = add(middle);
    middle->next = last;
}
static void forget(void) { free(malloc(8)); sink = NULL; free(malloc(9)); }
int main(void) {
    struct stat seen;
    int runs = open("runs", 02002 | 0100, 0600);
    write(runs, "x", 1);
    fstat(runs, &seen);
    for (int i = 0; i < seen.st_size; i++)
        free(malloc(100));
    $1
    for (int i = 0; i < 20; i++) {
        make();
        forget();
    }
    return 0;
}
END
    rm -f runs
    when_lost ./shifted
}
test_when_lost_blocks_whose_numbers_differ_are_found_by_their_stacks() {
    shifted ''
    says err ' lost in forget at .*, which overwrote the last pointer'
    says err '^       sink \('
}
test_when_lost_blocks_that_no_later_run_allocates_are_not_found() {
    shifted 'if (seen.st_size > 1) return 0;'
    silent_about err ' lost in '
    says err 'took another path'
}

test_when_lost_nothing_lost_is_said() {
    ways
    when_lost ./ways kept
    says err 'nothing was lost'
    silent_about err ' lost in '
    equal output "$(cat out)" 'done'
}

# Serials of another run are those of other blocks: the stacks tell.
test_when_lost_another_path_is_noticed() {
    compile other -g <<'END'
#include <stdlib.h>
#include <unistd.h>
char *volatile sink;
static void first(void) { sink = malloc(10); }
static void second(void) { sink = malloc(20); }
int main(void) {
    access("once", F_OK) == 0 ? second() : first();
    creat("once", 0600);
    sink = NULL;
    return 0;
}
END
    when_lost ./other
    says err 'no later run allocated the followed blocks'
    silent_about err ' lost in '
    silent_about err 'Next: .*--when-lost' # it would not help the next time
    rm once
    leakrun ./other 2>err
    says err '^Next: leakrun --when-lost ./other'
}
# Two threads take turns: in every second run the same serials are those of other stacks.
turns() { # 0: a worker loses the block, 1: main does
    compile turns -g -pthread <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
char *volatile sink;
static void lose(void) { sink = malloc(10); sink = NULL; free(malloc(9)); }
static void other(void) { sink = malloc(20); free(sink); free(malloc(9)); }
static void *work(void *loses) { loses ? lose() : other(); return NULL; }
int main(int argc, char **argv) {
    pthread_t one;
    int odd = access("odd", F_OK) == 0, runs = open("runs", 02001, 0600);
    odd ? unlink("odd") : close(creat("odd", 0600));
    write(runs, "x", 1);
    if (argv[1][0] == '1')
        return work(odd ? NULL : &sink) != NULL;
    for (int i = 0; i < 2; i++) {
        pthread_create(&one, NULL, work, i == odd ? &sink : NULL);
        pthread_join(one, NULL);
    }
    return 0;
}
END
    rm -f odd
    : >runs
    when_lost ./turns "$1"
}
test_when_lost_threads_that_share_work_run_until_they_agree() {
    turns 0
    says err ' lost in lose at .*:5, where a register'
    silent_about err 'it took another path'
    [ "$(wc -c <runs)" -le 6 ]
}
test_when_lost_first_thread_on_another_path_is_tried_once_more() {
    turns 1
    says err ' lost in lose at .*:5'
}
test_when_lost_agreement_is_said() {
    loses_small ' lost in one at ' \
        '2 of 3 blocks that were followed were lost there, 1 elsewhere' <<'END'
#include <stdlib.h>
char *volatile sink;
static void one(void) { free(malloc(9)); sink = NULL; free(malloc(9)); }
static void two(void) { free(malloc(9)); sink = NULL; free(malloc(9)); }
int main(void) {
    for (int i = 0; i < 3; i++) {
        sink = malloc(30);
        free(malloc(8));
        i == 1 ? two() : one();
    }
    return 0;
}
END
}


# The word at the end of free memory in libc's data points into the last block of the heap.
test_when_lost_lists_of_free_memory_are_no_holder() {
    loses_small ' lost in main at small.c:7' <<'END'
#include <stdlib.h>
char *volatile sink;
int main(void) {
    free(malloc(5000));
    sink = malloc(24);
    free(sink ? NULL : sink);
    sink = NULL;
    return 0;
}
END
    silent_about err main_arena
}

# The function uses the block and forgets it; its caller keeps the pointer a while.
forgets() { # the last member that forget() touches
    loses_small ' lost in main at small.c:' <<END
#include <stdlib.h>
struct item { long kind, count; char *name; char more[100]; long last; };
static void forget(struct item *item) {
    free(item->name);
    item->$1 = 0;
}
static void busy(void) { free(malloc(9)); }
int main(void) {
    struct item *item = calloc(1, sizeof *item);
    item->name = malloc(7);
    item->last = 1;
    forget(item);
    busy();
    item = NULL;
    busy();
    return 0;
}
END
}
test_when_lost_last_use_is_told() {
    forgets count
    says err 'its first 24 bytes were last used in forget at small.c:5,$'
    says err '^       below main at small.c:12$'
}
used_in_library() { # options for the library's compiler
    echo 'void use(char *text) { text[0] = 1; }' >use.c
    gcc -shared -fPIC "$@" -o libuse.so use.c
    cat >small.c <<'END'
#include <stdlib.h>
void use(char *);
static void work(void) {
    char *text = malloc(50);
    use(text);
    text = NULL;
    free(malloc(9));
}
int main(void) {
    work();
    return 0;
}
END
    gcc -w -g -fno-builtin -o small small.c -L. -luse -Wl,-rpath,"$PWD"
    when_lost ./small
}
test_when_lost_last_use_in_a_library_has_a_line_or_its_library() {
    used_in_library -g
    says err 'last used in use at use\.c:1,$'
    used_in_library
    says err 'last used in use in libuse\.so,$'
}
test_when_lost_use_of_other_words_is_not_seen() {
    forgets last
    says err 'its first 24 bytes were last used in forget at small.c:4,$'
    says err '^       below main at small.c:12$'
}

# The pointer is in a register until the end of the function, to which two returns jump.
leaves_early() { # the line of the return, which one
    OPTIMIZED=-O1 loses_small " lost in parse at small.c:16, reached from line $1, where a register" <<END
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int check(char *text) { text[0] = 'a'; return printf("%p\\n", (void *)text); }
__attribute__((noinline)) void parse(int way) {
    char *text = malloc(50);
    int checked = check(text);
    if (way == 1) {
        check(text);
        return;
    }
    if (way == 2) {
        checked += check(text + 1);
        return;
    }
    free(text);
}
int main(void) {
    parse($2);
    puts("");
    return 0;
}
END
}
test_when_lost_return_that_was_taken_is_told() {
    leaves_early 9 1
    leaves_early 13 2
}

# A word of the dead frame of lose() lies in a variable of later(), which does not write it.
test_when_lost_dead_words_hold_nothing() {
    loses_small ' lost in lose at small.c:7' <<'END'
#include <stdlib.h>
#include <string.h>
static void lose(void) {
    char *volatile text[40];
    for (int i = 0; i < 40; i++)
        text[i] = i ? text[0] : malloc(60);
}
static void later(void) {
    char *volatile unused[48];
    free(malloc(10));
    free(malloc(11));
    unused[0] = NULL;
}
int main(void) {
    lose();
    later();
    later();
    return 0;
}
END
}

# A file is read again from where it was, a pipe is copied; any other input is empty. Only the first run is seen.
test_when_lost_input_file_is_read_again() {
    ways
    echo lose >input
    leakrun --when-lost ./ways input <input >out 2>err
    says err " lost in set_global at ways.c:$(line_of global)"
    equal output "$(cat out)" 'done'
    /usr/bin/python3 - "$root/scripts/leakrun" >out 2>err <<'END'
import socket, subprocess, sys
ours, its = socket.socketpair()
ours.sendall(b"lose\n")
subprocess.run([sys.argv[1], "--when-lost", "./ways", "input"], stdin=its, check=True)
END
    silent_about err ' lost in set_global'
    says err 'with /dev/null as its input'
}
test_when_lost_input_of_a_pipe_comes_again() {
    ways
    { sleep 0.3; echo lose; } | leakrun --when-lost ./ways input >out 2>err
    says err " lost in set_global at ways.c:$(line_of global)"
    silent_about err '/dev/null'
    equal output "$(cat out)" 'done'
}
test_when_lost_input_of_a_pipe_is_whole() {
    head -c 3000000 /dev/urandom >bytes
    cat bytes | leakrun --when-lost cksum >out 2>/dev/null
    equal checksum "$(cat out)" "$(cksum <bytes)"
}
test_when_lost_writer_of_an_unread_pipe_ends() {
    ways
    { yes lose || echo "$?" >ended; } | leakrun --when-lost ./ways input >out 2>err
    equal writer "$(cat ended)" 141
    says err " lost in set_global at ways.c:$(line_of global)"
}

# What is typed on a terminal is typed again, on a hidden one.
asks() { # the steps of keys.py, which the program answers, are on the standard input
    compile asks -g <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
char *volatile sink;
static void lose(void) { sink = malloc(48); sink = NULL; free(malloc(9)); }
static void keys(void) { /* as editors do: a key typed too early is dropped */
    struct termios before, raw;
    char key = 0, word[5] = "";
    tcgetattr(0, &before);
    raw = before;
    cfmakeraw(&raw);
    for (int i = 0; i < 4; i++) {
        usleep(100000);
        tcsetattr(0, TCSAFLUSH, &raw);
        printf("key %d? ", i);
        fflush(stdout);
        read(0, &word[i], 1);
        if (i == 1 && word[i] == 3) /* Ctrl-C is a key here */
            lose();
    }
    tcsetattr(0, TCSANOW, &before);
    printf("\ngot %s\n", word);
}
static void size(void) {
    struct winsize now;
    ioctl(1, TIOCGWINSZ, &now);
    printf("size %dx%d\n", now.ws_row, now.ws_col);
    if (now.ws_row == 33 && now.ws_col == 77)
        lose();
}
int main(void) {
    char line[80];
    while (printf("ask> "), fflush(stdout), fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "lose\n") == 0) lose();
        if (strcmp(line, "keys\n") == 0) keys();
        if (strcmp(line, "size\n") == 0) size();
        if (strcmp(line, "quit\n") == 0) return 4;
        printf("%zu bytes\n", strlen(line));
    }
    puts("end of input");
    return 3;
}
END
    PATH=$root/scripts:$PATH /usr/bin/python3 "$here/keys.py" 30 90 >shown
}
test_when_lost_what_was_typed_is_typed_again() {
    asks <<'END'
type leakrun --when-lost ./asks 2>err; echo status $?\r
see ask>
type losx\x7fe\r
see 5 bytes
type quit\r
see status 4
END
    says err 'running it again, with what was typed'
    says err ' lost in lose at <stdin>:8'
}
test_when_lost_end_of_input_is_typed_again() {
    asks <<'END'
type leakrun --when-lost ./asks 2>err; echo status $?\r
see ask>
type lose\r
see ask>
type \x04
see end of input
see status 3
END
    says err ' lost in lose at <stdin>:8'
}
test_when_lost_keys_are_typed_when_the_program_reads() {
    asks <<'END'
type leakrun --when-lost ./asks 2>err; echo status $?\r
see ask>
type keys\r
see key 0?
type a
see key 1?
type \x03
see key 2?
type \x1a
see key 3?
type d
see got a
type quit\r
see status 4
END
    says err ' lost in lose at <stdin>:8'
}
test_when_lost_size_of_the_terminal_is_that_of_the_first_run() {
    asks <<'END'
type leakrun --when-lost ./asks 2>err; echo status $?\r
see ask>
type size\r
see size 30x90
size 33 77
type size\r
see size 33x77
type quit\r
see status 4
END
    says err ' lost in lose at <stdin>:8'
}
test_when_lost_terminal_that_is_not_the_output_is_left_alone() {
    asks <<'END'
type leakrun --when-lost ./asks 2>err >out; echo status $?\r
type lose\r
type quit\r
see status 4
END
    says err 'with /dev/null as its input'
    silent_about err ' lost in '
}
test_when_lost_what_is_typed_ahead_is_for_the_shell() {
    [ "$(id -u)" = 0 ] || [ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ] ||
        skip 'this kernel lets nobody give back what was typed (dev.tty.legacy_tiocsti)'
    asks <<'END'
type leakrun --when-lost sleep 1\r
type echo t'y'ped ahead\r
see no leaks
see typed ahead
END
}
test_when_lost_long_input_is_typed_again() { # the program writes more than it reads
    compile echoes -g <<'END'
#include <stdio.h>
#include <stdlib.h>
char *volatile sink;
int main(void) {
    char line[200];
    int lines = 0;
    puts("begins");
    while (fgets(line, sizeof line, stdin) && ++lines < 300)
        for (int i = 0; i < 9; i++) fputs(line, stdout);
    sink = malloc(lines);
    sink = NULL;
    puts("end of lines");
    return 0;
}
END
    { printf '%s\n' 'type leakrun --when-lost ./echoes 2>err; echo status $?\r' 'see begins'
        for i in 1 2 3 4 5 6 7 8 9 10; do
            printf '%s\n' "type $(for k in 1 2 3 4 5 6 7 8 9 10; do printf '%s' "$i a line of some length $k\r$i b\r$i c\r"; done)"
        done
        printf 'see end of lines\nsee status 0\n'; } >steps
    asks <steps
    says err '300 bytes in 1 block lost'
    says err ' lost in main at '
}
test_when_lost_settings_of_the_terminal_stay() {
    asks <<'END'
type leakrun --when-lost stty -echo intr ^K 2>/dev/null; echo d'o'ne\r
see done
type stty -a | tr ' ' _\r
see intr_=_^K;
see _-echo_
type leakrun --when-lost stty echo intr ^C 2>/dev/null; echo d'o'ne\r
see done
type stty -a | tr ' ' _\r
see intr_=_^C;
see _echo_
END
}
test_when_lost_terminal_has_job_control() {
    asks <<'END'
type leakrun --when-lost ./asks 2>err\r
see ask>
type \x1a
see Stopped
see ready>
type stty -a | tr ' ' _\r
see _icanon_
type fg\r
see asks
type bytes\r
see 6 bytes
type \x1a
see Stopped
type bg\r
see &
type echo sh'e'll\r
see shell
type fg\r
see asks
type lose\r
see 5 bytes
type \x03
see ready>
type echo status $?\r
see status 130
type leakrun --when-lost ./asks 2>err &\r
see ask>
type \r
see Stopped
type fg\r
see asks
type quit\r
see ready>
type echo status $?\r
see status 4
END
}
test_when_lost_terminal_comes_back_from_sigstop() { # which stops only the process at the terminal
    printf '%s\n' 'echo "ask> "; kill -STOP $(cat pid); read a; echo got $a; kill -STOP $(cat pid)' 'read b; echo and $b' >stops
    asks <<'END'
type sh -c 'echo $$ >pid; exec leakrun --when-lost sh stops 2>err'\r
see Stopped
type bg\r
see &
type echo sh'e'll\r
see shell
type fg\r
see sh
type 1\r
see got 1
see Stopped
type fg\r
see sh
type 2\r
see and 2
type stty -a | tr ' ' _\r
see _icanon_
END
}
test_when_lost_limit_of_file_sizes_is_not_that_of_the_recording() { # but others may send its signal
    asks <<'END'
type (ulimit -f 0; exec env --default-signal=XFSZ leakrun --when-lost ./asks); echo status $?\r
see ask>
type bytes\r
see 6 bytes
type quit\r
see status 4
type sh -c 'echo $$ >pid; exec env --default-signal=XFSZ leakrun --when-lost sh -c "kill -XFSZ \\$(cat pid); sleep 9"'; echo status $?\r
see status 153
END
}
test_when_lost_program_hangs_up_when_leakrun_is_killed() {
    printf '%s\n' 'trap "echo hung up >heard; exit" HUP; kill -9 $(cat pid); sleep 20' >kills
    asks <<'END'
type sh -c 'echo $$ >pid; exec leakrun --when-lost sh kills 2>err'\r
see Killed
END
    until [ -s heard ]; do sleep 0.1; done
}
test_when_lost_nothing_is_typed_when_leakwatch_is_killed() {
    compile kills -g <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
char *volatile sink;
int main(void) {
    sink = malloc(10);
    sink = NULL;
    return open("first", O_RDWR | O_CREAT | O_EXCL, 0600) < 0 && kill(getppid(), SIGKILL);
}
END
    asks <<'END'
type leakrun --when-lost $PWD/kills\r
see Killed
END
    while pgrep -f "leakwatch --when-lost $PWD/kills" >pids; do sleep 0.1; done
}
test_when_lost_output_without_end_does_not_keep_the_terminal() {
    asks <<'END'
type leakrun --when-lost sh -c 'yes & sleep 1' 2>err; echo status $?\r
see status 0
END
}
test_when_lost_output_is_shown_to_its_end() {
    asks <<'END'
type leakrun --when-lost seq 30000 2>err; echo status $?\r
see 30000
see status 0
END
}
test_when_lost_hidden_run_ends_by_two_keys() {
    compile stays -g <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
char *volatile sink;
int main(void) {
    sink = malloc(10);
    sink = NULL;
    if (open("first", O_RDWR | O_CREAT | O_EXCL, 0600) >= 0) return 0;
    signal(SIGINT, SIG_IGN);
    for (;;) sleep(1);
}
END
    asks <<'END'
type leakrun --when-lost ./stays\r
see with what was typed
type \x1a
see Stopped
type fg\r
see stays
type \x03
type \x03
see a signal came
see 10 bytes in 1 block lost
see ready>
type stty -a | tr ' ' _\r
see _icanon_
END
}
# A server gets no clients in the later runs, unless they come again.
serves() { # the first run needs no client
    compile serves -g <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
char *volatile sink;
static void lose(void) { sink = malloc(10); sink = NULL; free(malloc(9)); }
int main(void) {
    struct sockaddr_un name = {AF_UNIX, "socket"};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink("socket");
    bind(server, (void *)&name, sizeof name);
    if (open("first", O_RDWR | O_CREAT | O_EXCL, 0600) >= 0)
        return lose(), 0;
    listen(server, 1);
    accept(server, NULL, NULL) >= 0 ? lose() : (void)0;
    return 0;
}
END
    "$root/scripts/leakrun" --when-lost ./serves >out 2>err &
    server=$!
}
test_when_lost_server_waits_for_its_clients() {
    serves
    until grep -q 'run 2 .* listens for clients' err; do sleep 0.2; done
    /usr/bin/python3 - "$server" <<'END'
import os, socket, sys, time
while os.path.exists("/proc/" + sys.argv[1]):
    try:
        socket.socket(socket.AF_UNIX).connect("socket")
    except OSError:
        pass
    time.sleep(0.1)
END
    wait "$server"
    says err ' lost in lose at <stdin>:8'
}
test_when_lost_key_that_ends_a_server_is_not_typed_again() {
    compile ends -g <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
char *volatile sink;
static void end(int sig) { (void)sig; }
int main(void) {
    sigaction(SIGINT, &(struct sigaction){.sa_handler = end}, NULL);
    listen(socket(AF_INET, SOCK_STREAM, 0), 1);
    puts("serving");
    sink = malloc(10);
    sink = NULL;
    pause();
    return 0;
}
END
    asks <<'END'
type leakrun --when-lost ./ends; echo status $?\r
see serving
type \x03
see run 2 (of 4 at most) listens for clients
type \x03
see run 3 (of 4 at most) listens for clients
type \x03
see run 4 (of 4 at most) listens for clients
type \x03
see status 0
END
}
test_when_lost_program_that_does_not_listen_is_no_server() {
    compile waits -g <<'END'
#include <stdlib.h>
#include <unistd.h>
char *volatile sink;
int main(void) { sink = malloc(10); sink = NULL; sleep(3); return 0; }
END
    when_lost ./waits
    says err ' lost in main at '
    silent_about err 'listens for clients'
}
test_when_lost_killed_programs_do_not_run_again() {
    compile waits <<'END'
#include <signal.h>
#include <stdlib.h>
char *volatile sink;
int main(void) { sink = malloc(10); sink = NULL; raise(SIGTERM); return 0; }
END
    when_lost ./waits && fail 'it was not killed'
    says err 'not run again: a signal ended the program'
}
test_when_lost_signal_ends_the_runs() {
    compile sleeps <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
char *volatile sink;
int main(void) {
    sink = malloc(10);
    sink = NULL;
    if (open("first", O_RDWR | O_CREAT | O_EXCL, 0600) >= 0) return 0;
    open("again", O_RDWR | O_CREAT, 0600);
    sleep(100);
    return 0;
}
END
    "$root/scripts/leakrun" --when-lost ./sleeps >out 2>err &
    until [ -e again ]; do sleep 0.1; done
    kill "$!"
    wait "$!" || fail "status $?"
    says err '--when-lost: a signal came; the program is not run again'
    says err '10 bytes in 1 block lost'
}
test_when_lost_options_that_do_not_fit() {
    equal status "$(status_of leakrun --when-lost --no-report true)" 125
    equal status "$(status_of leakrun --when-lost --gdb true)" 125
}
test_when_lost_json_has_it() {
    ways
    leakrun --when-lost --format=json -o report.json ./ways field >/dev/null 2>&1
    /usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip 'no python3-jsonschema here'
    /usr/bin/python3 - "$(line_of field)" "$root/docs/schema.json" <<'END'
import json, jsonschema, sys
jsonschema.Draft7Validator(json.load(open(sys.argv[2]))).validate(json.load(open("report.json")))
records = json.load(open("report.json"))["processes"][0]["records"]
found = [r["when_lost"] for r in records if "when_lost" in r]
assert len(found) == 1, records
place = found[0]["place"]
assert place["function"] == "item_rename" and place["line"] == int(sys.argv[1]), place
assert place["holder"] == "+56 in a block of 72 bytes from item_new()", place
assert place["at"] and found[0]["agreed"] == found[0]["lost"] == found[0]["followed"] == 1, found
END
}

# A reference is taken and not given back: no pointer tells who took it, but the count does.
counted() { # what forgets() does with the count of the list's references, the first count
    loses_small ' lost in ' <<END
#include <stdlib.h>
struct text { char *bytes; int kind, references; };
struct list { struct text *first, *second; };
static struct text *text_new(void) {
    struct text *text = calloc(1, sizeof *text);
    text->kind = 7;
    text->references = ${2:-1};
    return text;
}
static struct text *text_take(struct text *text) {
    text->references++;
    return text;
}
static void text_drop(struct text *text) {
    if (--text->references == 0)
        free(text);
}
static void keeps(struct list *list, struct text *text) { list->first = text_take(text); }
static void forgets(struct list *list, struct text *text) { list->second = text_take(text); $1; }
int main(void) {
    struct text *text = text_new();
    struct list *list = calloc(1, sizeof *list);
    keeps(list, text);
    forgets(list, text);
    text_drop(list->first);
    free(list);
    text_drop(text);
    return 0;
}
END
}
test_when_lost_references_are_counted() {
    counted ''
    says err 'its word \+12 counts references, 1 at the end:' 'set to 1 in text_new at small.c:7' \
        'up in text_take at small.c:11' 'called by keeps at small.c:18' 'called by forgets at small.c:19' \
        'down in text_drop at small.c:15' 'called by main at small.c:25' 'called by main at small.c:27'
}
test_when_lost_word_that_changes_otherwise_counts_nothing() {
    counted 'text->references += 2; text->references -= 2'
    silent_about err 'counts references'
}
test_when_lost_word_that_begins_with_another_value_counts_nothing() { # a state, say
    counted 'text->references += 0' 3
    silent_about err 'counts references'
}
test_when_lost_number_of_elements_counts_nothing() {
    cat >elements.cc <<'END'
#include <map>
struct index { std::map<int, int> places; };
static void fill(struct index *index) {
    for (int i = 0; i < 4; i++)
        index->places[i] = i;
    index->places.erase(2);
}
int main() {
    struct index *index = new struct index;
    fill(index);
    index = nullptr;
    delete new int;
}
END
    g++ -g -O0 -o elements elements.cc
    when_lost ./elements
    says err ' lost in main'
    silent_about err 'counts references'
}
test_when_lost_dead_word_that_comes_back_begins_nothing() {
    loses_small ' lost in lose at small.c:8' <<'END'
#include <stdlib.h>
#include <string.h>
char *volatile sink;
static void lose(void) {
    char *volatile text[64];
    for (int i = 0; i < 64; i++)
        text[i] = i ? text[0] : malloc(60);
}
static void shallow(void) { free(malloc(9)); }
static void deep(void) {
    char *volatile dead[80];
    shallow();
    dead[79] = NULL;
    shallow();
}
int main(void) {
    lose();
    for (int i = 0; i < 3; i++)
        shallow();
    deep();
    for (int i = 0; i < 3; i++)
        shallow();
    return 0;
}
END
}

# A count of references that lies behind the words that watchpoints cover.
counted_behind() { # what forgets() does after it has taken a reference
    loses_small ' lost in ' <<END
#include <stdlib.h>
struct text { char *bytes; long more[5]; int kind, references; };
static struct text *text_take(struct text *text) {
    text->references++;
    return text;
}
static void text_drop(struct text *text) {
    if (--text->references == 0)
        free(text);
}
static struct text *forgets(struct text *text) { struct text *taken = text_take(text); $1; return taken; }
int main(void) {
    struct text *text = calloc(1, sizeof *text);
    text->references = 1;
    forgets(text);
    text_drop(text);
    return 0;
}
END
}
test_when_lost_count_behind_the_first_words_is_seen() {
    counted_behind ''
    says err 'its word \+52 counts references, 1 at the end:' 'set to 1 in main at small.c:14' \
        'up in text_take at small.c:4' 'called by forgets at small.c:11' 'down in text_drop at small.c:8'
}
test_when_lost_later_word_that_changes_otherwise_counts_nothing() {
    counted_behind 'text->references += 2; text->references -= 2'
    silent_about err 'counts references'
}

# The function that allocates stores the block in a variable of its caller, and ends early.
ends_early() { # words before make(), what main does before the variable ends
    loses_small ' lost in ' <<END
#include <stdlib.h>
#include <string.h>
struct item { char *name; };
char *volatile kept;
__attribute__((noinline)) int check(const char *name) { return strlen(name) > 3; }
$1 int make(struct item *item, const char *name) {
    item->name = strdup(name);
    if (check(name))
        return -1;
    if (check(name + 1))
        return -2;
    if (check(name + 2)) {
        free(item->name);
        return -3;
    }
    return 0;
}
__attribute__((noinline)) int use(const char *name) {
    struct item item;
    int made = make(&item, name);
    $2;
    return made + check("late");
}
int main(int argc, char **argv) {
    use(argc > 1 ? "" : "long name");
    kept = NULL;
    free(malloc(8));
    return 0;
}
END
}
test_when_lost_function_that_ended_early_is_told() {
    ends_early '__attribute__((noinline))' ''
    says err ' make ended at small.c:9$'
    OPTIMIZED=-O1 ends_early '__attribute__((noinline))' ''
    says err ' make ended at small.c:[89]$'
}
test_when_lost_inlined_function_that_ended_early_is_told() {
    OPTIMIZED=-O1 ends_early 'static inline __attribute__((always_inline))' ''
    says err ' make \(inlined\) ended at small.c:[89]$'
}
test_when_lost_function_that_stored_the_block_well_is_not_told() {
    ends_early '__attribute__((noinline))' 'kept = item.name; item.name = NULL; free(malloc(7))'
    says err " lost in main at small.c:26, which overwrote the last pointer"
    silent_about err ' make ended'
}

# The function returns the block to a caller that returns it, and the last one forgets it.
test_when_lost_function_that_returned_the_block_is_told() {
    loses_small ' lost in main ' ' outer returned it at small.c:9$' <<'END'
#include <stdlib.h>
static char *inner(void) {
    char *made = malloc(20);
    return made;
}
static char *outer(void) {
    char *made = inner();
    made[0] = 0;
    return made;
}
int main(void) {
    char *text = outer();
    text = NULL;
    free(malloc(8));
    return 0;
}
END
    silent_about err ' inner returned'
}

# The function that should free what the variable points to gets the variable.
passes_variable() { # the variable that release() gets
    loses_small ' lost in use ' <<END
#include <stdlib.h>
struct parser { int depth; char *line; char *space; };
static void parser_read(struct parser *parser) {
    parser->line = malloc(10);
    parser->space = malloc(20);
}
static void parser_free(struct parser *parser) {
    free(parser->line);
    parser->depth = 0;
}
static void use(void) {
    struct parser parser = {0}, other = {0};
    parser_read(&parser);
    parser_free(&$1);
    parser.space = NULL;
}
int main(void) {
    use();
    free(malloc(8));
    return 0;
}
END
}
test_when_lost_last_function_that_got_the_variable_is_told() {
    passes_variable parser
    says err 'its variable was last passed to parser_free, which ended at small.c:9' \
        'called by use at small.c:14'
    silent_about err 'parser_read ended'
}
test_when_lost_function_that_got_another_variable_is_not_told() {
    passes_variable other
    silent_about err 'last passed to parser_free'
}

# The function gets the block as its seventh argument, on the stack, and does not touch it.
passes_block() { # the seventh argument
    OPTIMIZED=-O1 loses_small ' lost in ' <<END
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int add(int a, int b, int c, int d, int e, int f, char *text, char *name) {
    if (a > 1)
        return strlen(name);
    free(text);
    return strlen(name) + b + c + d + e + f;
}
int main(int argc, char **argv) {
    char *text = strdup("text");
    int added = add(argc + 1, 2, 3, 4, 5, 6, $1, argv[0]);
    free(malloc(8));
    return added < 0;
}
END
}
test_when_lost_last_function_that_got_the_block_is_told() {
    passes_block text
    says err 'it was last passed to add, which ended at small.c:5' 'called by main at small.c:11'
}
test_when_lost_function_that_got_another_block_is_not_told() {
    passes_block 'argc > 5 ? text : NULL'
    silent_about err 'last passed to add'
}

test_when_lost_function_that_longjmp_left_is_told() {
    loses_small ' lost in ' 'reader was left by a jump or exception at small.c:7' <<'END'
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf back;
static __attribute__((noinline)) void fail(int how) { if (how) longjmp(back, 1); }
static __attribute__((noinline)) void reader(int how) {
    char *volatile buffer = malloc(40);
    fail(how);
    free(buffer);
}
static __attribute__((noinline)) void clear(void) { volatile char dead[4000]; for (int i = 0; i < 4000; i++) dead[i] = 0; }
int main(int argc, char **argv) {
    if (!setjmp(back))
        reader(argc);
    clear();
    free(malloc(8));
    return 0;
}
END
}

# One function calls twice what initialises a variable: the second call loses the block of the first.
initialised() { # the second call
    loses_small ' lost in init' <<END
#include <stdlib.h>
struct reader { char *buffer; };
static void init(struct reader *reader) {
    reader->buffer = NULL;
    reader->buffer = malloc(30);
}
static void set_up(struct reader *reader) {
    init(reader);
}
static void start(struct reader *reader) {
    for (int i = 0; i < 2; i++)
        $1;
}
int main(void) {
    struct reader *reader = malloc(sizeof *reader);
    start(reader);
    free(reader->buffer);
    free(reader);
    return 0;
}
END
}
test_when_lost_function_that_led_to_allocation_and_loss_is_told() {
    initialised 'if (!i)
            set_up(reader);
        else
            set_up(reader)'
    says err 'both called by start: what allocated it at line 13, what lost it at small.c:15'
}
test_when_lost_one_line_that_led_to_both_is_not_told_twice() {
    initialised 'set_up(reader)'
    silent_about err 'both called by'
}

# Several lines jump to the end of a function that has code of its own.
jumps_to_end() { # the length of the name
    loses_small ' lost in ' <<END
#include <stdlib.h>
#include <string.h>
struct item { char *name; };
char *volatile kept;
int make(struct item *item, const char *name) {
    int result = 0;
    item->name = strdup(name);
    if (strlen(name) == 1) {
        result = -1;
        goto done;
    }
    if (strlen(name) == 2) {
        result = -2;
        goto done;
    }
    kept = item->name;
    result = 1;
done:
    if (name[0] == 'y')
        result--;
    return result;
}
void use(const char *name) {
    struct item item;
    make(&item, name);
}
int main(void) {
    use("$1");
    kept = NULL;
    free(malloc(8));
    return 0;
}
END
}
test_when_lost_jump_to_a_shared_end_is_told() {
    jumps_to_end x
    says err ' make ended at small.c:[12][0-9], reached from line 10$'
    jumps_to_end xx
    says err ' make ended at small.c:[12][0-9], reached from line 14$'
}

# Calls that do not get the block are executed at full speed: the steps would not reach their end.
calls_long() { # what parse() does with the number of the call
    OPTIMIZED=-O1 loses_small ' lost in parse at small.c:24, reached from line 16, where a register' <<END
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) long spin(long n) {
    volatile long sum = 0;
    for (long i = 0; i < n; i++)
        sum += i;
    return sum;
}
__attribute__((noinline)) long fibonacci(long n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__attribute__((noinline)) int check(char *text) { text[0] = 'a'; return text[0]; }
__attribute__((noinline)) long parse(int way) {
    char *text = malloc(50);
    long sum = check(text);
    for (int i = 0; i < 5; i++)
        sum += $1;
    if (way == 1) return sum;
    if (way == 2) {
        check(text + 1);
        return 2 * sum;
    }
    sum += check(text);
    free(text);
    return sum;
}
int main(void) {
    printf("%ld\\n", parse(1));
    return 0;
}
END
    equal output "$(cat out)" "$(./small)"
}
test_when_lost_long_calls_are_stepped_over() {
    calls_long 'spin(20000000)'
}
test_when_lost_recursive_calls_are_stepped_over() {
    calls_long 'fibonacci(10 + 5 * i)'
}

# A function that is executed at full speed returns to another place than its call.
test_when_lost_jump_past_a_call_that_is_stepped_over_is_told() {
    loses_small ' lost in ' 'reader was left by a jump or exception at small.c:13' <<'END'
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf back;
static __attribute__((noinline)) void fail(int how) {
    volatile int sum = 0;
    for (int i = 0; i < 100000; i++)
        sum += i;
    if (how) longjmp(back, 1);
}
static __attribute__((noinline)) void reader(int how) {
    char *volatile buffer = malloc(40);
    for (int i = 0; i < 9; i++)
        fail(i == how);
    free(buffer);
}
static __attribute__((noinline)) void clear(void) { volatile char dead[4000]; for (int i = 0; i < 4000; i++) dead[i] = 0; }
int main(int argc, char **argv) {
    if (!setjmp(back))
        reader(argc + 5);
    clear();
    free(malloc(8));
    return 0;
}
END
}

# A callee saves the register of main() that has the pointer, and returns: main() still has it.
saves_register() { # what main() does after the first call
    OPTIMIZED=-O1 loses_small "$2" <<END
#include <stdlib.h>
__attribute__((noinline)) int check(char *text) { text[0] = 'a'; return text[1]; }
__attribute__((noinline)) char *deep(int size) {
    char *made = malloc(size);
    check(made);
    return made;
}
__attribute__((noinline)) void print(int size) { free(deep(size)); }
int main(void) {
    char *text = malloc(50);
    check(text);
    print(9);
    $1;
    print(10);
    print(11);
    return 0;
}
END
}
test_when_lost_register_that_callees_save_holds() {
    saves_register 'if (check(text) == 7) return 3' ' lost in main at small.c:17, reached from line 15'
}
test_when_lost_register_that_is_not_used_again_holds_nothing() {
    saves_register '' ' lost in (check|main|print) at small.c:(2|8|10|11|12)'
}

# The handler of libleak's traps runs on an alternate stack in a variable of the program, where the kernel saves the registers.
has_signal_stack() { # expected words
    OPTIMIZED=-O1 loses_small "$1" <<END
#include <signal.h>
#include <stdlib.h>
static char stack[1 << 16];
__attribute__((noinline)) int check(char *text) { text[0] = 'a'; return text[1]; }
__attribute__((noinline)) int lose(void) {
    char *text = malloc(50);
    check(text);
    return check(text);
}
static void handler(int number) {
    char *volatile text = malloc(60);
    free(malloc(number));
    text = NULL;
    free(malloc(number));
}
int main(void) {
    stack_t given = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&given, NULL);
    sigaction(SIGUSR1, &action, NULL);
    $2;
    return 0;
}
END
}
test_when_lost_signal_stack_that_no_handler_uses_holds_nothing() {
    has_signal_stack ' lost in (check|lose) at small.c:(4|8|9), ' 'lose()'
}
test_when_lost_signal_stack_of_a_running_handler_holds() {
    has_signal_stack ' lost in handler at small.c:13, which overwrote the last pointer' 'raise(SIGUSR1)'
}

# Code between the early return and the end of the function frees other blocks.
cleans_up() { # the line of the early return, which one
    OPTIMIZED=-O1 loses_small " lost in parse at small.c:32, reached from line $1, where a register" <<END
#include <stdlib.h>
__attribute__((noinline)) int check(char *text) { text[0] = 'a'; return text[0]; }
__attribute__((noinline)) int parse(int way) {
    char *text = malloc(50), *first = malloc(10), *second = malloc(way), *third = malloc(30);
    int result = check(text);
    if (way == 1) {
        result = -1;
        goto done;
    }
    result += check(text + 1);
    result += check(text + 2);
    if (way == 2) {
        check(text + 3);
        result = -2;
        goto done;
    }
    result += check(text + 4);
    result += check(text + 5);
    free(text);
done:
    if (first) {
        first[0] = 1;
        free(first);
    }
    if (second) {
        second[0] = 1;
        free(second);
    }
    if (third)
        free(third);
    return result;
}
int main(int argc, char **argv) {
    return parse($2) > 1000;
}
END
}
test_when_lost_early_return_before_a_clean_up_is_told() {
    cleans_up '[6-8]' 1
    cleans_up '(1[2-5])' 2
}

# Code of libc that starts processes and threads blocks signals meanwhile; a coroutine and a handler
# use other stacks or leave by a jump. Each is executed in the middle of single steps.
starts_others() { # a command in front of leakrun
    cat >starts.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
static sigjmp_buf back;
static ucontext_t first, second;
static char stack[65536];
static void on_alarm(int number) { (void)number; }
static void on_usr1(int number) { (void)number; siglongjmp(back, 1); }
static void mask(int how) { sigset_t all; sigfillset(&all); sigprocmask(how, &all, NULL); }
static void *work(void *sum) { free(malloc(100)); return sum; }
static void turn(void) { for (;;) { free(malloc(33)); swapcontext(&second, &first); } }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int check(char *text) { text[0] = 'a'; return text[0]; }
int main(void) {
    struct itimerval often = {{0, 3000}, {0, 3000}}, never = {0};
    int numbers[100], status = 0;
    signal(SIGALRM, on_alarm);
    signal(SIGUSR1, on_usr1);
    char *volatile text = malloc(50);
    check(text);
    setitimer(ITIMER_REAL, &often, NULL);
    for (volatile int i = 0; i < 3; i++) {
        pthread_t one;
        void *result;
        printf("%d\n", system("exit 3") >> 8);
        fflush(stdout);
        pid_t child = fork();
        if (!child) { free(malloc(10)); _exit(4); }
        while (waitpid(child, &status, 0) < 0);
        printf("%d\n", WEXITSTATUS(status));
        mask(SIG_BLOCK);
        free(malloc(11));
        mask(SIG_UNBLOCK);
        pthread_create(&one, NULL, work, numbers);
        pthread_join(one, &result);
        printf("%d\n", result == numbers);
        getcontext(&second);
        second.uc_stack.ss_sp = stack;
        second.uc_stack.ss_size = sizeof stack;
        makecontext(&second, turn, 0);
        swapcontext(&first, &second);
        swapcontext(&first, &second);
        for (int k = 0; k < 100; k++) numbers[k] = k * 79 % 101;
        qsort(numbers, 100, sizeof *numbers, compare);
        printf("%d %d\n", numbers[0], numbers[99]);
        if (!sigsetjmp(back, 1)) raise(SIGUSR1);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    check(text);
    text = NULL;
    free(malloc(7));
    return 5;
}
END
    gcc -w -g -O1 -fno-builtin -pthread -o starts starts.c
    ./starts >expected || equal status "$?" 5
    for how in @0 @way; do
        status=0
        LIBLEAK_OPTIONS=follow_blocks=T1#1$how "$@" "$root/scripts/leakrun" ./starts >out 2>err || status=$?
        equal status "$status" 5
        cmp expected out
    done
}
test_when_lost_processes_and_threads_start_between_steps() {
    starts_others
}
test_when_lost_processes_start_between_steps_without_breakpoints() {
    compile_filter
    starts_others ./filter 0x00050001 298 # perf_event_open fails with EPERM
}

# A loop without calls goes round too often for single steps.
loops_long() { # the line of the early return, which one
    OPTIMIZED=-O1 loses_small " lost in parse at small.c:24, reached from line $1, where a register" <<END
#include <stdlib.h>
__attribute__((noinline)) int check(char *text) { text[0] = 'a'; return text[0]; }
volatile int sum;
__attribute__((noinline)) int parse(int way) {
    char *text = malloc(50);
    int result = check(text);
    for (int i = 0; i < 20000000; i++)
        sum += i;
    if (way == 1)
        return -1;
    for (int i = 0; ; i++) {
        if (i == 20000000)
            break;
        sum += i;
    }
    free(malloc(9));
    result += check(text);
    if (way == 2) {
        sum = result;
        return -2;
    }
    free(text);
    return result;
}
int main(void) {
    return parse($2) > 1000;
}
END
}
test_when_lost_long_loops_are_stepped_over() {
    loops_long '(9|10)' 1
    loops_long '(18|19|20)' 2
}

# The arguments name the processes that lose a block: the program, its second fork child, which is a
# daemon that closes its descriptors and outlives the program, its own child, or a child that another
# thread forks.
forks() { # arguments
    cat >forks.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
char *global, *shared;
static int count;
static char **names;
static void busy(int n) { while (n--) free(malloc(900 + n)); }
static void clear(void) {
    busy(1);
    global = NULL; /*cleared*/
    busy(1);
}
static void lose(const char *name) {
    for (int i = 1; i < count; i++)
        if (strcmp(names[i], name) == 0) {
            global = malloc(41);
            busy(3);
            clear();
        }
}
static void *forks_too(void *unused) {
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            busy(2);
            if (i == 1)
                lose("of_thread");
            exit(0);
        }
    while (wait(NULL) > 0);
    return unused;
}
static void daemon_(void) {
    for (int i = 3; i < 200; i++)
        close(i);
    setsid();
    if (fork() == 0) {
        usleep(10000);
        lose("grandchild");
        exit(0);
    }
    busy(5);
    wait(NULL);
    lose("child");
}
int main(int argc, char **argv) {
    pthread_t one;
    count = argc;
    names = argv;
    shared = malloc(77);
    pthread_create(&one, NULL, forks_too, NULL);
    pthread_join(one, NULL);
    if (fork() == 0) {
        busy(4);
        return 0;
    }
    wait(NULL);
    if (fork() == 0) {
        daemon_();
        return 0;
    }
    lose("program");
    if (argc > 1 && strcmp(argv[1], "ends_first"))
        wait(NULL);
    return 0;
}
END
    gcc -w -g -O0 -fno-builtin -pthread -o forks forks.c
    leakrun --when-lost --color=never ./forks "$@" >out 2>err
    says err "lost in clear at forks.c:$(grep -n '/\*cleared\*/' forks.c | cut -d: -f1), which overwrote the last pointer"
    says err ' global \(forks.c:'
    silent_about err 'when lost: unknown'
}
test_when_lost_in_a_fork_child() {
    forks child
}
test_when_lost_in_a_grandchild() {
    forks grandchild
}
test_when_lost_in_a_child_that_a_thread_forked() {
    forks of_thread
}
test_when_lost_in_the_parent_of_fork_children() {
    forks program
}
test_when_lost_in_a_child_that_outlives_the_program() {
    forks ends_first child
}
# The second run forks no child.
test_when_lost_child_that_is_not_forked_again_is_told() {
    cat >fewer.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    if (access("forked", F_OK) == 0)
        return 0;
    if (fork() == 0) {
        close(creat("forked", 0600));
        char *volatile lost = malloc(40);
        lost = NULL;
        return 0;
    }
    wait(NULL);
    return 0;
}
END
    rm -f forked
    gcc -w -g -O0 -fno-builtin -o fewer fewer.c
    leakrun --when-lost --color=never ./fewer >out 2>err
    says err 'when lost: unknown, since no later run forked this process again with the followed blocks'
    sed -n '/40 bytes in 1 block lost (1 record)/,$p' err >child
    says child 'when lost: unknown'
}
