// A rule that suppresses a leak by a function in its stack suppresses what that function leaves open, too.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// RUN: %leak %t && echo leak:^known >rules && %report --suppressions=rules store/*.leak
// EXPECT: resources=1$
// EXPECT: unknown
// REFUSE: /etc/group
// JSON: opened("known") == {"fd": 3} and opened("unknown") == {"fd": 3}

#include <fcntl.h>
#include <unistd.h>

__attribute__((noinline)) void known_(void) { for (int i = 0; i < 3; i++) open("/etc/group", O_RDONLY); }
__attribute__((noinline)) void known(void) { known_(); }
__attribute__((noinline)) void other(void) { for (int i = 0; i < 3; i++) open("/etc/passwd", O_RDONLY); }
__attribute__((noinline)) void unknown(void) { other(); }

int main(void)
{
    known();
    unknown();
    return 0;
}
