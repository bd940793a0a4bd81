/* marks.c - keeps counters of earlier times; described in marks.h. */
#include "serve/marks.h"

const char *const mark_word[MARKS + 1] = {
#define M(name, word, seconds) word,
    MARK_TABLE(M)
#undef M
        "start",
    "mark",
    NULL,
};

static const double span_seconds[MARK_SPANS] = {
#define M(name, word, seconds) seconds,
    MARK_TABLE(M)
#undef M
};

/* Updates the two marks of a span: if `newer` is at least as old as the span, `newer` becomes
 * `older`, and the present counters become `newer`. */
static void update_span(struct marks *marks, size_t span, double time, struct counters total,
                        const struct counters *at, size_t count)
{
    struct counter_baseline *older = &marks->older[span], *newer = &marks->newer[span];

    if (newer->at && time - newer->time < span_seconds[span])
        return;
    counter_baseline_free(older);
    *older = *newer;
    *newer = counter_baseline_copy(time, total, at, count);
}

void marks_update(struct marks *marks, double time, struct counters total,
                  const struct counters *at, size_t count)
{
    if (!marks->first.at)
        marks->first = counter_baseline_copy(time, total, at, count);
    for (size_t i = 0; i < MARK_SPANS; i++)
        update_span(marks, i, time, total, at, count);
}

void marks_set_user(struct marks *marks, double time, struct counters total,
                    const struct counters *at, size_t count)
{
    counter_baseline_free(&marks->user);
    marks->user = counter_baseline_copy(time, total, at, count);
}

const struct counter_baseline *marks_find(const struct marks *marks, enum mark mark)
{
    const struct counter_baseline *found = mark == MARK_FIRST  ? &marks->first
                                           : mark == MARK_USER ? &marks->user
                                                               : &marks->older[mark];

    return found->at ? found : NULL;
}

void marks_end(struct marks *marks)
{
    counter_baseline_free(&marks->first);
    counter_baseline_free(&marks->user);
    for (size_t i = 0; i < MARK_SPANS; i++) {
        counter_baseline_free(&marks->older[i]);
        counter_baseline_free(&marks->newer[i]);
    }
}
