/* utf8.c - see utf8.h. */
#include "common/base/utf8.h"

static size_t length_by_first(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2) /* a continuation, or overlong */
        return 0;
    if (first < 0xe0)
        return 2;
    return first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

size_t utf8_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = length_by_first(*at);

    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
        (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
        return 0; /* overlong, a surrogate, above U+10FFFF */
    return length;
}

bool utf8_valid(const char *text)
{
    while (*text) {
        size_t length = utf8_length(text);

        if (!length)
            return false;
        text += length;
    }
    return true;
}

size_t utf8_from_latin(const char *text, char *out)
{
    size_t used = 0;

    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at >= 0x80)
            out[used++] = (char)(0xc0 | *at >> 6);
        out[used++] = (char)(*at < 0x80 ? *at : 0x80 | (*at & 0x3f));
    }
    return used;
}
