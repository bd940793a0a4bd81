/* profile_text.c - see profile_text.h. */
#include "tests/unit/symbolize/profile_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define STRINGS 65536
#define SIZE (8u << 20)

/* What stands in the field of a message: s string, n number, x address, p packed numbers, or the
 * index of a message below. */
struct shape {
    const char *name;
    const char *fields[16]; /* "letter name" by number of the field */
};

static const struct shape shapes[] = {
    {"profile",
     {[1] = "1type",
      [2] = "2sample",
      [3] = "3mapping",
      [4] = "4location",
      [5] = "5function",
      [9] = "ntime",
      [10] = "nduration",
      [11] = "1period",
      [12] = "nperiod",
      [13] = "scomment",
      [14] = "sdefault"}},
    {"type", {[1] = "s", [2] = "s"}},
    {"sample", {[1] = "pat", [2] = "pvalues", [3] = "6"}},
    {"mapping",
     {[1] = "n",
      [2] = "xstart",
      [3] = "xlimit",
      [5] = "sfile",
      [6] = "sbuild-id",
      [7] = "nfunctions",
      [8] = "nfiles",
      [9] = "nlines",
      [10] = "ninlined"}},
    {"location", {[1] = "n", [2] = "nmapping", [3] = "xaddress", [4] = "7line"}},
    {"function", {[1] = "n", [2] = "sname", [3] = "ssystem", [4] = "sfile"}},
    {"label", {[1] = "s", [2] = "s=", [3] = "n=", [4] = "s"}},
    {"line", {[1] = "nfunction", [2] = "n"}},
};

struct decoding {
    FILE *out;
    bool broken;
    size_t string_count;
    struct {
        const uint8_t *bytes;
        size_t length;
    } strings[STRINGS];
};

struct bytes {
    const uint8_t *at, *end;
};

static uint64_t varint(struct decoding *decoding, struct bytes *from)
{
    uint64_t number = 0;

    for (int shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        uint8_t byte = *from->at++;

        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    decoding->broken = true;
    return 0;
}

/* The content of a field with a length. */
static struct bytes inner(struct decoding *decoding, struct bytes *from)
{
    uint64_t length = varint(decoding, from);
    struct bytes made = {from->at, from->at};

    if (length > (uint64_t)(from->end - from->at))
        decoding->broken = true;
    else
        made.end = from->at += length;
    return made;
}

static void print_string(struct decoding *decoding, uint64_t number)
{
    if (number >= decoding->string_count) {
        decoding->broken = true;
        return;
    }
    putc('"', decoding->out);
    for (size_t i = 0; i < decoding->strings[number].length; i++) {
        uint8_t byte = decoding->strings[number].bytes[i];

        if (byte < 0x20 || byte == '"')
            fprintf(decoding->out, "\\x%02x", byte);
        else
            putc(byte, decoding->out);
    }
    putc('"', decoding->out);
}

static void print_message(struct decoding *decoding, const struct shape *shape, struct bytes from);

static void print_field(struct decoding *decoding, const char *field, unsigned wire,
                        struct bytes *from)
{
    struct bytes content = {0};
    uint64_t number = 0;

    if (wire == 0)
        number = varint(decoding, from);
    else if (wire == 2)
        content = inner(decoding, from);
    if (!field || (wire == 2) != (*field == 'p' || (*field >= '0' && *field <= '9'))) {
        decoding->broken = true;
        return;
    }
    fprintf(decoding->out, " %s%s", field + 1, field[1] ? " " : "");
    if (*field == 's')
        print_string(decoding, number);
    else if (*field == 'n')
        fprintf(decoding->out, "%" PRIu64, number);
    else if (*field == 'x')
        fprintf(decoding->out, "0x%" PRIx64, number);
    else if (*field == 'p')
        for (const char *comma = ""; content.at < content.end && !decoding->broken; comma = ",")
            fprintf(decoding->out, "%s%" PRIu64, comma, varint(decoding, &content));
    else
        print_message(decoding, &shapes[*field - '0'], content);
}

static void print_message(struct decoding *decoding, const struct shape *shape, struct bytes from)
{
    bool outer = shape == shapes;

    while (from.at < from.end && !decoding->broken) {
        uint64_t key = varint(decoding, &from);

        if (outer && key == (6 << 3 | 2)) {
            inner(decoding, &from);
            continue;
        }
        print_field(decoding, key >> 3 < 16 ? shape->fields[key >> 3] : NULL, key & 7, &from);
        if (outer)
            putc('\n', decoding->out);
    }
}

static void gather_strings(struct decoding *decoding, struct bytes from)
{
    while (from.at < from.end && !decoding->broken) {
        uint64_t key = varint(decoding, &from);
        struct bytes content = {0};

        if ((key & 7) == 0)
            varint(decoding, &from);
        else if ((key & 7) == 2)
            content = inner(decoding, &from);
        else
            decoding->broken = true;
        if (key >> 3 != 6)
            continue;
        decoding->strings[decoding->string_count].bytes = content.at;
        decoding->strings[decoding->string_count++].length = (size_t)(content.end - content.at);
        decoding->broken |= decoding->string_count == STRINGS;
    }
    decoding->broken |= !decoding->string_count || decoding->strings[0].length;
}

char *profile_text(const void *bytes, size_t length)
{
    struct decoding *decoding = calloc(1, sizeof(*decoding));
    uint8_t *plain = malloc(SIZE);
    z_stream state = {.next_in = (uint8_t *)(uintptr_t)bytes,
                      .avail_in = (uInt)length,
                      .next_out = plain,
                      .avail_out = SIZE};
    struct bytes from;
    char *text;
    size_t size;

    inflateInit2(&state, 15 + 16);
    decoding->broken = inflate(&state, Z_FINISH) != Z_STREAM_END || state.avail_in;
    inflateEnd(&state);
    from = (struct bytes){plain, plain + state.total_out};
    decoding->out = open_memstream(&text, &size);
    gather_strings(decoding, from);
    print_message(decoding, shapes, from);
    if (decoding->broken)
        fputs("broken\n", decoding->out);
    fclose(decoding->out);
    free(plain);
    free(decoding);
    return text;
}
