#include "preload/process/report_targets.h"
#include "preload/base/log.h"
#include "preload/base/strbuf.h"

#include "leak_targets.h"

#include <fcntl.h>
#include <unistd.h>

static char folder[PATH_MAX]; /* of relative files, with its slash, as a pattern; "": of none */

/* ---- At the start --------------------------------------------------------------------------- */

static void find_folder(void)
{
    char here[PATH_MAX];
    struct text text = TEXT_ON(folder);
    if (sys_getcwd(here, sizeof here) <= 0)
        return;
    for (const char *at = here; *at; at++)
        text_add(&text, *at == '%' ? "%%" : (char[]){*at, '\0'});
    text_add(&text, "/");
}

/* Who unpacks a folder and runs a program there has not asked for what lies in it to be run. */
static bool is_of_the_directory(enum option_source source)
{
    return source == SOURCE_DIRECTORY || source == SOURCE_VLD;
}

void outlets_start(void)
{
    char *list = track_options.report_to;
    if (!leak_targets_good(list)) {
        log_bad_value("report_to", list,
                      LEAK_TARGET_WORDS " (where a : is in it, in single quotes)");
        list[0] = '\0';
    } else if (leak_targets_have(list, LEAK_TARGET_COMMAND) &&
               is_of_the_directory(track_options.source[OPTION_report_to])) {
        log_line("report_to: no command is taken from a file in the working directory", NULL);
        list[0] = '\0';
    }
    if (list[0] || (track_options.report_file[0] && track_options.report_file[0] != '/'))
        find_folder();
}

bool outlets_usable(void)
{
    const char *list = track_options.report_to;
    struct leak_target target;
    bool any = false;
    if (!list[0])
        return track_options.report_file[0] || log_usable();
    while (!any && *list && leak_target_read(&list, &target))
        any = target.kind == LEAK_TARGET_STDERR   ? log_usable()
              : target.kind == LEAK_TARGET_STDOUT ? log_output_usable()
                                                  : true;
    return any || track_options.report_file[0];
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* A comma would end the name: such a folder is left out, and the name counts from where the program
 * is then. */
static void add_file(struct text *text, const struct leak_target *target)
{
    const char *name = target->length ? target->argument : LEAK_TARGET_FILE_NAME;
    text_add(text, ":");
    if (name[0] != '/' && !strchr(folder, ','))
        text_add(text, folder);
    text_add_bytes(text, name, target->length ? target->length : strlen(name));
}

/* The list, with files named in full. */
static void add_list(struct text *text, const char *list)
{
    struct leak_target target;
    const char *between = "";
    while (*list && leak_target_read(&list, &target)) {
        text_add(text, between);
        text_add(text, leak_target_word(target.kind));
        if (target.kind == LEAK_TARGET_FILE && (target.length || !track_options.report_file[0])) {
            add_file(text, &target);
        } else if (target.length) {
            text_add(text, ":");
            text_add_bytes(text, target.argument, target.length);
        }
        between = ",";
    }
}

bool outlets_name(struct outlets *outlets, const char *file)
{
    struct text output = TEXT_ON(outlets->output), to = TEXT_ON(outlets->to);
    const char *name = file ? file : track_options.report_file;
    if (name[0]) {
        text_add(&output, "--output=");
        text_add(&output, file || name[0] == '/' ? "" : folder);
        text_add(&output, name);
    }
    outlets->list = file ? "" : track_options.report_to;
    if (outlets->list[0]) {
        text_add(&to, "--to=");
        add_list(&to, outlets->list);
    }
    if (output.cut || to.cut)
        log_line("no report: the name of where it is to go is too long", NULL);
    return !output.cut && !to.cut;
}

void outlets_name_descriptor(struct outlets *outlets, int fd)
{
    struct text own = TEXT_ON(outlets->own), to = TEXT_ON(outlets->to);
    outlets->output[0] = '\0';
    outlets->list = outlets->own;
    text_add(&own, "fd:");
    text_add_number(&own, fd);
    text_add(&to, "--to=");
    text_add(&to, outlets->own);
}

/* ---- Descriptors ---------------------------------------------------------------------------- */

static void list_kept(struct outlets *outlets, int memory)
{
    const char *list = outlets->list;
    struct leak_target target;
    uint64_t number;
    unsigned count = 0;
    while (count < OUTLETS_KEPT && *list && leak_target_read(&list, &target))
        if (target.kind == LEAK_TARGET_FD &&
            text_read_number(target.argument, target.length, &number))
            outlets->kept[count++] = (int)number;
    if (memory >= 0)
        outlets->kept[count++] = memory;
    outlets->kept[count] = -1;
}

void outlets_open(struct outlets *outlets, int memory)
{
    bool error = log_usable(),
         output = leak_targets_have(outlets->list, LEAK_TARGET_STDOUT) && log_output_usable();
    outlets->nowhere = error ? -1 : sys_open("/dev/null", O_WRONLY | O_CLOEXEC, 0);
    list_kept(outlets, memory);
    outlets->streams = (struct sys_streams){.in = -1,
                                            .out = output  ? -1
                                                   : error ? STDERR_FILENO
                                                           : outlets->nowhere,
                                            .err = error ? -1 : outlets->nowhere,
                                            .kept = outlets->kept};
}

void outlets_close(struct outlets *outlets)
{
    if (outlets->nowhere >= 0)
        sys_close(outlets->nowhere);
}
