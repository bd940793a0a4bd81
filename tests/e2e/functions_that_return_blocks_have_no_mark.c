// A function that frees some blocks and returns the others has no mark: its caller decides. One that frees some and
// forgets the others has one, also if it returns another pointer, or a number that the call returned.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; %report --top=0 --color=never store/*.leak
// EXPECT: ^     read_text
// EXPECT: others are freed in read_text
// EXPECT: ^   > forget_some
// EXPECT: ^   > length_of
// REFUSE: ^   > .*(read_text|own_text|use_text|main)
// REFUSE: read_text passes the result
#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline, noclone))

FAR char *copy(const char *text)
{
    char *own = malloc(60);
    strcpy(own, text);
    return own;
}
FAR char *read_text(const char *text)
{
    char *own = copy(text);
    if (!*own) {
        free(own);
        return NULL;
    }
    return own;
}
FAR int use_text(const char *text)
{
    char *own = read_text(text);
    return own ? own[0] : 0;
}

FAR char *own_text(const char *text)
{
    char *own = malloc(70);
    strcpy(own, text);
    if (!*own) {
        free(own);
        own = NULL;
    }
    return own;
}

FAR char *forget_some(const char *text)
{
    char *own = malloc(80), *found;
    strcpy(own, text);
    found = strchr(text, own[0]);
    if (*own)
        return found;
    free(own);
    return NULL;
}

FAR int measure(char **place, const char *text)
{
    *place = malloc(90);
    strcpy(*place, text);
    return (int)strlen(text);
}
FAR int length_of(const char *text)
{
    char *own;
    int length = measure(&own, text);
    if (!length)
        free(own);
    return length;
}

FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(void)
{
    int sum = 0;

    for (int i = 0; i < 6; i++) {
        const char *text = i % 2 ? "" : "words";
        char *own = own_text(text);

        sum += own ? own[0] : 0;
        own = NULL;
        sum += use_text(text);
        sum += forget_some(text) != NULL;
        sum += length_of(text);
    }
    scrub();
    return sum == 1;
}
