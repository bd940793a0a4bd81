/* reports.c - the table of formats: a new one is a file and a row here. */
#include "symbolize/github.h"
#include "symbolize/html.h"
#include "symbolize/json.h"
#include "symbolize/junit.h"
#include "symbolize/lsan.h"
#include "symbolize/markdown.h"
#include "symbolize/memreport.h"
#include "symbolize/report.h"
#include "symbolize/text.h"
#include "symbolize/valgrind.h"
#include "symbolize/xml.h"

#include <string.h>

static const struct format table[] = {
    {"text", "for people: 80 columns, the worst records first", 10, false, text_write},
    {"json", "everything, for programs (docs/schema.json)", 0, true, json_write},
    {"html", "a page for a browser: source, flame graph, call tree, owners", 0, false, html_write},
    {"xml", "Valgrind's XML protocol 4, for IDEs and CI servers", 0, false, xml_write},
    {"valgrind", "text of Valgrind's Memcheck, for ctest and scripts", 0, false, valgrind_write},
    {"lsan", "text of LeakSanitizer, for scripts", 0, false, lsan_write},
    {"junit", "JUnit's XML: a failed test for each finding, for CI servers", 0, false, junit_write},
    {"github", "annotations of GitHub's workflows, ten of each level", 0, false, github_write},
    {"markdown", "a table and folded stacks, for a job's summary", 20, false, markdown_write},
    {"memreport", "XML of LeakFinder: MEMREPORT, LEAK, STACKENTRY", 0, false, memreport_write},
};

const struct format *formats_at(size_t i)
{
    return i < sizeof(table) / sizeof(*table) ? &table[i] : NULL;
}

const struct format *formats_find(const char *name)
{
    for (size_t i = 0; formats_at(i); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}
