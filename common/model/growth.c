/* growth.c - judges a series of live bytes as growth.h says; docs/GROWTH.md explains the
 * thresholds. */
#include "common/model/growth.h"

#include <math.h>

#define PIECES 6
/* A period is cut into PIECES pieces. The gain is the minimum of its last piece minus that of its
 * first piece. Thresholds relative to the gain: */
/* A piece counts as a rise if its minimum exceeds that of the piece before by this share of the
 * gain. */
#define STEP_LEAST 0.05
#define RISES_LEAST 3   /* required number of rises from one of the PIECES pieces to the next */
#define FALLS_MOST 0.15 /* limit for the sum of all falls of the minimum, as a share of the gain */
/* required rise in the last third, as a share of the gain; linear growth rises by 0.4 there */
#define LATE_LEAST 0.2
/* The gain must exceed the noise, the ups and downs within a piece, by this factor. */
#define NOISE_TIMES 2
/* Required Kendall's tau of the points: 1 = always ascending, 0 = no order. */
#define ORDER_LEAST 0.8
/* When the gain is less than SMALL of the peak, it must exceed the noise by this factor. */
#define NOISE_TIMES_SMALL 10
#define SMALL 0.05
/* A saw-tooth curve may have teeth larger than the gain, if its minima fit a straight line this
 * well (r²): */
#define FLOOR_FIT 0.97
/* A pause is a time without a rise. Growth has stopped when the last pause is longer than
 * PAUSE_TIMES times each earlier one, PAUSE_SHARE of the whole time, and PAUSE_SECONDS. */
#define PAUSE_TIMES 2
#define PAUSE_SHARE 0.15
#define PAUSE_SECONDS 2.5
/* Growth in the last part of a run counts only if at least this share of its gain lies above the
 * highest level before that part. */
#define NEW_LEAST 0.5
/* Replaces LATE_LEAST for a part of a run: the end of a flattening curve is nearly linear. */
#define LATE_LEAST_OF_PART 0.36
#define GAIN_LEAST_OF_PART 0.05 /* required gain in a part of a run, relative to the peak */
/* Least number of points in a part of a run; with fewer the part does not count, because a few
 * points may rise by chance. */
#define PART_POINTS_LEAST 12
/* Memory counts as freed at exit when it falls to CLEARED_TO of its peak within CLEARED_SHARE of
 * the time of the run, or within CLEARED_SECONDS. */
#define CLEARED_TO 0.5
#define CLEARED_SHARE 0.15
#define CLEARED_SECONDS 3.0
/* Freeing at exit takes a larger part of a short run: up to TEARDOWN_SHARE, if nothing is
 * allocated any more and less than TEARDOWN_TO of the peak is left. */
#define TEARDOWN_SHARE (1 / 3.0)
#define TEARDOWN_TO 0.1
/* A queue frees the oldest blocks first. Growth is that of a queue if at least the share
 * TAKEN_LEAST of its blocks was freed, at least BACKLOG_LEAST blocks stay, and the freed blocks
 * were old enough. Their mean age, if always the oldest block had been freed, can be computed: it
 * must be QUEUE_SECONDS or more, and their real mean age at least OLDEST_SHARE of it. */
#define TAKEN_LEAST 0.1
#define OLDEST_SHARE 0.6
#define QUEUE_SECONDS 0.25
#define BACKLOG_LEAST 8
/* A saw-tooth falls at least FALLS_LEAST times by FALL_SHARE of the peak or more. */
#define FALL_SHARE 0.3
#define FALLS_LEAST 2
/* steady memory has at least this share of its peak already in the first point */
#define STEADY_FROM 0.3
#define STEADY_SHARE 0.15
#define SETTLED_SHARE 0.9
#define STARTUP_SHARE 0.2
#define STARTUP_SECONDS 2.0

const char *const growth_word[GROWTH_MAX] = {
#define V(name, word) [GROWTH_##name] = (word),
    GROWTH_TABLE(V)
#undef V
};

struct series {
    const struct growth_point *at;
    size_t count;
};

static double series_length(const struct series *series)
{
    return series->at[series->count - 1].time - series->at[0].time;
}

static double last_time(const struct series *series)
{
    return series->at[series->count - 1].time;
}

static bool long_enough(const struct series *series)
{
    return series->count >= GROWTH_POINTS_LEAST && series_length(series) >= GROWTH_SECONDS_LEAST;
}

static double peak_bytes(const struct series *series)
{
    double most = 0;

    for (size_t i = 0; i < series->count; i++)
        most = fmax(most, series->at[i].bytes);
    return most;
}

/* Returns the live bytes at a time, interpolated linearly between two points. */
static double bytes_at(const struct series *series, double time)
{
    const struct growth_point *before = series->at;

    for (size_t i = 0; i < series->count; i++) {
        const struct growth_point *here = &series->at[i];
        double gap = here->time - before->time;

        if (here->time >= time)
            return gap > 0
                       ? before->bytes + (here->bytes - before->bytes) * (time - before->time) / gap
                       : here->bytes;
        before = here;
    }
    return before->bytes;
}

/* ---- Frees at exit --------------------------------------------------------------------------- */

/* Returns the index of the last local maximum: behind it the series only falls. */
static size_t begin_of_fall(const struct series *series)
{
    size_t top = series->count - 1;

    while (top > 0 && series->at[top - 1].bytes >= series->at[top].bytes)
        top--;
    while (top + 1 < series->count && series->at[top + 1].bytes >= series->at[top].bytes)
        top++;
    return top;
}

static bool is_cleared(const struct series *series, size_t top)
{
    double allowed = fmax(CLEARED_SHARE * series_length(series), CLEARED_SECONDS);

    return series->at[series->count - 1].bytes <= CLEARED_TO * series->at[top].bytes &&
           last_time(series) - series->at[top].time <= allowed;
}

/* Says whether the program frees its memory to exit, after point `top`, the last local maximum:
 * little is left at the end, nothing is allocated any more, the fall is short (TEARDOWN_SHARE), and
 * the process ends soon after it. */
static bool is_torn_down(const struct series *series, size_t top)
{
    const struct growth_point *last = &series->at[series->count - 1];
    const struct growth_point *begun = &series->at[top + 1]; /* first point after the top */
    double rest = fmax(CLEARED_SHARE * series_length(series), CLEARED_SECONDS);
    size_t fell = series->count - 1;

    if (top + 1 == series->count || last->bytes > TEARDOWN_TO * series->at[top].bytes)
        return false;
    while (fell > top && series->at[fell - 1].bytes == last->bytes)
        fell--;
    return last->allocs == begun->allocs &&
           last->time - begun->time <= TEARDOWN_SHARE * series_length(series) &&
           last->time - series->at[fell].time <= rest;
}

/* Cuts the final frees off the series of a program that frees everything before it exits. */
static struct series without_end(struct series series, bool ended)
{
    size_t top = begin_of_fall(&series);

    if (is_cleared(&series, top) || (ended && is_torn_down(&series, top)))
        series.count = top + 1;
    return series;
}

/* ---- Growing --------------------------------------------------------------------------------- */

struct pieces {
    double least[PIECES], most[PIECES];
    double length; /* length of each piece in seconds */
};

static struct pieces cut_pieces(const struct series *series)
{
    struct pieces pieces = {.length = series_length(series) / PIECES};
    double start = series->at[0].time;

    for (int p = 0; p < PIECES; p++) {
        pieces.least[p] = pieces.most[p] = bytes_at(series, start + p * pieces.length);
        for (size_t i = 0; i < series->count; i++) {
            double place = (series->at[i].time - start) / pieces.length,
                   bytes = series->at[i].bytes;

            if (place < p || place > p + 1)
                continue;
            pieces.least[p] = fmin(pieces.least[p], bytes);
            pieces.most[p] = fmax(pieces.most[p], bytes);
        }
    }
    return pieces;
}

/* Returns the noise in bytes: the median, over all pieces, of the difference between the largest
 * and the least bytes in a piece, less its part of the gain. */
static double noise(const struct pieces *pieces, double gain)
{
    double spread[PIECES];

    for (int p = 0; p < PIECES; p++) {
        double this = fmax(pieces->most[p] - pieces->least[p] - gain / (PIECES - 1), 0);
        int i = p;

        for (; i > 0 && spread[i - 1] > this; i--)
            spread[i] = spread[i - 1];
        spread[i] = this;
    }
    return (spread[PIECES / 2 - 1] + spread[PIECES / 2]) / 2;
}

/* Returns r² of a straight line through the minima of the pieces. */
static double linear_fit_r2(const struct pieces *pieces)
{
    double x_mean = (PIECES - 1) / 2.0, y_mean = 0, xx = 0, xy = 0, yy = 0;

    for (int p = 0; p < PIECES; p++)
        y_mean += pieces->least[p] / PIECES;
    for (int p = 0; p < PIECES; p++) {
        double x = p - x_mean, y = pieces->least[p] - y_mean;

        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    return yy > 0 ? xy * xy / (xx * yy) : 0;
}

/* Returns the time of the last rise if the pause since then is longer than any pause before; else
 * 0. */
static double stopped_at(const struct series *series, double gain)
{
    double high = series->at[0].bytes, rose = series->at[0].time, pause = 0, now;

    for (size_t i = 1; i < series->count; i++)
        if (series->at[i].bytes > high + 0.01 * gain) {
            /* The rise was between this point and the previous one. */
            pause = fmax(pause, series->at[i].time - rose);
            high = series->at[i].bytes;
            rose = series->at[i].time;
        }
    now = last_time(series) - rose;
    return now > PAUSE_TIMES * pause && now > PAUSE_SHARE * series_length(series) &&
                   now > PAUSE_SECONDS
               ? rose
               : 0;
}

/* Returns Kendall's tau: pairs of points that rise minus pairs that fall, relative to all such
 * pairs. */
static double kendall_tau(const struct series *series)
{
    double rises = 0, falls = 0;

    for (size_t i = 0; i < series->count; i++)
        for (size_t k = i + 1; k < series->count; k++) {
            rises += series->at[k].bytes > series->at[i].bytes;
            falls += series->at[k].bytes < series->at[i].bytes;
        }
    return rises + falls > 0 ? (rises - falls) / (rises + falls) : 0;
}

struct rise {
    bool grows, slower;
    double gain, monotony, stopped;
};

/* Measures whether a period grows. Returns at the first condition that is not met, with `grows`
 * false. */
static struct rise measure_rise(const struct series *series, double late)
{
    struct pieces pieces = cut_pieces(series);
    struct rise rise = {.gain = pieces.least[PIECES - 1] - pieces.least[0]};
    double level = peak_bytes(series), falls = 0, ups_and_downs;
    int rises = 0;

    if (rise.gain < GROWTH_BYTES_LEAST)
        return rise;
    ups_and_downs = noise(&pieces, rise.gain);
    for (int p = 1; p < PIECES; p++) {
        double step = pieces.least[p] - pieces.least[p - 1];

        rises += step > STEP_LEAST * rise.gain;
        falls += step < 0 ? -step : 0;
    }
    rise.monotony = rise.gain / (rise.gain + 2 * falls);
    if (rises < RISES_LEAST || falls > FALLS_MOST * rise.gain)
        return rise;
    /* The gain must exceed the noise: clearly, or in a saw-tooth curve with linear minima. */
    if ((rise.gain < NOISE_TIMES * ups_and_downs || kendall_tau(series) < ORDER_LEAST) &&
        (rises < PIECES - 1 || linear_fit_r2(&pieces) < FLOOR_FIT || rise.gain < SMALL * level))
        return rise;
    if (rise.gain < SMALL * level && rise.gain < NOISE_TIMES_SMALL * ups_and_downs)
        return rise;
    rise.stopped = stopped_at(series, rise.gain);
    if (rise.stopped)
        return rise;
    if (pieces.least[PIECES - 1] - pieces.least[PIECES / 2] < late * rise.gain) {
        rise.slower = true;
        return rise;
    }
    rise.grows = true;
    return rise;
}

/* Says whether the period rises above everything before it. Else it may be the rising part of a
 * saw-tooth. */
static bool rises_above_past(const struct series *whole, const struct series *part, double gain)
{
    double before = 0, above;

    for (size_t i = 0; &whole->at[i] < part->at; i++)
        before = fmax(before, whole->at[i].bytes);
    above = part->at[part->count - 1].bytes - before;
    return above >= NEW_LEAST * gain && gain >= GAIN_LEAST_OF_PART * peak_bytes(part);
}

/* ---- Queues ---------------------------------------------------------------------------------- */

/* Returns the time at which n allocations had been made, interpolated between two points. */
static double time_of_alloc(const struct series *series, double n)
{
    for (size_t i = 0; i < series->count; i++)
        if (series->at[i].allocs >= n) {
            const struct growth_point *here = &series->at[i], *before = i ? here - 1 : here;
            double gap = here->allocs - before->allocs;

            return gap > 0 ? before->time + (here->time - before->time) * (n - before->allocs) / gap
                           : here->time;
        }
    return last_time(series);
}

/* Says whether blocks are freed in the order of their allocation, as from a queue. Then free
 * number n frees the block of allocation number n (both counted from the start of the process), so
 * the ages that freed blocks should have are known; they are compared with the real ones. */
static bool is_queue(const struct series *whole, const struct series *part)
{
    const struct growth_point *first = part->at, *last = &part->at[part->count - 1];
    double came = last->allocs - first->allocs, went = last->frees - first->frees;
    double age = last->freed_age - first->freed_age, queued = 0;

    if (went < TAKEN_LEAST * came || came - went < BACKLOG_LEAST || age <= 0)
        return false;
    for (size_t i = 1; i < part->count; i++) {
        double frees = part->at[i].frees - part->at[i - 1].frees;
        double time = (part->at[i].time + part->at[i - 1].time) / 2;

        queued += frees * fmax(time - time_of_alloc(whole, part->at[i - 1].frees + frees / 2), 0);
    }
    return queued / went >= QUEUE_SECONDS && age >= OLDEST_SHARE * queued;
}

/* Returns the slope of a straight line fitted to the points, in bytes per second; never
 * negative. */
static double linear_slope(const struct series *series)
{
    double time = 0, bytes = 0, tt = 0, tb = 0;

    for (size_t i = 0; i < series->count; i++) {
        time += series->at[i].time / (double)series->count;
        bytes += series->at[i].bytes / (double)series->count;
    }
    for (size_t i = 0; i < series->count; i++) {
        tt += (series->at[i].time - time) * (series->at[i].time - time);
        tb += (series->at[i].time - time) * (series->at[i].bytes - bytes);
    }
    return tt > 0 ? fmax(tb / tt, 0) : 0;
}

static double confidence_of(double seconds)
{
    return 1 - exp(-seconds / 10);
}

static bool find_growth(const struct series *whole, struct growth_finding *finding)
{
    /* Tries the whole time first and then shorter periods up to its end, down to 1/1024 of the
     * time. */
    static const double begins[] = {0,         1 / 8.0,   1 / 4.0,     1 / 2.0,      3 / 4.0,
                                    15 / 16.0, 63 / 64.0, 255 / 256.0, 1023 / 1024.0};

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        double from = whole->at[0].time + begins[i] * series_length(whole);
        struct series part = *whole;
        struct rise rise;

        while (part.count && part.at[0].time < from)
            part = (struct series){part.at + 1, part.count - 1};
        if (!long_enough(&part) || (i && part.count < PART_POINTS_LEAST))
            return false;
        rise = measure_rise(&part, i ? LATE_LEAST_OF_PART : LATE_LEAST);
        if (!rise.grows || (i && !rises_above_past(whole, &part, rise.gain)))
            continue;
        const struct growth_point *first = part.at, *last = &part.at[part.count - 1];
        double came = last->allocs - first->allocs, went = last->frees - first->frees;

        finding->verdict = is_queue(whole, &part) ? GROWTH_SLOW_CONSUMER : GROWTH_GROWING;
        finding->from = first->time;
        finding->until = last->time;
        finding->bytes_per_second = linear_slope(&part);
        finding->kept = came > 0 ? fmax(1 - went / came, 0) : -1;
        finding->one_block = came > 0 && came - went < BACKLOG_LEAST && went > came / 2;
        finding->confidence = rise.monotony * confidence_of(series_length(&part));
        return true;
    }
    return false;
}

/* ---- Not growing ----------------------------------------------------------------------------- */

/* Counts the falls by FALL_SHARE of the peak that follow a rise of the same size. */
static unsigned count_falls(const struct series *series, double peak)
{
    double high = series->at[0].bytes, low = high;
    bool down = false;
    unsigned falls = 0;

    for (size_t i = 1; i < series->count; i++) {
        double bytes = series->at[i].bytes;

        high = fmax(high, bytes);
        low = fmin(low, bytes);
        if (!down && high - bytes >= FALL_SHARE * peak) {
            falls++;
            down = true;
            low = bytes;
        } else if (down && bytes - low >= FALL_SHARE * peak) {
            down = false;
            high = bytes;
        }
    }
    return falls;
}

static double mean(const struct growth_point *at, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += at[i].bytes / (double)count;
    return sum;
}

/* Says whether memory had its size from the beginning: freed blocks were replaced by others, and
 * both halves of the time have the same mean. */
static bool is_steady(const struct series *series, double peak)
{
    size_t half = series->count / 2;

    return series->at[0].bytes >= STEADY_FROM * peak &&
           series->at[series->count - 1].frees > series->at[0].frees &&
           fabs(mean(series->at, half) - mean(series->at + half, series->count - half)) <=
               STEADY_SHARE * peak;
}

static void find_rest(const struct series *series, struct growth_finding *finding)
{
    double life = last_time(series);
    size_t i = 0;

    finding->falls = count_falls(series, finding->peak);
    if (finding->falls >= FALLS_LEAST) {
        finding->verdict = GROWTH_SAWTOOTH;
        return;
    }
    while (series->at[i].bytes < SETTLED_SHARE * finding->peak)
        i++;
    finding->settled = series->at[i].time;
    finding->slower = measure_rise(series, LATE_LEAST).slower;
    if (finding->falls || is_steady(series, finding->peak)) {
        finding->verdict = GROWTH_STEADY; /* a single rise and fall counts as steady as well */
    } else if (finding->settled <= fmax(STARTUP_SHARE * life, STARTUP_SECONDS)) {
        finding->verdict = GROWTH_STARTUP;
    } else {
        finding->verdict = GROWTH_PLATEAU;
    }
}

struct growth_finding growth_judge(const struct growth_point *points, size_t count, bool ended)
{
    struct series all = {points, count}, series;
    struct growth_finding finding = {.kept = -1};

    if (!count)
        return finding;
    finding.peak = peak_bytes(&all);
    series = without_end(all, ended);
    finding.from = series.at[0].time;
    finding.until = last_time(&series);
    if (!long_enough(&series) || finding.peak <= 0 || find_growth(&series, &finding))
        return finding;
    find_rest(&series, &finding);
    finding.confidence = confidence_of(series_length(&series));
    return finding;
}
