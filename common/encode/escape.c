/* escape.c - see encode.h. */
#include "common/encode/encode.h"

#include <string.h>

#include "common/base/text.h"

/* The bytes of the character at text, 0 = XML 1.0 or a line cannot contain it. */
static size_t plain_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = utf8_char_length(text);

    if (*at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0))
        return 0;
    if (length == 3 && *at == 0xef && at[1] == 0xbf && at[2] >= 0xbe) /* U+FFFE, U+FFFF */
        return 0;
    return length;
}

/* Writes one character, or one byte as \xNN; returns how many bytes of text that were. */
static size_t write_plain(FILE *stream, const char *text)
{
    size_t length = plain_length(text);

    if (length)
        fwrite_unlocked(text, 1, length, stream);
    else
        fprintf(stream, "\\x%02x", (unsigned char)*text);
    return length ? length : 1;
}

void escape_line(FILE *stream, const char *text)
{
    while (*text)
        text += write_plain(stream, text);
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
    case '\r': /* an XML reader would make it a newline */
        return "&#13;";
    case '\t': /* and a space of these in attributes */
        return attribute ? "&#9;" : "\t";
    case '\n':
        return attribute ? "&#10;" : "\n";
    }
    return NULL;
}

static void write_xml(FILE *stream, const char *text, bool attribute)
{
    while (*text)
        if (entity(*text, attribute))
            fputs_unlocked(entity(*text++, attribute), stream);
        else
            text += write_plain(stream, text);
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
    while (*text)
        if (*text == '%' || (property && (*text == ':' || *text == ',')) || *text == '\n')
            fprintf(stream, "%%%02X", (unsigned char)*text++);
        else
            text += write_plain(stream, text);
}

/* The longest run of backquotes in the text; the delimiter has to be longer. */
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

/* Markdown strips one space at both ends when both have one, and a backquote at an end needs a
 * space beside it. */
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
    while (*text) {
        if (*text == '|')
            putc_unlocked('\\', stream);
        text += write_plain(stream, text);
    }
    fputs_unlocked(space, stream);
    write_run(stream, run);
}

void escape_uri_path(const char *path, FILE *stream)
{
    for (; *path; path++)
        if (strchr("/._-+~", *path) || (*path >= '0' && *path <= '9') ||
            (*path >= 'A' && *path <= 'Z') || (*path >= 'a' && *path <= 'z'))
            putc_unlocked(*path, stream);
        else
            fprintf(stream, "%%%02X", (unsigned char)*path);
}
