# leakreport browse and leakrun --browse, in terminals.

depot() { # depot.leak: a run with leaks, owners and a site that grows
    need gcc tmux
    cat >depot.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
struct parcel { struct parcel *next; char label[200]; };
struct route { struct route *next; double km[40]; };
static struct parcel *parcels;
struct route *routes;
static void parcel_accept(void) {
    struct parcel *parcel = malloc(sizeof *parcel);
    parcel->next = parcels;
    parcels = parcel;
}
static void route_plan(void) {
    struct route *route = calloc(1, sizeof *route);
    route->next = routes;
    routes = route;
}
static void label_print(int i) {
    char *label = strdup("a label that is forgotten");
    if (label[0] == 'z') free(label);
}
static void price_ask(void) { memset(malloc(3000), 1, 3000); }
static void stamps_cut_from_a_sheet_that_is_much_too_long(void) { memset(malloc(9500), 1, 9500); }
int main(void) {
    for (int i = 0; i < 4000; i++) route_plan();
    for (int i = 0; i < 900; i++, nanosleep(&(struct timespec){0, 10000000}, NULL)) {
        parcel_accept();
        label_print(i);
        if (i % 100 == 0) price_ask();
    }
    stamps_cut_from_a_sheet_that_is_much_too_long();
    free(malloc(1)); free(malloc(70000));
    puts("done");
    return 0;
}
END
    gcc -g -w -o depot depot.c
    leakrun --keep=depot.leak --no-report ./depot >said
}
screen() { # columns, lines, locale, command: a shell that says what the terminal is afterwards
    open_screen "$1" "$2" "$3"
    send "stty -g >before; $4; echo status=\$?; stty -g >after" Enter
}
leave() {
    send q
    until_says out 'status=0' shown
    until_says out . cat after
    equal 'the terminal is what it was' "$(cat after)" "$(cat before)"
    close_screen
    rm after
}
list() { shown | sed -n '4,12p' | cut -c-99; } # the rows of the list, in the smallest terminal

test_browse_lists_records_trees_owners_growth_and_types() {
    depot
    for size in '80 24 C.UTF-8' '200 60 C'; do
        # shellcheck disable=SC2086 # a list of words
        screen $size "$O/leakreport browse depot.leak"
        until_says out ' lost +price_ask .*depot.c:23' line 4
        ! list | grep '….*…' || fail 'a row is wider than its list'
        until_says out 'memset\(malloc' shown # its source line
        send 2; until_says out ' - main' line 4
        until_says out ' \+? +price_ask' list
        silent_about out 'parcel_accept'
        send 3; until_says out ' [+] price_ask' line 4
        send 4; until_says out '1\.3 MB +4,000 +routes \(.*depot.c:8\)' line 4
        until_says out '> +8  struct route' shown
        send 5; until_says out '\+[0-9.,]+ .*/s .* growing +parcel_accept' line 4
        send 6; until_says out ' 1 +(char|\[no type)' list
        send 7; until_says out 'No wrong free, no crash' line 4
        send 1; until_says out ' lost +price_ask' line 4
        send Tab; until_says out 'SHARE' line 3
        send BTab; until_says out 'VERDICT' line 3
        case $size in
        80*) ! shown | grep -q '│' || fail "the pane is beside the list: $(shown)" ;;
        *) ! shown | LC_ALL=C grep -q '[^ -~]' || fail "not ASCII: $(shown)" ;;
        esac
        leave
    done
}
test_browse_keys_do_what_the_foot_says() {
    depot
    screen 80 24 C.UTF-8 "$O/leakreport browse depot.leak"
    until_says out ' lost +price_ask' line 4
    until_says out 'q quit .*Enter stack .*s sort .*a all verdicts .*/ search .*f filter' line 24
    line 24 >out
    silent_about out Esc

    send Enter; until_says out 'CALL STACK' line 3
    line 24 | grep -q 'Esc back' || fail "foot: $(line 24)"
    until_says out '^> +23  static void price_ask' shown
    send Down; until_says out '^> +[0-9]+ +if \(i % 100 == 0\) price_ask' shown
    send Escape; until_says out VERDICT line 3

    silent_about out reachable
    send a; until_says out ' reachable +route_plan' list
    send a; until_says out 'FUNCTION' line 3
    until ! list | grep -q reachable; do sleep 0.2; done

    send s; until_says out 'by bytes' line 3
    send s; until_says out 'by blocks' line 3
    until_says out ' 900 .* label_print' line 4
    send s s s; until_says out 'by releases' line 3

    send / p r i n t Enter; until_says out '^2\. .*bytes in 900( of 900)? blocks lost' shown
    send n; until_says out '^2\. ' shown # there is no other
    send / n o n e s u c h Enter; until_says out 'nonesuch: not found' line 24

    send f p r i c e Enter; until_says out 'only: price' line 24
    until ! list | grep -q label_print; do sleep 0.2; done
    send Escape; until_says out label_print list

    send d; until_says out DETAILS line 3
    send Escape; until_says out VERDICT line 3
    send '?'; until_says out '^Enter .*stack' shown
    send Escape; until_says out VERDICT line 3

    send 2 w w; until_says out 'CALLS of .*, live' line 3
    until_says out 'route_plan' list
    send Home Enter; until_says out ' [+] main' line 4
    silent_about out price_ask
    send Right; until_says out 'route_plan' list
    send Left; until_says out ' [+] main' line 4
    send '*'; until_says out '__strdup' list
    send w w w w; until_says out 'CALLS of [56][0-9] kB, listed' line 3 # all records
    send 6; until_says out 'RECORDS  type' line 3
    send b; until_says out '  function$' line 3
    send b; until_says out '  file$' line 3
    send b b b b b b b; until_says out 'RECORDS  type' line 3
    send b; until_says out '  function$' line 3
    until_says out 'price_ask|label_print' line 4
    send Enter; until_says out 'only: ' line 24
    until_says out VERDICT line 3
    send Escape
    leave
}
test_browse_is_resized_and_clicked() {
    depot
    screen 80 24 C.UTF-8 "NO_COLOR=1 $O/leakreport browse depot.leak"
    until_says out ' lost +price_ask' line 4
    resize 200 60; until_says out '│' line 4
    resize 80 24; until_says out 'q quit' line 24
    until ! line 4 | grep -q '│'; do sleep 0.2; done
    resize 20 5; until_says out 'q quit' line 5
    resize 80 24; until_says out 'q quit' line 24
    click() { # column, line: as xterm reports that the first button goes down, and up
        at="$(printf %x $((32 + $1))) $(printf %x $((32 + $2)))"
        # shellcheck disable=SC2086 # bytes
        tmux -S "./${terminal##*/}" send-keys -H 1b 5b 4d 20 $at 1b 5b 4d 23 $at
    }
    click 34 2; until_says out 'KEPT ALIVE BY' line 3
    click 2 2; until_says out VERDICT line 3
    click 5 5; until_says out '^2\. ' shown
    click 5 5; until_says out 'CALL STACK' line 3
    click 9 24; until_says out VERDICT line 3 # "Esc back"
    click 1 24; until_says out 'status=0' shown # "q quit"
}
test_leakrun_browses_what_it_ran() {
    need gcc tmux
    printf '#include <stdlib.h>\n#include <stdio.h>\nvoid lose(void) { *(char *)malloc(77) = 1; }\nint main(void) { lose(); puts("done"); return 3; }\n' >lose.c
    gcc -g -w -o lose lose.c
    screen 80 24 C.UTF-8 "echo x | $root/scripts/leakrun --browse ./lose | cat; $root/scripts/leakrun --browse ./lose"
    for _ in piped alone; do # with pipes for all but the messages, and without
        until_says out 'exited with 3: 77 bytes in 1 block lost' line 1
        send Enter; until_says out 'CALL STACK' line 3
        send q
        until ! line 1 | grep -q 'exited with 3'; do sleep 0.2; done
    done
    until_says out 'status=3' shown
    [ "$(shown | grep -c '^[# ]*done$')" = 2 ] || fail "output: $(shown)"
    close_screen

    # Where there is no terminal the report is not lost.
    leakrun --browse ./lose >out 2>&1 </dev/null || equal status $? 3
    says out 'nothing to browse on: .*here is the text report'
    says out '77 bytes in 1 block lost'
    leakrun --keep=lose.leak --no-report ./lose >out || equal status $? 3
    "$O/leakreport" --format=browse lose.leak >report 2>out
    says out 'the output is no terminal'
    says report '77 bytes in 1 block lost'
    "$O/leakreport" --browse -o file lose.leak # a file is a text report
    equal 'the same' "$(cat file)" "$(cat report)"
}

# ---- What a report says on a terminal besides ----

test_trees_are_as_wide_as_the_terminal() {
    need gcc script
    name=$(printf 'a_function_whose_name_says_everything_about_itself_%.0s' 1 2)end
    printf '#include <stdlib.h>\nvoid %s(void) { *(char *)malloc(5000) = 1; }\nint main(void) { %s(); return 0; }\n' "$name" "$name" >wide.c
    gcc -g -w -o wide wide.c
    leakrun --keep=wide.leak --no-report ./wide
    shown_at() { script -qec "stty cols $1 rows 50; $O/leakreport $2 --no-pager wide.leak" /dev/null </dev/null >out 2>&1; }
    shown_at 200 'tree --weight=live'; says out "  .*$name"
    shown_at 80 'tree --weight=live'; silent_about out "$name"
    says out 'a_function.*end'
    shown_at 40 'tree --weight=live'; says out 'a_function.*end' # tables need 80
    "$O/leakreport" tree --weight=live wide.leak >out
    silent_about out "$name"
    shown_at 200 '--by=function'; says out "$name"
    shown_at 80 '--by=function'; silent_about out "$name"
    shown_at 200 --color=never # the report has 80 columns everywhere
    sed '/^libleak: /d; s/\r$//' out >report
    silent_about report '^.{81}'
}
test_a_report_that_takes_long_says_how_far_it_is() {
    need gcc script
    printf '#include <stdlib.h>\nint main(void) { *(char *)malloc(77) = 1; return 0; }\n' >lose.c
    gcc -g -w -o lose lose.c
    leakrun --keep=lose.leak --no-report ./lose
    compile slow.so -shared -fPIC -ldl <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    void (*real)(void *, size_t, size_t, int (*)(const void *, const void *)) = dlsym(RTLD_NEXT, "qsort");
    static int calls;
    if (!calls++) sleep(3);
    real(base, count, size, compare);
}
END
    report() { script -qec "$* $O/leakreport --no-pager lose.leak" /dev/null </dev/null >out 2>&1; }
    report LD_PRELOAD="$PWD/slow.so"
    says out 'leakreport: [a-z ]+, [0-9]+ addresses resolved, [0-9]+ s \.\.\.'
    says out '77 bytes in 1 block lost'
    report true ';'
    silent_about out 'resolved'
    LD_PRELOAD=$PWD/slow.so "$O/leakreport" lose.leak >out 2>&1 # no terminal
    silent_about out 'resolved'
    says out '77 bytes in 1 block lost'
}
