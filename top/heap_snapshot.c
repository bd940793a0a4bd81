/* heap_snapshot.c - takes snapshots of a recording file; described in heap_snapshot.h. */
#include "top/heap_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/term_text.h"
#include "common/names/names.h"
#include "common/sites/sites.h"
#include "common/store/store.h"
#include "common/store/reader.h"

/* ---- Counting lost blocks -------------------------------------------------------------------- */

/* Counts the lost blocks of each name. If a rule suppresses an owner, it suppresses the indirectly
 * lost blocks, too; so lost blocks are counted before indirectly lost ones. */
struct lost_scan {
    const struct site_names *names;
    const struct store *store;
    struct suppressions *suppressions;
    struct reconciliation reconciliation;
    struct lost_totals *lost; /* index of a name -> its lost blocks */
    bool *suppressed;         /* index of a name -> are its lost blocks suppressed? */
};

static void add_lost_totals(struct lost_totals *sum, const struct lost_totals *one)
{
    sum->bytes = add_saturating(sum->bytes, one->bytes);
    sum->blocks = add_saturating(sum->blocks, one->blocks);
    sum->indirect_bytes = add_saturating(sum->indirect_bytes, one->indirect_bytes);
    sum->indirect_blocks = add_saturating(sum->indirect_blocks, one->indirect_blocks);
}

static bool is_name_suppressed(struct lost_scan *scan, size_t name, enum verdict verdict,
                               uint64_t bytes, uint64_t blocks)
{
    const struct site_name *at = scan->names->at[name];
    struct record record = {.signature = at->signature,
                            .verdict = verdict,
                            .kind = at->kind,
                            .bytes = bytes,
                            .blocks = blocks,
                            .frames = at->stack.frames,
                            .frame_count = at->stack.count,
                            .user = at->user};

    return suppress_record(scan->suppressions, &record, NULL);
}

static bool is_runtime_block(const struct lost_scan *scan, size_t name, uint64_t bytes,
                             uint64_t blocks)
{
    const struct site_name *at = scan->names->at[name];

    return blocks &&
           classify_is_runtime_block(at->stack.frames, at->stack.count, at->user, bytes / blocks);
}

static bool owner_is_suppressed(const struct lost_scan *scan, const struct share *share)
{
    const struct store_leak_check *look = scan->store->look;
    uint32_t owner = look->found[share->found].owner;

    return owner != STORE_NONE && scan->suppressed[site_names_index(
                                      scan->names, &scan->store->sites[look->found[owner].site])];
}

static void add_lost_shares(struct lost_scan *scan, uint32_t site, enum verdict verdict)
{
    struct lost_totals *lost =
        &scan->lost[site_names_index(scan->names, &scan->store->sites[site])];
    const struct share *shares;
    size_t count = reconcile_site(&scan->reconciliation, site, &shares);

    for (size_t i = 0; i < count; i++) {
        const struct share *share = &shares[i];

        if (share->verdict != verdict)
            continue;
        if (verdict == VERDICT_LOST)
            add_lost_totals(lost,
                            &(struct lost_totals){.bytes = share->bytes, .blocks = share->blocks});
        else if (!owner_is_suppressed(scan, share))
            add_lost_totals(lost, &(struct lost_totals){.indirect_bytes = share->bytes,
                                                        .indirect_blocks = share->blocks});
    }
}

static void add_lost_sites(struct lost_scan *scan, enum verdict verdict)
{
    for (uint32_t i = 0; i < scan->store->site_count; i++)
        if (scan->store->sites[i].live_blocks && !scan->store->sites[i].inherited)
            add_lost_shares(scan, i, verdict);
}

/* Sets the totals to 0 for names whose blocks are suppressed, or are kept by the C and C++
 * runtime. */
static void drop_suppressed(struct lost_scan *scan, enum verdict verdict)
{
    for (size_t i = 0; i < scan->names->count; i++) {
        struct lost_totals *lost = &scan->lost[i];
        bool direct = verdict == VERDICT_LOST;
        uint64_t *bytes = direct ? &lost->bytes : &lost->indirect_bytes;
        uint64_t *blocks = direct ? &lost->blocks : &lost->indirect_blocks;
        bool runtime = is_runtime_block(scan, i, *bytes, *blocks);
        bool suppressed =
            *blocks && !runtime && is_name_suppressed(scan, i, verdict, *bytes, *blocks);

        scan->suppressed[i] |= direct && suppressed;
        if (runtime || suppressed)
            *bytes = *blocks = 0;
    }
}

/* Returns the lost blocks, indexed by name, allocated in mem. NULL: there was no leak check. */
static struct lost_totals *lost_totals_by_name(struct arena *mem, const struct site_names *names,
                                               const struct store *store,
                                               struct suppressions *suppressions, uint64_t now_ns)
{
    struct lost_scan scan = {.names = names, .store = store, .suppressions = suppressions};

    if (!store->look || store->look->head.rung == LEAK_RUNG_NONE)
        return NULL;
    scan.reconciliation = reconcile_begin(store);
    scan.lost = arena_alloc_array(mem, names->count, sizeof(*scan.lost));
    scan.suppressed = arena_alloc_array(mem, names->count, sizeof(*scan.suppressed));
    suppress_select_store(suppressions, store, now_ns);
    add_lost_sites(&scan, VERDICT_LOST);
    drop_suppressed(&scan, VERDICT_LOST);
    add_lost_sites(&scan, VERDICT_INDIRECT);
    drop_suppressed(&scan, VERDICT_INDIRECT);
    reconcile_end(&scan.reconciliation);
    return scan.lost;
}

/* ---- Taking a snapshot ----------------------------------------------------------------------- */

struct snapshot_reader snapshot_reader_begin(const char *path, struct resolver *resolver)
{
    struct snapshot_reader reader = {
        .path = path, .names = site_names_begin(resolver), .suppressions = suppress_begin()};

    suppress_add_defaults(reader.suppressions);
    return reader;
}

void snapshot_reader_end(struct snapshot_reader *reader)
{
    site_names_end(&reader->names);
    suppress_end(reader->suppressions);
    counter_baseline_free(&reader->before);
}

static double seconds_of(const struct timespec *time)
{
    return (double)time->tv_sec + (double)time->tv_nsec / 1e9;
}

static void set_times(struct heap_snapshot *snapshot)
{
    struct timespec steady;

    clock_gettime(CLOCK_MONOTONIC, &steady);
    snapshot->time_ns = time_now_ns();
    snapshot->time = seconds_of(&steady);
}

static const char *copy_text(struct arena *mem, const char *text)
{
    return arena_copy(mem, text ? text : "", text ? strlen(text) : 0);
}

static void fill_identity(const struct store *store, struct heap_snapshot *snapshot)
{
    snapshot->exe = copy_text(snapshot->mem, store->exe);
    snapshot->argc = store->argc;
    snapshot->argv = arena_alloc_array(snapshot->mem, store->argc, sizeof(char *));
    for (size_t i = 0; i < store->argc; i++)
        snapshot->argv[i] = copy_text(snapshot->mem, store->argv[i]);
    snapshot->pid = store->header.pid;
    snapshot->owner = store->owner;
    snapshot->how = store_end_how(store);
    snapshot->end_value = store->header.end_value;
    snapshot->started_ns = store->header.started_ns;
    snapshot->sampled = store->header.sample > 1;
    snapshot->limit = store->history.limit;
    snapshot->limit_of = store->history.limit_of;
}

static void fill_history(const struct store *store, struct heap_snapshot *snapshot)
{
    const struct store_history *history = &store->history;

    snapshot->history_count = history->moment_count;
    snapshot->history =
        arena_alloc_array(snapshot->mem, history->moment_count, sizeof(*snapshot->history));
    for (size_t i = 0; i < history->moment_count; i++)
        snapshot->history[i] =
            (struct moment){.time_ns = store_time_of_tick(store, history->moments[i].tick),
                            .bytes = history->moments[i].bytes,
                            .blocks = history->moments[i].blocks};
    if (history->peak.bytes)
        snapshot->peak = (struct moment){.time_ns = store_time_of_tick(store, history->peak.tick),
                                         .bytes = history->peak.bytes,
                                         .blocks = history->peak.blocks};
}

static void add_site_to_row(const struct store *store, const struct store_site *site,
                            struct counters *counts, struct snapshot_row *row)
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

static void add_to_total(struct counters *total, const struct counters *counts)
{
    total->bytes = add_saturating(total->bytes, counts->bytes);
    total->blocks = add_saturating(total->blocks, counts->blocks);
    total->allocs += counts->allocs;
    total->frees += counts->frees;
}

/* Sets the peak to the present size of the heap if that is larger, because libleak records the peak
 * only now and then. */
static void raise_peak(struct snapshot_reader *reader, struct heap_snapshot *snapshot)
{
    struct moment now = {snapshot->time_ns, snapshot->total.bytes, snapshot->total.blocks};

    if (snapshot->peak.bytes > reader->peak.bytes)
        reader->peak = snapshot->peak;
    if (now.bytes > reader->peak.bytes)
        reader->peak = now;
    snapshot->peak = reader->peak;
}

static void fill_growth(const struct snapshot_reader *reader, const struct store *store,
                        struct heap_snapshot *snapshot)
{
    struct arena *mem = snapshot->mem;
    struct growth_series growth_series = growth_series_begin(mem, store, snapshot->time_ns);
    uint32_t *next = arena_alloc_array(mem, store->site_count, sizeof(*next));
    uint32_t *first = arena_alloc_array(mem, snapshot->count, sizeof(*first));
    bool *has = arena_alloc_array(mem, snapshot->count, sizeof(*has));

    for (uint32_t i = 0; i < store->site_count; i++) {
        size_t name = site_names_index(&reader->names, &store->sites[i]);

        next[i] = first[name];
        first[name] = i + 1;
        has[name] |= growth_series_has_site(&growth_series, i);
    }
    for (size_t i = 0; i < snapshot->count; i++) {
        if (has[i])
            snapshot->rows[i].growth =
                growth_series_judge(&growth_series, (struct site_list){first[i], next});
        snapshot->growing +=
            snapshot->rows[i].growth && growth_is_growing(snapshot->rows[i].growth->verdict);
    }
}

static void fill_rows(const struct snapshot_reader *reader, const struct store *store,
                      struct heap_snapshot *snapshot)
{
    const struct site_names *names = &reader->names;

    snapshot->count = names->count;
    snapshot->rows = arena_alloc_array(snapshot->mem, names->count, sizeof(*snapshot->rows));
    snapshot->counts = arena_alloc_array(snapshot->mem, names->count, sizeof(*snapshot->counts));
    for (size_t i = 0; i < store->site_count; i++) {
        size_t name = site_names_index(names, &store->sites[i]);

        add_site_to_row(store, &store->sites[i], &snapshot->counts[name], &snapshot->rows[name]);
    }
    for (size_t i = 0; i < snapshot->count; i++) {
        snapshot->rows[i].name = names->at[i];
        add_to_total(&snapshot->total, &snapshot->counts[i]);
    }
}

static void fill_lost(const struct snapshot_reader *reader, const struct store *store,
                      struct heap_snapshot *snapshot)
{
    const struct lost_totals *lost = lost_totals_by_name(snapshot->mem, &reader->names, store,
                                                         reader->suppressions, snapshot->time_ns);

    if (!lost)
        return;
    snapshot->leak_check_ns = store->look->head.when_ns;
    for (size_t i = 0; i < snapshot->count; i++) {
        snapshot->rows[i].lost = lost[i];
        add_lost_totals(&snapshot->lost, &lost[i]);
    }
}

static void fill_deltas(struct snapshot_reader *reader, struct heap_snapshot *snapshot)
{
    struct counter_baseline *before = &reader->before;

    if (before->time > 0) {
        snapshot->delta = counter_delta_of_total(before, &snapshot->total, snapshot->time);
        for (size_t i = 0; i < snapshot->count; i++)
            snapshot->rows[i].delta =
                counter_delta_of(before, i, &snapshot->counts[i], snapshot->time);
    }
    counter_baseline_free(before);
    *before =
        counter_baseline_copy(snapshot->time, snapshot->total, snapshot->counts, snapshot->count);
}

struct heap_snapshot *heap_snapshot_take(struct snapshot_reader *reader, struct read_error *trouble)
{
    /* raw: holds the whole recording, and is freed when the sums are made */
    struct arena *raw = arena_begin(), *mem;
    struct heap_snapshot *snapshot;
    struct store store;

    if (!reader_open(raw, reader->path, &store, trouble)) {
        arena_end(raw);
        return NULL;
    }
    mem = arena_begin();
    snapshot = arena_alloc(mem, sizeof(*snapshot));
    *snapshot = (struct heap_snapshot){.mem = mem, .path = reader->path};
    set_times(snapshot);
    fill_identity(&store, snapshot);
    fill_history(&store, snapshot);
    site_names_update(&reader->names, &store);
    fill_rows(reader, &store, snapshot);
    raise_peak(reader, snapshot);
    fill_lost(reader, &store, snapshot);
    fill_deltas(reader, snapshot);
    fill_growth(reader, &store, snapshot);
    store_end(&store);
    arena_end(raw);
    return snapshot;
}

void heap_snapshot_free(struct heap_snapshot *snapshot)
{
    if (snapshot)
        arena_end(snapshot->mem);
}

const char *heap_snapshot_end_text(const struct heap_snapshot *snapshot, char text[END_TEXT_SIZE])
{
    switch (snapshot->how) {
    case END_RUNNING:
        return "running";
    case END_EXIT:
        snprintf(text, END_TEXT_SIZE, "exited with status %d", snapshot->end_value);
        return text;
    case END_SIGNAL:
        snprintf(text, END_TEXT_SIZE, "killed by signal %d", snapshot->end_value);
        return text;
    case END_EXEC:
        return "called exec";
    default:
        return "gone";
    }
}
