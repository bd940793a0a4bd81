/* escape.c - writes foreign text into lines, XML, GitHub commands, Markdown and URIs. */
#include "common/encode/encode.h"

#include <string.h>

#include "common/base/term_text.h"

/* Writes the first character of a text, escaped if necessary; returns its length in bytes. */
static size_t write_plain(FILE *stream, const char *text)
{
    char shown[LEAK_ESCAPE_SIZE];
    size_t length = leak_escape(text, shown);

    fputs_unlocked(shown, stream);
    return length;
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
    case '\t': /* an XML reader would make tabs and newlines in attributes spaces */
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

/* The length of the longest run of backquotes in the text; the delimiters of the code must be
 * longer. */
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

/* Says whether Markdown code needs a space at both ends: when a backquote stands at an end, and
 * when a space does, since Markdown strips one space at each end. */
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
