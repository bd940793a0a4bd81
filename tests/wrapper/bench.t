# bench/: what is measured is the whole process tree, and tables say what the figures say.

figures() { # rows of a measurement on stdin, words separated by commas
    printf 'suite\tcase\ttool\tround\tquantity\tvalue\n' >figures.tsv
    tr ',' '\t' >>figures.tsv
}
tables() { python3 -B "$root/bench/show.py" tables figures.tsv >tables; }
measured() { # the end, then a command: what measure says of how it ended
    "$O/bench/measure" -t 20 -o out -e err result "$@"
    sed 's/.*\(end=.*\)/\1/' result
}
need_tools() { need python3 && make -s -C "$root" O="$O" bench-tools >/dev/null; }

test_measure_says_how_a_command_ended() {
    need_tools
    equal exit "$(measured A=b sh -c 'echo $A; exit 3')" 'end=exit value=3'
    equal output "$(cat out)" b
    equal signal "$(measured sh -c 'kill -SEGV $$')" 'end=signal value=11'
    "$O/bench/measure" -t 1 result sleep 30
    says result 'end=timeout'
}
test_measure_waits_for_orphans() {
    need_tools
    measured sh -c '(sleep 0.3; : >late) & exit 0' >/dev/null
    [ -e late ] || fail "the orphan was not waited for"
}
test_ratios_are_medians_within_rounds() {
    need python3
    figures <<'ROWS'
programs,-,none,0,tool,alone
programs,-,ours,0,tool,ours
programs,p,none,1,status,ok
programs,p,ours,1,status,ok
programs,p,none,1,cpu,1
programs,p,none,2,cpu,2
programs,p,none,3,cpu,4
programs,p,ours,1,cpu,3
programs,p,ours,2,cpu,4
programs,p,ours,3,cpu,4
ROWS
    tables
    says tables '^p +2.00 s +2.00$'
}
test_crashed_tools_are_shown_and_left_out_of_the_mean() {
    need python3
    figures <<'ROWS'
programs,-,none,0,tool,alone
programs,-,libleak,0,tool,ours
programs,-,peer,0,tool,theirs
programs,-,absent,0,tool,-
programs,p,none,1,status,ok
programs,p,libleak,1,status,ok
programs,p,peer,1,status,signal 11
programs,p,none,1,cpu,1
programs,p,libleak,1,cpu,4
programs,q,none,1,status,ok
programs,q,libleak,1,status,ok
programs,q,peer,1,status,ok
programs,q,none,1,cpu,1
programs,q,libleak,1,cpu,1
programs,q,peer,1,cpu,3
ROWS
    tables
    says tables '^p +1.00 s +4.00 +crashed +-$'
    says tables '^geometric mean +2.00 +3.00 +-$'
    says tables '^libleak on the same +1.00 +-$'
    says tables '^absent +not installed here$'
}
test_bench_runs_programs_and_micro_in_small() {
    need python3 perl
    BUILD=$O "$root/bench/run" programs --scale=0.001 --rounds=1 --programs=perl --tools=again,libleak \
        --output="$PWD/p.tsv" >out 2>err || fail "$(cat err)"
    says out '^perl +[0-9.]+ s +[0-9.]+ +[0-9.]+$'
    BUILD=$O "$root/bench/run" micro --scale=0.001 --rounds=1 --only=pairs,forks,growth,events --events=1e6 \
        --tools=forward,libleak --output="$PWD/m.tsv" >out 2>err || fail "$(cat err)"
    says out '^depth 64, 1e3 sites +[0-9.]+ +[0-9.]+ +[0-9.]+$'
    says p.tsv 'perl.libleak.1.status.ok'
    silent_about m.tsv 'status.(exit|signal|timeout)'
}
test_formats_are_held_against_their_limits() {
    need python3
    figures <<'ROWS'
reports,-,-,0,blocks,1000000
reports,-,-,0,records,100000
reports,text,libleak,1,status,ok
reports,text,libleak,1,cpu,12
reports,text,libleak,2,cpu,3
reports,text,libleak,1,wall,20
reports,text,libleak,1,rss_kb,512000
reports,text,libleak,1,bytes,2500000
reports,json,libleak,1,status,ok
reports,json,libleak,1,cpu,11
reports,json,libleak,1,wall,11
reports,json,libleak,1,rss_kb,512000
reports,json,libleak,1,bytes,1
reports,html,libleak,1,status,ok
reports,html,libleak,1,cpu,1
reports,html,libleak,1,wall,1
reports,html,libleak,1,rss_kb,2048000
reports,html,libleak,1,bytes,1
reports,full,libleak,1,status,exit 2
reports,full,libleak,1,cpu,1
reports,full,libleak,1,wall,1
reports,full,libleak,1,rss_kb,1
reports,full,libleak,1,bytes,1
ROWS
    tables
    says tables '^Reports of 1,000,000 blocks lost at 100,000 sites$'
    says tables '^text +3.00 +20.00 +500 +2.5 +yes$'
    says tables '^json +11.00 .* no$'
    says tables '^html +1.00 .* no$'
    says tables '^full .* failed$'
}
