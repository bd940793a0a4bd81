/* error.c - writes the messages of leakrun and leakwatch to stderr, each line with one write(2). */
#include "common/base/error.h"

#include "leak_escape.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Builds a line of `lead` and `text`. Control characters of the text are escaped, because it may
 * hold names of programs and files. NULL: out of memory. */
static char *shown_line(const char *lead, const char *text)
{
    char *line = malloc(strlen(lead) + strlen(text) * (LEAK_ESCAPE_SIZE / 2) + LEAK_ESCAPE_SIZE);
    if (!line)
        return NULL;
    char *at = stpcpy(line, lead);
    for (size_t length; (length = leak_escape(text, at)); text += length)
        at += strlen(at);
    strcpy(at, "\n");
    return line;
}

static bool write_notice(const char *format, va_list args)
{
    int saved = errno; /* the format may contain %m, so vasprintf() needs errno */
    char *text = NULL, *line = NULL;

    if (vasprintf(&text, format, args) < 0)
        return false;
    line = shown_line("leakrun: ", text);
    free(text);
    if (!line)
        return false;
    size_t length = strlen(line), done = 0;
    while (done < length) {
        ssize_t n = write(STDERR_FILENO, line + done, (size_t)(length - done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* stderr is closed or full: the rest is dropped */
        done += (size_t)n;
    }
    free(line);
    errno = saved;
    return done == length;
}

bool print_notice(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool read = write_notice(format, args);
    va_end(args);
    return read;
}

void fatal_exit(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_notice(format, args);
    va_end(args);
    exit(status);
}
