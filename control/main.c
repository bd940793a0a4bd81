/* main.c - leakctl: what may be done to processes and stores from outside, a verb each. */
#include <stdio.h>
#include <string.h>

#include "control/clean.h"

static const struct {
    const char *word, *help;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"clean", "[--dir=DIR] [--older=TIME]  remove stores of dead processes, older than 1d",
     clean_command},
};

#define VERBS (sizeof(verbs) / sizeof(*verbs))

static int help(void)
{
    puts("usage: leakctl VERB [options]\n\nVerbs:");
    for (size_t i = 0; i < VERBS; i++)
        printf("  %s %s\n", verbs[i].word, verbs[i].help);
    puts("\nExit status: 0, 1 when something could not be done, 2 for usage.");
    return 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";

    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0)
        return help();
    if (strcmp(verb, "--version") == 0) {
        puts("leakctl (libleak) " LEAK_VERSION);
        return 0;
    }
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verb, verbs[i].word) == 0)
            return verbs[i].run(argc - 1, argv + 1);
    fprintf(stderr, "leakctl: no such verb: '%s' (leakctl --help lists them)\n", verb);
    return 2;
}
