/* json_writer.c - writes JSON tokens with commas, indentation and escapes. */
#include "common/encode/json_writer.h"

#include <inttypes.h>

#include "common/base/term_text.h"

/* Returns the length of the ASCII characters at the start of a text that need no escape; with
 * `markup`, < > and & need one. Most texts are only such characters, so one call writes them. */
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

/* Writes a character as \uXXXX, or as a surrogate pair \uXXXX\uXXXX. */
static void put_escape(struct json_writer *json, uint32_t character)
{
    if (character >= 0x10000)
        fprintf(json->stream, "\\u%04x\\u%04x", 0xd7c0 + (character >> 10),
                0xdc00 + (character & 0x3ff));
    else
        fprintf(json->stream, "\\u%04x", character);
}

/* Writes the first character of a text in an HTML page, and returns its length in bytes. Control
 * characters become visible escapes, since people read the page. */
static size_t put_shown(struct json_writer *json, const char *text)
{
    char shown[LEAK_ESCAPE_SIZE];
    size_t length = leak_escape(text, shown);

    if (*shown == '\\' && shown[1] && *text != '\n' && *text != '\t')
        fprintf(json->stream, "\\%s", shown);
    else if (length == 1)
        put_escape(json, (unsigned char)*text);
    else
        fputs_unlocked(shown, json->stream);
    return length;
}

/* Writes the first character of a text for programs, and returns its length in bytes. An escape
 * keeps its value: a JSON reader gets the character back. */
static size_t put_character(struct json_writer *json, const char *text)
{
    size_t length = leak_utf8_length(text);
    uint32_t character = leak_utf8_decode(text, length);

    if (leak_is_shown(character) && character >= 0x80)
        fwrite_unlocked(text, 1, length, json->stream);
    else
        put_escape(json, character);
    return length;
}

static void put_string(struct json_writer *json, const char *text)
{
    bool checked = false, bytes = false; /* checked: the text was checked for valid UTF-8; bytes:
                                          * the rest of it is not valid */

    putc_unlocked('"', json->stream);
    for (;;) {
        size_t length = plain_length(text, json->markup);
        unsigned char byte = (unsigned char)text[length];

        fwrite_unlocked(text, 1, length, json->stream);
        text += length;
        if (!byte)
            break;
        if (byte >= 0x80 && !checked) {
            bytes = !utf8_valid(text);
            json->bytes_escaped |= bytes;
            checked = true;
        }
        if (byte == '"' || byte == '\\') {
            fprintf(json->stream, "\\%c", byte);
            text++;
        } else if (json->markup) {
            text += put_shown(json, text);
        } else if (bytes) {
            put_escape(json, byte);
            text++;
        } else {
            text += put_character(json, text);
        }
    }
    putc_unlocked('"', json->stream);
}

static void new_line(struct json_writer *json)
{
    static const char blanks[] = "\n                                ";
    size_t width = (size_t)json->depth + 1;

    fwrite_unlocked(blanks, 1, width < sizeof(blanks) ? width : sizeof(blanks) - 1, json->stream);
}

static bool is_on_one_line(const struct json_writer *json)
{
    return json->flat || json->line;
}

static void begin_member(struct json_writer *json, const char *key)
{
    if (json->some)
        putc_unlocked(',', json->stream);
    if (is_on_one_line(json) && json->some && !json->dense)
        putc_unlocked(' ', json->stream);
    else if (!is_on_one_line(json) && json->depth)
        new_line(json);
    if (key) {
        putc_unlocked('"', json->stream);
        fputs_unlocked(key, json->stream);
        fputs_unlocked(json->dense ? "\":" : "\": ", json->stream);
    }
    json->some = true;
}

void json_open(struct json_writer *json, const char *key, char bracket)
{
    begin_member(json, key);
    putc_unlocked(bracket, json->stream);
    json->depth++;
    json->some = false;
}

void json_close(struct json_writer *json, char bracket)
{
    json->depth--;
    if (json->some && !is_on_one_line(json))
        new_line(json);
    putc_unlocked(bracket, json->stream);
    if (json->depth == 0)
        putc_unlocked('\n', json->stream);
    json->some = true;
}

void json_put_text(struct json_writer *json, const char *key, const char *text)
{
    begin_member(json, key);
    if (text)
        put_string(json, text);
    else
        fputs_unlocked("null", json->stream);
}

void json_put_number(struct json_writer *json, const char *key, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    begin_member(json, key);
    fwrite_unlocked(digits + at, 1, sizeof(digits) - at, json->stream);
}

void json_put_signed(struct json_writer *json, const char *key, int64_t number)
{
    begin_member(json, key);
    fprintf(json->stream, "%" PRId64, number);
}

void json_put_fraction(struct json_writer *json, const char *key, double fraction)
{
    begin_member(json, key);
    fprintf(json->stream, "%.4g", fraction);
}

void json_put_raw(struct json_writer *json, const char *key, const char *text, size_t length)
{
    begin_member(json, key);
    fwrite_unlocked(text, 1, length, json->stream);
}

void json_put_bool(struct json_writer *json, const char *key, bool value)
{
    begin_member(json, key);
    fputs_unlocked(value ? "true" : "false", json->stream);
}

void json_put_null(struct json_writer *json, const char *key)
{
    json_put_text(json, key, NULL);
}

void json_put_time(struct json_writer *json, const char *key, uint64_t ns)
{
    char text[TIME_TEXT_SIZE];

    json_put_text(json, key, time_format_iso(ns, text));
}

void json_put_id(struct json_writer *json, const char *key, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%016" PRIx64, number);
    json_put_text(json, key, text);
}

void json_put_address(struct json_writer *json, const char *key, uint64_t address)
{
    char text[32];

    snprintf(text, sizeof(text), "0x%" PRIx64, address);
    json_put_text(json, key, text);
}
