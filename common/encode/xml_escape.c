/* xml_escape.c - see xml_escape.h. */
#include "common/encode/xml_escape.h"

#include <string.h>

#include "common/base/utf8.h"

/* Bytes at text that are a character both XML 1.0 and a line can hold, 0 = these have none. */
static size_t plain_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = utf8_length(text);

    if (*at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0))
        return 0;
    if (length == 3 && *at == 0xef && at[1] == 0xbf && at[2] >= 0xbe) /* U+FFFE, U+FFFF */
        return 0;
    return length;
}

static void write_byte(FILE *stream, char byte)
{
    fprintf(stream, "\\x%02x", (unsigned char)byte);
}

void escape_line(FILE *stream, const char *text)
{
    while (*text) {
        size_t length = plain_length(text);

        if (length)
            fwrite_unlocked(text, 1, length, stream);
        else
            write_byte(stream, *text);
        text += length ? length : 1;
    }
}

static const char *entity(char character, bool attribute)
{
    switch (character) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\r': /* a reader would make a newline of it */
        return "&#13;";
    case '\t': /* ... and a space of these */
        return attribute ? "&#9;" : "\t";
    case '\n':
        return attribute ? "&#10;" : "\n";
    }
    return NULL;
}

static void write_xml(FILE *stream, const char *text, bool attribute)
{
    while (*text) {
        size_t length = plain_length(text);

        if (entity(*text, attribute))
            fputs_unlocked(entity(*text, attribute), stream);
        else if (length)
            fwrite_unlocked(text, 1, length, stream);
        else
            write_byte(stream, *text);
        text += length ? length : 1;
    }
}

void escape_xml(FILE *stream, const char *text)
{
    write_xml(stream, text, false);
}

void escape_element(FILE *stream, int indent, const char *name, const char *text)
{
    if (!text)
        return;
    fprintf(stream, "%*s<%s>", indent, "", name);
    escape_xml(stream, text);
    fprintf(stream, "</%s>\n", name);
}

void escape_attribute(FILE *stream, const char *name, const char *text)
{
    if (!text)
        return;
    fprintf(stream, " %s=\"", name);
    write_xml(stream, text, true);
    putc_unlocked('"', stream);
}

void escape_command(FILE *stream, const char *text, bool property)
{
    for (size_t length; *text; text += length ? length : 1) {
        length = plain_length(text);
        if (*text == '%' || (property && (*text == ':' || *text == ',')) || *text == '\n')
            fprintf(stream, "%%%02X", (unsigned char)*text);
        else if (length)
            fwrite_unlocked(text, 1, length, stream);
        else
            write_byte(stream, *text);
    }
}

/* The longest run of backquotes, which that around it has to exceed. */
static size_t longest_run(const char *text)
{
    size_t longest = 0;

    for (; *text; text++) {
        size_t run = strspn(text, "`");

        if (run > longest)
            longest = run;
        if (run)
            text += run - 1;
    }
    return longest;
}

static void write_run(FILE *stream, size_t count)
{
    while (count--)
        putc_unlocked('`', stream);
}

/* A reader takes one space off at both ends, where both have one, and needs it beside a backquote.
 */
static bool needs_spaces(const char *text)
{
    size_t length = strlen(text);

    return !length || *text == ' ' || *text == '`' || text[length - 1] == ' ' ||
           text[length - 1] == '`';
}

void escape_code(FILE *stream, const char *text)
{
    const char *space = needs_spaces(text) ? " " : "";
    size_t run = longest_run(text) + 1;

    write_run(stream, run);
    fputs_unlocked(space, stream);
    for (size_t length; *text; text += length ? length : 1) {
        length = plain_length(text);
        if (*text == '|')
            fputs_unlocked("\\|", stream);
        else if (length)
            fwrite_unlocked(text, 1, length, stream);
        else
            write_byte(stream, *text);
    }
    fputs_unlocked(space, stream);
    write_run(stream, run);
}
