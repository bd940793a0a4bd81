/* settings.c - see settings.h. */
#include "live/settings.h"

#include <stdlib.h>
#include <string.h>

#include "live/environment.h"
#include "common/base/error.h"
#include "leak_targets.h"
#include "common/store/store_dir.h"

char *settings_dir(const struct args *args, const struct string_list *environment)
{
    const char *told = args->dir ? args->dir : environment_get(environment, "LIBLEAK_DIR");
    char *dir = told ? string_format("%s", told)
                     : option_text_find(environment_get(environment, "LIBLEAK_OPTIONS"), "dir");
    if (dir && !*dir) {
        free(dir);
        dir = NULL;
    }
    return dir;
}

/* A list that makes no sense is said by the library, where the program runs. */
void settings_report_to(struct args *args, const struct string_list *environment)
{
    char *list =
        args->to ? NULL
        : args->report_to
            ? string_format("%s", args->report_to)
            : option_text_find(environment_get(environment, "LIBLEAK_OPTIONS"), "report_to");
    bool good = list && *list && (args->report_to || leak_targets_good(list));
    if (good) {
        string_list_addf(&args->for_report, "--to=%s", list);
        args->to = true;
    }
    free(list);
}

/* The caller's options first, then the command line's, then what must not be overruled. */
static char *options_make(const struct args *args, const struct session *session,
                          const char *callers)
{
    const char *quote = strpbrk(session->dir, ":") ? "'" : "";
    char *forced = string_format("dir=%s%s%s:report=none", quote, session->dir, quote);
    /* The caller's may end in an open quote that swallows the rest: so the forced ones lead, too.
     */
    char *options =
        string_format("%s%s%s%s%s:%s", forced, callers && *callers ? ":" : "",
                      callers ? callers : "", *args->runtime ? ":" : "", args->runtime, forced);
    free(forced);
    return options;
}

void settings_make(struct string_list *set, const struct string_list *environment,
                   const struct args *args, const struct session *session)
{
    const char *preload = environment_get(environment, "LD_PRELOAD");
    char *options = options_make(args, session, environment_get(environment, "LIBLEAK_OPTIONS"));
    string_list_add(set, "LD_PRELOAD");
    string_list_addf(set, "%s%s%s", session->preload, preload && *preload ? ":" : "",
                     preload ? preload : "");
    string_list_add(set, "LIBLEAK_OPTIONS");
    string_list_add(set, options);
    if (environment_get(environment, "LIBLEAK_DIR")) {
        string_list_add(set, "LIBLEAK_DIR");
        string_list_add(set, session->dir);
    }
    free(options);
}

/* ---- gdb --------------------------------------------------------------------------------- */

void settings_gdb_command(struct string_list *command, const struct string_list *set,
                          const char *program, char **argv)
{
    char *wrapper = string_format("set exec-wrapper env");
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
