// A record says what its blocks are, in its first line, in a table by type, and in JSON, with the evidence. The fields of a
// block are shown with their values when its content is asked for, and not in a report that is given away. A
// block whose header and payload have no common type has none, and neither has a program without debug information.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=content=100; %leak %t; s=$(ls store/*.leak); report() { n=$1; shift; %report "$@" $s | sed "s|^|$n: |"; }; report text --apart; report by --by=type; report full --apart --content -v; report given --content -v --anonymize; strip -g t; report bare --apart -v
// NEEDS: strip
// EXPECT: ^text: +20 × struct item, 32 B$
// EXPECT: ^text: +5 × int\[100\], 400 B$
// EXPECT: ^by: .* 640 +20 +1  struct item$
// EXPECT: ^by: .* 2,000 +5 +1  int$
// EXPECT: ^by: .* \[no type known\]$
// EXPECT: ^full: +20 × struct item, 32 B \(assigned to made\)$
// EXPECT: ^full: +name = "item"$
// EXPECT: ^full: +count = -7$
// EXPECT: ^full: +colour = GREEN$
// EXPECT: ^full: +next = NULL$
// EXPECT: ^given: +20 × struct item
// REFUSE: ^given: +name =
// REFUSE: ^(text|full|given): +3 ×
// REFUSE: ^bare: .*×

#include <stdlib.h>
#include <string.h>

enum colour { RED, GREEN };

struct item {
    struct item *next;
    char name[8];
    int count;
    enum colour colour;
    double weight;
};

struct header {
    long size, magic;
};

__attribute__((noinline)) static struct item *item_new(void)
{
    struct item *made = calloc(1, sizeof(*made));

    strcpy(made->name, "item");
    made->count = -7;
    made->colour = GREEN;
    return made;
}

__attribute__((noinline)) static int *numbers_new(size_t count)
{
    int *numbers = malloc(count * sizeof(int));

    numbers[0] = 1;
    return numbers;
}

__attribute__((noinline)) static void *payload_new(size_t size)
{
    struct header *header = malloc(sizeof(*header) + size);

    header->size = (long)size;
    return header + 1;
}

__attribute__((noinline)) static void wipe(void)
{
    volatile char dead[4096];

    for (int i = 0; i < 4096; i++)
        dead[i] = 0;
}

int main(void)
{
    for (int i = 0; i < 20; i++)
        item_new();
    for (int i = 0; i < 5; i++)
        numbers_new(100);
    for (int i = 0; i < 3; i++)
        payload_new(13);
    wipe();
    return 0;
}
