#include "preload/log.h"
#include "preload/sys.h"
#include "preload/text.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    bool known;
    dev_t device;
    ino_t inode;
} standard_error;

void log_start(void)
{
    struct stat now;
    if (sys_fstat(STDERR_FILENO, &now) < 0)
        return;
    standard_error.known = true;
    standard_error.device = now.st_dev;
    standard_error.inode = now.st_ino;
}

bool log_usable(void)
{
    struct stat now;
    return standard_error.known && sys_fstat(STDERR_FILENO, &now) == 0 &&
           now.st_dev == standard_error.device && now.st_ino == standard_error.inode;
}

void log_line(const char *part, ...)
{
    char buffer[1024];
    struct text text = TEXT_ON(buffer);
    text.size--; /* room for the newline, whatever is cut */
    text_add(&text, "libleak: ");
    va_list parts;
    va_start(parts, part);
    for (; part; part = va_arg(parts, const char *))
        text_add(&text, part);
    va_end(parts);
    text.size++;
    text_add(&text, "\n");
    if (log_usable())
        sys_write(STDERR_FILENO, text.bytes, text.length);
}
