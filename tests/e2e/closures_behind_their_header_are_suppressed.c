// A program with one GClosure, which GLib holds 32 bytes behind the start: a built-in rule suppresses what would be
// possibly lost, and counts it. A closure that is lost is reported.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %run %t
// EXPECT: ^1 block suppressed by built-in rules: GLib 1 \(--show-suppressed\)\.$
// EXPECT: ^64 bytes in 1 block lost \(1 record\)$
// RUN: %run --default-suppressions=off %t
// EXPECT: ^64 bytes in 1 block possibly lost \(1 record\)$
// EXPECT: only interior pointers: \+32, from closure

#include "lib/verdicts.h"

static char *volatile closure;

FAR void *g_malloc0(size_t size) { return opaque(calloc(1, size)); }
FAR void *g_closure_new_simple(size_t size) { return (char *)g_malloc0(size + 32) + 32; }
FAR static void *held_closure(void) { return opaque(g_closure_new_simple(32)); }
FAR static void *lost_closure(void) { return opaque(g_closure_new_simple(32)); }

int main(void)
{
    closure = held_closure();
    lost_closure();
    scrub();
    return 0;
}
