/* leak_escape.h - how text of programs is shown: names, paths and arguments come from programs that
 * are not trusted. The runtime and all tools use these functions.
 *
 * What a reader cannot see, or what changes how the text beside it looks, is escaped: control
 * characters and bytes that are no UTF-8 as \x1b, characters that are invisible or change the
 * direction of writing as \u{202e}. An escape is not unique: the text itself may contain the same
 * characters. The functions here have no state and allocate nothing.
 */
#ifndef LEAK_ESCAPE_H
#define LEAK_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the length in bytes of the valid UTF-8 character at the start of a terminated text; 0: it
 * is not valid. */
static inline size_t leak_utf8_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

    if (*at > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
        (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
        return 0; /* not valid: overlong, a surrogate, or above U+10FFFF */
    return length;
}

/* Returns the character at the start of a text. length: its bytes, as leak_utf8_length() has
 * returned. */
static inline uint32_t leak_utf8_decode(const char *text, size_t length)
{
    uint32_t character = (unsigned char)*text;

    if (length > 1)
        character &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (text[i] & 0x3f);
    return character;
}

/* Says whether a character is shown as it is. False for control characters, and for characters that
 * by Unicode programs must ignore or must not interchange. */
static inline bool leak_is_shown(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0, 0x1f},        /* C0 control characters, which begin escape sequences */
        {0x7f, 0x9f},     /* DEL and C1 control characters, which begin escape sequences, too */
        {0xad, 0xad},     /* soft hyphen */
        {0x34f, 0x34f},   /* combining grapheme joiner, which is invisible */
        {0x61c, 0x61c},   /* mark for the direction of Arabic letters */
        {0x115f, 0x1160}, /* Hangul fillers */
        {0x17b4, 0x17b5}, /* invisible vowels */
        {0x180b, 0x180f}, /* Mongolian selectors and separators */
        {0x200b, 0x200f}, /* zero width characters, marks for the direction of writing */
        /* Line separators, embeddings and overrides of the direction of writing. */
        {0x2028, 0x202e},
        {0x2060, 0x206f},  /* invisible operators, marks that isolate a direction of writing */
        {0x3164, 0x3164},  /* Hangul filler */
        {0xfdd0, 0xfdef},  /* codes that are no characters */
        {0xfe00, 0xfe0f},  /* variation selectors */
        {0xfeff, 0xfeff},  /* zero width no-break space */
        {0xffa0, 0xffa0},  /* Hangul filler of half width */
        {0xfff0, 0xfffb},  /* marks for annotations */
        {0xe0000, 0xe0fff} /* tags and variation selectors */
    };

    if (character >= 0x20 && character < 0x7f)
        return true;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
        if (character >= hidden[i].first && character <= hidden[i].last)
            return false;
    return (character & 0xfffe) != 0xfffe &&
           (character < 0x1bca0 || character > 0x1bca3) && /* controls of shorthand, of music */
           (character < 0x1d173 || character > 0x1d17a);
}

#define LEAK_ESCAPE_SIZE 12 /* room for "\u{10ffff}" and its NUL */

static inline size_t leak_escape_hex(char *out, uint32_t number, unsigned digits)
{
    for (unsigned i = 0; i < digits; i++)
        out[i] = "0123456789abcdef"[number >> 4 * (digits - 1 - i) & 15];
    return digits;
}

/* Writes how the first character of a terminated text is shown: the character itself, or its
 * escape. Returns the character's length in the text in bytes; 0 at the end of the text. */
static inline size_t leak_escape(const char *text, char out[LEAK_ESCAPE_SIZE])
{
    size_t length = leak_utf8_length(text), used = 0;
    uint32_t character = leak_utf8_decode(text, length ? length : 1);

    if (!*text) {
        length = 0;
    } else if (length && leak_is_shown(character)) {
        memcpy(out, text, length);
        used = length;
    } else if (length > 1) {
        unsigned digits = 2;

        while (character >> 4 * digits)
            digits++;
        memcpy(out, "\\u{", 3);
        used = 3 + leak_escape_hex(out + 3, character, digits);
        out[used++] = '}';
    } else {
        memcpy(out, "\\x", 2);
        used = 2 + leak_escape_hex(out + 2, (unsigned char)*text, 2);
        length = 1;
    }
    out[used] = '\0';
    return length;
}

#endif
