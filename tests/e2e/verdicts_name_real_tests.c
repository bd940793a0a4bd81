// VERDICTS.md names every case about verdicts, and each case it names exists.
// NOBUILD:
// RUN: cd %S; for n in $(grep -oE '`(storm:|verdicts:)?[a-z_0-9]+`' VERDICTS.md | tr -d '`' | sort -u); do case $n in storm:*) ls ../storm/${n#*:}.c ;; verdicts:*) ls ../verdicts/${n#*:} ;; *) ls $n.c* ;; esac >/dev/null 2>&1 || echo "no such test: $n"; done
// RUN: for f in $(grep -lE '^#include "lib/verdicts.h"' *.c *.cc); do grep -q "\`${f%.c*}\`" VERDICTS.md || echo "not named: $f"; done; echo looked
// EXPECT: ^looked$
// REFUSE: no such test|not named

/* Nothing to compile. */
