// --format=dump --append -o FILE: each run adds what its leaked blocks hold, "Leak of N bytes at P" and lines of 16
// bytes in hex and characters, the same for the same bytes; what was not kept is counted; nothing of the kind
// is in a report that is given away. Without --append a file that is there stays as it is.
// CFLAGS: -O0 -g -fno-builtin
// RUN: dump() { %run --dir=%d/store --format=dump "$@" %t; }
// RUN: dump --append -o dumps; dump --append -o dumps; cat dumps; grep -v '^Leak' dumps | sort | uniq -c | awk '{print "lines:", $1}' | sort -u; dump -o dumps; echo "without: $?"; (export LIBLEAK_OPTIONS=content=0; dump) 2>&1 | sed 's/^/none: /'; dump --anonymize 2>&1 | sed 's/^/given: /'
// EXPECT: ^Leak of 300 bytes at 0x[0-9a-f]+ \(T1#1, malloc, lost\), the first 32$
// EXPECT: ^    0000  68 65 6c 6c 6f 20 00 ff  00 00 00 00 00 00 00 00  \|hello \.{10}\|$
// EXPECT: ^Leak of 20 bytes at 0x[0-9a-f]+ \(T1#[0-9]+, malloc, lost\)$
// EXPECT: ^    0010  78 78 78 00 +\|xxx\.\|$
// EXPECT: ^Leak of [0-9]+ bytes more in [0-9]+ blocks, not shown$
// EXPECT: ^lines: 2$
// EXPECT: dumps exists
// EXPECT: ^without: 125$
// EXPECT: ^none: Leak of 300 bytes at 0x[0-9a-f]+ \(T1#1, malloc, lost\), content not recorded$
// EXPECT: ^given: Leak of 300 bytes
// REFUSE: ^given: +0000
// REFUSE: ^none: +0000
// REFUSE: ^lines: 1$

#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void lose(size_t size, const char *words)
{
    char *block = calloc(1, size);
    strncpy(block, words, size - 1);
    block[7] = words[0] == 'h' ? (char)0xff : block[7];
}

int main(void)
{
    lose(300, "hello ");
    for (int i = 0; i < 20; i++)
        lose(20, "xxxxxxxxxxxxxxxxxxx");
    return 0;
}
