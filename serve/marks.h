/* marks.h - counts of one process at earlier times, which the page of differences begins at.
 *
 * Some are kept without being asked for: the first count, and for each span of MARK_TABLE one that is
 * at least so old, and less than twice as old once the page has run so long. One more is the user's. So
 * there are at most 2 * MARK_SPANS + 2 for a process, however long it runs. Pure functions. */
#ifndef SERVE_MARKS_H
#define SERVE_MARKS_H

#include "top/counters.h"

/* M(NAME, word, seconds) */
#define MARK_TABLE(M)                                                                              \
    M(MINUTE, "1m", 60)                                                                            \
    M(TEN_MINUTES, "10m", 600)                                                                     \
    M(HOUR, "1h", 3600)

enum mark {
#define M(name, word, seconds) MARK_##name,
    MARK_TABLE(M)
#undef M
        MARK_SPANS,
    MARK_FIRST = MARK_SPANS, /* when the page saw the process first */
    MARK_USER,               /* set by the user */
    MARKS
};

extern const char *const mark_word[MARKS + 1]; /* in addresses; NULL-terminated */

struct marks {
    struct counter_baseline first, user;
    struct counter_baseline older[MARK_SPANS], newer[MARK_SPANS];
};

/* Takes the counts of a process over; called at each reading, in ascending order of time. */
void marks_update(struct marks *marks, double time, struct counters total,
                  const struct counters *at, size_t count);
void marks_set_user(struct marks *marks, double time, struct counters total,
                    const struct counters *at, size_t count);
/* The counters at a mark; NULL: it was not set yet. */
const struct counter_baseline *marks_find(const struct marks *marks, enum mark mark);
void marks_end(struct marks *marks);

#endif
