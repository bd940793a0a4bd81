"""stacks.py RECORDS DEPTH WIDTH - prints the C source of a program that loses one block on each of
RECORDS call stacks, with DEPTH functions between main and the allocation, chosen from WIDTH of each level."""
import sys

records, depth, width = map(int, sys.argv[1:])
print("#include <stdlib.h>\nvoid *volatile sink;\nstatic unsigned char way[%d];" % depth)
print("#define F __attribute__((noinline)) static void")
for i in range(width):
    print("F allocate_%d(void) { sink = calloc(1, %d); __asm__ volatile(\"\"); }" % (i, 16 + 8 * (i % 40)))
print("static void (*const level_%d[])(void) = {%s};" % (depth - 1, ", ".join("allocate_%d" % i for i in range(width))))
for at in range(depth - 2, -1, -1):
    for i in range(width):
        print("F level_%d_step_%d(void) { level_%d[way[%d]](); __asm__ volatile(\"\"); }" % (at, i, at + 1, at + 1))
    print("static void (*const level_%d[])(void) = {%s};" % (at, ", ".join("level_%d_step_%d" % (at, i) for i in range(width))))
print("""int main(void) {
    unsigned long long random = 1;
    for (int i = 0; i < %d; i++) {
        for (int k = 0; k < %d; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            way[k] = (unsigned char)((random >> 33) %% %d);
        }
        level_0[way[0]]();
    }
    sink = NULL;
    return 0;
}""" % (records, depth, width))
