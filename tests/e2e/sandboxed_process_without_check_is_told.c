// A process whose own filter kills for clone gets no leak check, and the report says why; it ends with its own status, and its
// blocks are counted. A filter that only kills for what a leak check never calls changes nothing: its verdicts are there.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t clone; s=$?; %report --format=text store/* | grep -o 'no leak check was made: a seccomp filter allows no copy'; test $s = 5
// RUN: rm store/*; %leak %t ptrace; s=$?; exit $s
// EXPECT: no leak check was made: a seccomp filter
// EXIT: 5
// JSON: verdict("dropped") == {"lost": (1, 40)}
// JSON: "no leak check" not in notes and p.end.value == 5

#include "lib/verdicts.h"
#include "../filter.h"

LOSE(dropped, 40)

int main(int count, char **argument)
{
    int kills = !strcmp(argument[1], "clone") ? SYS_clone : SYS_ptrace;

    if (!FILTER_SET(FILTER_UNLESS(kills, 1), FILTER_RETURN(SECCOMP_RET_KILL_PROCESS)))
        return 1;
    dropped();
    return 5;
}
