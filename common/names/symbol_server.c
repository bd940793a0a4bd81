/* symbol_server.c - answers requests for names; see symbol_server.h. */
#include "common/names/symbol_server.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = digit ? strchr(digits, digit) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Reads hex digits into bytes; how many bytes, or -1. */
static int parse_build_id(const char *text, size_t length, uint8_t bytes[64])
{
    if (length == 1 && *text == '-')
        return 0;
    if (length % 2 || length > 128)
        return -1;
    for (size_t i = 0; i < length; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);

        if (high < 0 || low < 0)
            return -1;
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    return (int)(length / 2);
}

void serve_unescape(char *text)
{
    char *to = text;

    for (; *text; text++) {
        if (text[0] == '\\' && text[1]) {
            text++;
            *to++ = *text == 'n' ? '\n' : *text == 't' ? '\t' : *text;
        } else {
            *to++ = *text;
        }
    }
    *to = 0;
}

void serve_write_escaped(const char *text, FILE *answers)
{
    for (; text && *text; text++) {
        if (*text == '\\')
            fputs("\\\\", answers);
        else if (*text == '\n')
            fputs("\\n", answers);
        else if (*text == '\t')
            fputs("\\t", answers);
        else
            putc(*text, answers);
    }
}

static void answer(struct resolver *resolver, struct mem *mem, char *line, FILE *answers)
{
    uint8_t bytes[64] = {0};
    size_t id_length = strcspn(line, " ");
    int count = parse_build_id(line, id_length, bytes);
    char *rest = line + id_length;
    unsigned long long offset = strtoull(rest, &rest, 16);
    struct binary_name name = {0};
    const struct place *place;

    if (count < 0 || *rest != ' ')
        return;
    serve_unescape(++rest);
    name.path = arena_copy(mem, rest, strlen(rest));
    name.build_id = (const uint8_t *)arena_copy(mem, (const char *)bytes, (size_t)count);
    name.build_id_length = (size_t)count;
    place = resolve_place(resolver, resolve_module(resolver, &name), offset);
    for (size_t i = 0; i < place->count; i++) {
        const struct frame *frame = &place->frames[i];

        if (!frame->function && !frame->file)
            continue;
        serve_write_escaped(frame->function, answers);
        putc('\t', answers);
        serve_write_escaped(frame->file, answers);
        fprintf(answers, "\t%u\n", (unsigned)frame->line);
    }
}

void serve(struct mem *mem, const struct binary_search_path *search, FILE *requests, FILE *answers)
{
    struct resolver *resolver = resolve_begin(mem, search);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    while ((length = getline(&line, &capacity, requests)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = 0;
        answer(resolver, mem, line, answers);
        putc('\n', answers);
        if (fflush(answers) != 0)
            break; /* nobody listens any more */
    }
    free(line);
    resolve_end(resolver);
}
