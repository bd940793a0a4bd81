/* environment.c - see environment.h. */
#include "live/environment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/error.h"

extern char **environ;

/* A single variable may be 128 KiB long; hex doubles the length. */
#define BYTES_PER_WORD (32 * 1024)
/* All arguments and the environment itself have 2 MiB, and the program needs some of it. */
#define ENVIRONMENT_BYTES (400 * 1024)

int environment_print(const char *pid)
{
    static unsigned char bytes[ENVIRONMENT_BYTES + 1];
    char *path = string_format("/proc/%s/environ", pid);
    FILE *file = fopen(path, "re");
    free(path);
    if (!file)
        return STATUS_INTERNAL_ERROR; /* the script goes on with what the shell left */
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (length > ENVIRONMENT_BYTES)
        return STATUS_INTERNAL_ERROR;     /* likewise: better than no exec at all */
    fputs(ENVIRONMENT_WORD "0=", stdout); /* also of an empty environment */
    for (size_t i = 0; i < length; i++) {
        if (i && i % BYTES_PER_WORD == 0)
            printf("\n" ENVIRONMENT_WORD "%zu=", i / BYTES_PER_WORD);
        printf("%02x", bytes[i]);
    }
    puts("");
    return 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* What the hex digits of all the script's variables, in order, spell; NULL when there are none. */
static char *decode(size_t *length)
{
    char *bytes = NULL, name[64];
    *length = 0;
    for (unsigned number = 0;; number++) {
        snprintf(name, sizeof name, ENVIRONMENT_WORD "%u", number);
        const char *hex = getenv(name);
        if (!hex)
            return bytes;
        bytes = realloc(bytes, *length + strlen(hex) / 2 + 1);
        if (!bytes)
            fatal_exit(STATUS_INTERNAL_ERROR, "out of memory");
        for (; *hex; hex += 2) {
            int high = hex_digit(hex[0]), low = high < 0 ? -1 : hex_digit(hex[1]);
            if (low < 0)
                fatal_exit(STATUS_INTERNAL_ERROR,
                           "%s is not hex digits: unset it, scripts/leakrun makes it", name);
            bytes[(*length)++] = (char)(high * 16 + low);
        }
        bytes[*length] = '\0';
    }
}

void environment_load(struct string_list *list)
{
    size_t length;
    char *bytes = decode(&length);
    string_list_copy(list, &(struct string_list){0});
    for (char **word = environ; !bytes && *word; word++)
        string_list_add(list, *word);
    for (size_t i = 0; i < length; i += strlen(bytes + i) + 1)
        string_list_add(list, bytes + i);
    free(bytes);
}

static char **environment_find(const struct string_list *list, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->at[i], name, length) == 0 && list->at[i][length] == '=')
            return &list->at[i];
    return NULL;
}

const char *environment_get(const struct string_list *list, const char *name)
{
    char **word = environment_find(list, name);
    return word ? *word + strlen(name) + 1 : NULL;
}

void environment_set(struct string_list *list, const char *name, const char *value)
{
    char **word = environment_find(list, name);
    if (!word) {
        string_list_addf(list, "%s=%s", name, value);
        return;
    }
    char *fresh = string_format("%s=%s", name, value);
    free(*word);
    *word = fresh;
}
