// Tags too deep, without a name and beyond the 510 names of a process are refused and said; each push still has its
// pop, and what is allocated meanwhile has the tag below. Of a long name the beginning counts. A name is a copy.
// RUN: LIBLEAK_OPTIONS=exit_look=off; export LIBLEAK_OPTIONS; %leak %t; %report --by=tag --top=4 store/*.leak
// EXPECT: ^deep 32 8, below 40, one more -1$
// EXPECT: ^nameless -1 -1 0 0$
// EXPECT: ^long 0 0 0$
// EXPECT: ^names 510 90, counted 0 -1$
// EXPECT: ^ +[0-9.]+ % +300 +1 +1  deep-31$
// EXPECT: ^ +[0-9.]+ % +200 +2 +1  copied$
// JSON: {t.name: (t.blocks, t.bytes) for t in one("too_deep").tags} == {"deep-31": (1, 300), "deep-0": (1, 5)}
// JSON: {t.name: (t.blocks, t.bytes) for t in one("nameless").tags} == {"outer": (2, 40)}
// JSON: {t.name: (t.blocks, t.bytes) for t in one("long_names").tags} == {"x" * 59: (2, 14)}
// JSON: {t.name: (t.blocks, t.bytes) for t in one("copies").tags} == {"copied": (2, 200)}
// JSON: [t.name for t in one("too_many").tags].count("name-1") == 1 and sum(t.blocks for t in one("too_many").tags) == 600
// JSON: [(t.blocks, t.bytes) for t in one("too_many").tags if t.name == "outer"] == [(90, 90)]
// JSON: [n for n in p.notes if "510" in n and n.startswith("90 calls of libleak_tag_push ")] != []

#include "../../include/libleak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile sink;

static const char *numbered(const char *name, int number)
{
    static char text[32];
    snprintf(text, sizeof text, "%s-%d", name, number);
    return text;
}

__attribute__((noinline)) static void too_deep(void)
{
    int done = 0, refused = 0, popped = 0;
    for (int i = 0; i < 40; i++)
        LIBLEAK_TAG_PUSH(numbered("deep", i)) ? refused++ : done++;
    sink = malloc(300);
    for (; popped < 39; popped++)
        if (LIBLEAK_TAG_POP())
            abort();
    sink = malloc(5);
    popped += !LIBLEAK_TAG_POP();
    printf("deep %d %d, below %d, one more %d\n", done, refused, popped, LIBLEAK_TAG_POP());
}

__attribute__((noinline)) static void nameless(void)
{
    LIBLEAK_TAG_PUSH("outer");
    int none = LIBLEAK_TAG_PUSH(NULL);
    sink = malloc(20);
    int empty = LIBLEAK_TAG_PUSH("");
    sink = malloc(20);
    int first = LIBLEAK_TAG_POP() | LIBLEAK_TAG_POP();
    printf("nameless %d %d %d %d\n", none, empty, first, LIBLEAK_TAG_POP());
}

__attribute__((noinline)) static void long_names(void)
{
    struct libleak_counts counts;
    char name[200], other[200];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    memcpy(other, name, sizeof name);
    memset(other + 59, 'y', 100); /* the same, as far as it counts */
    int first = LIBLEAK_TAG_PUSH(name);
    sink = malloc(7);
    int second = LIBLEAK_TAG_PUSH(other);
    sink = malloc(7);
    LIBLEAK_TAG_POP();
    LIBLEAK_TAG_POP();
    printf("long %d %d %d\n", first, second, LIBLEAK_COUNT_TAG(name, &counts));
}

__attribute__((noinline)) static void copies(void)
{
    char name[] = "copied";
    LIBLEAK_TAG_PUSH(name);
    sink = malloc(100);
    strcpy(name, "gone");
    sink = malloc(100);
    LIBLEAK_TAG_POP();
}

/* After "outer", "copied", the long one and the 32 deep ones. */
__attribute__((noinline)) static void too_many(void)
{
    struct libleak_counts counts;
    int done = 35, refused = 0;
    LIBLEAK_TAG_PUSH("outer");
    for (int i = 0; i < 600 - 35; i++) {
        LIBLEAK_TAG_PUSH(numbered("name", i)) ? refused++ : done++;
        sink = malloc(1);
        LIBLEAK_TAG_POP();
    }
    for (int i = 0; i < 35; i++) { /* those that are known are so still */
        if (LIBLEAK_TAG_PUSH("name-1"))
            abort();
        sink = malloc(1);
        LIBLEAK_TAG_POP();
    }
    LIBLEAK_TAG_POP();
    int known = LIBLEAK_COUNT_TAG("name-474", &counts);
    printf("names %d %d, counted %d %d\n", done, refused, known, LIBLEAK_COUNT_TAG("name-475", &counts));
}

int main(void)
{
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    too_deep();
    nameless();
    long_names();
    copies();
    too_many();
    sink = NULL;
    return 0;
}
