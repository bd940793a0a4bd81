"""sites.py OUTER INNER [ROUNDS] - C of a program whose every pair of functions leaks: OUTER x INNER call stacks
with names of their own, each with ROUNDS (1) blocks of 16 bytes and up."""
import sys

outer, inner, rounds = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
print("#include <stdlib.h>\nvoid *volatile sink;\n#define F __attribute__((noinline)) static void")
for i in range(inner):
    print("F inner_%d(void) { sink = calloc(1, %d); __asm__ volatile(\"\"); }" % (i, 16 + i % 50))
print("static void (*const inner[])(void) = {%s};" % ", ".join("inner_%d" % i for i in range(inner)))
for i in range(outer):
    print("F outer_%d(int i) { inner[i](); __asm__ volatile(\"\"); }" % i)
print("static void (*const outer[])(int) = {%s};" % ", ".join("outer_%d" % i for i in range(outer)))
print("int main(void) { for (int r = 0; r < %d; r++) for (int i = 0; i < %d; i++) for (int k = 0; k < %d; k++)"
      " outer[i](k); sink = NULL; return 0; }" % (rounds, outer, inner))
