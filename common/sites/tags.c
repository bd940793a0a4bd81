/* tags.c - adds up blocks by the tags that the program gave them. */
#include "common/sites/sites.h"

#include <stdlib.h>
#include <string.h>

void tag_sums_add(struct tag_sums *sums, const char *name, uint64_t bytes, uint64_t blocks)
{
    struct tag_sum *sum;
    size_t i = 0;

    while (i < sums->count && sums->sum[i].name != name && strcmp(sums->sum[i].name, name) != 0)
        i++;
    if (i == sums->count) {
        sums->sum = array_grow(sums->sum, &sums->capacity, i + 1, sizeof(*sums->sum));
        sums->sum[sums->count++] = (struct tag_sum){.name = name};
    }
    sum = &sums->sum[i];
    sum->bytes = add_saturating(sum->bytes, bytes);
    sum->blocks = add_saturating(sum->blocks, blocks);
}

void tag_sums_add_record(struct tag_sums *sums, const struct record *record)
{
    for (size_t i = 0; i < record->tag_count; i++)
        tag_sums_add(sums, record->tags[i].name, record->tags[i].bytes, record->tags[i].blocks);
}

static int compare_tag_sums(const void *left, const void *right)
{
    const struct tag_sum *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->blocks != b->blocks)
        return a->blocks > b->blocks ? -1 : 1;
    return strcmp(a->name, b->name);
}

void tag_sums_sort(struct tag_sums *sums)
{
    if (sums->count)
        qsort(sums->sum, sums->count, sizeof(*sums->sum), compare_tag_sums);
}

void tag_sums_fill(struct tag_sums *sums, struct arena *mem, struct record *record)
{
    struct tag_sum *told;

    if (!sums->count)
        return;
    tag_sums_sort(sums);
    told = arena_alloc_array(mem, sums->count, sizeof(*told));
    for (size_t i = 0; i < sums->count; i++) {
        told[i] = sums->sum[i];
        told[i].name = arena_copy(mem, told[i].name, strlen(told[i].name));
    }
    record->tags = told;
    record->tag_count = sums->count;
}

void tag_sums_end(struct tag_sums *sums)
{
    free(sums->sum);
    *sums = (struct tag_sums){0};
}
