/* order.h - which rows of a snapshot are shown, and in which order. One table of sort keys makes
 * --sort, its help, and the keys of the screen. */
#ifndef TOP_ORDER_H
#define TOP_ORDER_H

#include "top/heap_snapshot.h"

/* O(NAME, word, key, help) */
#define ORDER_TABLE(O)                                                                             \
    O(GROWTH, "growth", 'g', "growing sites, the fastest first; then by bytes")                    \
    O(BYTES, "bytes", 'b', "live bytes")                                                           \
    O(BLOCKS, "blocks", 'n', "live blocks")                                                        \
    O(DELTA, "delta", 'd', "bytes added since the last refresh, or since the mark")                \
    O(ALLOCS, "allocs", 'a', "allocations per second")                                             \
    O(FREES, "frees", 'f', "frees per second")

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
    const char *filter;                  /* part of a function, file or module; NULL or "" = all */
    const struct counter_baseline *mark; /* the start of "delta"; NULL = the snapshot before */
};

/* The change of a row since the mark, or since the snapshot before. */
struct counter_delta order_delta(const struct heap_snapshot *snapshot, size_t row,
                                 const struct counter_baseline *mark);

/* Indices of the rows in order, *count of them, without rows that hold nothing and neither changed
 * nor grew. For free(). */
size_t *order_rows(const struct heap_snapshot *snapshot, const struct ordering *ordering,
                   size_t *count);

#endif
