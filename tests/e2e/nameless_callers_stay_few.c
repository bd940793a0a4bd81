// In a program without symbols the free lines of the screen stay free: addresses tell a reader little. How many callers
// are left out is still said.
// CFLAGS: -O0 -g0 -s -fno-optimize-sibling-calls
// RUN: %run %t >shown 2>&1; cat shown; sed -n '/^1\. /,/more callers/p' shown | grep -c '  t+0x' | sed 's/^/frames: /'
// EXPECT: ^frames: 2$
// EXPECT: ^ +[5-9] more callers \(-v shows them\)$
// EXPECT: ^Next: 
#include "free_lines_show_more_callers.c"
