/* emit.c - writes JSON tokens; see emit.h. */
#include "symbolize/emit.h"

#include <inttypes.h>

#include "symbolize/times.h"
#include "symbolize/utf8.h"

static void quote(struct emit *emit, const char *text)
{
    bool bytes = !utf8_valid(text);

    emit->bytes_escaped |= bytes;
    putc_unlocked('"', emit->stream);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(emit->stream, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f || (bytes && *at >= 0x80) ||
                 (emit->markup && (*at == '<' || *at == '>' || *at == '&')))
            fprintf(emit->stream, "\\u%04x", *at);
        else
            putc_unlocked(*at, emit->stream);
    }
    putc_unlocked('"', emit->stream);
}

static void new_line(struct emit *emit)
{
    putc_unlocked('\n', emit->stream);
    for (int i = 0; i < emit->depth; i++)
        putc_unlocked(' ', emit->stream);
}

static void begin(struct emit *emit, const char *key)
{
    if (emit->some)
        putc_unlocked(',', emit->stream);
    if (emit->flat && emit->some)
        putc_unlocked(' ', emit->stream);
    else if (!emit->flat && emit->depth)
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
    putc(bracket, emit->stream);
    emit->depth++;
    emit->some = false;
}

void emit_close(struct emit *emit, char bracket)
{
    emit->depth--;
    if (emit->some && !emit->flat)
        new_line(emit);
    putc(bracket, emit->stream);
    if (emit->depth == 0)
        putc('\n', emit->stream);
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
    begin(emit, key);
    fprintf(emit->stream, "%" PRIu64, number);
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

void emit_bool(struct emit *emit, const char *key, bool value)
{
    begin(emit, key);
    fputs_unlocked(value ? "true" : "false", emit->stream);
}

void emit_null(struct emit *emit, const char *key)
{
    emit_text(emit, key, NULL);
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
