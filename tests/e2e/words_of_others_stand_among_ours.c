// LIBLEAK_OPTIONS and .libleakrc take the names of Visual Leak Detector and of LeakSanitizer for what libleak has as well;
// verbosity=1 says where each came from, and which have no form here. Our own names are louder than LeakSanitizer's there.
// CFLAGS: -O0 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=verbosity=1:MaxTraceFrames=7:StackWalkMethod=safe:use_globals=0; %leak %t 2>said; sed 's/^/said: /' said
// RUN: LIBLEAK_OPTIONS=MaxTraceFrames=7:SelfTest=1:use_globals=0:roots=globals,stacks,registers,tls; %leak %t 2>quiet; echo "quiet: $(grep -c . quiet)"
// RUN: printf 'maxtraceframes = 9\nMaxTraceFrames=9\nuse_globals=0\n' >.libleakrc; LIBLEAK_OPTIONS=; LSAN_OPTIONS=use_globals=1 %leak %t 2>file; sed 's/^/file: /' file; rm .libleakrc
// RUN: LIBLEAK_OPTIONS=MaxTraceFrames=many:use_tls=perhaps:MaxFrames=3; %leak %t 2>wrong; sed 's/^/wrong: /' wrong
// RUN: mkdir own; LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/own:ReportTo=both:ReportFile=leaks.txt %t 2>both; cmp both leaks.txt && grep -c ' lost=16/1/1 ' both | sed 's/^/the same in both: /'; rm -rf %d/own
// EXPECT: ^said: .*depth=7 \(LIBLEAK_OPTIONS\)
// EXPECT: ^said: .*roots=stacks,registers,tls,user,anon \(LIBLEAK_OPTIONS\)
// EXPECT: ^said: .*LIBLEAK_OPTIONS: libleak has no form of StackWalkMethod=safe$
// EXPECT: ^quiet: 0$
// EXPECT: ^file: .*unknown option 'maxtraceframes = 9'
// EXPECT: ^wrong: .*bad value in 'MaxTraceFrames=many' in LIBLEAK_OPTIONS
// EXPECT: ^wrong: .*bad value in 'use_tls=perhaps' in LIBLEAK_OPTIONS
// EXPECT: ^wrong: .*unknown option 'MaxFrames=3' in LIBLEAK_OPTIONS
// EXPECT: ^the same in both: 1$
// JSON: [len(hits("down", q)[0].frames) for q in procs][:3] == [7, 7, 9] and len(hits("down", procs[3])[0].frames) > 50
// JSON: [verdict("held", q) for q in procs] == [{"lost": (1, 40)}, {"reachable": (1, 40)}, {"reachable": (1, 40)}, {"reachable": (1, 40)}]

#include "lib/verdicts.h"

TAKE(held, 40)
static void *volatile global;

__attribute__((noinline)) int down(int n)
{
    if (n == 1)
        sink = malloc(16);
    return n == 1 ? 0 : down(n - 1) + 1;
}

int main(void)
{
    int wrong = down(50) != 49;
    sink = NULL;
    global = held();
    return wrong;
}
