/* consumers.c - see consumers.h. */
#include "tests/unit/symbolize/consumers.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON "/usr/bin/python3"
/* It says that all is well, too. */
#define RELAXNG(file) "words=$(xmllint --noout --relaxng " file " - 2>&1) || ! echo \"$words\""

static const struct consumer {
    const char *format, *needs, *command; /* needs: a command that tells whether it is here */
    bool names;                           /* it is told which names must come back */
} consumers[] = {
    {"xml", "command -v xmllint", "xmllint --noout -", false},
    {"xml", PYTHON " -c ''", PYTHON " tests/formats/valgrind_xml.py", true},
    {"valgrind", PYTHON " -c ''", PYTHON " tests/formats/valgrind_text.py", true},
    {"lsan", PYTHON " -c ''", PYTHON " tests/formats/lsan.py", true},
    {"junit", "command -v xmllint", RELAXNG("tests/formats/junit.rng"), false},
    {"junit", PYTHON " -c 'import junitparser'", PYTHON " tests/formats/junit.py", true},
    {"github", PYTHON " -c ''", PYTHON " tests/formats/github.py", true},
    {"memreport", "command -v xmllint", RELAXNG("tests/formats/memreport.rng"), false},
    {"memreport", PYTHON " -c ''", PYTHON " tests/formats/memreport.py", true},
    {"html", PYTHON " -c ''", PYTHON " tests/formats/page.py", true},
    {"csv", PYTHON " -c ''", PYTHON " tests/formats/csv_rows.py", true},
    {"callgrind", "command -v callgrind_annotate", PYTHON " tests/formats/callgrind.py", true},
    {"massif", "command -v ms_print", PYTHON " tests/formats/massif.py", true},
    {"markdown", "command -v cmark-gfm", PYTHON " tests/formats/markdown.py", true},
};
#define COUNT (sizeof(consumers) / sizeof(*consumers))

/* Every test is a process of its own: once in each is once enough. */
static bool is_here(size_t i)
{
    static signed char known[COUNT]; /* 1 = here, -1 = not */
    char command[256];

    if (!CONSUMERS_READ)
        return false;
    if (!known[i]) {
        snprintf(command, sizeof(command), "%s >/dev/null 2>&1", consumers[i].needs);
        known[i] = system(command) == 0 ? 1 : -1;
        if (known[i] < 0)
            fprintf(stderr, "  skip  %s, of the format %s: not here: %s\n", consumers[i].command,
                    consumers[i].format, consumers[i].needs);
    }
    return known[i] > 0;
}

static void read_one(const struct consumer *consumer, const char *text, const char *names)
{
    char command[1024];
    FILE *stream;
    int status;

    snprintf(command, sizeof(command), "%s %s", consumer->command, consumer->names ? names : "");
    stream = popen(command, "w");
    ck_assert(stream != NULL);
    fputs(text, stream);
    status = pclose(stream);
    ck_assert_msg(status == 0, "%s: %d, of:\n%.4000s", command, status, text);
}

bool consumers_know(const char *format)
{
    bool known = false;

    for (size_t i = 0; i < COUNT; i++)
        known |= strcmp(consumers[i].format, format) == 0;
    return known;
}

void consumers_read(const char *format, const char *text, const char *names)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(consumers[i].format, format) == 0 && is_here(i))
            read_one(&consumers[i], text, names);
}
