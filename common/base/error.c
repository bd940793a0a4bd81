/* error.c - see error.h. */
#include "common/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool write_notice(const char *format, va_list args)
{
    int saved = errno; /* vasprintf() has it as %m */
    char *text = NULL, *line = NULL;

    if (vasprintf(&text, format, args) < 0)
        return false;
    int length = asprintf(&line, "leakrun: %s\n", text);
    free(text);
    if (length < 0)
        return false;
    int done = 0;
    while (done < length) {
        ssize_t n = write(STDERR_FILENO, line + done, (size_t)(length - done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* stderr is closed */
        done += (int)n;
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
