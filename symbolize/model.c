/* model.c - the few questions every writer has; see model.h. */
#include "symbolize/model.h"

#include <string.h>

const char *const verdict_word[VERDICT_MAX] = {
#define V(name, word, words) word,
    VERDICT_TABLE(V)
#undef V
};

const char *const verdict_words[VERDICT_MAX] = {
#define V(name, word, words) words,
    VERDICT_TABLE(V)
#undef V
};

const char *const end_word[] = {"exit", "signal", "exec", "running", "lost"};

const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

const struct frame *record_title(const struct record *record)
{
    if (record->user < record->frame_count)
        return record->frames[record->user];
    for (size_t i = 0; i < record->frame_count; i++)
        if (record->frames[i]->role != FRAME_ALLOCATOR)
            return record->frames[i];
    return record->frame_count ? record->frames[0] : NULL;
}

uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void report_totals(const struct report *report, struct verdict_total totals[VERDICT_MAX])
{
    memset(totals, 0, VERDICT_MAX * sizeof(*totals));
    for (size_t i = 0; i < report->process_count; i++)
        for (int v = 0; v < VERDICT_MAX; v++) {
            const struct verdict_total *one = &report->processes[i].totals[v];

            totals[v].bytes = add_saturating(totals[v].bytes, one->bytes);
            totals[v].blocks = add_saturating(totals[v].blocks, one->blocks);
            totals[v].records = add_saturating(totals[v].records, one->records);
        }
}
