/* reports.c - the table of formats: a new one is a file and a row here. */
#include "symbolize/hexdump.h"
#include "symbolize/json.h"
#include "symbolize/report.h"
#include "symbolize/text.h"

#include <string.h>

static const struct format table[] = {
    {"text", "for people: 80 columns, the worst records first", 10, false, false, text_write},
    {"json", "everything, for programs (docs/schema.json)", 0, true, false, json_write},
    {"dump", "what the listed blocks hold, in hex and characters", 0, false, true, hexdump_write},
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
