/* perfmap_name.c - see perfmap_name.h. */
#include "common/names/perfmap_name.h"

#include <stdlib.h>
#include <string.h>

static const char *const v8_code[] = {"JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};
/* Begin with one of these. */
static const char *const own_code[] = {
    "Builtin:",
    "BytecodeHandler:",
    "Stub:",
    "RegExp:",
    "Interpreter",
    "StubRoutines",
    "I2C/C2I adapters",
    "native signature handlers",
};

#define ROWS(table) (sizeof(table) / sizeof(*(table)))

/* How long the one is that the text begins with; 0 = none. */
static size_t beginning(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    return 0;
}

/* Takes ":123" from the end; false: there is none. */
static bool take_number(char *text, uint32_t *number)
{
    char *colon = strrchr(text, ':');

    if (!colon || colon == text || !colon[1] || strlen(colon) > 10 ||
        colon[1 + strspn(colon + 1, "0123456789")])
        return false;
    *number = (uint32_t)strtoul(colon + 1, NULL, 10);
    *colon = '\0';
    return true;
}

/* "*name file:line:column"; names and files may hold blanks, but files of programs begin in three
 * ways. */
static void read_v8(char *text, struct perfname *name)
{
    static const char *const starts[] = {" /", " file://", " node:"};
    char *file = NULL;

    text += strspn(text, "*^~+") != 0;
    for (size_t i = 0; i < ROWS(starts) && !file; i++)
        file = *text == starts[i][1] && strncmp(text, starts[i] + 1, strlen(starts[i]) - 1) == 0
                   ? text /* no name */
                   : strstr(text, starts[i]);
    if (file == text) {
        name->function = "(anonymous)";
        file += *file == ' ';
    } else {
        name->function = *text ? text : "(anonymous)";
        if (!file)
            return;
        *file++ = '\0';
    }
    if (take_number(file, &name->column) && !take_number(file, &name->line)) {
        name->line = name->column;
        name->column = 0;
    }
    name->file = strncmp(file, "file://", 7) == 0 ? file + 7 : file;
}

static void read_python(char *text, struct perfname *name)
{
    char *file = strstr(text, ":/");

    name->function = text;
    if (!file || file == text)
        return;
    *file = '\0';
    name->file = file + 1;
}

struct perfname perfname_read(struct mem *mem, const char *text, size_t length)
{
    char *copy = arena_copy(mem, text, length);
    size_t v8 = beginning(copy, v8_code, ROWS(v8_code));
    struct perfname name = {.function = copy};

    if (v8)
        read_v8(copy + v8, &name);
    else if (strncmp(copy, "py::", 4) == 0 && copy[4])
        read_python(copy + 4, &name);
    else
        name.runtime = beginning(copy, own_code, ROWS(own_code)) > 0;
    return name;
}
