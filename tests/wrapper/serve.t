# leaktop --listen: its pages, metrics and profiles, read by curl, promtool and go tool pprof; and whom it refuses.
# shellcheck shell=sh disable=SC2154

books='#include <stdlib.h>
#include <unistd.h>
struct book { struct book *next; char text[1000]; } *books;
static char *volatile atlas, *volatile receipt;
__attribute__((noinline)) static void keep(void) { atlas = malloc(10 << 20); }
__attribute__((noinline)) static void drop(void) { receipt = malloc(777); receipt = NULL; }
__attribute__((noinline)) static void grow(void)
{
    struct book *book = malloc(sizeof *book);
    book->next = books;
    books = book;
}
int main(int argc, char **argv)
{
    keep();
    for (int i = 0; i < 3; i++) drop();
    for (;;) {
        for (int k = 0; argc > 1 && k < 20; k++) grow();
        usleep(20000);
    }
}'
open_library() { # name [, grows]: runs in the background
    [ -x library ] || echo "$books" | compile library -O1 -g -fno-builtin
    [ -e "$1" ] || cp library "$1"
    mkdir -p -m 700 stores
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores "./$1" ${2+"$2"} &
    running=$!
    all="${all-} $running"
    trap 'kill $all 2>/dev/null || :; wait' EXIT
    until_says seen "^ *$running " "$O/leaktop" --dir=stores
}
serve() { # options...: the page, whose address becomes `at`, and whose pid `server`
    mkdir -p -m 700 stores
    rm -f served # of a server before this one
    "$O/leaktop" --dir=stores --interval=0.5 "$@" >served 2>refused &
    server=$!
    all="${all-} $server"
    trap 'kill $all 2>/dev/null || :; wait' EXIT
    until_says seen '^leaktop: ' cat served
    at=$(sed -n '1s/^leaktop: //p' served)
}
ask() { # path, options of curl...
    path=$1
    shift
    curl -s -m 30 --noproxy '*' "$@" "$at$path"
}
code() { # path, options of curl...: the status; the body is in ./body
    path=$1
    shift
    : >body
    ask "$path" -o body -w '%{http_code}' "$@" || :
}
stop_server() {
    kill "$server"
    wait "$server" || fail "leaktop ended with $?"
}

# ---- The pages ----

test_each_page_answers_its_question() {
    need gcc curl
    open_library library grows
    open_library quiet
    serve --listen=127.0.0.1:0
    until_says out 'class="bad">1 of 2 processes grows</span>, the fastest, library, by [0-9.]+ [kM]B/s, most of it in <code>grow</code> at ' ask ''
    says out '<a href="/process/[0-9]+">library</a> <code>grow</code> at '
    grower=$(sed -n 's/.*<a href="\/process\/\([0-9]*\)">library<.*/\1/p' out)
    ask "process/$grower" >out
    says out 'class="bad">1 site grows</span>, by [0-9.]+ [kM]B/s, in <code>grow</code> at .*:9'
    says out '&gt; +[0-9]+ .*struct book \*book = malloc|^&gt; grow '
    says out '<polygon points='
    says out '>called by main<'
    ask "process/$running" >out
    says out 'class="good">No site grows.</span>'
    until_says out 'class="bad">[+][0-9.]+ [kM]B</span> since .* ago, most of it, [+][0-9.]+ [kM]B, in <code>grow</code>' \
        ask "process/$grower/diff?since=start"
    ask "process/$running/diff" >out
    says out 'class="good">0</span> since '
    says out 'No sites'
    says out '10 minutes: none yet'
    ask "process/$grower/diff?since=10m" >out
    says out 'There is no such mark yet'
    ask "process/$running/look" >out
    says out 'No leak check was made yet'
    says out "leakctl snapshot $running"
    "$O/leakctl" snapshot --dir=stores "$running" >/dev/null
    until_says out 'class="bad">2,331 bytes in 3 blocks lost</span>, most of it allocated in <code>drop</code> at .*: leak check of ' ask "process/$running/look"
    ask "process/$running/report.txt" >out
    says out "^libleak: pid=$running lost=2331/3/"
    ask "process/$running/report" >out
    says out '<!doctype html>'
    ask "process/$running/report.json" | jq -e '.processes[0].summary.lost.bytes == 2331' >/dev/null || fail 'the JSON report'
    equal 'all sites' "$(ask "process/$grower?sort=bytes&top=1" | grep -c '<details>')" 1
    equal 'a filter' "$(ask "process/$grower?filter=KEEP" | grep -c '<details>')" 1
    for wrong in 'sort=size' 'top=x' 'top=-1' 'since=never' 'renew=2'; do
        equal "$wrong" "$(code "process/$grower/diff?$wrong")" 400
    done
    for none in process/1 process/1/report x process/../x ../etc/passwd process/%2e%2e/x 'process/1%00' debug/pprof/profile; do
        equal "$none" "$(code "$none" --path-as-is)" 404
    done
    kill -9 "$grower"
    until_says out 'No process grows' ask ''
    equal 'it has ended' "$(code "process/$grower")" 404
    equal words "$(cat refused)" ''
    stop_server
}
test_names_of_a_program_are_no_html() {
    need gcc curl
    open_library library grows
    serve --listen=127.0.0.1:0
    until_says out '&lt;stdin&gt;:9' ask "process/$running" # the file of the source
    silent_about out '<stdin>'
    ask "process/$running?filter=%22%3E%3Cb%3E" >out
    says out 'value="&quot;&gt;&lt;b&gt;"'
    silent_about out '"><b>'
    ask '' -D headers >/dev/null
    says headers "^Content-Security-Policy: default-src 'none'; style-src 'self'; frame-ancestors 'none'"
    says headers '^X-Content-Type-Options: nosniff'
    silent_about headers '^Access-Control'
}

# ---- What others read ----

test_scrapes_are_what_promtool_accepts_and_cause_no_leak_check() {
    need gcc curl promtool jq
    export LIBLEAK_OPTIONS=snapshot_every=1h
    open_library library grows
    unset LIBLEAK_OPTIONS
    serve --listen=127.0.0.1:0 --label=cell=7 --sites=1
    ask metrics >one.prom
    promtool check metrics <one.prom >said 2>&1 || fail "promtool: $(cat said)"
    equal 'promtool says' "$(cat said)" ''
    says one.prom "^libleak_live_bytes[{]comm=\"library\",pid=\"$running\",cell=\"7\"[}] [0-9]+\$"
    equal sites "$(grep -c '^libleak_site_live_bytes' one.prom)" 1
    ask metrics -H 'Accept-Encoding: gzip' --raw >packed
    gzip -dc <packed >unpacked
    promtool check metrics <unpacked
    [ "$(wc -c <packed)" -lt "$(($(wc -c <unpacked) / 2))" ] || fail 'not packed'
    for path in "process/$running/report.txt" "process/$running/look" debug/pprof/heap metrics; do
        for again in 1 2 3; do equal "$path" "$(code "$path")" 200; done
    done
    equal 'leak checks' "$(ask "process/$running/report.json" | jq '.processes[0].leak_check // .processes[0].look')" null
    "$O/leakctl" snapshot --dir=stores "$running" >/dev/null
    until_says out '^libleak_look_time_seconds' ask metrics
}
test_a_report_is_written_once_for_a_leak_check() {
    need gcc curl
    open_library library grows
    serve --listen=127.0.0.1:0
    ask "process/$running/report.json" >first
    sleep 0.3
    ask "process/$running/report.json" >second
    cmp first second || fail 'it was written again'
    "$O/leakctl" snapshot --dir=stores "$running" >/dev/null
    until_says out '^libleak_look_time_seconds' ask metrics
    ask "process/$running/report.json" >third
    ! cmp -s second third || fail 'it was not written again after a leak check'
}
test_go_tool_pprof_reads_the_page_as_it_reads_a_service() {
    need gcc curl go
    export PPROF_TMPDIR=$PWD HOME=$PWD
    open_library library grows
    serve --listen=127.0.0.1:0
    top() { go tool pprof -symbolize=none -unit=bytes -top "$@" 2>/dev/null; }
    top "${at}debug/pprof/heap" >out
    says out '^Type: inuse_space'
    says out ' keep$'
    says out ' grow$'
    top "${at}process/$running/debug/pprof/allocs" >out
    says out '^Type: alloc_space'
    ask "process/$running/debug/pprof/heap" >first.pb.gz
    later() { # a profile is written again when it is 10 s old
        top -diff_base=first.pb.gz "${at}process/$running/debug/pprof/heap"
    }
    until_says out ' grow$' later
    equal 'what did not change' "$(awk '$NF == "keep" { print $1 }' out)" ''
    open_library other
    until_says seen other ask ''
    go tool pprof -symbolize=none -tags "${at}debug/pprof/heap" >out 2>/dev/null
    says out ' library$'
    says out ' other$'
}
test_go_tool_pprof_takes_functions_that_have_no_name() {
    need gcc curl go strip
    export PPROF_TMPDIR=$PWD HOME=$PWD
    echo "$books" | compile library -O1
    strip library
    open_library library grows
    serve --listen=127.0.0.1:0
    for profile in debug/pprof/heap "process/$running/debug/pprof/allocs"; do # with its default, which asks for the names
        go tool pprof -top "$at$profile" >out 2>err || fail "$(cat err)"
        says out '\[library\]'
    done
    equal 'a profile has all names' "$(ask debug/pprof/symbol -d 0x1000+0x2000)" 'num_symbols: 0'
    equal 'a page has none to ask for' "$(code metrics -d 0x1000)" 405
    equal 'from another page' "$(code debug/pprof/symbol -H 'Origin: http://evil.example' -d 0x1000)" 403
    head -c 5000000 /dev/zero | code debug/pprof/symbol --data-binary @- >out # larger than it reads
    says out '^(000|100)$'
    equal 'and it lives' "$(code metrics)" 200
}

# ---- Whom it refuses ----

refused() { # what, options of curl...
    what=$1
    shift
    equal "$what" "$(code metrics "$@")" 403
    equal "$what: the body" "$(cat body)" ''
}
test_other_origins_and_hosts_get_nothing() {
    need curl
    serve --listen=127.0.0.1:0 --host=box.example --allow-actions
    port=${at##*:} port=${port%/}
    equal 'as it is' "$(code metrics)" 200
    equal 'by name' "$(code metrics -H "Host: localhost:$port")" 200
    equal 'by its other name' "$(code metrics -H 'Host: box.example')" 200
    equal 'from a page of ours' "$(code metrics -H "Origin: http://127.0.0.1:$port" -H 'Sec-Fetch-Site: same-origin')" 200
    refused 'another host' -H 'Host: evil.example'
    refused 'a host that begins alike' -H 'Host: localhost.evil.example'
    refused 'no host' -H 'Host:' --http1.0
    refused 'another origin' -H 'Origin: http://evil.example'
    refused 'another port' -H 'Origin: http://127.0.0.1:1'
    refused 'a page without an origin' -H 'Origin: null'
    refused 'a link on another page' -H 'Sec-Fetch-Site: cross-site'
    refused 'an action of another page' -X POST -H 'Origin: http://evil.example'
    refused 'a question whether it may' -X OPTIONS -H 'Origin: http://evil.example' -H 'Access-Control-Request-Method: POST'
    printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n' >twice
    curl -s -m 5 "telnet://127.0.0.1:$port" <twice >out || :
    says out '^HTTP/1.1 403'
    says refused "^leaktop: refused a request: its Host is evil.example\$"
    [ "$(wc -l <refused)" -lt 8 ] || fail 'a line for each'
}
test_other_users_get_nothing() {
    need curl setpriv
    need_root
    copy_for_all_users "$(command -v curl)"
    serve --listen=127.0.0.1:0
    trap 'rm -rf "$place"; kill $all 2>/dev/null || :; wait' EXIT
    other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$place/tool" -s -m 5 --noproxy '*' "$@"; }
    equal ours "$(ask metrics | grep -c '^libleak_processes ')" 1
    other "${at}metrics" >out && fail 'another user had an answer'
    equal 'a byte' "$(wc -c <out)" 0
    stop_server
    chmod 755 "$PWD" 2>/dev/null || :
    serve --listen="$place/socket"
    equal 'mode of the socket' "$(stat -c %a "$place/socket")" 600
    chmod 666 "$place/socket" # even then
    equal ours "$(curl -s --unix-socket "$place/socket" http://localhost/metrics | grep -c '^libleak_processes ')" 1
    other --unix-socket "$place/socket" http://localhost/metrics >out && fail 'another user had an answer by the socket'
    equal 'a byte' "$(wc -c <out)" 0
    stop_server
    # With a token the user does not matter.
    printf 'a-token-of-this-test\n' >token
    chmod 600 token
    serve --listen=127.0.0.1:0 --token-file=token
    equal 'with the token' "$(other -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer a-token-of-this-test' "${at}metrics")" 200
    equal 'without' "$(other -o /dev/null -w '%{http_code}' "${at}metrics")" 401
}
test_a_token_opens_and_nothing_else_does() {
    need curl
    printf 'a-token-of-this-test\n' >token
    chmod 600 token
    serve --listen=127.0.0.1:0 --token-file=token
    equal none "$(code metrics)" 401
    equal 'none: the body' "$(cat body)" ''
    equal wrong "$(code metrics -H 'Authorization: Bearer a-token-of-this-tesT')" 401
    equal right "$(code metrics -H 'Authorization: Bearer a-token-of-this-test')" 200
    equal 'as a password' "$(code metrics -u any:a-token-of-this-test)" 200
    equal 'as a name' "$(code metrics -u a-token-of-this-test:)" 401
    equal 'and another host' "$(code metrics -u any:a-token-of-this-test -H 'Host: evil.example')" 403
    equal 'in the address' "$(code 'metrics?token=a-token-of-this-test')" 401
}
test_nothing_is_changed_without_allow_actions() {
    need gcc curl
    open_library library
    serve --listen=127.0.0.1:0
    for action in look mark; do
        equal "$action" "$(code "process/$running/$action" -X POST)" 403
        equal "$action by GET" "$(code "process/$running/mark")" 405
    done
    ask "process/$running/look" >out
    says out 'No leak check was made yet'
    silent_about out '<form method="post"'
    for method in PUT DELETE PATCH BREW; do
        equal "$method" "$(code "process/$running" -X $method)" 405
    done
    equal 'POST to a page' "$(code '' -X POST)" 405
    stop_server
    serve --listen=127.0.0.1:0 --allow-actions
    ask "process/$running/look" >out
    says out '<form method="post"'
    equal look "$(code "process/$running/look" -X POST)" 303
    ask "process/$running/look" >out
    says out 'class="bad">2,331 bytes in 3 blocks lost'
    says out 'paused [0-9.]+ ms'
    equal mark "$(code "process/$running/mark" -X POST)" 303
    until_says out 'class="good">0</span> since ' ask "process/$running/diff?since=mark"
    equal 'of another' "$(code process/1/look -X POST)" 404
    case $(code "process/$running/mark" -X POST --data-binary @"$O/leaktop") in
    000 | 100) ;; # "continue", and then it closes
    *) fail 'a body of a megabyte was read' ;;
    esac
    equal 'and it lives' "$(code metrics)" 200
}
test_addresses_are_those_that_are_safe() {
    need curl
    mkdir -m 700 stores
    listen() { "$O/leaktop" --dir=stores --listen="$@"; }
    printf 'a-token-of-this-test\n' >token
    chmod 644 token
    for wrong in 0.0.0.0:0 '[::]:0' 192.0.2.1:0 127.0.0.1 localhost:x box.example:0; do
        equal "$wrong" "$(status_of listen "$wrong")" 2
        listen "$wrong" >out 2>&1 || :
        equal 'lines' "$(wc -l <out)" 1
    done
    listen 0.0.0.0:0 2>err || :
    says err '^leaktop: --listen=0.0.0.0:0: other machines reach this address: add --token-file=FILE$'
    listen 127.0.0.1:0 --token-file=token 2>err && fail 'all users may read the token'
    says err '^leaktop: --token-file=token: all users may read it: chmod 600$'
    for wrong in --json --once --openmetrics=x --top=3; do equal "$wrong" "$(status_of listen 127.0.0.1:0 $wrong)" 2; done
    for wrong in --host=x --token-file=token --allow-actions; do
        equal "$wrong alone" "$(status_of "$O/leaktop" --once 1 $wrong)" 2
    done
    equal 'the part alone' "$(status_of "$O/leakserve" --once 1)" 2
    chmod 600 token
    serve --listen=0.0.0.0:0 --token-file=token
    equal 'with a token' "$(curl -s -o /dev/null -w '%{http_code}' --noproxy '*' -u x:a-token-of-this-test "http://127.0.0.1:${at##*:}metrics")" 200
}
test_the_socket_of_a_user_is_the_default() {
    need curl
    export XDG_RUNTIME_DIR=$PWD/.run
    serve --listen
    equal path "$at" "$PWD/.run/leaktop.sock"
    equal mode "$(stat -c %a "$at")" 600
    equal answer "$(curl -s --unix-socket "$at" -o /dev/null -w '%{http_code}' http://localhost/)" 200
    equal 'another host' "$(curl -s --unix-socket "$at" -o /dev/null -w '%{http_code}' http://evil.example/)" 403
    "$O/leaktop" --dir=stores --listen 2>err && fail 'it is in use'
    says err '^leaktop: --listen=.*/leaktop.sock: Address already in use$'
    kill -9 "$server"
    wait "$server" 2>/dev/null || :
    [ -S "$at" ] || fail 'nothing was left to replace'
    serve --listen
    equal 'after a kill' "$(curl -s --unix-socket "$at" -o /dev/null -w '%{http_code}' http://localhost/)" 200
    stop_server
    [ ! -e "$at" ] || fail 'it stays behind'
    echo important >file
    equal 'a file' "$(status_of "$O/leaktop" --dir=stores --listen=./file)" 2
    equal 'a file' "$(cat file)" important
}

# ---- Hostile clients ----

test_hostile_clients_cost_little() {
    need python3
    serve --listen=127.0.0.1:0
    /usr/bin/python3 "$here/hostile.py" "${at#http://}" "$server" >out 2>&1 || fail "$(cat out)"
    equal 'it lives' "$(code metrics)" 200
    stop_server
}
