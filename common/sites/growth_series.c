/* growth_series.c - see growth_series.h. */
#include "common/sites/growth_series.h"

#include <string.h>

#include "common/base/text.h"

#define NANOSECONDS 1e9
#define KEPT_MOST 0.9995 /* from here on "all" */

static double seconds_of(uint32_t tick)
{
    return (double)tick / LEAK_TICKS_PER_SECOND;
}

struct trends trends_begin(struct mem *mem, const struct store *store, uint64_t until_ns)
{
    const struct store_history *history = &store->history;
    struct trends trends = {.mem = mem, .store = store, .until_ns = until_ns};

    trends.series_of = arena_alloc_array(store->mem, store->site_count, sizeof(uint32_t));
    trends.points = arena_alloc_array(store->mem, history->row_count + 2, sizeof(*trends.points));
    for (uint32_t i = 0; i < history->series_count; i++)
        trends.series_of[history->series[i].site] = i + 1;
    for (size_t i = 0; i < store->site_count; i++)
        trends.live_bytes = add_saturating(trends.live_bytes, store->sites[i].live_bytes);
    return trends;
}

static const struct store_series *series_of(const struct trends *trends, uint32_t site)
{
    uint32_t index = trends->series_of[site];

    return index ? &trends->store->history.series[index - 1] : NULL;
}

bool trends_has(const struct trends *trends, uint32_t site)
{
    const struct store_series *series = series_of(trends, site);

    return series && series->peak >= GROWTH_BYTES_LEAST;
}

uint32_t trends_largest(const struct trends *trends, struct site_list sites)
{
    uint32_t found = sites.first - 1;
    uint64_t most = 0;

    for (uint32_t i = sites.first; i; i = sites.next[i - 1]) {
        const struct store_series *series = series_of(trends, i - 1);

        if (series && series->peak > most) {
            most = series->peak;
            found = i - 1;
        }
    }
    return found;
}

/* ---- Adding up ---------------------------------------------------------------------------------
 */

static void add_entry(struct growth_point *point, const struct leak_row_entry *entry)
{
    point->bytes += (double)entry->live_bytes;
    point->allocs += (double)entry->allocs;
    point->frees += (double)entry->frees;
    point->freed_age += (double)entry->freed_age / LEAK_TICKS_PER_SECOND;
}

static void add_series(struct trends *trends, const struct store_series *series)
{
    const struct store_history *history = &trends->store->history;
    const struct store_site *site = &trends->store->sites[series->site];
    size_t index = (size_t)(series - history->series);

    for (size_t row = 0; row < history->row_count; row++) {
        size_t from = row < series->first_row ? series->first_row : row;

        if (row < series->first_row &&
            (from == history->row_count || site->first >= history->rows[row]))
            continue;
        add_entry(&trends->points[row], &history->values[from * history->series_count + index]);
    }
}

/* What it is in the end; nothing happens between the last tick and then. */
static void add_end(struct trends *trends, const struct store_site *site, size_t count)
{
    for (size_t i = trends->store->history.row_count; i < count; i++) {
        trends->points[i].bytes += (double)site->live_bytes;
        trends->points[i].allocs += (double)site->counts.allocs;
        trends->points[i].frees += (double)site->counts.frees;
        trends->points[i].freed_age = i ? trends->points[i - 1].freed_age : 0;
    }
}

/* The times of all points; how many there are. */
static size_t set_times(struct trends *trends)
{
    const struct store_history *history = &trends->store->history;
    uint64_t started = trends->store->header.started_ns;
    double last = -1, epoch = seconds_of(trends->store->header.epoch);
    double until =
        trends->until_ns > started ? (double)(trends->until_ns - started) / NANOSECONDS : 0;
    size_t count = 0;

    memset(trends->points, 0, (history->row_count + 2) * sizeof(*trends->points));
    for (; count < history->row_count; count++)
        last = trends->points[count].time = seconds_of(history->rows[count]);
    if (epoch > last)
        last = trends->points[count++].time = epoch;
    if (until > last)
        trends->points[count++].time = until;
    return count;
}

/* How many points; 0 = there is no series of these sites. */
static size_t add_up(struct trends *trends, struct site_list sites)
{
    size_t count = set_times(trends), found = 0;

    for (uint32_t i = sites.first; i; i = sites.next[i - 1]) {
        const struct store_series *series = series_of(trends, i - 1);

        if (!series)
            continue;
        found++;
        add_series(trends, series);
        add_end(trends, &trends->store->sites[i - 1], count);
    }
    return found ? count : 0;
}

/* ---- Words -------------------------------------------------------------------------------------
 */

static const char *span_words(struct mem *mem, double seconds)
{
    char text[TIME_TEXT_SIZE];

    time_format_span(seconds > 0 ? (uint64_t)(seconds * NANOSECONDS) : 0, text);
    return arena_copy(mem, text, strlen(text));
}

static const char *size_words(struct mem *mem, double bytes)
{
    struct shown shown = term_size((uint64_t)bytes);

    return arena_copy(mem, shown.text, strlen(shown.text));
}

/* "; at this rate its data limit of 512 MB is reached in 3 h 20 min": by this alone, so at the
 * latest. */
static const char *limit_words(const struct trends *trends, double rate)
{
#define X(name, words) [LEAK_LIMIT_##name] = (words),
    static const char *const words[LEAK_LIMIT_MAX] = {LEAK_LIMIT_TABLE(X)};
#undef X
    const struct store_history *history = &trends->store->history;

    if (!history->limit_of || history->limit <= trends->live_bytes || rate < 1 ||
        trends->store->header.end_how != LEAK_END_NONE)
        return "";
    return arena_format(
        trends->mem, "; at this rate %s, %s, is reached within %s", words[history->limit_of],
        size_words(trends->mem, (double)history->limit),
        span_words(trends->mem, (double)(history->limit - trends->live_bytes) / rate));
}

static const char *kept_words(struct mem *mem, const struct growth_finding *finding)
{
    if (finding->one_block)
        return "few blocks that become larger and larger";
    if (finding->kept < 0)
        return "from blocks that were there before";
    if (finding->kept >= KEPT_MOST)
        return "none of its blocks freed";
    return arena_format(mem, "%.*f %% of its blocks never freed", finding->kept > 0.99 ? 2 : 1,
                      100 * finding->kept);
}

static const char *reason_of(const struct trends *trends, const struct growth_finding *finding)
{
    struct mem *mem = trends->mem;
    const char *rate = size_words(mem, finding->bytes_per_second);
    const char *time = span_words(mem, finding->until - finding->from);
    const char *peak = size_words(mem, finding->peak);

    switch (finding->verdict) {
    case GROWTH_GROWING:
        return arena_format(mem, "growing %s/s for %s, %s, no plateau%s", rate, time,
                          kept_words(mem, finding), limit_words(trends, finding->bytes_per_second));
    case GROWTH_SLOW_CONSUMER:
        return arena_format(
            mem, "growing %s/s for %s: a queue, %.0f %% are taken out, the oldest first%s", rate,
            time, 100 * (1 - finding->kept), limit_words(trends, finding->bytes_per_second));
    case GROWTH_SAWTOOTH:
        return arena_format(mem, "goes up and down: %u times down from up to %s", finding->falls,
                          peak);
    case GROWTH_PLATEAU:
        if (finding->slower)
            return arena_format(mem, "grows less and less, up to %s", peak);
        return arena_format(mem, "no more than %s since %s after the start", peak,
                          span_words(mem, finding->settled));
    case GROWTH_STARTUP:
        return arena_format(mem, "there since %s after the start, %s",
                          span_words(mem, finding->settled), peak);
    default:
        return finding->falls ? arena_format(mem, "came once, up to %s, and went", peak)
                              : arena_format(mem, "no more than %s all the time", peak);
    }
}

const struct growth *trends_of(struct trends *trends, struct site_list sites)
{
    size_t count = add_up(trends, sites);
    struct growth_finding finding = growth_judge(trends->points, count);
    struct growth *growth;

    if (finding.verdict == GROWTH_UNKNOWN || finding.peak < GROWTH_BYTES_LEAST)
        return NULL;
    growth = arena_alloc(trends->mem, sizeof(*growth));
    *growth = (struct growth){.verdict = finding.verdict,
                              .bytes_per_second = (uint64_t)finding.bytes_per_second,
                              .peak_bytes = (uint64_t)finding.peak,
                              .confidence = finding.confidence,
                              .reason = reason_of(trends, &finding)};
    return growth;
}
