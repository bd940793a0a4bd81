// What an option leaves out is said in the report, in text and JSON, one sentence each; the default
// leaves nothing out and says nothing.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: for w in depth=128 site_stacks=off free_stacks=off min_size=100 max_size=1k min_size=100:max_size=1k depth=3; do LIBLEAK_OPTIONS=$w; %leak %t; %report $(ls -tr store/*.leak | tail -n1) | sed "s/^/$w /"; done
// EXPECT: ^site_stacks=off Note: recorded with site_stacks=off: no stacks of allocations or frees\.$
// EXPECT: ^free_stacks=off Note: recorded with free_stacks=off: the places where blocks are freed are unknown\.$
// EXPECT: ^min_size=100 Note: recorded with min_size=100: smaller blocks are left out \([0-9]+ allocations\)\.$
// EXPECT: ^max_size=1k Note: recorded with max_size=1024: larger blocks are left out \(7 allocations\)\.$
// EXPECT: ^min_size=100:max_size=1k Note: recorded with min_size=100:max_size=1024: other blocks are left out \([0-9]+ allocations\)\.$
// EXPECT: ^min_size=100 Note: no leak check was made: blocks left out by size may hold pointers to others\.$
// EXPECT: ^max_size=1k Note: no leak check was made: blocks left out by size may hold pointers to others\.$
// EXPECT: ^min_size=100 Not tracked: [0-9]+ allocations left out by min_size
// EXPECT: ^depth=3 Outer callers are missing in [0-9]+ call stacks?: deeper than depth=, which may be up to 1024\.$
// REFUSE: ^depth=128 .*(Note|Not tracked|Outer callers)
// REFUSE: ^(depth=3 Note|(depth|site_stacks|free_stacks)=.* no leak check)
// JSON: [len(q.notes) for q in procs] == [0, 1, 1, 2, 2, 2, 0]
// JSON: [q.snapshot.rung if q.snapshot else None for q in procs] == ["parked"] * 3 + ["none"] * 3 + ["parked"]
// JSON: [q.coverage.truncated_stacks > 0 for q in procs] == [False] * 6 + [True]
// JSON: "%d allocation" % [u.count for u in procs[3].coverage.untracked if u.what == "FILTERED"][0] in procs[3].notes[1]

#include <stdlib.h>

#define FAR __attribute__((noinline))

void *volatile sink;

FAR void small(void)
{
    sink = malloc(20);
}
FAR void middle(void)
{
    sink = malloc(200);
}
FAR void large(void)
{
    sink = malloc(2000);
}

int main(void)
{
    for (int i = 0; i < 7; i++) {
        small();
        middle();
        large();
    }
    return 0;
}
