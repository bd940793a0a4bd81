/* where.c - see where.h. */
#include "symbolize/where.h"

#include <stdbool.h>
#include <string.h>

void where_places(const char *place[WHERE_PLACES], const char *runtime_dir)
{
    place[0] = runtime_dir && runtime_dir[0] == '/' ? runtime_dir : NULL;
    place[1] = "/dev/shm";
    place[2] = "/tmp";
}

char *where_option(const char *options)
{
    const char *dir = NULL;
    size_t dir_length = 0;

    while (options && *options) {
        bool found = strncmp(options, "dir=", 4) == 0;
        const char *value = options + (found ? 4 : strcspn(options, ":="));

        value += *value == '=';
        bool quoted = *value == '\'';
        value += quoted;
        size_t length = strcspn(value, quoted ? "'" : ":");
        if (found) {
            dir = value;
            dir_length = length;
        }
        options = value + length + (value[length] && quoted);
        options += strspn(options, ":");
    }
    return dir ? strndup(dir, dir_length) : NULL;
}

size_t where_name_length(const char *file)
{
    size_t length = strlen(file);

    for (int dots = 0; dots < 3; dots++) {
        const char *dot = memrchr(file, '.', length);

        if (dot)
            length = (size_t)(dot - file);
    }
    return length;
}
