// Programs of Debian: sqlite3, perl, xmllint, jq, git and python3 have no report; bash closes both ends of each
// pipe twice (as strace shows): the report has that and nothing else, and bash is not listed for it.
// NEEDS: sqlite3 perl xmllint git bash /usr/bin/python3
// NOBUILD:
// BUILD: echo '<a/>' >a.xml
// RUN: t() { n=$1; shift; rm -rf $n; mkdir $n; export LIBLEAK_OPTIONS=dir=%d/$n; %leak "$@" >/dev/null; %report $n/*.leak | sed -n "s/^libleak: .*resources/$n: resources/p" | tail -n1; }
// RUN: t sqlite3 sqlite3 a.db 'create table t(a); insert into t values(1); select * from t'; t perl perl -e 'open(F,"<","/etc/passwd"); my @a = <F>; close F; print `true`'; t xmllint xmllint a.xml; t git git --no-pager -C / --version; t python3 /usr/bin/python3 -c 'import json, subprocess; subprocess.run(["true"]); open("/etc/passwd").read()'
// RUN: rm -rf bash; mkdir bash; export LIBLEAK_OPTIONS=dir=%d/bash; %leak bash -c 'for i in 1 2 3; do echo $i | cat; done; exec 5</etc/passwd; read x <&5; exec 5<&-; cat <(echo sub); x=$(true); cat <<<here' >/dev/null; %report bash/*.leak | grep -v '^[ln]i*bleak' | grep 'esources\|close' | sed 's/^/bash: /'
// RUN: %leak true
// EXPECT: ^sqlite3: resources=0( processes=[0-9]+)?$
// EXPECT: ^perl: resources=0( processes=[0-9]+)?$
// EXPECT: ^xmllint: resources=0( processes=[0-9]+)?$
// EXPECT: ^git: resources=0( processes=[0-9]+)?$
// EXPECT: ^python3: resources=0( processes=[0-9]+)?$
// REFUSE: ^bash: .*still open

int unused;
