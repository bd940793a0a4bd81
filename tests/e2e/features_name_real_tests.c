// docs/FEATURES.md has a row for each of the 131 promises, and each test it names exists.
// NOBUILD:
// RUN: cd %S/../..; grep -cE '^\| [1-5]\.[0-9]+ \|' docs/FEATURES.md | sed 's/^/rows: /'
// RUN: for n in $(grep -oE '(e2e|storm|unit|wrapper):[a-z_0-9]+' docs/FEATURES.md | sort -u); do case $n in e2e:* | storm:*) ls tests/${n%%:*}/${n#*:}.c* ;; unit:*) ls tests/unit/*/test_${n#*:}.c ;; wrapper:*) grep -l "^test_${n#*:}()" tests/wrapper/*.t ;; esac >/dev/null 2>&1 || echo "no such test: $n"; done
// EXPECT: ^rows: 131$
// REFUSE: no such test

/* Nothing to compile. */
