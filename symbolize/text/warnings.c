/* warnings.c - see warnings.h. */
#include "symbolize/text/warnings.h"

#include <stdio.h>

#include "common/base/text.h"
#include "symbolize/text/text_head.h"

const char *caveat_at(const struct process *process, size_t i, char words[CAVEAT_SIZE])
{
    const struct look *look = process->look;
    bool looked = look && look->made;

    if (text_saw_nothing(process) && i-- == 0)
        snprintf(words, CAVEAT_SIZE,
                 "0 allocations seen: this says nothing about the program's heap");
    else if (process->damaged && i-- == 0)
        snprintf(words, CAVEAT_SIZE, "the account of the process could not be read in full");
    else if (process->crash_only && i-- == 0)
        snprintf(words, CAVEAT_SIZE, "only crashes were recorded, no blocks (crash=only)");
    else if (process->never_enabled && i-- == 0)
        snprintf(words, CAVEAT_SIZE, "detection was never enabled: no block is called a leak");
    else if (process->totals.of[VERDICT_UNFREED].records && !looked && i-- == 0)
        snprintf(words, CAVEAT_SIZE, "nobody looked which blocks are lost: %s",
                 look && look->trouble ? look->trouble : "no look at the heap was made");
    else if (process->sample > 1 && i-- == 0)
        snprintf(words, CAVEAT_SIZE, "all numbers are estimates: one byte in %.27s was looked at",
                 term_number(process->sample).text);
    else
        return NULL;
    return words;
}
