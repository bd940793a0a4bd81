/* scan.c - implements leakctl scan, for any process of this user, with or without a recording
 * file. */
#include "control/commands.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/string_list.h"
#include "common/base/term_text.h"

/* Says whether the file name of the process's program is `name`. */
static bool has_name(const char *pid, const char *name)
{
    char *path = string_format("/proc/%s/exe", pid), target[4096];
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    const char *slash;

    free(path);
    if (length < 0)
        return false;
    target[length] = 0;
    slash = strrchr(target, '/');
    return slash && strcmp(slash + 1, name) == 0;
}

/* Finds the process that runs a program of this name; 0: there is none, or several, and a message
 * says so. */
static int find_process(const char *name)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    int found = 0, count = 0;

    while (processes && (entry = readdir(processes)))
        if (atoi(entry->d_name) > 0 && has_name(entry->d_name, name)) {
            found = atoi(entry->d_name);
            count++;
        }
    if (processes)
        closedir(processes);
    if (count != 1)
        fprintf(stderr, "leakctl: %s: %s\n", term_text(name, strlen(name), 0).text,
                count ? "several processes have this name: give a pid" : "no such process");
    return count == 1 ? found : 0;
}

int command_scan(const struct arguments *arguments)
{
    const char *word = arguments->process;
    int pid = strspn(word, "0123456789") == strlen(word) && strlen(word) < 10 ? atoi(word)
                                                                              : find_process(word);

    if (pid <= 0) {
        if (strspn(word, "0123456789") == strlen(word))
            fprintf(stderr, "leakctl: %s: no such process\n", word);
        return 1;
    }
    return scan_process("leakctl", pid, &arguments->scan) ? 0 : 1;
}
