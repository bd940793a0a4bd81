# leaktop on programs that run: a large block that stays, and a list that grows by 1 MB a second.

shelf='#include <stdlib.h>
#include <unistd.h>
struct book { struct book *next; char text[1000]; } *books;
static char *volatile atlas, *volatile page;
__attribute__((noinline)) static void keep(void) { atlas = malloc(100 << 20); }
__attribute__((noinline)) static void grow(void)
{
    struct book *book = malloc(sizeof *book);
    book->next = books;
    books = book;
}
__attribute__((noinline)) static void churn(void) { page = malloc(100); free(page); }
int main(int argc, char **argv)
{
    keep();
    for (int i = 0; i < 50 * atoi(argv[1]); i++) {
        for (int k = 0; k < 20; k++) {
            grow();
            churn();
        }
        usleep(20000);
    }
    return 7;
}'
shelve() { # name, seconds: runs in the background
    [ -x shelf ] || echo "$shelf" | compile shelf -O1 -g
    [ "$1" = shelf ] || cp shelf "$1"
    mkdir -p -m 700 stores
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores "./$1" "$2" &
    running=$!
    until_says seen "^ *$running " top
}
top() { "$O/leaktop" --dir=stores "$@"; }

test_leaktop_lists_processes_that_run_and_takes_one() {
    need gcc
    equal 'nothing runs' "$(status_of "$O/leaktop" --dir="$PWD")" 2
    shelve shelf 40
    one=$running
    shelve shelf 40
    two=$running
    shelve folder 40
    top >out
    equal 'all of them' "$(grep -c -e ' shelf$' -e ' folder$' out)" 3
    top --once folder >out
    says out "^folder \(pid $running\), running for "
    equal 'no such name' "$(status_of top --once cupboard)" 2
    top --once shelf >out 2>err && fail 'which one?'
    says err '^leaktop: 2 processes are called shelf: give a PID$'
    top --once "$two" >out
    says out "^shelf \(pid $two\), "
    kill -9 "$one"
    wait "$one" 2>/dev/null || :
    top >out
    silent_about out "^ *$one " # its store is still there
    equal 'it is not asked' "$(status_of top --once "$one")" 2
    equal stores "$(find stores -name '*.leak' | wc -l)" 3
    kill "$two" "$running"
}
test_a_process_is_known_by_its_file_and_by_the_name_that_ps_shows() {
    need gcc
    echo "$shelf" | compile folder -O1 -g
    ln -s folder cupboard # as redis-server is a link to redis-check-rdb
    mkdir -p -m 700 stores
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores ./cupboard 40 &
    running=$!
    until_says seen "^ *$running " top
    top >out
    says out "^ *$running .* cupboard\$"
    for name in cupboard folder; do
        top --once $name >out
        says out "^cupboard \(pid $running\), running for "
    done
    equal 'part of a name' "$(status_of top --once cup)" 2
    kill "$running"
}
test_leaktop_finds_what_leakrun_runs() {
    need gcc
    echo "$shelf" | compile shelf -O1 -g
    leakrun --no-report ./shelf 4 >/dev/null 2>&1 &
    XDG_RUNTIME_DIR=$PWD/.run until_says out ' shelf$' "$O/leaktop"
    "$O/leaktop" --once shelf >out
    says out ' keep shelf|<stdin>| keep '
    wait
}
test_leaktop_writes_what_grows_first() {
    need gcc jq
    shelve shelf 55
    until_says out '^ .* growing +grow ' top --once "$running"
    equal 'first line' "$(sed -n 4p out | grep -c ' grow ')" 1
    says out '^[+][0-9.]+ [kM]B, [0-9.]+k? allocs/s, [0-9.]+k? frees/s, (peak [0-9.]+ [kMG]?B, )?1 growing$'
    says out '^ *105 MB +1 +[0-9.]+ +0 +0 +0 .* keep '
    top --once --sort=bytes "$running" >out
    says out '^ *105 MB'
    equal 'first by bytes' "$(sed -n 4p out | grep -c keep)" 1
    top --once --filter=CHURN "$running" >out
    equal 'lines' "$(wc -l <out)" 4
    top --once --json --top=1 "$running" >json
    valid json top
    equal 'one document' "$(jq -c '[.format, .more_sites > 0, .sites[0].growth.verdict, .sites[0].delta_bytes > 100000,
        .sites[0].allocs_per_second > 100, (.sites[0].frames | map(select(.user)) | .[0].function),
        .process.end.how]' json)" '["libleak-top",true,"growing",true,true,"grow","running"]'
    top --once --csv --top=0 "$running" >csv
    equal 'columns' "$(/usr/bin/python3 -c 'import csv, sys
rows = list(csv.DictReader(open("csv")))
print(rows[0]["function"], rows[0]["growth"], {row["function"] for row in rows} >= {"grow", "keep", "churn"},
      all(None not in row and None not in row.values() for row in rows))')" 'grow growing True True'
    kill "$running"
}
test_leaktop_json_comes_at_each_look_until_the_end() {
    need gcc jq
    shelve shelf 3
    top --json --interval=0.5 --top=1 "$running" >json
    while read -r line; do echo "$line" >one && valid one top; done <json
    equal 'the first knows no change' "$(head -n1 json | jq .totals.delta_bytes)" null
    equal 'the second does' "$(sed -n 2p json | jq '.totals.delta_bytes > 0')" true
    equal 'the end' "$(tail -n1 json | jq -c .process.end)" '{"how":"exit","value":7}'
}
test_leaktop_refuses_what_it_does_not_know() {
    for wrong in --interval=0 --interval=x --sort=size --top=-1 --bogus --json; do
        equal "$wrong" "$(status_of "$O/leaktop" $wrong)" 2
    done
    equal help "$(status_of "$O/leaktop" --help)" 0
    equal version "$(status_of "$O/leaktop" --version)" 0
}

# ---- In a terminal ----

screen() { # columns, lines, locale: a shell in which leaktop is started on the process
    open_screen "$1" "$2" "$3"
    send "stty -g >before; $O/leaktop --dir=stores $running; echo status=\$?; stty -g >after" Enter
}

test_leaktop_screen_shows_what_grows_and_obeys_keys() {
    need gcc tmux
    shelve shelf 55
    for size in '80 24 C.UTF-8' '200 50 C'; do
        # shellcheck disable=SC2086 # a list of words
        screen $size
        until_says out ' growing +grow' line 5
        line 5 | grep -q grow || fail "not on the first line: $(shown)"
        send b; until_says out ' keep' line 5
        send g; until_says out ' grow' line 5
        send a; until_says out '(churn|grow)' line 5
        send g Enter; until_says out 'growing \+[0-9.]+ [kM]B/s for .*' shown
        until_says out '^> grow|> +[0-9]+ ' shown
        until_says out '^  main' shown
        send Enter m; until_says out ' MARK ' line 4
        send M; until_says out ' DELTA ' line 4
        send '?'; until_says out '^q  quit' shown
        send '?' / k e e p Enter; until_says out 'filter: keep' shown
        until_says out ' keep' line 5
        send Escape; until_says out ' grow' line 5
        send Space; until_says out '^FROZEN' shown
        before=$(line 1)
        sleep 2
        equal frozen "$(line 1)" "$before"
        send Space; until_says out "running" sh -c "[ \"\$('$root/tests/terminal' shown '$terminal' | sed -n 1p)\" != '$before' ] && echo running"
        case $size in
        80*) resize 130 30; until_says out ' AGE ' line 4 ;;
        *) ! shown | LC_ALL=C grep -q '[^ -~]' || fail "not ASCII: $(shown)" ;;
        esac
        send q; until_says out 'status=0' shown
        until_says out . cat after
        equal 'the terminal is what it was' "$(cat after)" "$(cat before)"
        close_screen
    done
    kill "$running"
}
test_leaktop_screen_has_the_process_looked_at_and_writes_a_report() {
    need gcc tmux
    shelve shelf 55
    screen 120 30 C.UTF-8
    until_says out ' growing +grow' line 5
    send L; until_says out "shelf \(pid $running\): paused .* lost" shown
    send j; until_says out 'L check' line 30
    send w; until_says out "wrote the report to leak.$running.1.txt" shown
    says "leak.$running.1.txt" "^libleak: pid=$running lost="
    send w; until_says out "wrote the report to leak.$running.2.txt" shown
    kill -9 "$running"
    until_says out ', gone' line 1
    send L; until_says out "leakctl: " shown
    send q; until_says out 'status=0' shown
    close_screen
}
test_leaktop_shows_all_processes_and_goes_into_one() {
    need gcc tmux
    shelve folder 55
    still=$running
    shelve shelf 55
    grown=$running
    for size in '80 24 C.UTF-8' '200 60 C'; do
        running= # all
        # shellcheck disable=SC2086 # a list of words
        screen $size
        until_says out '^ *[0-9]+ .* 1 +\+[0-9.]+ MB .* (shelf|folder)$' line 3
        until_says out '^2 processes under libleak: .* live, 2 growing' line 1
        send Down; send L; until_says out 'pid [0-9]+\): paused .* lost: ' shown
        until_says out '^ *[0-9]+ +1[0-9]+ MB +1[0-9]+ MB +[0-9]+ [kM]?B +1 .* [0-9]+s +[0-9]+s ' shown
        send '?'; until_says out '^LOST .*leak check' shown
        send Escape; until_says out ' (shelf|folder)$' line 3
        send Home; until_says out ' (shelf|folder)$' line 3
        send Enter; until_says out '\(pid [0-9]+\), running for' line 1
        until_says out ' heap|^heap, 0 to [0-9.]+ MB in [0-9]+s: ' line 3
        send Enter; until_says out '^> ' shown
        send Escape; until_says out '\(pid [0-9]+\), running for' line 1 # closes the pane
        until ! shown | grep -q '^> '; do sleep 0.2; done
        send Escape; until_says out '^2 processes' line 1
        send q; until_says out 'status=0' shown
        close_screen
    done
    top --once >out
    equal 'all of them' "$(grep -cE ' +1 +\+[0-9.]+ (MB|kB) ' out)" 2
    awk 'NR > 1 && $2 + 0 > $4 + 0 { exit 1 }' out || fail "live above peak: $(cat out)"
    top --once --filter=nothing "$still" >out
    says out ' LOST '
    kill "$still" "$grown"
}
test_leaktop_screen_stays_when_the_process_ends() {
    need gcc tmux
    shelve shelf 4
    screen 80 24 C.UTF-8
    until_says out 'exited with status 7' line 1
    says out '^shelf \(pid '
    rm stores/*.leak
    send Enter; until_says out '^> ' shown
    send q; until_says out 'status=0' shown
    close_screen
    shelve shelf 30
    screen 80 24 C.UTF-8
    until_says out 'running for' line 1
    rm stores/*.leak # as leakrun does in the end
    until_says out '^ended: ' shown
    says out '\(pid [0-9]+\), gone: '
    send q; until_says out 'status=0' shown
    kill "$running"
    close_screen
}
