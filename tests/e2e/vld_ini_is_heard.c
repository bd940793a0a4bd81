// ./vld.ini is heard as far as its words have a form here; .libleakrc and the environment are louder; what is
// passed over is said with verbosity=1, and not without.
// CFLAGS: -O1 -g -fno-builtin
// RUN: printf '[Options]\nVLD = on\nMaxTraceFrames = 7\nMaxDataDump = 5\nStackWalkMethod = safe\nForceIncludeModules = t.exe\n' >vld.ini; %leak %t 2>quiet; echo "quiet: $(grep -c . quiet)"; echo depth=9 >.libleakrc; LIBLEAK_OPTIONS=verbosity=1; %leak %t 2>loud; sed 's/^/loud: /' loud; LIBLEAK_OPTIONS=depth=11; %leak %t
// RUN: rm .libleakrc; printf 'VLD = off\n' >vld.ini; unset LIBLEAK_OPTIONS; mkdir off; LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/off %t; echo "stores when off: $(ls off | wc -l)"; printf 'ReportTo = file\nReportFile = .\\leaks.txt\n' >vld.ini; LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/off %t; grep -c ' lost=8/1/1 ' leaks.txt | sed 's/^/reports in the file: /'
// EXPECT: ^quiet: 0$
// EXPECT: ^loud: .*depth=9 \(\./\.libleakrc\)
// EXPECT: ^loud: .*content=5 \(\./vld\.ini\)
// EXPECT: ^loud: .*modules=t,libt\.so\* \(\./vld\.ini\)
// EXPECT: ^loud: .*vld\.ini: libleak has no form of StackWalkMethod=safe$
// EXPECT: ^stores when off: 0$
// EXPECT: ^reports in the file: 1$
// JSON: [len(hits("down", q)[0].frames) for q in procs] == [7, 9, 11]

#include <stdlib.h>

void *volatile sink;

__attribute__((noinline)) int down(int n)
{
    if (n == 1)
        sink = malloc(8);
    return n == 1 ? 0 : down(n - 1) + 1;
}

int main(void)
{
    int wrong = down(50) != 49;
    sink = NULL;
    return wrong;
}
