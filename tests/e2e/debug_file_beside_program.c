// Hard case 29: separate debug files found by .gnu_debuglink, by build-id below --debug-dir, and mini debug info.
// NEEDS: objcopy strip xz nm
// CFLAGS: -O2 -g -fno-builtin
// AFTER: cp %t %t.full; objcopy --only-keep-debug %t %d/apart.debug; strip -g -o %d/linked %t; objcopy --add-gnu-debuglink=%d/apart.debug %d/linked; strip -s -o %d/bare %t
// AFTER: nm -f sysv --defined-only %t | awk -F'|' '$4 ~ /FUNC/ {gsub(/ /, "", $1); print $1}' | sort >%d/keep; objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=%d/keep %d/apart.debug %d/mini 2>/dev/null; xz -k %d/mini; cp %d/bare %d/minied; objcopy --add-section .gnu_debugdata=%d/mini.xz %d/minied
// AFTER: id=$(readelf -n %t.full | sed -n 's/.*Build ID: //p'); mkdir -p %d/dbg/.build-id/$(printf %.2s $id); cp %d/apart.debug %d/dbg/.build-id/$(printf %.2s $id)/${id#??}.debug
// RUN: for v in linked bare minied; do cp %d/$v %t; rm -f store/*; %leak %t; %report store/*.leak 2>&1 | sed "s/^/$v: /"; done
// RUN: cp %d/bare %t; %report --debug-dir=%d/dbg store/*.leak 2>&1 | sed "s/^/buildid: /"
// EXPECT: ^linked: .*leak_here
// EXPECT: ^linked: .*debug_file_beside_program\.c:[0-9]+
// EXPECT: ^bare: .*(t\+0x|0x[0-9a-f]+)
// EXPECT: ^bare: .*(debug info|debuginfo|debug information)
// EXPECT: ^minied: .*leak_here
// EXPECT: ^buildid: .*leak_here
// EXPECT: ^buildid: .*debug_file_beside_program\.c:[0-9]+
// REFUSE: ^bare: .*leak_here

#include <stdlib.h>

void *volatile sink;

__attribute__((noinline)) static void leak_here(void)
{
    sink = malloc(10);
    sink = NULL;
}

int main(void)
{
    leak_here();
    return 0;
}
