/* reports.c - the table of formats: a new one is a file and a row here. */
#include "symbolize/folded.h"
#include "symbolize/json.h"
#include "symbolize/ndjson.h"
#include "symbolize/pprof.h"
#include "symbolize/report.h"
#include "symbolize/sarif.h"
#include "symbolize/text.h"

#include <string.h>

static const struct format table[] = {
    {"text", "for people: 80 columns, the worst records first", 10, 0, text_write},
    {"json", "everything, for programs (docs/schema.json)", 0, FORMAT_RECENT, json_write},
    {"ndjson", "the same, a line for each process, record, error and resource", 0, FORMAT_RECENT,
     ndjson_write},
    {"sarif", "SARIF 2.1.0, for code scanning hosts and editors", 0, 0, sarif_write},
    {"pprof", "a heap profile for go tool pprof and its kin", 0, FORMAT_ALLOCATED | FORMAT_BINARY,
     pprof_write},
    {"folded", "stacks and bytes, for flame graphs", 0, 0, folded_write},
    {"folded-blocks", "the same with blocks", 0, 0, folded_write_blocks},
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
