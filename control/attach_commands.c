/* attach_commands.c - leakctl attach and leakctl detach; see commands.h. */
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
#include "common/base/string_list.h"
#include "common/base/term_text.h"
#include "control/commands.h"

enum { STATUS_GOOD = 0, STATUS_UNDONE = 1, STATUS_USAGE = 2 };

/* False: no pid, and one line says so. */
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

static void print_attachment(pid_t pid, const char *what, const struct attachment *done)
{
    printf("%s: %s; one of its %s stood still for %.1f ms", attach_process_name(pid), what,
           term_count(done->threads, "thread").text, (double)done->pause_ns / 1e6);
    if (done->tries > 1)
        printf(", at the %u. try", done->tries);
}

/* Where the recording file is for leakctl: in another mount namespace the process names it otherwise.
 * The caller frees it. */
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

static void print_next(pid_t pid, const char *recording)
{
    char *copy = string_format("%s", recording);

    if (*recording)
        printf("; leakctl report --dir=%s %d, or leakreport %s\n",
               term_shell_word(dirname(copy)).text, (int)pid, term_shell_word(recording).text);
    else
        puts("; its recording is in memory only: no directory for a file can be written there");
    fflush(stdout);
    free(copy);
}

/* *recording: for the caller to free. False: refused. */
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
    print_attachment(pid, "attached", &done);
    print_next(pid, *recording);
    return true;
}

static bool detach(pid_t pid, const struct arguments *arguments)
{
    struct attachment done;
    char *recording;

    if (!library_detach(pid, arguments->timeout, &done))
        return false;
    print_attachment(pid, "detached", &done);
    fputs("; the library stays mapped, unused", stdout);
    if (*done.recording) {
        recording = find_recording(pid, done.recording);
        printf("; leakreport %s", term_shell_word(recording).text);
        free(recording);
    }
    putchar('\n');
    return true;
}

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    interrupted = number;
}

/* Until the time is up, the process has ended, or a signal wants leakctl to end. */
static void wait_for_end(pid_t pid, uint64_t milliseconds)
{
    struct sigaction action = {.sa_handler = note_signal};
    struct timespec nap = {.tv_nsec = 50000000};
    uint64_t end = time_now_ns() + milliseconds * 1000000;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    while (!interrupted && time_now_ns() < end && (kill(pid, 0) == 0 || errno == EPERM))
        nanosleep(&nap, NULL);
}

/* The format that the name of a file ends with; NULL: text. */
static char *format_of(const char *file)
{
    static const char *const formats[] = {"html", "json", "ndjson", "sarif", "xml", "folded"};
    const char *end = strrchr(file, '.');

    for (size_t i = 0; end && i < sizeof(formats) / sizeof(*formats); i++)
        if (strcmp(end + 1, formats[i]) == 0)
            return string_format("--format=%s", formats[i]);
    return NULL;
}

/* In a process of its own, which becomes leakreport. */
static int report(const struct arguments *arguments, const char *recording)
{
    char *copy = string_format("%s", recording);
    char *words[4] = {NULL}, *format = arguments->output ? format_of(arguments->output) : NULL;
    struct arguments report = *arguments;
    pid_t child;
    int status = 0;

    report.dir = dirname(copy);
    report.rest = words;
    report.rest_count = 0;
    if (arguments->output) {
        words[report.rest_count++] = "-o";
        words[report.rest_count++] = (char *)arguments->output;
    }
    if (format)
        words[report.rest_count++] = format;
    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(command_report(&report));
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    free(format);
    free(copy);
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_UNDONE;
}

int command_attach(const struct arguments *arguments)
{
    char *recording;
    int status;
    pid_t pid;

    if (!read_pid(arguments->process, &pid))
        return STATUS_USAGE;
    if (!attach(pid, arguments, &recording))
        return STATUS_UNDONE;
    status = STATUS_GOOD;
    if (arguments->duration) {
        wait_for_end(pid, arguments->duration);
        status = report(arguments, recording);
        if (!detach(pid, arguments))
            status = STATUS_UNDONE;
    }
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
