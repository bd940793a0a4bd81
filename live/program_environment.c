/* program_environment.c - makes the environment of the program; described in
 * program_environment.h. */
#include "live/program_environment.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/store/store_dir.h"
#include "leak_store.h"
#include "leak_targets.h"

/* ---- The environment of the caller ----------------------------------------------------------- */

extern char **environ;

/* Bytes of the environment that one variable carries as hex digits, which double the length: the
 * kernel limits a variable to 128 KiB. */
#define BYTES_PER_WORD (32 * 1024)
/* Bytes of the largest environment that is passed on. The kernel limits arguments and
 * environment together to 2 MiB, and leakwatch gets both the environment and its hex digits. */
#define ENVIRONMENT_BYTES (400 * 1024)

int environment_print(const char *pid)
{
    static unsigned char bytes[ENVIRONMENT_BYTES + 1];
    char *path = string_format("/proc/%s/environ", pid);
    FILE *file = fopen(path, "re");
    free(path);
    if (!file)
        /* the environment is unknown, so the script continues with that of the shell */
        return STATUS_INTERNAL_ERROR;
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (length > ENVIRONMENT_BYTES)
        /* an exec with so many bytes would fail, so the script uses the environment of the shell */
        return STATUS_INTERNAL_ERROR;
    fputs(ENVIRONMENT_WORD "0=", stdout); /* printed even if the environment is empty */
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

/* Decodes the hex digits of all variables that the script has set, in order; NULL = there are
 * none. */
static char *decode_environment(size_t *length)
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
                           "%s does not hold hex digits: unset it; scripts/leakrun sets it", name);
            bytes[(*length)++] = (char)(high * 16 + low);
        }
        bytes[*length] = '\0';
    }
}

static bool is_helper_entry(const char *word)
{
    return strncmp(word, LEAK_HELPER_VARIABLE "=", sizeof LEAK_HELPER_VARIABLE) == 0;
}

static void add_word(struct string_list *list, const char *word)
{
    if (!is_helper_entry(word))
        string_list_add(list, word);
}

void environment_load(struct string_list *list)
{
    size_t length;
    char *bytes = decode_environment(&length);
    string_list_copy(list, &(struct string_list){0});
    for (char **word = environ; !bytes && *word; word++)
        add_word(list, *word);
    for (size_t i = 0; i < length; i += strlen(bytes + i) + 1)
        add_word(list, bytes + i);
    free(bytes);
}

void environment_for_helper(struct string_list *list, const struct string_list *callers)
{
    string_list_copy(list, callers);
    string_list_add(list, LEAK_HELPER_ENTRY);
}

static char **environment_find(const struct string_list *list, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->at[i], name, length) == 0 && list->at[i][length] == '=')
            return &list->at[i];
    return NULL;
}

const char *environment_value(const struct string_list *list, const char *name)
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

/* ---- Making the settings of libleak ---------------------------------------------------------- */

char *environment_store_dir(const struct args *args, const struct string_list *environment)
{
    const char *given = args->dir ? args->dir : environment_value(environment, "LIBLEAK_DIR");
    char *dir = given ? string_format("%s", given)
                      : option_text_find(environment_value(environment, "LIBLEAK_OPTIONS"), "dir");
    if (dir && !*dir) {
        free(dir);
        dir = NULL;
    }
    return dir;
}

/* Uses the targets of report_to=. If the list in LIBLEAK_OPTIONS is wrong, libleak.so prints a
 * warning, so leakrun does not. */
void environment_forward_report_to(struct args *args, const struct string_list *environment)
{
    char *list =
        args->to ? NULL
        : args->report_to
            ? string_format("%s", args->report_to)
            : option_text_find(environment_value(environment, "LIBLEAK_OPTIONS"), "report_to");
    bool good = list && *list && (args->report_to || leak_targets_good(list));
    if (good) {
        string_list_addf(&args->for_report, "--to=%s", list);
        args->to = true;
    }
    free(list);
}

/* Makes the value of LIBLEAK_OPTIONS: the caller's options, then those of the command line, then
 * those that leakrun needs; later ones override earlier ones. */
static char *make_libleak_options(const struct args *args, const struct session *session,
                                  const char *callers)
{
    const char *quote = strpbrk(session->dir, ":") ? "'" : "";
    char *forced = string_format("dir=%s%s%s:report=none", quote, session->dir, quote);
    /* The caller's options may end inside an open quote, which would hide all that follows; so
     * leakrun's own options stand also at the start. */
    char *options =
        string_format("%s%s%s%s%s:%s", forced, callers && *callers ? ":" : "",
                      callers ? callers : "", *args->runtime ? ":" : "", args->runtime, forced);
    free(forced);
    return options;
}

void environment_make_settings(struct string_list *set, const struct string_list *environment,
                               const struct args *args, const struct session *session)
{
    const char *preload = environment_value(environment, "LD_PRELOAD");
    char *options =
        make_libleak_options(args, session, environment_value(environment, "LIBLEAK_OPTIONS"));
    string_list_add(set, "LD_PRELOAD");
    string_list_addf(set, "%s%s%s", session->preload, preload && *preload ? ":" : "",
                     preload ? preload : "");
    string_list_add(set, "LIBLEAK_OPTIONS");
    string_list_add(set, options);
    if (environment_value(environment, "LIBLEAK_DIR")) {
        string_list_add(set, "LIBLEAK_DIR");
        string_list_add(set, session->dir);
    }
    free(options);
}

/* ---- Running the program in gdb -------------------------------------------------------------- */

void environment_gdb_command(struct string_list *command, const struct string_list *set,
                             const char *program, char **argv)
{
    char *wrapper = string_format("set exec-wrapper env -u " LEAK_HELPER_VARIABLE);
    for (size_t i = 0; i + 1 < set->count; i += 2) {
        char *quoted = shell_quote(set->at[i + 1]);
        char *longer = string_format("%s %s=%s", wrapper, set->at[i], quoted);
        free(quoted);
        free(wrapper);
        wrapper = longer;
    }
    string_list_add(command, "gdb");
    string_list_add(command, "-ex");
    string_list_add(command, wrapper);
    string_list_add(command, "--args");
    string_list_add(command, program);
    for (argv++; *argv; argv++)
        string_list_add(command, *argv);
    free(wrapper);
}
