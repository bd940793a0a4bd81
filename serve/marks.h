/* marks.h - keeps the counters of one process at earlier times, with which the page of differences
 * compares.
 *
 * The page keeps the first counters, and for each span of MARK_TABLE counters that are at least so
 * old, and, once the page runs long enough, less than twice as old. The user can set one more mark.
 * So a process has at most 2 * MARK_SPANS + 2 marks, however long it runs. */
#ifndef SERVE_MARKS_H
#define SERVE_MARKS_H

#include "top/counters.h"

/* The spans, ascending: M(NAME, word in the URL of a page, number of seconds) */
#define MARK_TABLE(M)                                                                              \
    M(MINUTE, "1m", 60)                                                                            \
    M(TEN_MINUTES, "10m", 600)                                                                     \
    M(HOUR, "1h", 3600)

enum mark {
#define M(name, word, seconds) MARK_##name,
    MARK_TABLE(M)
#undef M
        MARK_SPANS,
    MARK_FIRST = MARK_SPANS, /* the time at which the page saw the process first */
    MARK_USER,               /* the mark that the user set */
    MARKS
};

/* words for marks in the addresses (URLs) of pages; the list ends with NULL */
extern const char *const mark_word[MARKS + 1];

struct marks {
    struct counter_baseline first, user;
    struct counter_baseline older[MARK_SPANS], newer[MARK_SPANS];
};

/* Adds the counters of a process. Call it at each reading, in ascending order of time. */
void marks_update(struct marks *marks, double time, struct counters total,
                  const struct counters *at, size_t count);
void marks_set_user(struct marks *marks, double time, struct counters total,
                    const struct counters *at, size_t count);
/* Returns the counters at a mark; NULL: the mark was not set yet. */
const struct counter_baseline *marks_find(const struct marks *marks, enum mark mark);
void marks_end(struct marks *marks);

#endif
