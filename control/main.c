/* main.c - runs leakctl, which sends requests to running processes, and removes recording files. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "control/commands.h"

#define WORDS 64 /* limit of the number of commands */

static int print_help(void)
{
    puts("usage: leakctl COMMAND [options]\n\nCommands:");
    for (const struct command *command = command_table; command->word; command++) {
        int width = printf("  %s %s", command->word, command->usage);

        printf("%*s%s\n", width < 32 ? 32 - width : 2, "", command->help);
    }
    puts("\nleakctl COMMAND --help describes a command. NAME: a program that one process runs.\n"
         "Exit status: 0, 1 when something could not be done, 2 for usage.");
    return 0;
}

/* Lists the commands and their options for shell completion. A command is a row without a name. */
static int list_options(void)
{
    char tool[64];

    for (const struct command *command = command_table; command->word; command++) {
        struct option_row row = {.name = "", .help = command->help};

        snprintf(tool, sizeof(tool), "leakctl %s", command->word);
        command_line_list_row(tool, &row,
                              !command->process ? ""
                              : command->other  ? "other process"
                                                : "process");
        command_line_list_table(tool, command->options);
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
    const char *words[WORDS] = {0}, *nearest;

    for (size_t i = 0; i + 1 < WORDS && command_table[i].word; i++)
        words[i] = command_table[i].word;
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
    for (const struct command *command = command_table; command->word; command++)
        if (strcmp(word, command->word) == 0)
            return run_command(command, argc - 1, argv + 1);
    return complain_unknown(word);
}
