#!/bin/sh
# overhead.sh BUILD [RUNS] - CPU time of real programs with libleak and without, as a ratio.
#
# Runs are interleaved: plain, plain again, with libleak; each ratio is the median over RUNS rounds
# (default 11) of user + system time against the first plain run of the same round. The second
# plain run is the control: how far two equal runs are apart on this machine. Nothing is asserted.
# Programs that are not installed are left out.
set -eu
build=$(cd "$1" && pwd)
runs=${2:-11}
library=$build/libleak.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/stores"
command -v awk >/dev/null || { echo "overhead: awk is missing" >&2; exit 2; }
[ -e "$library" ] || { echo "overhead: no $library" >&2; exit 2; }

# ---- Inputs, made here so that every machine has the same ------------------------------------------

awk 'BEGIN { print "<list>"; for (i = 0; i < 120000; i++)
    printf "<item id=\"%d\"><name>n%d</name><v a=\"%d\">%d</v></item>\n", i, i, i % 7, i * 3; print "</list>" }' \
    >"$work/list.xml"
awk 'BEGIN { print "["; for (i = 0; i < 60000; i++)
    printf "%s{\"id\":%d,\"name\":\"n%d\",\"tags\":[\"a%d\",\"b\"],\"v\":{\"x\":%d}}\n", (i ? "," : ""), i, i, i % 9, i * 3
    print "]" }' >"$work/list.json"
cat >"$work/query.sql" <<'SQL'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 120000)
insert into t select i, 'name ' || (i * 7919 % 120000), i / 3.0 from n;
create index tb on t(b);
select count(*), sum(length(b)), avg(c) from t where b like 'name 1%';
select substr(b, 1, 7) as k, count(*) from t group by k order by k limit 5;
SQL
cat >"$work/words.py" <<'PY'
import collections, json
words = collections.Counter()
for i in range(150000):
    words["w%d" % (i * 7919 % 5000)] += 1
trees = [{"k": str(i), "l": list(range(i % 20))} for i in range(30000)]
print(len(words), len(json.dumps(trees)))
PY
cat >"$work/words.pl" <<'PL'
my (%h, @l);
for my $i (0 .. 300000) { $h{"k" . ($i * 7919 % 50000)} .= "x"; push @l, [$i, "v$i"] if $i % 3 == 0 }
my $n = 0; $n += length $h{$_} for sort keys %h; print "$n ", scalar(@l), "\n";
PL
cat >"$work/words.awk" <<'AWK'
BEGIN { for (i = 0; i < 400000; i++) { k = "k" (i * 7919 % 50000); h[k] = h[k] "x" }
        n = 0; for (k in h) n += length(h[k]); print n }
AWK
python=$(ls /usr/bin/python3 2>/dev/null || command -v python3 || true)

# ---- Measuring ---------------------------------------------------------------------------------------

# User + system seconds of a command, by the shell's own account of its children.
seconds() {
    ( "$@" >/dev/null 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
      times ) | awk 'NR == 2 { n = split($0, t, /[ms ]+/); print t[1] * 60 + t[2] + t[3] * 60 + t[4] }'
}

measure() { # name command...
    name=$1
    shift
    command -v "$1" >/dev/null || { echo "$name: not installed" >&2; return 0; }
    : >"$work/ratios"
    n=0
    while [ $n -lt "$runs" ]; do
        plain=$(seconds "$@")
        again=$(seconds "$@")
        with=$(seconds env "LD_PRELOAD=$library" "LIBLEAK_OPTIONS=dir=$work/stores" "$@")
        echo "$plain $again $with" >>"$work/ratios"
        rm -f "$work"/stores/*
        n=$((n + 1))
    done
    awk -v name="$name" '
        function median(a, n,   i, j, t) {
            for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] < a[j - 1]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
            return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
        }
        $1 > 0 { n++; p[n] = $1; c[n] = $2 / $1; w[n] = $3 / $1 }
        END { m = median(p, n); printf "%-10s %7.2f s  %6.2f  %6.2f\n", name, m, median(c, n), median(w, n) }
    ' "$work/ratios"
}

echo "program      plain    again  libleak   (medians of $runs rounds; ratios to the plain run)"
measure xmllint xmllint --noout "$work/list.xml"
measure jq jq -c 'map(.v.x) | add' "$work/list.json"
measure sqlite3 sqlite3 -batch ":memory:" ".read $work/query.sql"
[ -z "$python" ] || measure python3 "$python" "$work/words.py"
measure perl perl "$work/words.pl"
measure gawk gawk -f "$work/words.awk"
