// Who only passes a size on is not blamed: by its name, or because many call it with many sizes. A
// function that makes one sort of thing stays the headline, however its name ends.
// CFLAGS: -O0 -g
// RUN: %run %t 2>&1 >/dev/null; %run --format=json -o %d/report.json %t 2>/dev/null; python3 -c "import json; print('heads', sorted(f['function'] for r in json.load(open('%d/report.json'))['processes'][0]['records'] if r['verdict'] == 'lost' for f in r['frames'] if f['user']))"
// EXPECT: heads \['by_name', 'by_two_names', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8', 'node_alloc'\]
// EXPECT: by_name .*:26$
// REFUSE: [1-9]\. .*xmalloc
#include <stdlib.h>
#include <string.h>
#define PLAIN __attribute__((noinline)) static
void *volatile sink;

void *xmalloc(size_t size) { return malloc(size); }
char *Estrdup2(const char *text) { return strcpy(xmalloc(strlen(text) + 1), text); }
PLAIN void *grab(size_t size) { return malloc(size); }
PLAIN void *node_alloc(void) { return malloc(24); }

PLAIN void f1(void) { sink = grab(20); }
PLAIN void f2(void) { sink = grab(40); }
PLAIN void f3(void) { sink = grab(80); }
PLAIN void f4(void) { sink = grab(160); }
PLAIN void f5(void) { sink = grab(320); }
PLAIN void f6(void) { sink = grab(640); }
PLAIN void f7(void) { sink = grab(1280); }
PLAIN void f8(void) { sink = grab(2560); }
PLAIN void by_name(void) { sink = xmalloc(1000); }
PLAIN void by_two_names(void) { sink = Estrdup2("two names"); }

int main(void)
{
    f1(), f2(), f3(), f4(), f5(), f6(), f7(), f8();
    by_name();
    by_two_names();
    sink = node_alloc();
    sink = NULL;
    return 0;
}
