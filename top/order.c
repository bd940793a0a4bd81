/* order.c - chooses and sorts the rows of a snapshot; described in order.h. */
#include "top/order.h"

#include <stdlib.h>
#include <string.h>

const char *const order_word[ORDER_MAX + 1] = {
#define O(name, word, key, help) word,
    ORDER_TABLE(O)
#undef O
};
const char *const order_help[ORDER_MAX] = {
#define O(name, word, key, help) help,
    ORDER_TABLE(O)
#undef O
};
const char order_key[ORDER_MAX] = {
#define O(name, word, key, help) key,
    ORDER_TABLE(O)
#undef O
};

struct sort_context {
    const struct heap_snapshot *snapshot;
    const struct ordering *ordering;
};

struct counter_delta order_delta(const struct heap_snapshot *snapshot, size_t row,
                                 const struct counter_baseline *mark)
{
    return mark ? counter_delta_of(mark, row, &snapshot->counts[row], snapshot->time)
                : snapshot->rows[row].delta;
}

static double sort_value(const struct sort_context *context, size_t i)
{
    const struct heap_snapshot *snapshot = context->snapshot;
    const struct snapshot_row *row = &snapshot->rows[i];

    switch (context->ordering->order) {
    case ORDER_GROWTH:
        return row->growth && growth_is_growing(row->growth->verdict)
                   ? 1 + (double)row->growth->bytes_per_second
                   : 0;
    case ORDER_BLOCKS:
        return (double)snapshot->counts[i].blocks;
    case ORDER_DELTA:
        return (double)order_delta(snapshot, i, context->ordering->mark).bytes;
    case ORDER_ALLOCS:
        return row->delta.allocs;
    case ORDER_FREES:
        return row->delta.frees;
    default:
        return (double)snapshot->counts[i].bytes;
    }
}

/* Compares rows by the sort key; equal ones by bytes, then by index, so that they do not change
 * places. */
static int compare_rows(const void *left, const void *right, void *given)
{
    const struct sort_context *context = given;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    double x = sort_value(context, a), y = sort_value(context, b);
    uint64_t more = context->snapshot->counts[a].bytes, less = context->snapshot->counts[b].bytes;

    if (x != y)
        return x > y ? -1 : 1;
    if (more != less)
        return more > less ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool contains_text(const char *text, const char *part)
{
    return text && strcasestr(text, part);
}

static bool matches_filter(const struct snapshot_row *row, const char *filter)
{
    const struct frame *title = row->name->title;

    return !filter || !*filter ||
           (title && (contains_text(title->function, filter) ||
                      contains_text(title->file, filter) || contains_text(title->module, filter)));
}

static bool is_active(const struct heap_snapshot *snapshot, size_t i,
                      const struct counter_baseline *mark)
{
    const struct snapshot_row *row = &snapshot->rows[i];

    return snapshot->counts[i].blocks || row->delta.allocs > 0 || row->delta.frees > 0 ||
           order_delta(snapshot, i, mark).bytes ||
           (row->growth && growth_is_growing(row->growth->verdict));
}

size_t *order_rows(const struct heap_snapshot *snapshot, const struct ordering *ordering,
                   size_t *count)
{
    struct sort_context context = {snapshot, ordering};
    size_t *rows = array_grow(NULL, &(size_t){0}, snapshot->count + 1, sizeof(*rows));

    *count = 0;
    for (size_t i = 0; i < snapshot->count; i++)
        if (is_active(snapshot, i, ordering->mark) &&
            matches_filter(&snapshot->rows[i], ordering->filter))
            rows[(*count)++] = i;
    qsort_r(rows, *count, sizeof(*rows), compare_rows, &context);
    return rows;
}
