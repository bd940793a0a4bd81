// verbosity=1 says where the store is, which options are set and from where, and the next command;
// without it nothing is printed at all. The next command works as printed.
// RUN: %leak %t 2>quiet; echo "quiet: $(grep -c . quiet)"; printf 'depth=33\n' >.libleakrc; LIBLEAK_OPTIONS=verbosity=1:min_size=0; %leak %t 2>loud; sed 's/^/loud: /' loud
// RUN: PATH=%O:$PATH; export PATH; c=$(grep -o 'leakreport [^ ]*' loud | tail -n1); sh -c "$c" | tail -n1
// EXPECT: ^quiet: 0
// EXPECT: ^loud: .*/store/t\.[0-9]+\.[0-9]+\.leak
// EXPECT: ^loud: .*depth.*33.*libleakrc
// EXPECT: ^loud: .*verbosity.*1.*LIBLEAK_OPTIONS
// EXPECT: ^loud: .*leakreport .*\.leak
// EXPECT: ^libleak: pid=
// REFUSE: ^loud: .*max_size

#include <stdlib.h>

void *volatile sink;

int main(void)
{
    sink = malloc(10);
    return 0;
}
