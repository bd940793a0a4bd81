/* order.c - see order.h. */
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

struct context {
    const struct glance *glance;
    const struct ordering *ordering;
};

struct change order_change(const struct glance *glance, size_t row, const struct account *mark)
{
    return mark ? change_of(mark, row, &glance->counts[row], glance->time)
                : glance->rows[row].change;
}

static double value_of(const struct context *context, size_t i)
{
    const struct glance *glance = context->glance;
    const struct row *row = &glance->rows[i];

    switch (context->ordering->order) {
    case ORDER_GROWTH:
        return row->growth && growth_is_growing(row->growth->verdict)
                   ? 1 + (double)row->growth->bytes_per_second
                   : 0;
    case ORDER_BLOCKS:
        return (double)glance->counts[i].blocks;
    case ORDER_DELTA:
        return (double)order_change(glance, i, context->ordering->mark).bytes;
    case ORDER_ALLOCS:
        return row->change.allocs;
    case ORDER_FREES:
        return row->change.frees;
    default:
        return (double)glance->counts[i].bytes;
    }
}

/* Ties by bytes, then by number: rows that are alike keep their places. */
static int compare(const void *left, const void *right, void *given)
{
    const struct context *context = given;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    double x = value_of(context, a), y = value_of(context, b);
    uint64_t more = context->glance->counts[a].bytes, less = context->glance->counts[b].bytes;

    if (x != y)
        return x > y ? -1 : 1;
    if (more != less)
        return more > less ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool has(const char *text, const char *part)
{
    return text && strcasestr(text, part);
}

static bool fits(const struct row *row, const char *filter)
{
    const struct frame *title = row->name->title;

    return !filter || !*filter ||
           (title && (has(title->function, filter) || has(title->file, filter) ||
                      has(title->module, filter)));
}

static bool counts(const struct glance *glance, size_t i, const struct account *mark)
{
    const struct row *row = &glance->rows[i];

    return glance->counts[i].blocks || row->change.allocs > 0 || row->change.frees > 0 ||
           order_change(glance, i, mark).bytes ||
           (row->growth && growth_is_growing(row->growth->verdict));
}

size_t *order_rows(const struct glance *glance, const struct ordering *ordering, size_t *count)
{
    struct context context = {glance, ordering};
    size_t *rows = array_grow(NULL, &(size_t){0}, glance->count + 1, sizeof(*rows));

    *count = 0;
    for (size_t i = 0; i < glance->count; i++)
        if (counts(glance, i, ordering->mark) && fits(&glance->rows[i], ordering->filter))
            rows[(*count)++] = i;
    qsort_r(rows, *count, sizeof(*rows), compare, &context);
    return rows;
}
