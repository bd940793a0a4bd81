/* attach_commands.c - implements leakctl attach and leakctl detach; described in commands.h. */
#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/library.h"
#include "attach/refusal.h"
#include "common/base/proc.h"
#include "common/base/string_list.h"
#include "common/base/term_text.h"
#include "control/commands.h"

enum { STATUS_GOOD = 0, STATUS_UNDONE = 1, STATUS_USAGE = 2 };

/* Reads a pid. False: the word is no pid, and a message says so. */
static bool read_pid(const char *word, pid_t *pid)
{
    char *end;
    long number = strtol(word, &end, 10);

    *pid = (pid_t)number;
    if (isdigit((unsigned char)*word) && !*end && number > 0 && number == *pid)
        return true;
    fprintf(stderr, "leakctl: not a pid: %s: pidof NAME prints that of a program\n",
            term_text(word, strlen(word), 0).text);
    return false;
}

/* Returns the stream for messages. With --for, stdout has only the report, so they go to stderr. */
static FILE *said(const struct arguments *arguments)
{
    return arguments->duration ? stderr : stdout;
}

static void print_attachment(FILE *out, pid_t pid, const char *what, const struct attachment *done)
{
    fprintf(out, "%s: %s; one of its %s stood still for %.1f ms", attach_process_name(pid), what,
            term_count(done->threads, "thread").text, (double)done->pause_ns / 1e6);
    if (done->tries > 1)
        fprintf(out, ", at the %u. try", done->tries);
}

/* Returns the path by which leakctl reaches the recording file: if the process is in another mount
 * namespace, its own name for the file is not usable here. The caller frees it. */
static char *find_recording(pid_t pid, const char *path)
{
    char *there = string_format("/proc/%d/root%s", (int)pid, path);
    struct stat here, other;

    if (stat(there, &other) == 0 &&
        (stat(path, &here) != 0 || here.st_ino != other.st_ino || here.st_dev != other.st_dev))
        return there;
    free(there);
    return string_format("%s", path);
}

static void print_next(FILE *out, pid_t pid, const char *recording)
{
    char *copy = string_format("%s", recording);

    if (*recording)
        fprintf(out, "; leakctl report --dir=%s %d, or leakreport %s\n",
                term_shell_word(dirname(copy)).text, (int)pid, term_shell_word(recording).text);
    else
        fputs("; its recording is in memory only: no directory for a file can be written there: "
              "--dir=DIRECTORY names one\n",
              out);
    fflush(out);
    free(copy);
}

/* Attaches libleak to the process. *recording: path of the recording file, which the caller frees.
 * False: refused. */
static bool attach(pid_t pid, const struct arguments *arguments, char **recording)
{
    struct attachment done;
    char *options = string_format("%s%s%s%s", arguments->dir ? "dir=" : "",
                                  arguments->dir ? arguments->dir : "",
                                  arguments->dir && arguments->options ? ":" : "",
                                  arguments->options ? arguments->options : "");
    bool good = library_attach(pid, options, arguments->timeout, &done);

    free(options);
    if (!good)
        return false;
    *recording = *done.recording ? find_recording(pid, done.recording) : string_format("%s", "");
    print_attachment(said(arguments), pid, "attached", &done);
    print_next(said(arguments), pid, *recording);
    return true;
}

static bool detach(pid_t pid, const struct arguments *arguments)
{
    struct attachment done;
    char *recording;

    if (!library_detach(pid, arguments->timeout, &done))
        return false;
    print_attachment(said(arguments), pid, "detached", &done);
    fputs("; the library stays mapped, unused", said(arguments));
    if (*done.recording) {
        recording = find_recording(pid, done.recording);
        fprintf(said(arguments), "; leakreport %s", term_shell_word(recording).text);
        free(recording);
    }
    fputc('\n', said(arguments));
    return true;
}

/* Says whether the process has ended; a zombie has, too. */
static bool has_ended(pid_t pid)
{
    char status[PROC_STATUS_SIZE];

    return !proc_read_text(pid, "status", status, sizeof(status)) || proc_status_ended(status);
}

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    interrupted = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* Waits until the time is over, the process has ended, or a signal has interrupted leakctl. */
static void wait_for_end(pid_t pid, uint64_t milliseconds)
{
    struct timespec nap = {.tv_nsec = 50000000};
    uint64_t end = time_now_ns() + milliseconds * 1000000;

    while (!interrupted && time_now_ns() < end && !has_ended(pid))
        nanosleep(&nap, NULL);
}

/* Returns the option --format= that suits the extension of a file name; NULL: the format is
 * text. */
static char *format_of(const char *file)
{
    static const char *const formats[] = {"html", "json", "ndjson", "sarif", "xml", "folded"};
    const char *end = strrchr(file, '.');

    for (size_t i = 0; end && i < sizeof(formats) / sizeof(*formats); i++)
        if (strcmp(end + 1, formats[i]) == 0)
            return string_format("--format=%s", formats[i]);
    return NULL;
}

/* Starts a child that executes leakreport. ended: the process has ended, so the child requests no
 * leak check before. Returns the pid of the child; -1: there is none. */
static pid_t start_report(const struct arguments *arguments, const char *recording, bool ended)
{
    struct arguments report = *arguments;
    char *copy = string_format("%s", recording);
    pid_t child;

    report.dir = dirname(copy);
    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(ended ? commands_exec_leakreport(0, recording, NULL, &report)
                    : command_report(&report));
    free(copy);
    return child;
}

/* Runs leakreport as start_report() does, waits for its end, and returns its exit status. */
static int wait_for_report(const struct arguments *arguments, const char *recording, bool ended)
{
    pid_t child = start_report(arguments, recording, ended);
    int status = 0;

    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_UNDONE;
}

static int report(pid_t pid, const struct arguments *arguments, const char *recording)
{
    struct string_list words = {0};
    struct arguments report = *arguments;
    bool ended = has_ended(pid);
    char *format = arguments->output ? format_of(arguments->output) : NULL;
    int status;

    if (arguments->output)
        string_list_addf(&words, "--output=%s", arguments->output);
    if (format)
        string_list_add(&words, format);
    for (int i = 0; i < arguments->rest_count; i++)
        string_list_add(&words, arguments->rest[i]);
    report.rest = words.at;
    report.rest_count = (int)words.count;
    status = wait_for_report(&report, recording, ended);
    if (status == STATUS_UNDONE && !ended && has_ended(pid)) /* the process ended before its leak
                                                              * check */
        status = wait_for_report(&report, recording, true);
    free(format);
    string_list_free(&words);
    return status;
}

static bool fits_together(const struct arguments *arguments)
{
    if (arguments->duration || (!arguments->rest_count && !arguments->output))
        return true;
    fprintf(
        stderr,
        "leakctl: %s is for a report: give --for=TIME, too (--for=end: until it ends, or Ctrl-C)\n",
        arguments->output ? "-o"
                          : term_text(arguments->rest[0], strlen(arguments->rest[0]), 0).text);
    return false;
}

/* Waits for the end of the duration or the process, then makes the report. Ctrl-C ends the
 * recording, and leakctl still makes the report. Returns the exit status. */
static int record_and_report(pid_t pid, const struct arguments *arguments, const char *recording)
{
    int status;

    catch_signals();
    if (arguments->duration == ARGUMENTS_UNTIL_END)
        fputs("leakctl: recording until the process ends, or Ctrl-C\n", stderr);
    wait_for_end(pid, arguments->duration);
    status = report(pid, arguments, recording);
    if (!has_ended(pid) && !detach(pid, arguments) && !has_ended(pid))
        status = STATUS_UNDONE;
    return status;
}

int command_attach(const struct arguments *arguments)
{
    char *recording;
    int status = STATUS_GOOD;
    pid_t pid;

    if (!read_pid(arguments->process, &pid) || !fits_together(arguments))
        return STATUS_USAGE;
    if (!attach(pid, arguments, &recording))
        return STATUS_UNDONE;
    if (arguments->duration && *recording)
        status = record_and_report(pid, arguments, recording);
    else if (arguments->duration) /* there is no recording file; a message has said so */
        status = (detach(pid, arguments), STATUS_UNDONE);
    free(recording);
    return status;
}

int command_detach(const struct arguments *arguments)
{
    pid_t pid;

    if (!read_pid(arguments->process, &pid))
        return STATUS_USAGE;
    return detach(pid, arguments) ? STATUS_GOOD : STATUS_UNDONE;
}
