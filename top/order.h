/* order.h - chooses and sorts the rows of a snapshot. One table of sort keys makes --sort, its
 * help, and the keys of the screen.
 */
#ifndef TOP_ORDER_H
#define TOP_ORDER_H

#include "top/heap_snapshot.h"

/* The sort keys: O(NAME, word of --sort, key of the keyboard, help) */
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
    /* text that a function, file or module of the row must contain; NULL or "" = all rows */
    const char *filter;
    /* time from which "delta" counts; NULL = the previous snapshot */
    const struct counter_baseline *mark;
};

/* Returns the change of a row since the mark, or since the previous snapshot if mark is NULL. */
struct counter_delta order_delta(const struct heap_snapshot *snapshot, size_t row,
                                 const struct counter_baseline *mark);

/* Returns the indices of the rows in order, *count of them; the caller frees them. Leaves out rows
 * without live blocks that have neither changed nor grown. */
size_t *order_rows(const struct heap_snapshot *snapshot, const struct ordering *ordering,
                   size_t *count);

#endif
