// A leak check that exceeds exit_budget is ended. Its graph file may be complete by then: it is kept, and nothing says
// that there is none. Else one line says why, and no part of a file is left. Whatever the time, one of both.
// RUN: mkdir -p files; for ms in 1 10 20 40 60 80 100 130 160 200 250 300 400 600 1000 60000; do rm -f files/*; export LIBLEAK_OPTIONS=graph=files/g:exit_budget=${ms}ms; %leak %t 2>said; s=$?; if [ -e files/g ]; then %O/leakgraph files/g --no-types | grep -q '^Blocks: 300,000$' && f=whole; else f=absent; fi; grep -q 'no heap graph in .*/files/g: the leak check did not finish within exit_budget' said && f="$f, said to be absent"; echo "$s: $f, $(ls files | grep -c part) parts"; done | sort | uniq -c | sed 's/^ *[0-9]* /any /'
// EXPECT: ^any 3: absent, said to be absent, 0 parts$
// EXPECT: ^any 3: whole, 0 parts$
// REFUSE: whole, said
// REFUSE: ^any 3: absent, 0

#include <stdlib.h>

int main(void)
{
    static void **kept;
    for (int i = 0; i < 300000; i++) {
        void **block = malloc(40);
        *block = kept;
        kept = block;
    }
    return 3;
}
