/* store_dir.c - see store_dir.h. */
#include "common/store/store_dir.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void where_places(const char *place[WHERE_PLACES], const char *runtime_dir)
{
    place[0] = runtime_dir && runtime_dir[0] == '/' ? runtime_dir : NULL;
    place[1] = "/dev/shm";
    place[2] = "/tmp";
}

char *where_option(const char *options, const char *name)
{
    const char *last = NULL;
    size_t last_length = 0, name_length = strlen(name);

    while (options && *options) {
        bool found = strncmp(options, name, name_length) == 0 && options[name_length] == '=';
        const char *value = options + (found ? name_length : strcspn(options, ":="));

        value += *value == '=';
        bool quoted = *value == '\'';
        value += quoted;
        size_t length = strcspn(value, quoted ? "'" : ":");
        if (found) {
            last = value;
            last_length = length;
        }
        options = value + length + (value[length] && quoted);
        options += strspn(options, ":");
    }
    return last ? strndup(last, last_length) : NULL;
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

/* ---- Which directories ----------------------------------------------------------------------- */

/* The last line "dir=..." of a file of options, or what was so far. */
static const char *dir_of_file(struct mem *mem, const char *path, const char *so_far)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    char line[1024];

    while (file && fgets(line, sizeof(line), file)) {
        char *value = line + strspn(line, " \t");
        size_t length = strcspn(value, "\r\n");

        while (length && strchr(" \t", value[length - 1]))
            length--;
        if (length < 4 || strncmp(value, "dir=", 4) != 0)
            continue;
        value += 4;
        length -= 4;
        if (length >= 2 && value[0] == '\'' && value[length - 1] == '\'') {
            value++;
            length -= 2;
        }
        so_far = mem_copy(mem, value, length);
    }
    if (file)
        fclose(file);
    return so_far;
}

const char *where_told(struct mem *mem)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *user = NULL, *dir;
    char *option = where_option(getenv("LIBLEAK_OPTIONS"), "dir");

    if (base && *base)
        user = mem_format(mem, "%s/libleak/config", base);
    else if (home && *home)
        user = mem_format(mem, "%s/.config/libleak/config", home);
    dir = dir_of_file(mem, "/etc/libleak.conf", NULL);
    dir = dir_of_file(mem, user, dir);
    dir = dir_of_file(mem, ".libleakrc", dir);
    if (option)
        dir = mem_copy(mem, option, strlen(option));
    free(option);
    if (getenv("LIBLEAK_DIR"))
        dir = getenv("LIBLEAK_DIR");
    return dir && *dir ? dir : NULL;
}

size_t where_directories(struct mem *mem, const char *directory[WHERE_PLACES])
{
    const char *place[WHERE_PLACES], *dir = where_told(mem);
    size_t count = 0;

    where_places(place, getenv("XDG_RUNTIME_DIR"));
    if (dir)
        directory[count++] = dir;
    for (int i = 0; !dir && i < WHERE_PLACES; i++)
        if (place[i])
            directory[count++] =
                mem_format(mem, "%s/" WHERE_USER_PREFIX "%u", place[i], (unsigned)geteuid());
    return count;
}
