/* report_set.c - adds records of several reports, summed by class and signature. */
#include "common/view/report_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/model.h"

enum { RANK_ERROR = 0, RANK_VERDICT = 1, RANK_RESOURCE = RANK_VERDICT + VERDICT_MAX };

struct report_set report_set_begin(struct arena *mem, const bool shows[VERDICT_MAX])
{
    struct report_set report_set = {.mem = mem};

    for (int v = 0; v < VERDICT_MAX; v++)
        report_set.shows[v] = shows[v];
    return report_set;
}

void report_set_end(struct report_set *report_set)
{
    for (size_t i = 0; i < report_set->count; i++)
        tag_sums_end(&report_set->entries[i].tags);
    free(report_set->entries);
    free(report_set->processes);
    hashmap_end(&report_set->by_key);
    hashmap_end(&report_set->by_identity);
    hashmap_end(&report_set->hosts);
    hashmap_end(&report_set->tags);
}

/* ---- Processes and hosts --------------------------------------------------------------------- */

/* Returns the set's only copy of a name; *fresh: this call made the copy. */
static const char *unique_name(struct report_set *report_set, struct hashmap *names,
                               const char *name, bool *fresh)
{
    uint64_t *slot = hashmap_put(names, hash_text(1, name, strlen(name)), fresh);

    if (*fresh)
        *slot = (uintptr_t)arena_copy(report_set->mem, name, strlen(name));
    return (const char *)(uintptr_t)*slot;
}

const char *report_set_host_name(struct report_set *report_set, const char *name)
{
    const char *host;
    bool fresh;

    if (!name)
        return NULL;
    host = unique_name(report_set, &report_set->hosts, name, &fresh);
    report_set->host_count += fresh;
    return host;
}

/* The hash of host, pid and start time (in milliseconds, as reports have it); 0 = unknown. */
static uint64_t process_identity(const struct report_set_process *process)
{
    const char *host = process->host ? process->host : "";

    if (!process->pid || !process->started_ns)
        return 0;
    return hash_mix(hash_text((uint64_t)process->pid, host, strlen(host)),
                    process->started_ns / 1000000);
}

bool report_set_has_process(const struct report_set *report_set,
                            const struct report_set_process *process)
{
    uint64_t key = process_identity(process);

    return key && hashmap_get(&report_set->by_identity, key);
}

bool report_set_begin_process(struct report_set *report_set,
                              const struct report_set_process *process)
{
    uint64_t key = process_identity(process);
    struct report_set_process *added;

    if (report_set_has_process(report_set, process)) {
        report_set->again++;
        return false;
    }
    report_set->processes =
        array_grow(report_set->processes, &report_set->process_capacity,
                   report_set->process_count + 1, sizeof(*report_set->processes));
    added = &report_set->processes[report_set->process_count++];
    *added = *process;
    added->host = report_set_host_name(report_set, process->host);
    added->exe = arena_copy_text(report_set->mem, process->exe);
    if (key)
        *hashmap_put(&report_set->by_identity, key, NULL) = report_set->process_count;
    return true;
}

static void add_seen_host(struct report_set *report_set, struct seen *seen, const char *host)
{
    const char **grown;

    for (size_t i = seen->host_count; i > 0; i--) /* begins with the last host, since files of one
                                                   * host are often adjacent */
        if (seen->hosts[i - 1] == host)
            return;
    /* The capacity is 0 or a power of two. If host_count is, too, the array is full. */
    if ((seen->host_count & (seen->host_count - 1)) == 0) {
        grown = arena_alloc_array(report_set->mem, seen->host_count ? 2 * seen->host_count : 1,
                                  sizeof(*grown));
        if (seen->host_count)
            memcpy(grown, seen->hosts, seen->host_count * sizeof(*grown));
        seen->hosts = grown;
    }
    seen->hosts[seen->host_count++] = host;
}

static void add_seen(struct report_set *report_set, struct report_set_entry *sum,
                     const struct seen *seen)
{
    size_t now = report_set->process_count;

    if (seen->processes) {
        sum->record.seen.processes = add_saturating(sum->record.seen.processes, seen->processes);
        for (size_t i = 0; i < seen->host_count; i++)
            add_seen_host(report_set, &sum->record.seen, seen->hosts[i]);
    } else if (now && sum->last_process != now) {
        sum->last_process = now;
        sum->record.seen.processes++;
        if (report_set->processes[now - 1].host)
            add_seen_host(report_set, &sum->record.seen, report_set->processes[now - 1].host);
    }
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* A key of a signature and a class, since one stack may lose blocks and leave descriptors open
 * under the same signature. */
static uint64_t class_key(uint64_t signature, enum report_set_class class)
{
    return hash_mix(signature, class);
}

static uint64_t entry_key(const struct report_set *report_set, const struct report_set_entry *entry)
{
    uint64_t key = class_key(entry->record.signature, entry->class);

    return report_set->apart
               ? hash_mix(key, (uint64_t)entry->rank << 8 | (entry->record.kind & 0xff))
               : key;
}

static void add_amounts(struct record *sum, const struct record *record)
{
    sum->bytes = add_saturating(sum->bytes, record->bytes);
    sum->blocks = add_saturating(sum->blocks, record->blocks);
    sum->retained.bytes = add_saturating(sum->retained.bytes, record->retained.bytes);
    sum->retained.blocks = add_saturating(sum->retained.blocks, record->retained.blocks);
    /* The sum of the errors is an upper bound, as if all had the same sign. */
    sum->error.bytes = add_saturating(sum->error.bytes, record->error.bytes);
    sum->error.blocks = add_saturating(sum->error.blocks, record->error.blocks);
    sum->error.samples = add_saturating(sum->error.samples, record->error.samples);
    if (record->first_ns && (!sum->first_ns || record->first_ns < sum->first_ns))
        sum->first_ns = record->first_ns;
    if (record->last_ns > sum->last_ns)
        sum->last_ns = record->last_ns;
}

static void add_tags(struct report_set *report_set, struct report_set_entry *sum,
                     const struct record *record)
{
    bool fresh;

    for (size_t i = 0; i < record->tag_count; i++)
        tag_sums_add(&sum->tags,
                     unique_name(report_set, &report_set->tags, record->tags[i].name, &fresh),
                     record->tags[i].bytes, record->tags[i].blocks);
    tag_sums_sort(&sum->tags);
    sum->record.tags = sum->tags.sum;
    sum->record.tag_count = sum->tags.count;
}

/* Copies to the set those parts of a record that it needs after the record's process is freed. */
static struct record copy_record(struct report_set *report_set, const struct record *record)
{
    const struct frame **frames =
        arena_alloc_array(report_set->mem, record->frame_count, sizeof(*frames));

    if (record->frame_count)
        memcpy(frames, record->frames, record->frame_count * sizeof(*frames));
    return (struct record){.signature = record->signature,
                           .verdict = record->verdict,
                           .kind = record->kind,
                           .frames = frames,
                           .frame_count = record->frame_count,
                           .user = record->user,
                           .ending = record->ending,
                           .cycle = record->cycle,
                           .tagged = record->tagged};
}

/* Takes over verdict or type of `entry` into `sum`, which is named by the worst of its records. */
static void set_entry_name(struct report_set *report_set, struct report_set_entry *sum,
                           const struct report_set_entry *entry)
{
    sum->rank = entry->rank;
    sum->sort = arena_copy(report_set->mem, entry->sort, strlen(entry->sort));
    sum->words = arena_copy(report_set->mem, entry->words, strlen(entry->words));
    sum->record.verdict = entry->record.verdict;
}

static struct report_set_entry *add_entry(struct report_set *report_set,
                                          const struct report_set_entry *entry)
{
    uint64_t *slot = hashmap_put(&report_set->by_key, entry_key(report_set, entry), NULL);
    struct report_set_entry *sum;

    if (!*slot) {
        report_set->entries = array_grow(report_set->entries, &report_set->capacity,
                                         report_set->count + 1, sizeof(*report_set->entries));
        sum = &report_set->entries[report_set->count++];
        *sum = (struct report_set_entry){.record = copy_record(report_set, &entry->record),
                                         .class = entry->class,
                                         .unit = entry->unit};
        set_entry_name(report_set, sum, entry);
        *slot = report_set->count;
    }
    sum = &report_set->entries[*slot - 1];
    add_amounts(&sum->record, &entry->record);
    add_tags(report_set, sum, &entry->record);
    add_seen(report_set, sum, &entry->record.seen);
    if (entry->rank < sum->rank)
        set_entry_name(report_set, sum, entry);
    return sum;
}

struct report_set_entry *report_set_add_record(struct report_set *report_set,
                                               const struct record *record)
{
    struct report_set_entry entry = {.record = *record,
                                     .class = REPORT_SET_RECORD,
                                     .sort = verdict_word[record->verdict],
                                     .words = verdict_words[record->verdict],
                                     .rank = RANK_VERDICT + verdict_rank(record->verdict),
                                     .unit = "block"};

    return report_set->shows[record->verdict] ? add_entry(report_set, &entry) : NULL;
}

struct report_set_entry *report_set_add_error(struct report_set *report_set,
                                              const struct record *record, const char *type)
{
    struct report_set_entry entry = {.record = *record,
                                     .class = REPORT_SET_ERROR,
                                     .sort = type,
                                     .words = type,
                                     .rank = RANK_ERROR,
                                     .unit = "time"};

    return add_entry(report_set, &entry);
}

struct report_set_entry *report_set_add_resource(struct report_set *report_set,
                                                 const struct record *record, const char *type)
{
    char words[64];
    struct report_set_entry entry = {.record = *record,
                                     .class = REPORT_SET_RESOURCE,
                                     .sort = type,
                                     .words = words,
                                     .rank = RANK_RESOURCE,
                                     .unit = "time"};

    snprintf(words, sizeof(words), "left open (%.40s)", type);
    return add_entry(report_set, &entry);
}

/* ---- Adding whole processes ------------------------------------------------------------------ */

static void add_error(struct report_set *report_set, uint64_t signature, const char *type,
                      uint64_t count, uint64_t ns, const struct stack *stack)
{
    struct record record = record_from_stack(stack);

    record.signature = signature;
    record.blocks = count;
    record.first_ns = record.last_ns = ns;
    report_set_add_error(report_set, &record, type);
}

bool report_set_add_process(struct report_set *report_set, const struct process *process)
{
    const struct crash *crash = process->crash;
    struct report_set_process self = {
        process->host,       process->exe,        process->pid,
        process->started_ns, process->sample > 1, process->look ? process->look->milestone : 0};

    if (!report_set_begin_process(report_set, &self))
        return false;
    for (size_t i = 0; i < process->record_count; i++)
        if (report_set->suppressed || !process->records[i].suppressed_by)
            report_set_add_record(report_set, &process->records[i]);
    for (size_t i = 0; i < process->mistake_count; i++) {
        const struct bad_free *mistake = &process->mistakes[i];

        add_error(report_set, mistake->signature, bad_free_word[mistake->type], mistake->count,
                  mistake->time_ns, &mistake->released);
    }
    if (crash)
        add_error(report_set, crash->signature, crash_type_name(crash), 1, crash->time_ns,
                  &crash->stack);
    for (size_t i = 0; i < process->resource_count; i++) {
        const struct resource *resource = &process->resources[i];

        if (resource_is_reportable(resource) &&
            (report_set->suppressed || !resource->record.suppressed_by))
            report_set_add_resource(report_set, &resource->record, resource->type);
    }
    return true;
}

struct report_set_entry *report_set_find(const struct report_set *report_set,
                                         enum report_set_class class, uint64_t signature)
{
    uint64_t at = hashmap_get(&report_set->by_key, class_key(signature, class));

    return at ? &report_set->entries[at - 1] : NULL;
}
