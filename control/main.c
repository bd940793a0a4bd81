/* main.c - leakctl: sends requests to running processes, and removes recording files. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "control/commands.h"

#define OF_REQUESTS .options = arguments_of_requests, .process = true

static const struct command commands[] = {
    {"snapshot", "PID|NAME", "check a running process for leaks now",
     "Waits until the leak check is in the recording file, and prints its result in one line.",
     .options = arguments_of_snapshot, .process = true, .run = command_snapshot},
    {"mark", "PID|NAME MARK", "give this moment a name",
     "leakreport --since=MARK then reports what was allocated later and still lives.", OF_REQUESTS,
     .operand = true, .run = command_mark},
    {"disable", "PID|NAME", "record no stacks from now on, and report nothing new as a leak",
     "Frees are still recorded. leakctl enable undoes it.", OF_REQUESTS, .run = command_disable},
    {"enable", "PID|NAME", "record stacks again", "Also in a program started with start=off.",
     OF_REQUESTS, .run = command_enable},
    {"attach", "PID [OPTION...]", "load libleak into a process that runs already",
     "Blocks from before have a size and a verdict, but no stack. With --for it reports and "
     "detaches by "
     "itself;\nother options after the PID are then passed to leakreport.",
     .options = arguments_of_attach, .process = true, .other = true, .rest = true,
     .run = command_attach},
    {"detach", "PID", "undo leakctl attach",
     "The program runs as before, and nothing is recorded; the library stays mapped.",
     .options = arguments_of_detach, .process = true, .run = command_detach},
    {"report", "PID|NAME [OPTION...]", "check for leaks, and run leakreport with these options",
     "Options after the process are passed to leakreport.", .options = arguments_of_report,
     .process = true, .rest = true, .run = command_report},
    {"who", "PID|NAME ADDRESS [OPTION...]", "show the block at an address, and what points to it",
     "Options after the address are passed to leakreport.", OF_REQUESTS, .operand = true,
     .rest = true, .run = command_who},
    {"scan", "PID|NAME [OPTION...]", "look for leaks in a process that runs without libleak",
     "Reads its heap from outside: what is lost, by size and class; no call stacks.",
     .options = scan_process_options, .process = true, .other = true, .run = command_scan},
    {"clean", "[OPTION...]", "remove recording files of processes that have ended",
     "Files of other users, other hosts and running processes stay.", .options = arguments_of_clean,
     .run = command_clean},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static int print_help(void)
{
    puts("usage: leakctl COMMAND [options]\n\nCommands:");
    for (size_t i = 0; i < COMMANDS; i++) {
        int width = printf("  %s %s", commands[i].word, commands[i].usage);

        printf("%*s%s\n", width < 32 ? 32 - width : 2, "", commands[i].help);
    }
    puts("\nleakctl COMMAND --help describes a command. NAME: a program that one process runs.\n"
         "Exit status: 0, 1 when something could not be done, 2 for usage.");
    return 0;
}

/* A command is a row without a name. */
static int list_options(void)
{
    char tool[64];

    for (size_t i = 0; i < COMMANDS; i++) {
        struct option_row row = {.name = "", .help = commands[i].help};

        snprintf(tool, sizeof(tool), "leakctl %s", commands[i].word);
        command_line_list_row(tool, &row,
                              !commands[i].process ? ""
                              : commands[i].other  ? "other process"
                                                   : "process");
        command_line_list_table(tool, commands[i].options);
    }
    return 0;
}

static int print_command_help(const struct command *command)
{
    printf("usage: leakctl %s %s\n%c%s.\n%s\n", command->word, command->usage,
           command->help[0] - 'a' + 'A', command->help + 1, command->detail);
    command_line_print_table(command->options, 26, stdout);
    return 0;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct arguments arguments;

    if (!arguments_parse(command, argc, argv, &arguments))
        return 2;
    return arguments.help ? print_command_help(command) : command->run(&arguments);
}

static int complain_unknown(const char *word)
{
    const char *words[COMMANDS + 1] = {0}, *nearest;

    for (size_t i = 0; i < COMMANDS; i++)
        words[i] = commands[i].word;
    nearest = command_line_nearest(words, word, strlen(word));
    fprintf(stderr, "leakctl: unknown command: '%s'%s%s%s (leakctl --help lists them)\n", word,
            nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return 2;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_help();
    if (strcmp(word, "--" COMMAND_LINE_LIST) == 0)
        return list_options();
    if (strcmp(word, "--version") == 0) {
        puts("leakctl (libleak) " LEAK_VERSION);
        return 0;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(word, commands[i].word) == 0)
            return run_command(&commands[i], argc - 1, argv + 1);
    return complain_unknown(word);
}
