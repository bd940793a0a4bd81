// An unknown option or a bad value: one clear line with the name, the default holds, the program goes on.
// CFLAGS: -O1 -g -fno-builtin
// RUN: try() { n=$1; LIBLEAK_OPTIONS=$2; %leak %t 2>e; echo "$n=$? lines=$(grep -c . e) $(head -n1 e)"; }
// RUN: try good depth=10; try unknown dpeth=10; try badvalue depth=ten; try badrange depth=100000; try badchoice report=maybe; try badbool enabled=perhaps; try badsize min_size=1q; try quoted "max_memory='100m':depth=10"; try novalue depth; try empty ::
// RUN: try two dpeth=1:min_size=x; try later depth=5:depth=50
// EXPECT: ^good=0 lines=0
// EXPECT: ^unknown=0 lines=1 libleak: .*dpeth
// EXPECT: ^badvalue=0 lines=1 libleak: .*depth.*ten
// EXPECT: ^badrange=0 lines=1 libleak: .*depth.*100000
// EXPECT: ^badchoice=0 lines=1 libleak: .*report.*maybe
// EXPECT: ^badbool=0 lines=1 libleak: .*enabled.*perhaps
// EXPECT: ^badsize=0 lines=1 libleak: .*min_size.*1q
// EXPECT: ^quoted=0 lines=0
// EXPECT: ^novalue=0 lines=1 libleak: .*depth
// EXPECT: ^empty=0 lines=0
// EXPECT: ^two=0 lines=2
// EXPECT: ^later=0 lines=0
// JSON: len(procs) == 12 and all(of("leak", q).blocks == 1 for q in procs)

#include <stdlib.h>

void *volatile sink;
__attribute__((noinline)) void leak(void) { sink = malloc(10); sink = NULL; }

int main(void)
{
    leak();
    return 0;
}
