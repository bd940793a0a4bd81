/* hex.c - dumps the bytes of a block in hex, and finds texts of several encodings in them. */
#include "common/encode/encode.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/term_text.h"

#define LINE 16
/* Least characters of a text: shorter runs of printable characters occur by chance. */
#define RUN_LEAST 4
#define RUN_MOST 400

void hex_line(const uint8_t *bytes, size_t length, char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        char one[8];
        int wide = bytes[i] == '\\' ? snprintf(one, sizeof(one), "\\\\")
                   : bytes[i] >= 0x20 && bytes[i] < 0x7f
                       ? snprintf(one, sizeof(one), "%c", bytes[i])
                       : snprintf(one, sizeof(one), "\\x%02x", bytes[i]);

        if (used + (size_t)wide >= size)
            break;
        memcpy(text + used, one, (size_t)wide);
        used += (size_t)wide;
    }
    text[used] = 0;
}

/* ---- Hex ------------------------------------------------------------------------------------- */

static void write_line(const uint8_t *bytes, size_t at, size_t length, int indent, FILE *stream)
{
    char characters[LINE + 1];

    fprintf(stream, "%*s%04zx ", indent, "", at);
    for (size_t i = 0; i < LINE; i++) {
        if (i % 8 == 0)
            putc(' ', stream);
        if (i < length)
            fprintf(stream, "%02x ", bytes[at + i]);
        else
            fputs("   ", stream);
    }
    for (size_t i = 0; i < length; i++)
        characters[i] = bytes[at + i] >= 0x20 && bytes[at + i] < 0x7f ? (char)bytes[at + i] : '.';
    characters[length] = 0;
    fprintf(stream, " |%s|\n", characters);
}

static void write_hex(const uint8_t *bytes, size_t length, int indent, FILE *stream)
{
    bool skipping = false;

    for (size_t at = 0; at < length; at += LINE) {
        size_t here = length - at < LINE ? length - at : LINE;
        bool again = at && here == LINE && memcmp(bytes + at, bytes + at - LINE, LINE) == 0;

        if (!again)
            write_line(bytes, at, here, indent, stream);
        else if (!skipping)
            fprintf(stream, "%*s*\n", indent, "");
        skipping = again;
    }
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* A text encoding. take() decodes the character at p, and returns its length in bytes; 0 = p has
 * no valid character. */
struct encoding {
    const char *name;
    size_t step; /* texts of this encoding begin at offsets that are multiples of this many bytes */
    size_t (*take)(const uint8_t *p, size_t left, uint32_t *character);
};

static bool printable(uint32_t c)
{
    return leak_is_shown(c) && (c < 0xd800 || c > 0xf8ff) && c < 0xe0000;
}

static size_t take_utf8(const uint8_t *p, size_t left, uint32_t *character)
{
    char text[5] = "";
    size_t length;

    memcpy(text, p, left < 4 ? left : 4);
    length = leak_utf8_length(text);
    if (!length)
        return 0;
    *character = leak_utf8_decode(text, length);
    return length;
}

static size_t take_utf16(const uint8_t *p, size_t left, uint32_t *character)
{
    uint32_t low;

    if (left < 2)
        return 0;
    *character = p[0] | (uint32_t)p[1] << 8;
    if (*character < 0xd800 || *character > 0xdbff || left < 4)
        return 2;
    low = p[2] | (uint32_t)p[3] << 8;
    if (low < 0xdc00 || low > 0xdfff)
        return 0;
    *character = 0x10000 + ((*character - 0xd800) << 10) + (low - 0xdc00);
    return 4;
}

static size_t take_utf32(const uint8_t *p, size_t left, uint32_t *character)
{
    if (left < 4)
        return 0;
    *character = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return 4;
}

static const struct encoding encodings[] = {
    {"UTF-32", 4, take_utf32}, {"UTF-16", 2, take_utf16}, {"UTF-8", 1, take_utf8}};

/* Writes a character as UTF-8; returns the number of bytes. */
static size_t put_utf8(uint32_t c, char *out)
{
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    if (length == 1) {
        out[0] = (char)c;
        return 1;
    }
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(c | 0xff00u >> length);
    return length;
}

struct run {
    char text[4 * RUN_MOST + 1];
    size_t bytes, characters, used;
    /* The upper bits (character >> 8) of the characters beyond ASCII in this run: those of a text
     * mostly share one block of 256 characters, those of random bytes do not. */
    uint32_t script;
    bool beyond_ascii;
};

static bool extends_run(struct run *run, const struct encoding *encoding, uint32_t character)
{
    if (!printable(character) || run->characters == RUN_MOST)
        return false;
    if (character < 0x80)
        return true;
    if (encoding->step > 1 && run->script && run->script != character >> 8 &&
        /* East Asian text is exempt from this test, since it uses many blocks of 256 characters. */
        !(run->script >= 0x30 && run->script < 0xa0))
        return false;
    run->script = character >> 8;
    run->beyond_ascii = true;
    return true;
}

static struct run run_at(const struct encoding *encoding, const uint8_t *bytes, size_t left)
{
    struct run run = {.characters = 0};
    uint32_t character;
    size_t taken;

    while ((taken = encoding->take(bytes + run.bytes, left - run.bytes, &character)) &&
           extends_run(&run, encoding, character)) {
        run.used += put_utf8(character, run.text + run.used);
        run.bytes += taken;
        run.characters++;
    }
    return run;
}

/* Says whether a run of characters is text. Random bytes often look like East Asian UTF-16, so a
 * run beyond ASCII must end with a NUL character. */
static bool is_text(const struct run *run, const struct encoding *encoding, const uint8_t *bytes,
                    size_t left)
{
    uint32_t behind = 1;

    if (run->characters < RUN_LEAST)
        return false;
    if (encoding->step == 1)
        return run->beyond_ascii;
    if (!run->beyond_ascii)
        return true;
    return run->bytes < left && encoding->take(bytes + run->bytes, left - run->bytes, &behind) &&
           behind == 0;
}

static void write_texts(const struct encoding *encoding, const uint8_t *bytes, size_t length,
                        int indent, FILE *stream)
{
    for (size_t at = 0; at + encoding->step <= length;) {
        struct run run = run_at(encoding, bytes + at, length - at);

        if (!is_text(&run, encoding, bytes + at, length - at)) {
            at += encoding->step;
            continue;
        }
        fprintf(stream, "%*s%s at +%zu: \"%s\"\n", indent, "", encoding->name, at,
                term_text(run.text, run.used, 0).text);
        at += run.bytes;
    }
}

void hex_dump(const uint8_t *bytes, size_t length, int indent, FILE *stream)
{
    write_hex(bytes, length, indent, stream);
    for (size_t i = 0; i < sizeof(encodings) / sizeof(*encodings); i++)
        write_texts(&encodings[i], bytes, length, indent, stream);
}
