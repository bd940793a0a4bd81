/* distinct_callers.c - finds the callers that distinguish records; described in records.h.
 *
 * The stacks of all records are sorted, frame by frame from the user frame outwards, so stacks that
 * share most frames are neighbours. The number of frames that two stacks share is the least number
 * that any two neighbours between them share; the next frame distinguishes the two.
 */
#include "symbolize/records/records.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hashmap.h"

/* each stack is compared with at most this many stacks before it and after it in the sorted list */
#define NEIGHBOURS 64

struct outward {
    size_t record;
    /* hashes of the places of the user frames, from the title frame outwards */
    const uint64_t *place;
    const size_t *at; /* index in record->frames of each user frame in place[] */
    size_t count;
    size_t common; /* number of frames shared with the previous stack of the sorted list */
};

static bool is_compared(const struct record *record)
{
    return record->user < record->frame_count && !record->suppressed_by &&
           record->verdict != VERDICT_REACHABLE && record->verdict != VERDICT_RUNTIME &&
           !record->owner;
}

static struct outward list_frames(struct arena *mem, const struct process *process, size_t index)
{
    const struct record *record = &process->records[index];
    uint64_t *place = arena_alloc_array(mem, record->frame_count, sizeof(*place));
    size_t *at = arena_alloc_array(mem, record->frame_count, sizeof(*at));
    size_t count = 0;

    for (size_t i = record->user; i < record->frame_count; i++) {
        const struct frame *frame = record->frames[i];

        if (frame->role != FRAME_USER)
            continue;
        place[count] = hash_mix(frame->name_hash, frame->line ? frame->line : ~frame->offset);
        at[count++] = i;
    }
    return (struct outward){.record = index, .place = place, .at = at, .count = count};
}

static size_t count_common(const struct outward *a, const struct outward *b)
{
    size_t i = 0;

    while (i < a->count && i < b->count && a->place[i] == b->place[i])
        i++;
    return i;
}

static int compare_outward(const void *left, const void *right)
{
    const struct outward *a = left, *b = right;
    size_t i = count_common(a, b);

    if (i < a->count && i < b->count)
        return a->place[i] < b->place[i] ? -1 : 1;
    return a->count != b->count ? (a->count < b->count ? -1 : 1)
                                : (a->record > b->record) - (a->record < b->record);
}

/* Adds the frame behind `common` shared frames to record->partings (the frames that distinguish the
 * record from others), unless the stack ends before it. The partings stay sorted and without
 * duplicates. */
static void add_parting(struct record *record, const struct outward *own, size_t common)
{
    size_t at, i = 0;

    if (!common || common >= own->count || record->parting_count == PARTINGS)
        return;
    at = own->at[common];
    while (i < record->parting_count && record->partings[i] < at)
        i++;
    if (i < record->parting_count && record->partings[i] == at)
        return;
    memmove(&record->partings[i + 1], &record->partings[i],
            (record->parting_count - i) * sizeof(*record->partings));
    record->partings[i] = at;
    record->parting_count++;
}

static void find_partings_of(struct process *process, const struct outward *all, size_t count,
                             size_t i)
{
    struct record *record = &process->records[all[i].record];
    size_t common = SIZE_MAX;

    for (size_t k = i; k > 0 && common && i - k < NEIGHBOURS; k--) {
        common = all[k].common < common ? all[k].common : common;
        add_parting(record, &all[i], common);
    }
    common = SIZE_MAX;
    for (size_t k = i + 1; k < count && common && k - i <= NEIGHBOURS; k++) {
        common = all[k].common < common ? all[k].common : common;
        add_parting(record, &all[i], common);
    }
}

void distinct_callers_fill(struct arena *mem, struct process *process)
{
    struct outward *all = arena_alloc_array(mem, process->record_count, sizeof(*all));
    size_t count = 0;

    for (size_t i = 0; i < process->record_count; i++)
        if (is_compared(&process->records[i]))
            all[count++] = list_frames(mem, process, i);
    if (count > 1)
        qsort(all, count, sizeof(*all), compare_outward);
    for (size_t i = 1; i < count; i++)
        all[i].common = count_common(&all[i - 1], &all[i]);
    for (size_t i = 0; i < count; i++)
        find_partings_of(process, all, count, i);
}
