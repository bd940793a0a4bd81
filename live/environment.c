/* environment.c - see environment.h. */
#include "live/environment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/say.h"

extern char **environ;

/* A single argument may be 128 KiB long; hex doubles the length. */
#define BYTES_PER_WORD (32 * 1024)
/* All arguments and the environment itself have 2 MiB, and the program needs some of it. */
#define ENVIRONMENT_BYTES (400 * 1024)

int environment_print(const char *pid)
{
    static unsigned char bytes[ENVIRONMENT_BYTES + 1];
    char *path = words_print("/proc/%s/environ", pid);
    FILE *file = fopen(path, "re");
    free(path);
    if (!file)
        return STATUS_OUR_TROUBLE; /* the script goes on with what the shell left */
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (length > ENVIRONMENT_BYTES)
        return STATUS_OUR_TROUBLE; /* likewise: better than no exec at all */
    fputs("--environment=", stdout);
    for (size_t i = 0; i < length; i++)
        printf("%s%02x", i && i % BYTES_PER_WORD == 0 ? "\n--environment=" : "", bytes[i]);
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

bool environment_decode(struct environment_bytes *bytes, const char *hex)
{
    size_t digits = strlen(hex);
    char *grown = realloc(bytes->at, bytes->length + digits / 2 + 1);
    if (!grown || digits % 2)
        return false;
    bytes->at = grown;
    for (; *hex; hex += 2) {
        int high = hex_digit(hex[0]), low = hex_digit(hex[1]);
        if (high < 0 || low < 0)
            return false;
        bytes->at[bytes->length++] = (char)(high * 16 + low);
    }
    bytes->at[bytes->length] = '\0';
    return true;
}

void environment_load(struct words *list, const struct environment_bytes *bytes)
{
    words_copy(list, &(struct words){0});
    if (!bytes->at) {
        for (char **word = environ; *word; word++)
            words_add(list, *word);
        return;
    }
    for (size_t i = 0; i < bytes->length; i += strlen(bytes->at + i) + 1)
        words_add(list, bytes->at + i);
}

static char **environment_find(const struct words *list, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->at[i], name, length) == 0 && list->at[i][length] == '=')
            return &list->at[i];
    return NULL;
}

const char *environment_get(const struct words *list, const char *name)
{
    char **word = environment_find(list, name);
    return word ? *word + strlen(name) + 1 : NULL;
}

void environment_set(struct words *list, const char *name, const char *value)
{
    char **word = environment_find(list, name);
    if (!word) {
        words_addf(list, "%s=%s", name, value);
        return;
    }
    char *fresh = words_print("%s=%s", name, value);
    free(*word);
    *word = fresh;
}
