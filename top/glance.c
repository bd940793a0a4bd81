/* glance.c - see glance.h. */
#include "top/glance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/store/store.h"
#include "common/store/reader.h"
#include "common/base/text.h"
#include "common/sites/sites.h"

struct glances glances_begin(const char *path, struct resolver *resolver)
{
    struct glances glances = {
        .path = path, .names = names_begin(resolver), .suppressions = suppress_begin()};

    suppress_add_defaults(glances.suppressions);
    return glances;
}

void glances_end(struct glances *glances)
{
    names_end(&glances->names);
    suppress_end(glances->suppressions);
    account_end(&glances->before);
}

static double seconds_of(const struct timespec *time)
{
    return (double)time->tv_sec + (double)time->tv_nsec / 1e9;
}

static void set_times(struct glance *glance)
{
    struct timespec steady;

    clock_gettime(CLOCK_MONOTONIC, &steady);
    glance->time_ns = time_now_ns();
    glance->time = seconds_of(&steady);
}

static const char *copy(struct arena *mem, const char *text)
{
    return arena_copy(mem, text ? text : "", text ? strlen(text) : 0);
}

static void fill_identity(const struct store *store, struct glance *glance)
{
    glance->exe = copy(glance->mem, store->exe);
    glance->argc = store->argc;
    glance->argv = arena_alloc_array(glance->mem, store->argc, sizeof(char *));
    for (size_t i = 0; i < store->argc; i++)
        glance->argv[i] = copy(glance->mem, store->argv[i]);
    glance->pid = store->header.pid;
    glance->how = store_end_how(store);
    glance->end_value = store->header.end_value;
    glance->started_ns = store->header.started_ns;
    glance->sampled = store->header.sample > 1;
    glance->limit = store->history.limit;
    glance->limit_of = store->history.limit_of;
}

static void fill_history(const struct store *store, struct glance *glance)
{
    const struct store_history *history = &store->history;

    glance->history_count = history->moment_count;
    glance->history =
        arena_alloc_array(glance->mem, history->moment_count, sizeof(*glance->history));
    for (size_t i = 0; i < history->moment_count; i++)
        glance->history[i] =
            (struct moment){.time_ns = store_time_of_tick(store, history->moments[i].tick),
                            .bytes = history->moments[i].bytes,
                            .blocks = history->moments[i].blocks};
    if (history->peak.bytes)
        glance->peak = (struct moment){.time_ns = store_time_of_tick(store, history->peak.tick),
                                       .bytes = history->peak.bytes,
                                       .blocks = history->peak.blocks};
}

static void add_site(const struct store *store, const struct store_site *site,
                     struct counted *counts, struct row *row)
{
    uint64_t first = store_time_of_tick(store, site->first),
             last = store_time_of_tick(store, site->last);

    counts->bytes = add_saturating(counts->bytes, site->live_bytes);
    counts->blocks = add_saturating(counts->blocks, site->live_blocks);
    counts->allocs += site->counts.allocs;
    counts->frees += site->counts.frees;
    if (!row->first_ns || first < row->first_ns)
        row->first_ns = first;
    if (last > row->last_ns)
        row->last_ns = last;
}

static void add_total(struct counted *total, const struct counted *counts)
{
    total->bytes = add_saturating(total->bytes, counts->bytes);
    total->blocks = add_saturating(total->blocks, counts->blocks);
    total->allocs += counts->allocs;
    total->frees += counts->frees;
}

static void fill_growth(const struct glances *glances, const struct store *store,
                        struct glance *glance)
{
    struct arena *mem = glance->mem;
    struct growth_series growth_series = growth_series_begin(mem, store, glance->time_ns);
    uint32_t *next = arena_alloc_array(mem, store->site_count, sizeof(*next));
    uint32_t *first = arena_alloc_array(mem, glance->count, sizeof(*first));
    bool *has = arena_alloc_array(mem, glance->count, sizeof(*has));

    for (uint32_t i = 0; i < store->site_count; i++) {
        size_t name = names_of(&glances->names, &store->sites[i]);

        next[i] = first[name];
        first[name] = i + 1;
        has[name] |= growth_series_has_site(&growth_series, i);
    }
    for (size_t i = 0; i < glance->count; i++) {
        if (has[i])
            glance->rows[i].growth =
                growth_series_judge(&growth_series, (struct site_list){first[i], next});
        glance->growing +=
            glance->rows[i].growth && growth_is_growing(glance->rows[i].growth->verdict);
    }
}

static void fill_rows(const struct glances *glances, const struct store *store,
                      struct glance *glance)
{
    const struct names *names = &glances->names;

    glance->count = names->count;
    glance->rows = arena_alloc_array(glance->mem, names->count, sizeof(*glance->rows));
    glance->counts = arena_alloc_array(glance->mem, names->count, sizeof(*glance->counts));
    for (size_t i = 0; i < store->site_count; i++) {
        size_t name = names_of(names, &store->sites[i]);

        add_site(store, &store->sites[i], &glance->counts[name], &glance->rows[name]);
    }
    for (size_t i = 0; i < glance->count; i++) {
        glance->rows[i].name = names->at[i];
        add_total(&glance->total, &glance->counts[i]);
    }
}

static void fill_losses(const struct glances *glances, const struct store *store,
                        struct glance *glance)
{
    const struct lost *lost =
        loss_by_name(glance->mem, &glances->names, store, glances->suppressions, glance->time_ns);

    if (!lost)
        return;
    glance->look_ns = store->look->head.when_ns;
    for (size_t i = 0; i < glance->count; i++) {
        glance->rows[i].lost = lost[i];
        loss_add(&glance->lost, &lost[i]);
    }
}

static void fill_changes(struct glances *glances, struct glance *glance)
{
    struct account *before = &glances->before;

    if (before->time > 0) {
        glance->change = change_of_total(before, &glance->total, glance->time);
        for (size_t i = 0; i < glance->count; i++)
            glance->rows[i].change = change_of(before, i, &glance->counts[i], glance->time);
    }
    account_end(before);
    *before = account_keep(glance->time, glance->total, glance->counts, glance->count);
}

struct glance *glance_take(struct glances *glances, struct read_error *trouble)
{
    struct arena *raw = arena_begin(), *mem; /* the whole store is gone when its sums are made */
    struct glance *glance;
    struct store store;

    if (!reader_open(raw, glances->path, &store, trouble)) {
        arena_end(raw);
        return NULL;
    }
    mem = arena_begin();
    glance = arena_alloc(mem, sizeof(*glance));
    *glance = (struct glance){.mem = mem, .path = glances->path};
    set_times(glance);
    fill_identity(&store, glance);
    fill_history(&store, glance);
    names_learn(&glances->names, &store);
    fill_rows(glances, &store, glance);
    fill_losses(glances, &store, glance);
    fill_changes(glances, glance);
    fill_growth(glances, &store, glance);
    store_end(&store);
    arena_end(raw);
    return glance;
}

void glance_end(struct glance *glance)
{
    if (glance)
        arena_end(glance->mem);
}

const char *glance_end_words(const struct glance *glance, char words[GLANCE_WORDS])
{
    switch (glance->how) {
    case END_RUNNING:
        return "running";
    case END_EXIT:
        snprintf(words, GLANCE_WORDS, "exited with status %d", glance->end_value);
        return words;
    case END_SIGNAL:
        snprintf(words, GLANCE_WORDS, "died of signal %d", glance->end_value);
        return words;
    case END_EXEC:
        return "became another program";
    default:
        return "gone";
    }
}
