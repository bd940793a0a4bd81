/* json_writer.c - writes JSON tokens; see json_writer.h. */
#include "common/encode/json_writer.h"

#include <inttypes.h>

#include "common/base/times.h"
#include "common/base/utf8.h"

/* ASCII that stands for itself: a run of it is written at once, for most texts are one. */
static size_t plain_length(const char *text, bool markup)
{
    size_t length = 0;

    for (;; length++) {
        unsigned char byte = (unsigned char)text[length];

        if (byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\' ||
            (markup && (byte == '<' || byte == '>' || byte == '&')))
            return length;
    }
}

static void quote(struct emit *emit, const char *text)
{
    bool asked = false, bytes = false; /* bytes: those from 0x80 on are no characters */

    putc_unlocked('"', emit->stream);
    for (;;) {
        size_t length = plain_length(text, emit->markup);
        unsigned char byte = (unsigned char)text[length];

        fwrite_unlocked(text, 1, length, emit->stream);
        text += length + 1;
        if (!byte)
            break;
        if (byte >= 0x80 && !asked) {
            bytes = !utf8_valid(text - 1);
            emit->bytes_escaped |= bytes;
            asked = true;
        }
        if (byte == '"' || byte == '\\')
            fprintf(emit->stream, "\\%c", byte);
        else if (byte < 0x80 || bytes)
            fprintf(emit->stream, "\\u%04x", byte);
        else
            putc_unlocked(byte, emit->stream);
    }
    putc_unlocked('"', emit->stream);
}

static void new_line(struct emit *emit)
{
    static const char blanks[] = "\n                                ";
    size_t width = (size_t)emit->depth + 1;

    fwrite_unlocked(blanks, 1, width < sizeof(blanks) ? width : sizeof(blanks) - 1, emit->stream);
}

static bool on_line(const struct emit *emit)
{
    return emit->flat || emit->line;
}

static void begin(struct emit *emit, const char *key)
{
    if (emit->some)
        putc_unlocked(',', emit->stream);
    if (on_line(emit) && emit->some)
        putc_unlocked(' ', emit->stream);
    else if (!on_line(emit) && emit->depth)
        new_line(emit);
    if (key) {
        putc_unlocked('"', emit->stream);
        fputs_unlocked(key, emit->stream);
        fputs_unlocked("\": ", emit->stream);
    }
    emit->some = true;
}

void emit_open(struct emit *emit, const char *key, char bracket)
{
    begin(emit, key);
    putc_unlocked(bracket, emit->stream);
    emit->depth++;
    emit->some = false;
}

void emit_close(struct emit *emit, char bracket)
{
    emit->depth--;
    if (emit->some && !on_line(emit))
        new_line(emit);
    putc_unlocked(bracket, emit->stream);
    if (emit->depth == 0)
        putc_unlocked('\n', emit->stream);
    emit->some = true;
}

void emit_text(struct emit *emit, const char *key, const char *text)
{
    begin(emit, key);
    if (text)
        quote(emit, text);
    else
        fputs_unlocked("null", emit->stream);
}

void emit_number(struct emit *emit, const char *key, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    begin(emit, key);
    fwrite_unlocked(digits + at, 1, sizeof(digits) - at, emit->stream);
}

void emit_known(struct emit *emit, const char *key, bool known, uint64_t number)
{
    if (known)
        emit_number(emit, key, number);
    else
        emit_null(emit, key);
}

void emit_signed(struct emit *emit, const char *key, int64_t number)
{
    begin(emit, key);
    fprintf(emit->stream, "%" PRId64, number);
}

void emit_fraction(struct emit *emit, const char *key, double fraction)
{
    begin(emit, key);
    fprintf(emit->stream, "%.4g", fraction);
}

void emit_made(struct emit *emit, const char *key, const char *text, size_t length)
{
    begin(emit, key);
    fwrite_unlocked(text, 1, length, emit->stream);
}

void emit_bool(struct emit *emit, const char *key, bool value)
{
    begin(emit, key);
    fputs_unlocked(value ? "true" : "false", emit->stream);
}

void emit_null(struct emit *emit, const char *key)
{
    emit_text(emit, key, NULL);
}

void emit_empty(struct emit *emit, const char *key)
{
    emit_open(emit, key, '[');
    emit_close(emit, ']');
}

void emit_time(struct emit *emit, const char *key, uint64_t ns)
{
    char text[TIMES_SIZE];

    emit_text(emit, key, times_iso(ns, text));
}

void emit_id(struct emit *emit, const char *key, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%016" PRIx64, number);
    emit_text(emit, key, text);
}

void emit_address(struct emit *emit, const char *key, uint64_t address)
{
    char text[32];

    snprintf(text, sizeof(text), "0x%" PRIx64, address);
    emit_text(emit, key, text);
}
