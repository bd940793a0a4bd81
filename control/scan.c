/* scan.c - implements leakctl scan, for any process of this user, with or without a recording
 * file. */
#include "control/commands.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/proc.h"
#include "common/base/string_list.h"
#include "common/base/term_text.h"

/* Finds the process that runs a program of this name; 0: there is none, or several, and a message
 * says so. */
static int find_process(const char *name)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    int found = 0, count = 0;

    while (processes && (entry = readdir(processes)))
        if (atoi(entry->d_name) > 0 && proc_runs_program(atoi(entry->d_name), name)) {
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
