// Who only passes a size on is not blamed: by its name, or because many call it with many sizes. A
// function that makes one sort of thing stays the headline, however its name ends. Of functions that many call, those
// whose names speak of allocating are wrappers sooner (nx_alloc, _strnewlen above it), unless they call others that are
// none (rows_alloc) or have one size for all (page_alloc).
// CFLAGS: -O0 -g
// RUN: %run %t 2>&1 >/dev/null; %run --format=json -o %d/report.json %t 2>/dev/null; python3 -c "import json; print('heads', sorted({f['function'] for r in json.load(open('%d/report.json'))['processes'][0]['records'] if r['verdict'] == 'lost' for f in r['frames'] if f['user']}))"
// EXPECT: heads \['by_name', 'by_suffix', 'by_two_names', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8', 'g1', 'g2', 'g3', 'node_alloc', 'page_alloc', 'rows_alloc', 'string_1', 'string_2', 'string_3'\]
// EXPECT: by_name .*$
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

PLAIN void *nx_alloc(size_t size) { return malloc(size); }
PLAIN void g1(void) { sink = nx_alloc(21); }
PLAIN void g2(void) { sink = nx_alloc(90); }
PLAIN void g3(void) { sink = nx_alloc(700); }
PLAIN char *_strnewlen(const char *text, size_t size) { return strncpy(nx_alloc(size), text, size); }
PLAIN void string_1(void) { sink = _strnewlen("one", 33); }
PLAIN void string_2(void) { sink = _strnewlen("two", 150); }
PLAIN void string_3(void) { sink = _strnewlen("three", 1300); }

PLAIN void *zalloc_usable(size_t size) { return malloc(size); }
PLAIN void by_suffix(void) { sink = zalloc_usable(24); }

PLAIN void *page_alloc(void) { return malloc(4096); }
PLAIN void p1(void) { sink = page_alloc(); }
PLAIN void p2(void) { sink = page_alloc(); }
PLAIN void p3(void) { sink = page_alloc(); }

PLAIN void *make_rows(int count) { return calloc(count, 100); }
PLAIN void *rows_alloc(int count) { void *rows = malloc(16 * count); free(make_rows(count)); return rows; }
PLAIN void r1(void) { sink = rows_alloc(1); }
PLAIN void r2(void) { sink = rows_alloc(8); }
PLAIN void r3(void) { sink = rows_alloc(64); }

int main(void)
{
    g1(), g2(), g3();
    string_1(), string_2(), string_3();
    by_suffix();
    p1(), p2(), p3();
    r1(), r2(), r3();
    f1(), f2(), f3(), f4(), f5(), f6(), f7(), f8();
    by_name();
    by_two_names();
    sink = node_alloc();
    sink = NULL;
    return 0;
}
