/* format_table.c - the table of all formats; a new format needs a file and a row here. */
#include "symbolize/explore/explore.h"
#include "symbolize/formats/formats.h"
#include "symbolize/json/json.h"
#include "symbolize/text/text.h"

#include <string.h>

static const struct format table[] = {
    {"text", "for a terminal: 80 columns, the largest leaks first", 10,
     FORMAT_BY | FORMAT_BLOCKS | FORMAT_MODULES | FORMAT_TYPES | FORMAT_LISTED, text_write},
    {"short", "a line for each finding, place first, as compilers write them", 0, 0, short_write},
    {"full", "text with everything: all verdicts, frames with modules and offsets", 0,
     FORMAT_ALL | FORMAT_CONTENT | FORMAT_MODULES | FORMAT_TYPES, text_write_full},
    {"heap", "the largest allocation sites of the live heap, lost or not", 25, FORMAT_ALL,
     text_write_heap},
    {"json", "everything, for programs (docs/schema.json)", 0,
     FORMAT_RECENT | FORMAT_BY | FORMAT_BLOCKS | FORMAT_MODULES | FORMAT_TYPES | FORMAT_EVERY,
     json_write},
    {"ndjson", "the same, a line for each process, record, error and resource", 0,
     FORMAT_RECENT | FORMAT_MODULES | FORMAT_TYPES | FORMAT_EVERY, ndjson_write},
    {"html", "a page for a browser: source, flame graph, call tree, owners", 0,
     FORMAT_ALLOCATED | FORMAT_MODULES | FORMAT_TYPES | FORMAT_EVERY, html_write},
    {"sarif", "SARIF 2.1.0, for code scanning hosts and editors", 0, 0, sarif_write},
    {"pprof", "a heap profile for go tool pprof and compatible tools", 0,
     FORMAT_ALLOCATED | FORMAT_BINARY | FORMAT_WEIGHT, pprof_write},
    {"folded", "stacks and bytes, for flame graphs (--weight)", 0, FORMAT_WEIGHT, folded_write},
    {"folded-blocks", "the same with blocks", 0, FORMAT_WEIGHT, folded_write_blocks},
    {"browse", "lists to walk through on the terminal: records, calls, owners, growth", 10,
     FORMAT_ALLOCATED | FORMAT_TYPES | FORMAT_EVERY | FORMAT_WEIGHT | FORMAT_VERB | FORMAT_SCREEN,
     text_write},
    {"tree", "the call tree as text (--weight, --inverted)", 0,
     FORMAT_ALLOCATED | FORMAT_WEIGHT | FORMAT_TREE | FORMAT_VERB, tree_write},
    {"peak", "the call tree of what lived when the heap was largest", 0, FORMAT_TREE | FORMAT_VERB,
     peak_write},
    {"temporary", "blocks that lived for a moment: what to make faster", 10, FORMAT_VERB,
     temporary_write},
    {"histogram", "blocks by size", 0, FORMAT_ALLOCATED | FORMAT_VERB, histogram_write},
    {"speedscope", "a profile for speedscope.app: leaked, live, peak, allocated", 0,
     FORMAT_ALLOCATED, speedscope_write},
    {"callgrind", "the same for callgrind_annotate and KCachegrind", 0, FORMAT_ALLOCATED,
     callgrind_write},
    {"massif", "the heap over time, for ms_print and massif-visualizer", 0, 0, massif_write},
    {"csv", "a row for each record, for spreadsheets", 0, FORMAT_TYPES, csv_write},
    {"xml", "Valgrind's XML protocol 4, for IDEs and CI servers", 0, 0, xml_write},
    {"valgrind", "text of Valgrind's Memcheck, for ctest and scripts", 0, 0, valgrind_write},
    {"lsan", "text of LeakSanitizer, for scripts", 0, 0, lsan_write},
    {"junit", "JUnit's XML: a failed test for each finding, for CI servers", 0, 0, junit_write},
    {"github", "annotations of GitHub's workflows, ten of each level", 0, FORMAT_TYPES,
     github_write},
    {"markdown", "a table and folded stacks, for a job's summary", 20, 0, markdown_write},
    {"memreport", "XML of LeakFinder: MEMREPORT, LEAK, STACKENTRY", 0, 0, memreport_write},
    {"dump", "contents of the listed blocks, in hex and characters", 0, FORMAT_CONTENT,
     hexdump_write},
};

const struct format *format_at(size_t i)
{
    return i < sizeof(table) / sizeof(*table) ? &table[i] : NULL;
}

const struct format *format_find(const char *name)
{
    for (size_t i = 0; format_at(i); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}
