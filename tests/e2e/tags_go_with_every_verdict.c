// The report lists tagged blocks verdict by verdict, for one stack with blocks of several verdicts and tags: lost,
// indirectly lost, reachable. Suppressed blocks, and blocks allocated while libleak was disabled, are in no row.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; for show in lost reachable; do %report --show=$show --by=tag store/*.leak | awk -v s=$show '$2 == "%" { print s, $6, $3, $4 }'; done; echo 'leak:quiet' >known; %report --suppressions=known --by=tag store/*.leak | grep -c hushed; %report -v store/*.leak
// EXPECT: ^lost outer 320 10$
// EXPECT: ^lost inner 160 5$
// EXPECT: ^lost hushed 11 1$
// EXPECT: ^reachable inner 96 3$
// EXPECT: ^reachable outer 32 1$
// EXPECT: ^0$
// EXPECT: ^counted 0 13$
// EXPECT: under the tag outer: 32 bytes in 1 block
// JSON: {r.verdict: sorted((t.name, t.blocks) for t in r.tags) for r in hits("node")} == {"lost": [("inner", 1), ("outer", 1)], "indirect": [("inner", 4), ("outer", 9)], "reachable": [("inner", 3), ("outer", 1)]}
// JSON: len(set(sig("node"))) == 1 and hits("quiet")[0].tags[0].name == "hushed"

#include "lib/verdicts.h"

#include <stdio.h>

struct node { struct node *next; };
static struct node *volatile global;
TAKE(node, 32)

/* Of so many nodes; all of them from one stack. */
FAR static struct node *chain(int count)
{
    struct node *first = NULL;
    while (count--) {
        struct node *n = node();
        n->next = first;
        first = n;
    }
    opaque(&first);
    return first;
}

FAR static struct node *chain_of_lots(int lot)
{
    static const int counts[] = {10, 5, 3, 1};
    static const char *const names[] = {"outer", "inner", "inner", "outer"};
    struct node *made;
    LIBLEAK_TAG_PUSH(names[lot]);
    made = chain(counts[lot]);
    LIBLEAK_TAG_POP();
    return made;
}

FAR static void quiet(void)
{
    LIBLEAK_TAG_SCOPE("hushed");
    opaque(malloc(11));
}

FAR static void disabled(void)
{
    struct libleak_counts counts;
    LIBLEAK_TAG_SCOPE("disabled");
    LIBLEAK_DISABLED_SCOPE();
    opaque(malloc(13));
    int known = LIBLEAK_COUNT_TAG("disabled", &counts);
    printf("counted %d %lld\n", known, counts.live_bytes);
    fflush(stdout);
}

int main(void)
{
    static char buffer[4096];
    struct node *lots[4];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (int lot = 0; lot < 4; lot++)
        lots[lot] = chain_of_lots(lot);
    global = lots[2];
    global->next->next->next = lots[3];
    memset(lots, 0, sizeof lots);
    opaque(lots);
    quiet();
    disabled();
    return 0;
}
