// A library that is called libfontconfig and keeps a table only by its distance from another block, as the real one does:
// a built-in rule suppresses the table, the report counts it under the rule's name, and a set that the same library
// handed out and the program lost is reported.
// NOBUILD:
// BUILD: cc -g0 -O1 -shared -fPIC -DLIBRARY -Wl,-soname,libfontconfig.so.1 -o %d/libfontconfig.so.1 %s
// BUILD: strip %d/libfontconfig.so.1
// BUILD: cc -g -O1 -o %d/t %s -L%d -l:libfontconfig.so.1 -Wl,-rpath,%d
// RUN: %run --show=lost %d/t
// EXPECT: ^[0-9]+ blocks suppressed by built-in rules: fontconfig [0-9]+ \(--show-suppressed\)\.$
// EXPECT: blocks? lost \(1 record\)
// EXPECT: FcFontSetCreate
// REFUSE: not judged
// RUN: %run --show=lost --show-suppressed %d/t
// EXPECT: suppressed by fontconfig \(built in:[0-9]+\)
// RUN: %run --format=json %d/t
// EXPECT: "built_in": true

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
    intptr_t elements; // from the pattern itself
};

struct pattern *FcPatternCreate(void);
void FcPatternAdd(struct pattern *pattern);
void *FcFontSetCreate(void);

#ifdef LIBRARY
static __attribute__((noinline)) void insert(struct pattern *pattern)
{
    char *table = malloc(256);
    memset(table, 0, 256);
    pattern->elements = table - (char *)pattern;
}

static __attribute__((noinline)) void add_with_binding(struct pattern *pattern)
{
    insert(pattern);
    __asm__ volatile("");
}

struct pattern *FcPatternCreate(void)
{
    return calloc(1, sizeof(struct pattern));
}

void FcPatternAdd(struct pattern *pattern)
{
    add_with_binding(pattern);
    __asm__ volatile("");
}

void *FcFontSetCreate(void)
{
    return calloc(1, 24);
}
#else
static struct pattern *volatile kept[50];
static void *volatile lost;

int main(void)
{
    for (int i = 0; i < 50; i++) {
        kept[i] = FcPatternCreate();
        FcPatternAdd(kept[i]);
        lost = FcFontSetCreate();
    }
    lost = NULL;
    return 0;
}
#endif
