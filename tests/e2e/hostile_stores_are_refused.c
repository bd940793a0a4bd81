// Hard case 31: cut, foreign-version, random and empty stores, folders and devices: a clear error and
// status 2, or a partial report; never a crash. (fuzz/ does this at every byte.)
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t; s=$(ls store/*.leak); ok=0; for n in 0 1 7 8 63 64 500 1000 4095 4096 4097 5000 8192 10000 12288 16384 20480 40000 65536 100000; do head -c $n "$s" >cut; %report cut >o 2>e; r=$?; case $r in 0 | 2) [ $r = 0 ] || grep -q '^leakreport: .*cut' e || echo "silent at $n"; ok=$((ok + 1)) ;; *) echo "CRASH $r at $n" ;; esac; done; echo "cuts $ok"
// RUN: cp "$s" v; printf '\143' | dd of=v bs=1 seek=8 conv=notrunc 2>/dev/null; %report v 2>&1 | sed 's/^/version: /'; %report v 2>/dev/null; echo "version=$?"
// RUN: head -c 100000 /dev/urandom >r; %report r 2>&1; echo "random=$?"; : >z; %report z 2>&1; echo "empty=$?"; %report . 2>&1; echo "folder=$?"; %report /dev/null 2>&1; echo "device=$?"; %report nothing.leak 2>&1; echo "none=$?"
// RUN: for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do cp "$s" h; head -c 400 /dev/urandom | dd of=h bs=1 seek=$((i * 331 + 100)) conv=notrunc 2>/dev/null; %report h >/dev/null 2>&1; [ $? -lt 3 ] || echo "CRASH hostile $i"; done
// RUN: %report "$s" r >o 2>e; echo "mixed=$?"; grep -c in_main o
// EXPECT: ^cuts 20$
// EXPECT: ^version: .*version
// EXPECT: ^version=2
// EXPECT: ^random=2
// EXPECT: ^empty=2
// EXPECT: ^folder=2
// EXPECT: ^device=2
// EXPECT: ^none=2
// EXPECT: ^mixed=2
// REFUSE: CRASH|silent

#include <stdlib.h>

void *volatile sink;
__attribute__((noinline)) void in_main(void) { sink = malloc(10); sink = NULL; }

int main(void)
{
    in_main();
    return 0;
}
