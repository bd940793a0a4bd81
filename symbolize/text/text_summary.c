/* text_summary.c - see text_summary.h. */
#include "symbolize/text/text_summary.h"

#include <inttypes.h>

void text_totals(const struct totals *totals, FILE *stream)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        fprintf(stream, " %s=%" PRIu64 "/%" PRIu64 "/%" PRIu64, verdict_word[v],
                totals->of[v].bytes, totals->of[v].blocks, totals->of[v].records);
    fprintf(stream, " growing=%" PRIu64 " errors=%" PRIu64 " resources=%" PRIu64 "\n",
            totals->growing, totals->errors, totals->resources);
}

void text_summary(int32_t pid, const struct totals *totals, FILE *stream)
{
    fprintf(stream, "libleak: pid=%" PRId32, pid);
    text_totals(totals, stream);
}
