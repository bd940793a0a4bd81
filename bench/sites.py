"""sites.py OUTER INNER [ROUNDS] - prints the C source of a program in which every pair of functions leaks:
OUTER x INNER call stacks with different function names, each with ROUNDS (1) blocks of at least 16 bytes."""
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
