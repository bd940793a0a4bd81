/* log_symbolize.c - see log_symbolize.h. */
#include "common/names/log_symbolize.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/names/symbol_server.h"

/* "/usr/bin/app+0x1139" to the end of the line. */
struct spot {
    char *path;
    size_t path_length;
    uint64_t offset;
};

/* Where a path begins: a line of a stack is nothing else, one of an event ends with it. */
static char *find_path(char *line)
{
    static const char stack[] = "    /", event[] = " in /";
    char *at;

    if (strncmp(line, stack, strlen(stack)) == 0)
        return line + strlen(stack) - 1;
    if (!isdigit((unsigned char)*line) || !(at = strstr(line, event)))
        return NULL;
    return at + strlen(event) - 1;
}

static bool find_spot(char *line, struct spot *spot)
{
    char *plus, *end;

    spot->path = find_path(line);
    plus = spot->path ? strrchr(spot->path, '+') : NULL;
    if (!plus || strncmp(plus, "+0x", 3) != 0 || !isxdigit((unsigned char)plus[3]))
        return false;
    errno = 0;
    spot->offset = strtoull(plus + 1, &end, 16);
    spot->path_length = (size_t)(plus - spot->path);
    return !*end && !errno;
}

static const struct place *look_up(struct resolver *resolver, struct mem *mem,
                                   const struct spot *spot)
{
    struct binary_name name = {0};
    char *path = arena_copy(mem, spot->path, spot->path_length);

    serve_unescape(path);
    name.path = path;
    return resolve_place(resolver, resolve_module(resolver, &name), spot->offset);
}

static bool is_named(const struct frame *frame)
{
    return frame->function && *frame->function;
}

static void write_frame(const struct frame *frame, FILE *out)
{
    serve_write_escaped(frame->function, out);
    if (frame->file && *frame->file) {
        fputs(" at ", out);
        serve_write_escaped(frame->file, out);
        fprintf(out, ":%u", (unsigned)frame->line);
    }
    putc('\n', out);
}

/* The line up to the path, and a function; for each further one the same indent. */
static void write_place(const char *line, const struct spot *spot, const struct place *place,
                        FILE *out)
{
    bool stack = *line == ' ';

    for (size_t i = 0; i < place->count && (stack || i == 0); i++) {
        fwrite(line, 1, (size_t)(spot->path - line), out);
        write_frame(&place->frames[i], out);
    }
}

void relate(struct mem *mem, const struct binary_search_path *search, FILE *log, FILE *out)
{
    struct resolver *resolver = resolve_begin(mem, search);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    while ((length = getline(&line, &capacity, log)) > 0) {
        const struct place *place = NULL;
        struct spot spot;

        if (line[length - 1] == '\n')
            line[--length] = 0;
        if (strlen(line) == (size_t)length && find_spot(line, &spot))
            place = look_up(resolver, mem, &spot);
        if (place && is_named(&place->frames[0])) {
            write_place(line, &spot, place, out);
        } else {
            fwrite(line, 1, (size_t)length, out);
            putc('\n', out);
        }
    }
    free(line);
    resolve_end(resolver);
}

static bool relate_file(struct mem *mem, const char *path)
{
    struct binary_search_path search = {0};
    FILE *log = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    bool good;

    if (!log) {
        fprintf(stderr, "leakreport: %s: %s\n", path, strerror(errno));
        return false;
    }
    relate(mem, &search, log, stdout);
    good = !ferror(log);
    if (!good)
        fprintf(stderr, "leakreport: %s: %s\n", path, strerror(errno));
    if (log != stdin)
        fclose(log);
    return good;
}

int relate_command(int argc, char **argv)
{
    struct mem *mem;
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
        good &= relate_file(mem, argv[i]);
    arena_end(mem);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "leakreport: the log could not be written in full: %s\n", strerror(errno));
        good = false;
    }
    return good ? 0 : 2;
}
