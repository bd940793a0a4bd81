/* say.c - one line, one write: see say.h. */
#include "common/base/fatal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_line(const char *format, va_list args)
{
    int saved = errno;
    char *text = NULL;
    char *line = NULL;
    errno = saved; /* for %m */
    if (vasprintf(&text, format, args) < 0)
        return;
    int length = asprintf(&line, "leakrun: %s\n", text);
    free(text);
    if (length < 0)
        return;
    for (int done = 0; done < length;) {
        ssize_t n = write(STDERR_FILENO, line + done, (size_t)(length - done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* nobody to tell */
        done += (int)n;
    }
    free(line);
    errno = saved;
}

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_line(format, args);
    va_end(args);
}

void say_and_exit(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_line(format, args);
    va_end(args);
    exit(status);
}
