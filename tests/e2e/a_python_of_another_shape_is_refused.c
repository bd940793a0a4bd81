// A program that exports what Python exports, but whose frames are not what its version has, runs as alone; its
// stacks have C frames alone, and the report says why. What its functions return points to nowhere, to text, to
// frames without end, or to objects of wrong types, at once or after a time without frames; or its version is unknown.
// CFLAGS: -O1 -g -fno-builtin -rdynamic
// RUN: for n in 0 1 2 3 4 5 6 7; do %leak %t $n; done
// EXPECT: ^shape 6 ends well$
// EXPECT: ^shape 7 ends well$
// JSON: [of("allocate", q).blocks for q in procs] == [20] * 8
// JSON: [any("Python's own frames could not be read" in n for n in q.notes) for q in procs] == [n not in (0,) for n in range(8)]
// JSON: not any(f.get("python") for q in procs for h in hits("allocate", q) for f in h.frames)

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned long Py_Version = 0x030b07f0;
char PyCode_Type[8], PyUnicode_Type[8], PyBytes_Type[8];

static struct {
    char before[56];
    void *cframe;
    char between[88];
    pthread_t thread;
} state;
static struct {
    void *unused, *frame, *previous;
} cframe = {0};
static void *frames[2][16], *code[40];
static void *answer = &state;
static void *volatile sink;

void *PyGILState_GetThisThreadState(void)
{
    return answer;
}

__attribute__((noinline)) void allocate(void)
{
    sink = malloc(100);
    sink = NULL;
}

__attribute__((noinline)) int _PyEval_EvalFrameDefault(int times)
{
    for (int i = 0; i < times; i++)
        allocate();
    return times;
}

static void take_shape(int shape)
{
    state.thread = pthread_self();
    state.cframe = &cframe;
    cframe.frame = frames[0];
    frames[0][4] = code; /* its code */
    code[1] = PyCode_Type;
    switch (shape) {
    case 0: /* no thread of Python */
        answer = NULL;
        break;
    case 1: /* nowhere */
        answer = (void *)0x10;
        break;
    case 2:
        state.cframe = (void *)0x7000000000f8;
        break;
    case 3:
        memset(frames, 'x', sizeof frames);
        break;
    case 4: /* code without a name; and frames without end */
        frames[0][6] = frames[1];
        frames[1][6] = frames[0];
        break;
    case 5:
        code[1] = PyBytes_Type;
        break;
    case 7: /* no frames yet */
        state.cframe = state.between;
        break;
    }
}

int main(int argc, char **argv)
{
    int shape = atoi(argv[1]);
    if (shape == 6)
        Py_Version = 0x03630000;
    take_shape(shape);
    int times = _PyEval_EvalFrameDefault(10);
    if (shape == 7)
        state.cframe = (void *)0x7000000000f8;
    times += _PyEval_EvalFrameDefault(10);
    printf("shape %d ends well\n", shape);
    return times != 20;
}
