#include "preload/process/report_targets.h"
#include "preload/base/log.h"
#include "preload/base/strbuf.h"

#include "leak_targets.h"

#include <fcntl.h>
#include <unistd.h>

/* The working directory at the start, for relative files: with a final slash, and %% for each %,
 * because leakreport expands % in names; "": not needed. */
static char start_folder[PATH_MAX];

/* ---- Reading the options --------------------------------------------------------------------- */

static void save_start_folder(void)
{
    char here[PATH_MAX];
    struct strbuf text = STRBUF_ON(start_folder);
    if (sys_getcwd(here, sizeof here) <= 0)
        return;
    for (const char *at = here; *at; at++)
        strbuf_add(&text, *at == '%' ? "%%" : (char[]){*at, '\0'});
    strbuf_add(&text, "/");
}

/* Says whether an option comes from a file in the working directory. Such a file must not name a
 * command: running a program in an unpacked folder would run it. */
static bool is_from_directory(enum option_source source)
{
    return source == SOURCE_DIRECTORY || source == SOURCE_VLD;
}

void report_targets_start(void)
{
    char *list = options_current.report_to;
    if (!leak_targets_good(list)) {
        log_bad_value("report_to", list,
                      LEAK_TARGET_WORDS " (where a : is in it, in single quotes)");
        list[0] = '\0';
    } else if (leak_targets_have(list, LEAK_TARGET_COMMAND) &&
               is_from_directory(options_current.source[OPTION_report_to])) {
        log_line("report_to: no command is taken from a file in the working directory", NULL);
        list[0] = '\0';
    }
    if (list[0] || (options_current.report_file[0] && options_current.report_file[0] != '/'))
        save_start_folder();
}

bool report_targets_usable(void)
{
    const char *list = options_current.report_to;
    struct leak_target target;
    bool any = false;
    if (!list[0])
        return options_current.report_file[0] || log_stderr_usable();
    while (!any && *list && leak_target_read(&list, &target))
        any = target.kind == LEAK_TARGET_STDERR   ? log_stderr_usable()
              : target.kind == LEAK_TARGET_STDOUT ? log_stdout_usable()
                                                  : true;
    return any || options_current.report_file[0];
}

/* ---- Names of targets, as arguments of leakreport -------------------------------------------- */

/* Adds the name of a target file, in the program's directory at the start. A comma would end the
 * name, so if the path of that directory has one, the name stays relative to the working directory
 * of leakreport. */
static void add_target_file(struct strbuf *text, const struct leak_target *target)
{
    const char *name = target->length ? target->argument : LEAK_TARGET_FILE_NAME;
    strbuf_add(text, ":");
    if (name[0] != '/' && !strchr(start_folder, ','))
        strbuf_add(text, start_folder);
    strbuf_add_bytes(text, name, target->length ? target->length : strlen(name));
}

/* Adds the list of targets, with absolute names of files. */
static void add_target_list(struct strbuf *text, const char *list)
{
    struct leak_target target;
    const char *between = "";
    while (*list && leak_target_read(&list, &target)) {
        strbuf_add(text, between);
        strbuf_add(text, leak_target_word(target.kind));
        if (target.kind == LEAK_TARGET_FILE && (target.length || !options_current.report_file[0])) {
            add_target_file(text, &target);
        } else if (target.length) {
            strbuf_add(text, ":");
            strbuf_add_bytes(text, target.argument, target.length);
        }
        between = ",";
    }
}

bool report_targets_name(struct report_targets *targets, const char *file)
{
    struct strbuf output = STRBUF_ON(targets->output), to = STRBUF_ON(targets->to);
    const char *name = file ? file : options_current.report_file;
    if (name[0]) {
        strbuf_add(&output, "--output=");
        strbuf_add(&output, file || name[0] == '/' ? "" : start_folder);
        strbuf_add(&output, name);
    }
    targets->list = file ? "" : options_current.report_to;
    if (targets->list[0]) {
        strbuf_add(&to, "--to=");
        add_target_list(&to, targets->list);
    }
    if (output.cut || to.cut)
        log_line("no report: the name of its target is too long", NULL);
    return !output.cut && !to.cut;
}

void report_targets_name_fd(struct report_targets *targets, int fd)
{
    struct strbuf own = STRBUF_ON(targets->own), to = STRBUF_ON(targets->to);
    targets->output[0] = '\0';
    targets->list = targets->own;
    strbuf_add(&own, "fd:");
    strbuf_add_number(&own, fd);
    strbuf_add(&to, "--to=");
    strbuf_add(&to, targets->own);
}

/* ---- Descriptors that leakreport inherits ---------------------------------------------------- */

static void list_kept_fds(struct report_targets *targets, int memory)
{
    const char *list = targets->list;
    struct leak_target target;
    uint64_t number;
    unsigned count = 0;
    while (count < REPORT_TARGET_FDS && *list && leak_target_read(&list, &target))
        if (target.kind == LEAK_TARGET_FD && parse_number(target.argument, target.length, &number))
            targets->kept[count++] = (int)number;
    if (memory >= 0)
        targets->kept[count++] = memory;
    targets->kept[count] = -1;
}

void report_targets_open(struct report_targets *targets, int memory)
{
    bool error = log_stderr_usable(),
         output = leak_targets_have(targets->list, LEAK_TARGET_STDOUT) && log_stdout_usable();
    targets->nowhere = error ? -1 : sys_open("/dev/null", O_WRONLY | O_CLOEXEC, 0);
    list_kept_fds(targets, memory);
    targets->streams = (struct sys_streams){.in = -1,
                                            .out = output  ? -1
                                                   : error ? STDERR_FILENO
                                                           : targets->nowhere,
                                            .err = error ? -1 : targets->nowhere,
                                            .kept = targets->kept};
}

void report_targets_close(struct report_targets *targets)
{
    if (targets->nowhere >= 0)
        sys_close(targets->nowhere);
}
