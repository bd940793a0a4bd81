/* hearing.c - see hearing.h. */
#include "control/hearing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What stands behind "Name:\t" at the beginning of a line, or "". The first line has a name that
 * the program chose, with its newlines escaped. */
static const char *field(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, " \t");
    }
    return "";
}

static bool has(const char *text, const char *name, int signal)
{
    return strtoull(field(text, name), NULL, 16) >> (signal - 1) & 1;
}

void hearing_add(struct hearing *hearing, const char *text, int signal)
{
    char state = *field(text, "State");

    if (!state || strchr("ZXx", state))
        return;
    hearing->threads++;
    hearing->stopped += state == 'T';
    hearing->traced += state == 't';
    hearing->asleep += state == 'D';
    hearing->deaf += has(text, "SigBlk", signal);
    hearing->caught |= has(text, "SigCgt", signal);
    hearing->waiting |= has(text, "ShdPnd", signal);
}

bool hearing_of(pid_t pid, int signal, struct hearing *hearing)
{
    char path[64], text[4096];
    DIR *stream;

    *hearing = (struct hearing){0};
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    stream = opendir(path);
    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        ssize_t length;
        int fd;

        snprintf(path, sizeof(path), "%.20s/status", entry->d_name);
        fd = *entry->d_name == '.' ? -1 : openat(dirfd(stream), path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        length = read(fd, text, sizeof(text) - 1);
        close(fd);
        text[length > 0 ? length : 0] = 0;
        hearing_add(hearing, text, signal);
    }
    if (stream)
        closedir(stream);
    return hearing->threads != 0;
}

enum hears hearing_says(const struct hearing *hearing)
{
    size_t threads = hearing->threads;

    if (!hearing->caught)
        return HEARS_NO_HANDLER; /* it would kill: whatever else, it is never sent */
    if (hearing->stopped == threads)
        return HEARS_STOPPED;
    if (hearing->stopped + hearing->traced == threads)
        return HEARS_TRACED;
    if (hearing->deaf == threads)
        return HEARS_BLOCKED;
    if (hearing->asleep + hearing->deaf >= threads)
        return HEARS_ASLEEP;
    return HEARS;
}
