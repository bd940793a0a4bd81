/* pager.c - shows a report that is longer than the terminal in a pager; described in output.h. */
#include "symbolize/output/output.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns the command of the pager; NULL = no pager. The first environment variable that is set
 * decides; an empty value or "cat" means no pager. */
static const char *wanted_pager(void)
{
    static const char *const names[] = {"LIBLEAK_PAGER", "PAGER"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *command = getenv(names[i]);

        if (command)
            return *command && strcmp(command, "cat") != 0 ? command : NULL;
    }
    return "less";
}

/* Says whether the first word of the command is an executable program. This is checked before the
 * pager starts, because a shell would say so only after it has received, and lost, the report. */
static bool is_installed(const char *command)
{
    size_t length = strcspn(command, " \t");
    const char *path = getenv("PATH");
    char file[4096];

    if (memchr(command, '/', length)) {
        snprintf(file, sizeof(file), "%.*s", (int)length, command);
        return access(file, X_OK) == 0;
    }
    while (path && *path) {
        size_t folder = strcspn(path, ":");

        snprintf(file, sizeof(file), "%.*s/%.*s", (int)folder, path, (int)length, command);
        if (access(file, X_OK) == 0)
            return true;
        path += folder + (path[folder] == ':');
    }
    return false;
}

/* Runs the pager with the settings that git uses, too: less exits when everything fits on one
 * screen, keeps colours, and does not clear the screen. */
static void run_pager(const char *command, int input)
{
    dup2(input, STDIN_FILENO);
    close(input);
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

FILE *pager_begin(pid_t *pager)
{
    const char *command = wanted_pager();
    int ends[2];
    FILE *stream;

    *pager = 0;
    if (!command || !is_installed(command) || pipe(ends) != 0)
        return NULL;
    *pager = fork();
    if (*pager == 0) {
        close(ends[1]);
        run_pager(command, ends[0]);
    }
    close(ends[0]);
    stream = *pager > 0 ? fdopen(ends[1], "w") : NULL;
    if (!stream) {
        close(ends[1]);
        *pager = 0;
        return NULL;
    }
    /* a user who leaves the pager early has read enough; that is no error */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* Ctrl-C stops a search in the pager and must not end leakreport */
    return stream;
}

void pager_end(pid_t pager)
{
    while (waitpid(pager, NULL, 0) < 0)
        if (kill(pager, 0) != 0)
            return;
}
