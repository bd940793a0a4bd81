/* baseline.c - see baseline.h. */
#include "symbolize/view/baseline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbolize/view/report_set_json.h"

bool baseline_read(struct ledger *ledger, const char *path, const char **wrong)
{
    *wrong = ledger_json_begins(path) ? ledger_json_read(ledger, path)
                                      : "is no report that was written with --format=json";
    return !*wrong;
}

void baseline_suppress(const struct ledger *ledger, const char *path,
                       struct suppressions *suppressions)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return;
    /* What was lost is known when it is lost: of what was shown as reachable there is more to say.
     */
    for (size_t i = 0; i < ledger->count; i++)
        fprintf(stream,
                "{\n in the baseline\n libleak:Leak\n match-leak-kinds: %s\n"
                " signature=%016" PRIx64 "\n}\n",
                ledger->shows[VERDICT_REACHABLE] ? "all" : "definite,indirect,possible",
                ledger->entries[i].record.signature);
    fclose(stream);
    suppress_add(suppressions, path, text, size);
    free(text);
}

uint64_t baseline_new_errors(const struct ledger *ledger, const struct report *report)
{
    uint64_t fresh = 0;

    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];

        for (size_t k = 0; k < process->mistake_count; k++)
            fresh += !ledger_find(ledger, LEDGER_ERROR, process->mistakes[k].signature);
        fresh += process->crash && !ledger_find(ledger, LEDGER_ERROR, process->crash->signature);
    }
    return fresh;
}
