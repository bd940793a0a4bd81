# leaktop --openmetrics, read by what it is written for: promtool, the node exporter, Prometheus itself. The last
# two run here on free ports of the loopback alone, and no service of theirs is asked.
# shellcheck shell=sh disable=SC2154

shop='#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct order { struct order *next; char text[1000]; } *orders;
static char *volatile shelf, *volatile receipt;
__attribute__((noinline)) static void stock(void) { shelf = malloc(10 << 20); }
__attribute__((noinline)) static void drop(void) { receipt = malloc(777); receipt = NULL; }
__attribute__((noinline)) static void sell(void)
{
    struct order *order = malloc(sizeof *order);
    order->next = orders;
    orders = order;
}
__attribute__((noinline)) static void look(void) { receipt = malloc(100); free(receipt); receipt = NULL; }
int main(int argc, char **argv)
{
    stock();
    for (int i = 0; i < 3; i++) drop();
    for (int i = 0; i < 50 * 50; i++) {
        for (int k = 0; k < 20; k++) argc > 1 ? sell() : look();
        usleep(20000);
    }
    return 0;
}'
open_shop() { # name [, grows]: runs in the background
    [ -x shop ] || echo "$shop" | compile shop -O1 -g -fno-builtin
    [ -e "$1" ] || cp shop "$1"
    mkdir -p -m 700 stores
    LD_PRELOAD=$O/libleak.so LIBLEAK_DIR=$PWD/stores "./$1" ${2+"$2"} &
    running=$!
    all="${all-} $running"
    trap 'kill $all 2>/dev/null || :; wait' EXIT
    until_says seen "^ *$running " "$O/leaktop" --dir=stores
}
metrics() { "$O/leaktop" --dir=stores --openmetrics "$@"; }
value() { # file, metric and labels as they stand there
    wanted=$2 awk 'BEGIN { wanted = ENVIRON["wanted"] " " }
        index($0, wanted) == 1 { print substr($0, length(wanted) + 1) }' "$1"
}

# ---- The file ----

test_metrics_are_what_promtool_accepts() {
    need gcc promtool
    echo "$shop" | compile shop -O1 -g -fno-builtin
    # shellcheck disable=SC1003
    odd='a "quoted" \name
of two lines'
    mkdir "$odd"
    cp shop "$odd/odd"
    open_shop "$odd/odd" grows
    odd_pid=$running
    export LIBLEAK_OPTIONS=snapshot_every=1s
    open_shop shop
    unset LIBLEAK_OPTIONS
    until_says one.prom "^libleak_site_growing[{].*function=\"sell\"[}] 1\$" \
        sh -c "'$O/leaktop' --dir=stores --openmetrics=x.prom --once && cat x.prom"
    until_says one.prom "^libleak_lost_bytes[{]" \
        sh -c "'$O/leaktop' --dir=stores --openmetrics=x.prom --once --label='cell=7 \"b\"' && cat x.prom"
    promtool check metrics <one.prom >said 2>&1 || fail "promtool: $(cat said)"
    equal 'promtool says' "$(cat said)" ''
    equal twice "$(sed '/^#/d; s/ [^ ]*$//' one.prom | sort | uniq -d)" ''
    mine="comm=\"shop\",pid=\"$running\",cell=\"7 \\\"b\\\"\""
    equal lost "$(value one.prom "libleak_lost_bytes{$mine}")" 2331
    equal blocks "$(value one.prom "libleak_lost_blocks{$mine}")" 3
    equal growing "$(value one.prom "libleak_growing_sites{$mine}")" 0
    equal growing "$(value one.prom "libleak_growing_sites{comm=\"odd\",pid=\"$odd_pid\",cell=\"7 \\\"b\\\"\"}")" 1
    says one.prom '^libleak_process_info.*exe="[^"]*/a \\"quoted\\" \\\\name\\\\x0aof two lines/odd",sampled="false"[}] 1$'
    equal mode "$(stat -c %a x.prom)" 644
    leftover=$(find . -maxdepth 1 -name 'x.prom.*')
    equal 'left beside it' "$leftover" ''
}
test_metrics_name_sites_alike_after_a_restart() {
    need gcc
    open_shop shop
    metrics=first.prom
    for metrics in first.prom second.prom; do
        until_says seen 'function="stock"' sh -c "'$O/leaktop' --dir=stores --openmetrics=$metrics --once && cat $metrics"
        kill "$running"
        wait "$running" || :
        [ $metrics = second.prom ] || open_shop shop
    done
    for metrics in first second; do
        sed -n '/^libleak_site_live_bytes.*"stock"/s/pid="[0-9]*"/pid/p' $metrics.prom >$metrics
    done
    says first '^libleak_site_live_bytes[{].*signature="[0-9a-f]{16}",kind="malloc",function="stock"[}] 10485760$'
    equal 'after the restart' "$(cat second)" "$(cat first)"
}
test_metrics_forget_a_process_that_ended() {
    need gcc
    open_shop shop
    gone=$running
    open_shop folder
    "$O/leaktop" --dir=stores --openmetrics=x.prom --interval=0.1 2>err &
    metrics=$!
    all="$all $metrics"
    until_says out '^libleak_live_bytes[{]comm="folder"' cat x.prom
    says out "^libleak_live_bytes[{]comm=\"shop\",pid=\"$gone\"[}]"
    kill -9 "$gone"
    until_says out '^libleak_processes 1$' cat x.prom
    silent_about out "pid=\"$gone\""
    says out '^libleak_live_bytes[{]comm="folder"'
    before=$(value x.prom libleak_written_time_seconds)
    until [ "$(value x.prom libleak_written_time_seconds)" != "$before" ]; do sleep 0.1; done
    kill "$metrics"
    wait "$metrics" || :
    equal 'words of leaktop' "$(cat err)" ''
    leftover=$(find . -maxdepth 1 -name 'x.prom.*')
    equal 'left beside it' "$leftover" ''
    metrics x.prom --once "$running"
    says x.prom '^libleak_processes 1$'
    metrics x.prom --once cupboard
    equal 'no such process' "$(value x.prom libleak_processes)" 0
}
test_metrics_are_never_more_than_asked_for() {
    need gcc
    for name in a b c d e f g h i j k l; do open_shop $name; done
    metrics x.prom --once --series=100 --sites=1
    count=$(grep -c '^libleak_' x.prom)
    [ "$count" -le 100 ] || fail "$count series"
    told=$(grep -c '^libleak_live_bytes' x.prom)
    equal 'left out' "$(value x.prom libleak_processes_left_out)" $((12 - told))
    [ "$told" -lt 12 ] || fail 'nothing had to be left out'
    metrics x.prom --once --sites=1
    equal 'of all' "$(grep -c '^libleak_site_live_bytes' x.prom)" 12
    equal 'left out' "$(value x.prom libleak_processes_left_out)" 0
    says x.prom '^libleak_sites_left_out[{]comm="a",pid="[0-9]+"[}] 1$'
}
test_metrics_that_cannot_be_written_are_one_line() {
    mkdir -m 700 stores folder
    ln -s nowhere link
    mkfifo pipe
    for target in nowhere/x.prom folder link pipe /dev/null ''; do
        equal "$target" "$(status_of metrics "$target" --once)" 2
        metrics "$target" --once >out 2>err || :
        equal 'lines' "$(cat out err | wc -l)" 1
    done
    metrics nowhere/x.prom 2>err && fail 'without --once'
    equal words "$(cat err)" 'leaktop: cannot write nowhere/x.prom: No such file or directory'
    [ -L link ] && [ -p pipe ] && [ -c /dev/null ] || fail 'replaced'
    equal 'left' "$(find . -name '*.prom*')" ''
}
test_metrics_options_have_a_meaning_or_are_refused() {
    mkdir -m 700 stores
    for wrong in --json --csv --top=3 --sites=-1 --sites=x --series=99 --label=pid=4 --label=a --label=9=a --interval=0 --sort=delta; do
        equal "$wrong" "$(status_of metrics x.prom --once $wrong)" 2
        [ ! -e x.prom ] || fail "$wrong: written"
    done
    equal 'a label twice' "$(status_of metrics x.prom --once --label=a=1 --label=a=2)" 2
    for wrong in --sites=3 --series=300 --label=a=b; do
        equal "$wrong alone" "$(status_of "$O/leaktop" --once 1 $wrong)" 2
        "$O/leaktop" --once 1 $wrong 2>err || :
        says err "^leaktop: ${wrong%%=*} has no effect without --openmetrics\$"
    done
    equal 'no process' "$(status_of metrics x.prom --once)" 0
    says x.prom '^libleak_processes 0$'
}
test_metrics_of_a_container_are_written_inside_it() {
    need gcc unshare
    need_root
    unshare --uts --pid --fork --mount-proc true 2>/dev/null || skip 'no namespaces here'
    echo "$shop" | compile shop -O1 -g -fno-builtin
    mkdir -m 700 stores
    cat >inside <<'END_OF_INSIDE'
hostname box7
LD_PRELOAD=$1/libleak.so LIBLEAK_DIR=$PWD/stores ./shop &
until "$1/leaktop" --dir=stores | grep -q shop; do sleep 0.1; done
"$1/leaktop" --dir=stores --openmetrics=box7.prom --once --label=container=box7
"$1/leaktop" --help >/dev/null
until [ -e closed ]; do sleep 0.1; done
END_OF_INSIDE
    unshare --uts --pid --fork --mount-proc --kill-child sh -e inside "$O" &
    until [ -e box7.prom ]; do sleep 0.1; done
    says box7.prom '^libleak_live_bytes[{]comm="shop",pid="[0-9]{1,2}",container="box7"[}] 1048[0-9]{4}$'
    metrics outside.prom --once # its pids are others, and none of its business
    says outside.prom '^libleak_processes 0$'
    touch closed
    wait
}

# ---- Rules and what is said about them ----

test_rules_are_what_promtool_accepts() {
    need promtool
    cp -r "$root/docs/fleet" .
    promtool check rules fleet/libleak.rules.yml >out 2>&1 || fail "$(cat out)"
    says out '[1-9] rules found'
    promtool test rules fleet/libleak.test.yml >out 2>&1 || fail "$(cat out)"
    promtool check config fleet/prometheus.yml >out 2>&1 || fail "$(cat out)"
    for alert in $(sed -n 's/.*- alert: //p' fleet/libleak.rules.yml); do
        says fleet/libleak.test.yml "alertname: $alert\$"
    done
    # A test that would not notice a wrong rule is none.
    sed -i 's/> 1024$/> 1048576/' fleet/libleak.rules.yml
    equal 'with another rule' "$(status_of promtool test rules fleet/libleak.test.yml)" 1
}
test_metrics_have_their_place_in_the_documentation() {
    words=$(sed -n 's/^    M([a-z]*, "\(libleak_[a-z_]*\)".*/\1/p' "$root/top/metric_table.c" | sort)
    equal 'in FLEET.md' "$(grep -o '^| `libleak_[a-z_]*`' "$root/docs/FLEET.md" | tr -d '|` ' | sort)" "$words"
    for word in $(grep -o 'libleak_[a-z_]*' "$root/docs/fleet/libleak.rules.yml" | sort -u); do
        case " $(echo $words) " in *" $word "*) ;; *) fail "no metric is called $word" ;; esac
    done
}
test_the_unit_of_systemd_is_one() {
    need systemd-analyze
    sed "s#/usr/local/bin/leaktop#$O/leaktop#" "$root/docs/fleet/libleak-metrics.service" >libleak-metrics.service
    systemd-analyze verify ./libleak-metrics.service >out 2>&1 || fail "$(cat out)"
    silent_about out 'libleak-metrics'
    line=$(sed -n 's/^ExecStart=//p' libleak-metrics.service)
    # shellcheck disable=SC2086
    set -- $line
    equal 'its words are options' "$(status_of "$@" --help)" 0
}

# ---- Prometheus ----

ask() { curl -s -m 5 --noproxy '*' "http://127.0.0.1:$1"; } # port/path
serve() { # command...: with port 0 the kernel chooses one, and the log says which: it becomes `port`
    log=$1.log
    "$@" --web.listen-address=127.0.0.1:0 >"$log" 2>&1 &
    all="$all $!"
    until grep -q 'msg="Listening on"' "$log"; do
        kill -0 $! 2>/dev/null || fail "$1 ended: $(tail -n 5 "$log")"
        sleep 0.1
    done
    port=$(sed -n 's/.*msg="Listening on".*:\([0-9]*\)$/\1/p' "$log")
}

test_an_alert_fires_for_what_grows_alone() {
    need gcc prometheus curl jq
    exporter=prometheus-node-exporter
    command -v $exporter >/dev/null || exporter=node_exporter # as others than Debian call it
    need $exporter
    open_shop shopd grows
    open_shop cached
    mkdir textfile
    "$O/leaktop" --dir=stores --openmetrics=textfile/libleak.prom --interval=1 2>err &
    all="$all $!"
    serve $exporter --collector.disable-defaults --collector.textfile \
        --collector.textfile.directory="$PWD/textfile"
    until_says scraped '^libleak_processes 2$' ask "$port/metrics"
    says scraped '^node_textfile_scrape_error 0$'
    # The shipped rules and configuration, but for their times.
    sed 's/for: [0-9]*m$/for: 2s/' "$root/docs/fleet/libleak.rules.yml" >libleak.rules.yml
    sed "s/127.0.0.1:9100/127.0.0.1:$port/; s/_interval: 30s/_interval: 1s/" "$root/docs/fleet/prometheus.yml" >prometheus.yml
    serve prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb
    until_says alerts '"LibleakGrowing"' sh -c "curl -s -m 5 --noproxy '*' http://127.0.0.1:$port/api/v1/alerts |
        jq -c '.data.alerts[] | select(.state == \"firing\") | [.labels.alertname, .labels.comm]'"
    equal firing "$(cat alerts)" '["LibleakGrowing","shopd"]'
    ask "$port/api/v1/alerts" | jq -r '.data.alerts[].annotations | .summary, .description' >words
    says words '^shopd on 127.0.0.1:[0-9]+ grows by [0-9.]+[kM]iB/s$'
    says words '^Most of it in sell, '
    # And the other was looked at all the time.
    equal 'of the other' "$(ask "$port/api/v1/query?query=libleak_growing_sites" |
        jq -r '.data.result[] | select(.metric.comm == "cached") | .value[1]')" 0
    equal 'words of leaktop' "$(cat err)" ''
}
