// What lost blocks hold is shown when it is asked for, as many bytes as content= says and no more: hex, characters,
// and text in UTF-16, UTF-32 and UTF-8. Nothing of it is in a report that was not asked for it, nor in the store
// with content=0, nor in a report that is given away (--anonymize), where arguments, host and directories are
// missing, too.
// CFLAGS: -O0 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=content=100; %leak %t secret_argument; s=$(ls store/*.leak); tar -cSf - store | strings | grep -c hidden_word | sed 's/^/kept: /'
// RUN: report() { n=$1; shift; %report "$@" $s | sed "s|^|$n: |"; }; report full --content; report plain; report json --format=json; report asked --format=json --content; report given -v --anonymize; report jgiven --format=json --content --anonymize; rm store/*.leak
// RUN: LIBLEAK_OPTIONS=content=0; %leak %t; tar -cSf - store | strings | grep -c hidden_word | sed 's/^/none: /'; %report --content store/*.leak | sed 's|^|none: |'
// EXPECT: ^kept: 1$
// EXPECT: ^full: +T1#1: 300 bytes at 0x[0-9a-f]+, the first 100$
// EXPECT: ^full: +0000  07 00 00 00 00 00 00 00  68 69 64 64 65 6e 5f 77  \|........hidden_w\|$
// EXPECT: ^full: +0060  00 00 00 00 {39}\|....\|$
// EXPECT: ^full: +UTF-16 at \+32: "Grüße, Welt"$
// EXPECT: ^full: +UTF-32 at \+0: "Ωmega"$
// EXPECT: ^full: +UTF-8 at \+0: "zażółć"$
// EXPECT: ^full: +T1#2: 40 bytes at 0x[0-9a-f]+$
// EXPECT: ^asked: .*"content": "\\\\x07\\\\x00.*hidden_word
// EXPECT: ^json: .*"content": null
// EXPECT: ^given: +lose +content_of_blocks_is_shown.c:[0-9]+
// EXPECT: ^jgiven: +"argv": \[\]
// EXPECT: ^jgiven: +"exe": "t"
// EXPECT: ^none: 0$
// EXPECT: ^none: +T1#1: 300 bytes at
// REFUSE: ^(plain|json|given|jgiven|none): .*(hidden_w|Welt)
// REFUSE: ^(given|jgiven): .*(secret_argument|/[a-z]|calloc\(1)
// REFUSE: ^full: +0070

#include <stdlib.h>
#include <string.h>
#include <uchar.h>

struct record {
    long kind;
    char word[24];
    char16_t name[24];
};

__attribute__((noinline)) static void lose(void)
{
    struct record *record = calloc(1, 300);
    char32_t *wide = calloc(10, 4);
    char *narrow = calloc(1, 20);

    record->kind = 7;
    strcpy(record->word, "hidden_word");
    memcpy(record->name, u"Grüße, Welt", 24);
    memcpy(wide, U"Ωmega", 24);
    strcpy(narrow, "zażółć");
}

__attribute__((noinline)) static void wipe(void)
{
    volatile char dead[4096];

    for (int i = 0; i < 4096; i++)
        dead[i] = 0;
}

int main(void)
{
    lose();
    wipe();
    return 0;
}
