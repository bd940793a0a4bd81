/* arguments.c - see arguments.h. */
#include "control/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "common/base/term_text.h"

#define TIMEOUT 10000 /* ms */

bool arguments_time(const char *text, uint64_t *milliseconds)
{
    static const struct {
        const char *name;
        uint64_t milliseconds;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    size_t digits = strspn(text, "0123456789");

    if (!digits || digits > 9)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(text + digits, units[i].name) == 0) {
            *milliseconds = strtoull(text, NULL, 10) * units[i].milliseconds;
            return true;
        }
    return false;
}

const char *arguments_value(const char *name, int argc, char **argv, int *i)
{
    size_t length = strlen(name);

    if (strncmp(argv[*i], name, length) != 0)
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    return !argv[*i][length] && *i + 1 < argc ? argv[++*i] : NULL;
}

bool arguments_address(const char *text, uint64_t *address)
{
    const char *digits = strncmp(text, "0x", 2) == 0 ? text + 2 : text;
    size_t length = strspn(digits, "0123456789abcdefABCDEF");

    *address = strtoull(digits, NULL, 16);
    return length && length <= 16 && !digits[length] && *address;
}

bool arguments_name(const char *text)
{
    for (const char *at = text; *at; at++)
        if (iscntrl((unsigned char)*at))
            return false;
    return *text && *text != '#' && strlen(text) < LEAK_MILESTONE_NAME;
}

static bool complain(const struct shape *shape, const char *what, const char *word)
{
    fprintf(stderr, "leakctl: %s%s%s: usage: leakctl %s %s\n", what, *word ? " " : "",
            show(word, strlen(word), 0).text, shape->verb, shape->usage);
    return false;
}

/* What is no option of ours: the process, the operand, and then leakreport's. */
static bool take_word(const struct shape *shape, char *word, struct arguments *arguments)
{
    if (arguments->process && (arguments->operand || !shape->operand)) {
        arguments->rest[arguments->rest_count++] = word;
        return shape->rest || complain(shape, "not known:", word);
    }
    if (*word == '-' && word[1])
        return complain(shape, "no such option:", word);
    if (!arguments->process)
        arguments->process = word;
    else
        arguments->operand = word;
    return true;
}

bool arguments_parse(const struct shape *shape, int argc, char **argv, struct arguments *arguments)
{
    const char *value;

    *arguments = (struct arguments){.timeout = TIMEOUT, .rest = argv + 1};
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];

        if ((value = arguments_value("--dir", argc, argv, &i))) {
            arguments->dir = value;
            if (!*value)
                return complain(shape, "needs a directory:", word);
        } else if ((value = arguments_value("--timeout", argc, argv, &i))) {
            if (!arguments_time(value, &arguments->timeout))
                return complain(shape, "--timeout takes a time (200ms, 10s, 1m), not", value);
        } else if (shape->may_not_look && strcmp(word, "--no-look") == 0) {
            arguments->no_look = true;
        } else if (!take_word(shape, word, arguments)) {
            return false;
        }
    }
    if (!arguments->process || !*arguments->process)
        return complain(shape, "which process?", "");
    if (shape->operand && !arguments->operand)
        return complain(shape, "a word is missing", "");
    return true;
}
