/* order.h - which rows are shown, and in which order. One table of keys makes --sort, its help, and
 * the keys of the screen. */
#ifndef TOP_ORDER_H
#define TOP_ORDER_H

#include "top/glance.h"

/* O(NAME, word, key, help) */
#define ORDER_TABLE(O)                                                                             \
    O(GROWTH, "growth", 'g', "what grows, the fastest first; then by bytes")                       \
    O(BYTES, "bytes", 'b', "bytes that live")                                                      \
    O(BLOCKS, "blocks", 'n', "blocks that live")                                                   \
    O(DELTA, "delta", 'd', "bytes that came since the look before, or since the mark")             \
    O(ALLOCS, "allocs", 'a', "allocations a second")                                               \
    O(FREES, "frees", 'f', "frees a second")

enum order {
#define O(name, word, key, help) ORDER_##name,
    ORDER_TABLE(O)
#undef O
        ORDER_MAX
};

extern const char *const order_word[ORDER_MAX + 1];
extern const char *const order_help[ORDER_MAX];
extern const char order_key[ORDER_MAX];

struct ordering {
    enum order order;
    const char *filter;         /* part of a function, file or module; NULL or "" = all */
    const struct account *mark; /* what "delta" is since; NULL = the look before */
};

/* The change that "delta" is about. */
struct change order_change(const struct glance *glance, size_t row, const struct account *mark);

/* Numbers of the rows in order, so many of which there are; those where nothing lives, changed or
 * grew are left out. For free(). */
size_t *order_rows(const struct glance *glance, const struct ordering *ordering, size_t *count);

#endif
