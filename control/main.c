/* main.c - leakctl: what may be done to processes and stores from outside, a verb each. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "control/clean.h"
#include "control/verbs.h"

#define ASKING                                                                                     \
    "  --timeout=TIME  wait so long for the process to take the request (10s), and as long "       \
    "again\n"                                                                                      \
    "                  for it to be done; 200ms, 10s, 1m\n"                                        \
    "  --dir=DIR       where its store is: the option dir= of the program\n"

static const struct {
    const char *word, *usage, *help, *more;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"snapshot", "PID|NAME", "have a running process looked at: what is lost now?",
     "Waits until the look is in the store, and says what it found in one line.\n" ASKING,
     verbs_snapshot},
    {"mark", "PID|NAME MARK", "give this moment a name",
     "leakreport --since=MARK tells then what came later and is still there.\n" ASKING, verbs_mark},
    {"disable", "PID|NAME", "take no stacks from now on, and call nothing new a leak",
     "Frees are still seen, of whatever block. leakctl enable takes it back.\n" ASKING,
     verbs_disable},
    {"enable", "PID|NAME", "take stacks again",
     "Also of a program started with start=off.\n" ASKING, verbs_enable},
    {"report", "PID|NAME [OPTION...]", "look, and run leakreport with these options",
     "  --no-look       report what the store has, and ask the process for nothing\n" ASKING,
     verbs_report},
    {"who", "PID|NAME ADDRESS", "what block is there, and what points to it?",
     "Options behind the address are leakreport's.\n" ASKING, verbs_who},
    {"clean", "[OPTION...]", "remove stores of dead processes",
     "  --dir=DIR       in this directory only\n"
     "  --older=TIME    last heard of longer ago than that (1d); 12h, 30m, 0\n",
     clean_command},
};

#define VERBS (sizeof(verbs) / sizeof(*verbs))

static int help(void)
{
    puts("usage: leakctl VERB [options]\n\nVerbs:");
    for (size_t i = 0; i < VERBS; i++) {
        int width = printf("  %s %s", verbs[i].word, verbs[i].usage);

        printf("%*s%s\n", width < 32 ? 32 - width : 2, "", verbs[i].help);
    }
    puts("\nleakctl VERB --help says more of one. NAME is a program's, when one process alone has "
         "it.\n"
         "Exit status: 0, 1 when something could not be done, 2 for usage.");
    return 0;
}

static int help_of(size_t i)
{
    printf("usage: leakctl %s %s\n%c%s.\n%s", verbs[i].word, verbs[i].usage,
           verbs[i].help[0] - 'a' + 'A', verbs[i].help + 1, verbs[i].more);
    return 0;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";

    if (is_help(verb))
        return help();
    if (strcmp(verb, "--version") == 0) {
        puts("leakctl (libleak) " LEAK_VERSION);
        return 0;
    }
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verb, verbs[i].word) == 0)
            return argc > 2 && is_help(argv[2]) ? help_of(i) : verbs[i].run(argc - 1, argv + 1);
    fprintf(stderr, "leakctl: no such verb: '%s' (leakctl --help lists them)\n", verb);
    return 2;
}
