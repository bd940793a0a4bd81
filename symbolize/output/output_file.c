/* output_file.c - expands the pattern of -o and opens the file; described in output.h. */
#include "symbolize/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* numbers 1 to NUMBERS are tried for %n; if all those files exist, opening fails */
#define NUMBERS 100000

/* Replaces each '/', because the name of a program or host must not lead into another directory. */
static const char *flatten_name(struct arena *mem, const char *text)
{
    char *copy = arena_copy(mem, text ? text : "unknown", strlen(text ? text : "unknown"));

    for (char *at = copy; *at; at++)
        if (*at == '/')
            *at = '_';
    return copy;
}

static const char *time_text(struct arena *mem)
{
    char text[64];
    time_t now = time(NULL);
    struct tm calendar;

    localtime_r(&now, &calendar);
    strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &calendar);
    return arena_copy(mem, text, strlen(text));
}

/* Expands %q{VAR} to the value of the environment variable VAR. *at: points to the q, and is set to
 * the closing brace. NULL: there is no closing brace. A variable that is not set gives "", after a
 * message. */
static const char *environment_value(struct arena *mem, const char **at)
{
    const char *end = (*at)[1] == '{' ? strchr(*at, '}') : NULL;
    const char *name, *value;

    if (!end)
        return NULL;
    name = arena_copy(mem, *at + 2, (size_t)(end - *at) - 2);
    value = getenv(name);
    if (!value)
        fprintf(stderr, "leakreport: -o: the variable %s is not set\n", name);
    *at = end;
    return value ? value : "";
}

char *output_expand_name(struct arena *mem, const char *pattern, const struct process *process,
                         unsigned number)
{
    char *name = arena_copy(mem, "", 0);

    for (const char *at = pattern; *at; at++) {
        const char *part = NULL;

        if (*at != '%') {
            name = arena_format(mem, "%s%c", name, *at);
            continue;
        }
        switch (*++at) {
        case 'p':
            part = arena_format(mem, "%d", process ? process->pid : 0);
            break;
        case 'e':
            part = flatten_name(mem, process ? base_name(process->exe) : NULL);
            break;
        case 'h':
            part = flatten_name(mem, process ? process->host : NULL);
            break;
        case 'n':
            part = arena_format(mem, "%u", number);
            break;
        case 't':
            part = time_text(mem);
            break;
        case 'q':
            part = environment_value(mem, &at);
            break;
        case '%':
            part = "%";
            break;
        }
        if (!part) {
            fprintf(stderr,
                    "leakreport: -o: '%%%.1s' is not one of %%p %%e %%n %%h %%t %%q{VAR} %%%%\n",
                    at);
            return NULL;
        }
        name = arena_format(mem, "%s%s", name, part);
    }
    return name;
}

/* Says whether the pattern contains %n. In %%n the n is no part of a placeholder. */
static bool has_number(const char *pattern)
{
    for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%'))
        if (at[1] == 'n')
            return true;
    return false;
}

/* Says whether the existing file is a pipe or a device. Writing to it overwrites nothing. */
static bool is_pipe_or_device(const char *name)
{
    struct stat st;
    int error = errno;
    bool stream = stat(name, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));

    errno = error;
    return stream;
}

int output_open_fd(struct arena *mem, const char *pattern, const struct process *process,
                   enum output_mode way, const char **trouble)
{
    static const int how[] = {O_EXCL, O_TRUNC, O_APPEND};
    unsigned last = has_number(pattern) ? NUMBERS : 1;
    char *name = NULL;
    int fd = -1;

    for (unsigned number = 1; number <= last; number++) {
        name = output_expand_name(mem, pattern, process, number);
        if (!name) {
            *trouble = "that is no name of a file";
            return -1;
        }
        fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | how[way], 0666);
        if (fd < 0 && errno == EEXIST && is_pipe_or_device(name))
            fd = open(name, O_WRONLY | O_CLOEXEC);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd < 0 && errno == EEXIST)
        *trouble =
            arena_format(mem, "%s exists: not overwritten without --force or --append", name);
    else if (fd < 0)
        *trouble = arena_format(mem, "%s cannot be written: %s", name,
                                strerror(errno == EINTR ? ETIMEDOUT : errno));
    return fd;
}

FILE *output_open_stream(struct arena *mem, const char *pattern, const struct process *process,
                         enum output_mode way)
{
    const char *trouble;
    int fd = output_open_fd(mem, pattern, process, way, &trouble);

    if (fd >= 0)
        return fdopen(fd, way == OUTPUT_APPEND ? "a" : "w");
    fprintf(stderr, "leakreport: %s; the report goes to stderr\n", trouble);
    return stderr;
}
