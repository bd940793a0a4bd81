/* symbolizer.c - answers requests for names as text, and puts names into event logs. */
#include "common/names/symbolizer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/encode/encode.h"

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = digit ? strchr(digits, digit) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Parses a build-id of hex digits, or "-" for none. Returns its number of bytes; -1: it is
 * neither. */
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

/* Writes a character in UTF-8; returns the address behind it. */
static char *append_utf8(char *to, unsigned long character)
{
    unsigned bytes = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

    *to++ = (char)(lead[bytes] | character >> 6 * (bytes - 1));
    while (--bytes)
        *to++ = (char)(0x80 | (character >> 6 * (bytes - 1) & 0x3f));
    return to;
}

/* Decodes one escape, which begins behind its backslash: n, t, xNN or u{NNNN}. Any other character
 * stands for itself. Returns the address behind the decoded character. */
static char *unescape_character(char **text, char *to)
{
    char *at = *text, *end = at + 1;
    unsigned long number;

    if (at[0] == 'x' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
        *to++ = (char)(hex_digit(at[1]) << 4 | hex_digit(at[2]));
        end = at + 3;
    } else if (at[0] == 'u' && at[1] == '{' && (number = strtoul(at + 2, &end, 16)) <= 0x10ffff &&
               *end == '}') {
        to = append_utf8(to, number);
        end++;
    } else {
        *to++ = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
        end = at + 1;
    }
    *text = end;
    return to;
}

/* Decodes all escapes in place: an escape is never shorter than its character. */
static void unescape_path(char *text)
{
    char *to = text;

    while (*text)
        if (text[0] == '\\' && text[1]) {
            text++;
            to = unescape_character(&text, to);
        } else {
            *to++ = *text++;
        }
    *to = 0;
}

static void write_escaped(const char *text, FILE *answers)
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

static void answer_request(struct resolver *resolver, struct arena *mem, char *line, FILE *answers)
{
    uint8_t bytes[64] = {0};
    size_t id_length = strcspn(line, " ");
    int count = parse_build_id(line, id_length, bytes);
    char *rest = line + id_length;
    unsigned long long offset = strtoull(rest, &rest, 16);
    struct binary_name name = {0};
    const struct resolved_place *place;

    if (count < 0 || *rest != ' ')
        return;
    unescape_path(++rest);
    name.path = arena_copy(mem, rest, strlen(rest));
    name.build_id = (const uint8_t *)arena_copy(mem, (const char *)bytes, (size_t)count);
    name.build_id_length = (size_t)count;
    place = resolve_place(resolver, resolve_module(resolver, &name, false), offset);
    for (size_t i = 0; i < place->count; i++) {
        const struct frame *frame = &place->frames[i];

        if (!frame->function && !frame->file)
            continue;
        write_escaped(frame->function, answers);
        putc('\t', answers);
        write_escaped(frame->file, answers);
        fprintf(answers, "\t%u\n", (unsigned)frame->line);
    }
}

void symbolizer_serve(struct arena *mem, const struct binary_search_path *search, FILE *requests,
                      FILE *answers)
{
    struct resolver *resolver = resolve_begin(mem, search);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    while ((length = getline(&line, &capacity, requests)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = 0;
        answer_request(resolver, mem, line, answers);
        putc('\n', answers);
        if (fflush(answers) != 0)
            break; /* the client has closed the stream */
    }
    free(line);
    resolve_end(resolver);
}

/* An address at the end of a line of an event log, such as "/usr/bin/app+0x1139". */
struct log_address {
    char *path;
    size_t path_length;
    uint64_t offset;
};

/* The start of the path in a line of an event log: a line of a stack begins with it, an event
 * line ends with it. NULL: none. */
static char *find_log_path(char *line)
{
    static const char stack[] = "    /", event[] = " in /";
    char *at;

    if (strncmp(line, stack, strlen(stack)) == 0)
        return line + strlen(stack) - 1;
    if (!isdigit((unsigned char)*line) || !(at = strstr(line, event)))
        return NULL;
    return at + strlen(event) - 1;
}

static bool parse_log_address(char *line, struct log_address *spot)
{
    char *plus, *end;

    spot->path = find_log_path(line);
    plus = spot->path ? strrchr(spot->path, '+') : NULL;
    if (!plus || strncmp(plus, "+0x", 3) != 0 || !isxdigit((unsigned char)plus[3]))
        return false;
    errno = 0;
    spot->offset = strtoull(plus + 1, &end, 16);
    spot->path_length = (size_t)(plus - spot->path);
    return !*end && !errno;
}

static const struct resolved_place *
resolve_log_address(struct resolver *resolver, struct arena *mem, const struct log_address *spot)
{
    struct binary_name name = {0};
    char *path = arena_copy(mem, spot->path, spot->path_length);

    unescape_path(path);
    name.path = path;
    return resolve_place(resolver, resolve_module(resolver, &name, false), spot->offset);
}

static bool has_function(const struct frame *frame)
{
    return frame->function && *frame->function;
}

static void write_log_frame(const struct frame *frame, FILE *out)
{
    escape_line(out, frame->function ? frame->function : "");
    if (frame->file && *frame->file) {
        fputs(" at ", out);
        escape_line(out, frame->file);
        fprintf(out, ":%u", (unsigned)frame->line);
    }
    putc('\n', out);
}

/* Writes a line with function and source in place of the address; inlined functions become
 * further lines. */
static void write_log_place(const char *line, const struct log_address *spot,
                            const struct resolved_place *place, FILE *out)
{
    bool stack = *line == ' ';

    for (size_t i = 0; i < place->count && (stack || i == 0); i++) {
        fwrite(line, 1, (size_t)(spot->path - line), out);
        write_log_frame(&place->frames[i], out);
    }
}

static void rewrite_log(struct arena *mem, const struct binary_search_path *search, FILE *log,
                        FILE *out)
{
    struct resolver *resolver = resolve_begin(mem, search);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    while ((length = getline(&line, &capacity, log)) > 0) {
        const struct resolved_place *place = NULL;
        struct log_address spot;

        if (line[length - 1] == '\n')
            line[--length] = 0;
        if (strlen(line) == (size_t)length && parse_log_address(line, &spot))
            place = resolve_log_address(resolver, mem, &spot);
        if (place && has_function(&place->frames[0])) {
            write_log_place(line, &spot, place, out);
        } else {
            fwrite(line, 1, (size_t)length, out);
            putc('\n', out);
        }
    }
    free(line);
    resolve_end(resolver);
}

static bool symbolize_log_file(struct arena *mem, const char *path)
{
    struct binary_search_path search = {0};
    FILE *log = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    bool good;

    if (!log) {
        fprintf(stderr, "leakreport: %s: %s\n", path, strerror(errno));
        return false;
    }
    rewrite_log(mem, &search, log, stdout);
    good = !ferror(log);
    if (!good)
        fprintf(stderr, "leakreport: %s: %s\n", path, strerror(errno));
    if (log != stdin)
        fclose(log);
    return good;
}

int symbolizer_log_command(int argc, char **argv)
{
    struct arena *mem;
    bool good = true;

    if (argc < 3) {
        fputs("leakreport: log takes the files that log= has written\n", stderr);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        if (argv[i][0] == '-' && argv[i][1]) {
            fprintf(stderr, "leakreport: log takes no option '%s'\n", argv[i]);
            return 2;
        }
    mem = arena_begin();
    for (int i = 2; i < argc; i++)
        good &= symbolize_log_file(mem, argv[i]);
    arena_end(mem);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "leakreport: the log could not be written in full: %s\n", strerror(errno));
        good = false;
    }
    return good ? 0 : 2;
}
