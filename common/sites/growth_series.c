/* growth_series.c - adds up the series of a record's sites and describes their growth in words. */
#include "common/sites/sites.h"

#include <string.h>

#include "common/base/term_text.h"

#define NANOSECONDS 1e9
/* If a larger share (0 to 1) of the blocks was not freed, the sentence that explains the growth
 * says "nothing freed". */
#define KEPT_MOST 0.9995

static double seconds_of(uint32_t tick)
{
    return (double)tick / LEAK_TICKS_PER_SECOND;
}

struct growth_series growth_series_begin(struct arena *mem, const struct store *store,
                                         uint64_t until_ns)
{
    const struct store_history *history = &store->history;
    struct growth_series growth_series = {.mem = mem, .store = store, .until_ns = until_ns};

    growth_series.series_of = arena_alloc_array(store->mem, store->site_count, sizeof(uint32_t));
    growth_series.points =
        arena_alloc_array(store->mem, history->row_count + 2, sizeof(*growth_series.points));
    for (uint32_t i = 0; i < history->series_count; i++)
        growth_series.series_of[history->series[i].site] = i + 1;
    for (size_t i = 0; i < store->site_count; i++)
        growth_series.live_bytes =
            add_saturating(growth_series.live_bytes, store->sites[i].live_bytes);
    return growth_series;
}

static const struct store_series *series_of_site(const struct growth_series *growth_series,
                                                 uint32_t site)
{
    uint32_t index = growth_series->series_of[site];

    return index ? &growth_series->store->history.series[index - 1] : NULL;
}

bool growth_series_has_site(const struct growth_series *growth_series, uint32_t site)
{
    const struct store_series *series = series_of_site(growth_series, site);

    return series && series->peak >= GROWTH_BYTES_LEAST;
}

uint32_t growth_series_largest_site(const struct growth_series *growth_series,
                                    struct site_list sites)
{
    uint32_t found = sites.first - 1;
    uint64_t most = 0;

    for (uint32_t i = sites.first; i; i = sites.next[i - 1]) {
        const struct store_series *series = series_of_site(growth_series, i - 1);

        if (series && series->peak > most) {
            most = series->peak;
            found = i - 1;
        }
    }
    return found;
}

/* ---- Adding up the series of a record's sites ------------------------------------------------ */

static void add_row_entry(struct growth_point *point, const struct leak_row_entry *entry)
{
    point->bytes += (double)entry->live_bytes;
    point->allocs += (double)entry->allocs;
    point->frees += (double)entry->frees;
    point->freed_age += (double)entry->freed_age / LEAK_TICKS_PER_SECOND;
}

static void add_series(struct growth_series *growth_series, const struct store_series *series)
{
    const struct store_history *history = &growth_series->store->history;
    const struct store_site *site = &growth_series->store->sites[series->site];
    size_t index = (size_t)(series - history->series);

    for (size_t row = 0; row < history->row_count; row++) {
        size_t from = row < series->first_row ? series->first_row : row;

        if (row < series->first_row &&
            (from == history->row_count || site->first >= history->rows[row]))
            continue;
        add_row_entry(&growth_series->points[row],
                      &history->values[from * history->series_count + index]);
    }
}

/* Adds the counters that a site has at the end of the recording to the points in time after the
 * last row of the history. */
static void add_end(struct growth_series *growth_series, const struct store_site *site,
                    size_t count)
{
    for (size_t i = growth_series->store->history.row_count; i < count; i++) {
        growth_series->points[i].bytes += (double)site->live_bytes;
        growth_series->points[i].allocs += (double)site->counts.allocs;
        growth_series->points[i].frees += (double)site->counts.frees;
        growth_series->points[i].freed_age = i ? growth_series->points[i - 1].freed_age : 0;
    }
}

/* Sets the times of all points; returns their number. */
static size_t set_times(struct growth_series *growth_series)
{
    const struct store_history *history = &growth_series->store->history;
    uint64_t started = growth_series->store->header.started_ns;
    double last = -1, epoch = seconds_of(growth_series->store->header.epoch);
    double until = growth_series->until_ns > started
                       ? (double)(growth_series->until_ns - started) / NANOSECONDS
                       : 0;
    size_t count = 0;

    memset(growth_series->points, 0, (history->row_count + 2) * sizeof(*growth_series->points));
    for (; count < history->row_count; count++)
        last = growth_series->points[count].time = seconds_of(history->rows[count]);
    if (epoch > last)
        last = growth_series->points[count++].time = epoch;
    if (until > last)
        growth_series->points[count++].time = until;
    return count;
}

/* Adds up the series of sites. Returns the number of points; 0 = the sites have no series. */
static size_t sum_series(struct growth_series *growth_series, struct site_list sites)
{
    size_t count = set_times(growth_series), found = 0;

    for (uint32_t i = sites.first; i; i = sites.next[i - 1]) {
        const struct store_series *series = series_of_site(growth_series, i - 1);

        if (!series)
            continue;
        found++;
        add_series(growth_series, series);
        add_end(growth_series, &growth_series->store->sites[i - 1], count);
    }
    return found ? count : 0;
}

/* ---- Describing growth in words -------------------------------------------------------------- */

static const char *span_words(struct arena *mem, double seconds)
{
    char text[TIME_TEXT_SIZE];

    time_format_span(seconds > 0 ? (uint64_t)(seconds * NANOSECONDS) : 0, text);
    return arena_copy(mem, text, strlen(text));
}

static const char *size_words(struct arena *mem, double bytes)
{
    struct term_text shown = term_size((uint64_t)bytes);

    return arena_copy(mem, shown.text, strlen(shown.text));
}

/* The words "; at this rate its data limit, 512 MB, is reached within 3 h 20 min". Other growth in
 * the process can only make that time shorter. */
static const char *limit_words(const struct growth_series *growth_series, double rate)
{
#define X(name, words) [LEAK_LIMIT_##name] = (words),
    static const char *const words[LEAK_LIMIT_MAX] = {LEAK_LIMIT_TABLE(X)};
#undef X
    const struct store_history *history = &growth_series->store->history;

    if (!history->limit_of || history->limit <= growth_series->live_bytes || rate < 1 ||
        growth_series->store->header.end_how != LEAK_END_NONE)
        return "";
    return arena_format(growth_series->mem, "; at this rate %s, %s, is reached within %s",
                        words[history->limit_of],
                        size_words(growth_series->mem, (double)history->limit),
                        span_words(growth_series->mem,
                                   (double)(history->limit - growth_series->live_bytes) / rate));
}

static const char *kept_words(struct arena *mem, const struct growth_finding *finding)
{
    if (finding->one_block)
        return "a few blocks that keep growing";
    if (finding->kept < 0)
        return "in blocks that existed before";
    if (finding->kept >= KEPT_MOST)
        return "nothing freed";
    return arena_format(mem, "%.*f %% of its blocks never freed", finding->kept > 0.99 ? 2 : 1,
                        100 * finding->kept);
}

static const char *reason_of(const struct growth_series *growth_series,
                             const struct growth_finding *finding)
{
    struct arena *mem = growth_series->mem;
    const char *rate = size_words(mem, finding->bytes_per_second);
    const char *time = span_words(mem, finding->until - finding->from);
    const char *peak = size_words(mem, finding->peak);

    switch (finding->verdict) {
    case GROWTH_GROWING:
        return arena_format(mem, "growing +%s/s for %s, %s%s", rate, time, kept_words(mem, finding),
                            limit_words(growth_series, finding->bytes_per_second));
    case GROWTH_SLOW_CONSUMER:
        return arena_format(mem, "growing +%s/s for %s: a queue, %.0f %% consumed, oldest first%s",
                            rate, time, 100 * (1 - finding->kept),
                            limit_words(growth_series, finding->bytes_per_second));
    case GROWTH_SAWTOOTH:
        return arena_format(mem, "sawtooth: fell %u times, peak %s", finding->falls, peak);
    case GROWTH_PLATEAU:
        if (finding->slower)
            return arena_format(mem, "levels off, peak %s", peak);
        return arena_format(mem, "plateau at %s since %s after the start", peak,
                            span_words(mem, finding->settled));
    case GROWTH_STARTUP:
        return arena_format(mem, "allocated within %s of the start, %s",
                            span_words(mem, finding->settled), peak);
    default:
        return finding->falls ? arena_format(mem, "one peak of %s, then freed", peak)
                              : arena_format(mem, "steady, at most %s", peak);
    }
}

const struct growth *growth_series_judge(struct growth_series *growth_series,
                                         struct site_list sites)
{
    size_t count = sum_series(growth_series, sites);
    struct growth_finding finding = growth_judge(
        growth_series->points, count, store_end_how(growth_series->store) != END_RUNNING);
    struct growth *growth;

    if (finding.verdict == GROWTH_UNKNOWN || finding.peak < GROWTH_BYTES_LEAST)
        return NULL;
    growth = arena_alloc(growth_series->mem, sizeof(*growth));
    *growth = (struct growth){.verdict = finding.verdict,
                              .bytes_per_second = (uint64_t)finding.bytes_per_second,
                              .peak_bytes = (uint64_t)finding.peak,
                              .confidence = finding.confidence,
                              .reason = reason_of(growth_series, &finding)};
    return growth;
}
