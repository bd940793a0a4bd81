/* targets.c - delivers a report to the targets of --to; described in output.h. */
#include "symbolize/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/write_timeout.h"

/* ---- The list of targets --------------------------------------------------------------------- */

static bool is_same_target(const struct leak_target *a, const struct leak_target *b)
{
    return a->kind == b->kind && a->length == b->length &&
           memcmp(a->argument, b->argument, a->length) == 0;
}

static void add_target(struct targets *targets, const struct leak_target *where)
{
    for (size_t i = 0; i < targets->count; i++)
        if (is_same_target(&targets->at[i].where, where))
            return;
    targets->at =
        array_grow(targets->at, &targets->capacity, targets->count + 1, sizeof(*targets->at));
    targets->at[targets->count++] = (struct target){
        .where = *where,
        .closed = where->kind == LEAK_TARGET_FD && fcntl(atoi(where->argument), F_GETFD) < 0};
}

bool targets_add(struct targets *targets, const char *list)
{
    struct leak_target where;

    if (!*list || !leak_targets_good(list))
        return false;
    while (*list && leak_target_read(&list, &where))
        add_target(targets, &where);
    return true;
}

void targets_add_output(struct targets *targets, const char *pattern)
{
    struct leak_target file = {LEAK_TARGET_FILE, pattern, strlen(pattern)};

    for (size_t i = 0; i < targets->count; i++)
        if (targets->at[i].where.kind == file.kind && !targets->at[i].where.length) {
            targets->at[i].where = file;
            return;
        }
    add_target(targets, &file);
}

static int descriptor_of(const struct target *target)
{
    switch (target->where.kind) {
    case LEAK_TARGET_STDERR:
        return STDERR_FILENO;
    case LEAK_TARGET_STDOUT:
        return STDOUT_FILENO;
    case LEAK_TARGET_FD:
        return target->closed ? -1 : atoi(target->where.argument);
    default:
        return -1;
    }
}

bool targets_on_terminal(const struct targets *targets, bool all)
{
    for (size_t i = 0; i < targets->count; i++)
        if ((isatty(descriptor_of(&targets->at[i])) != 0) != all)
            return !all;
    return all;
}

size_t output_terminal_rows(int fd)
{
    struct winsize size;

    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

size_t output_terminal_columns(int fd)
{
    struct winsize size;

    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t targets_rows(const struct targets *targets)
{
    size_t least = 0;

    for (size_t i = 0; i < targets->count; i++) {
        size_t rows = output_terminal_rows(descriptor_of(&targets->at[i]));

        least = rows && (!least || rows < least) ? rows : least;
    }
    return least;
}

/* ---- Delivering to each kind of target ------------------------------------------------------- */

struct delivery {
    struct arena *mem;
    const struct target *target;
    const struct target_report *parcel;
    const char *argument; /* the argument of the target, ended by NUL; NULL = none */
    char why[TARGET_WHY];
};

static bool set_errno_reason(struct delivery *delivery)
{
    snprintf(delivery->why, TARGET_WHY, "%s", strerror(errno));
    return false;
}

/* Writes the report to a descriptor. False: writing failed. EPIPE is no error: the reader closed
 * the pipe because it had read enough. */
static bool deliver_to_fd(struct delivery *delivery)
{
    return write_timeout_write(descriptor_of(delivery->target), delivery->parcel->text,
                               delivery->parcel->length) ||
           errno == EPIPE || set_errno_reason(delivery);
}

static bool deliver_to_file(struct delivery *delivery)
{
    const char *pattern = delivery->argument ? delivery->argument : LEAK_TARGET_FILE_NAME;
    const char *trouble;
    int fd = output_open_fd(delivery->mem, pattern, delivery->parcel->process,
                            delivery->parcel->way, &trouble);
    bool good;

    if (fd < 0) {
        snprintf(delivery->why, TARGET_WHY, "%s", trouble);
        return false;
    }
    good = write_timeout_write(fd, delivery->parcel->text, delivery->parcel->length);
    good = (close(fd) == 0 && good) || set_errno_reason(delivery);
    return good;
}

static bool deliver_to_log(struct delivery *delivery)
{
    const struct target_report *parcel = delivery->parcel;
    struct log_message message = {.text = parcel->text,
                                  .length = parcel->length,
                                  .alarming = parcel->alarming,
                                  .pid = parcel->process ? parcel->process->pid : 0,
                                  .program = parcel->process ? parcel->process->exe : NULL};
    bool journal = delivery->target->where.kind == LEAK_TARGET_JOURNAL;

    return (journal ? target_log_journal(delivery->argument, &message)
                    : target_log_syslog(delivery->argument, &message)) ||
           set_errno_reason(delivery);
}

static bool deliver_to_socket(struct delivery *delivery)
{
    return target_stream_socket(delivery->argument, delivery->parcel->text,
                                delivery->parcel->length, delivery->why);
}

static bool deliver_to_command(struct delivery *delivery)
{
    return target_stream_command(delivery->argument, delivery->parcel->text,
                                 delivery->parcel->length, delivery->why);
}

static bool (*const deliver_by_kind[])(struct delivery *) = {
    [LEAK_TARGET_STDERR] = deliver_to_fd,     [LEAK_TARGET_STDOUT] = deliver_to_fd,
    [LEAK_TARGET_FD] = deliver_to_fd,         [LEAK_TARGET_FILE] = deliver_to_file,
    [LEAK_TARGET_SYSLOG] = deliver_to_log,    [LEAK_TARGET_JOURNAL] = deliver_to_log,
    [LEAK_TARGET_SOCKET] = deliver_to_socket, [LEAK_TARGET_COMMAND] = deliver_to_command,
};

/* ---- Delivering to all targets --------------------------------------------------------------- */

static bool deliver_to(struct arena *mem, const struct target *target,
                       const struct target_report *parcel)
{
    struct delivery delivery = {.mem = mem, .target = target, .parcel = parcel};
    const struct leak_target *where = &target->where;
    bool good;

    if (where->length)
        delivery.argument = arena_copy(mem, where->argument, where->length);
    write_timeout_begin();
    good = deliver_by_kind[where->kind](&delivery);
    write_timeout_end();
    if (!good)
        fprintf(stderr, "leakreport: the report did not reach %s%s%s: %s\n",
                leak_target_word(where->kind), delivery.argument ? ":" : "",
                delivery.argument ? delivery.argument : "", delivery.why);
    return good;
}

bool targets_deliver(struct arena *mem, const struct targets *targets,
                     const struct target_report *parcel)
{
    static const struct target last_resort = {.where = {.kind = LEAK_TARGET_STDERR}};
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    bool taken = false, tried = false;

    for (size_t i = 0; i < targets->count; i++) {
        taken |= deliver_to(mem, &targets->at[i], parcel);
        tried |= targets->at[i].where.kind == LEAK_TARGET_STDERR;
    }
    if (!taken && !tried) {
        fputs("leakreport: no other target has it: the report goes to stderr\n", stderr);
        taken = deliver_to(mem, &last_resort, parcel);
    }
    signal(SIGPIPE, before);
    return taken;
}
