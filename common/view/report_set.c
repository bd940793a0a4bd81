/* report_set.c - see report_set.h. */
#include "common/view/report_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/model.h"

enum { RANK_ERROR = 0, RANK_VERDICT = 1, RANK_RESOURCE = RANK_VERDICT + VERDICT_MAX };

struct ledger ledger_begin(struct mem *mem, const bool shows[VERDICT_MAX])
{
    struct ledger ledger = {.mem = mem};

    for (int v = 0; v < VERDICT_MAX; v++)
        ledger.shows[v] = shows[v];
    return ledger;
}

void ledger_end(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        tags_end(&ledger->entries[i].tags);
    free(ledger->entries);
    free(ledger->processes);
    hashmap_end(&ledger->by_key);
    hashmap_end(&ledger->by_identity);
    hashmap_end(&ledger->hosts);
    hashmap_end(&ledger->tags);
}

/* ---- Where it was seen ----------------------------------------------------------------------- */

/* The one copy of a name; *fresh: it was made just now. */
static const char *one_name(struct ledger *ledger, struct map *names, const char *name, bool *fresh)
{
    uint64_t *slot = hashmap_put(names, hash_text(1, name, strlen(name)), fresh);

    if (*fresh)
        *slot = (uintptr_t)arena_copy(ledger->mem, name, strlen(name));
    return (const char *)(uintptr_t)*slot;
}

const char *ledger_host(struct ledger *ledger, const char *name)
{
    const char *host;
    bool fresh;

    if (!name)
        return NULL;
    host = one_name(ledger, &ledger->hosts, name, &fresh);
    ledger->host_count += fresh;
    return host;
}

/* What a process is known by; times as reports have them. 0 = nobody knows. */
static uint64_t identity(const struct ledger_process *process)
{
    const char *host = process->host ? process->host : "";

    if (!process->pid || !process->started_ns)
        return 0;
    return hash_mix(hash_text((uint64_t)process->pid, host, strlen(host)),
                    process->started_ns / 1000000);
}

bool ledger_knows(const struct ledger *ledger, const struct ledger_process *process)
{
    uint64_t key = identity(process);

    return key && hashmap_get(&ledger->by_identity, key);
}

bool ledger_begin_process(struct ledger *ledger, const struct ledger_process *process)
{
    uint64_t key = identity(process);
    struct ledger_process *added;

    if (ledger_knows(ledger, process)) {
        ledger->again++;
        return false;
    }
    ledger->processes = array_grow(ledger->processes, &ledger->process_capacity,
                                 ledger->process_count + 1, sizeof(*ledger->processes));
    added = &ledger->processes[ledger->process_count++];
    *added = *process;
    added->host = ledger_host(ledger, process->host);
    added->exe = process->exe ? arena_copy(ledger->mem, process->exe, strlen(process->exe)) : NULL;
    if (key)
        *hashmap_put(&ledger->by_identity, key, NULL) = ledger->process_count;
    return true;
}

static void see_host(struct ledger *ledger, struct seen *seen, const char *host)
{
    const char **grown;

    for (size_t i = seen->host_count; i > 0; i--) /* files of one host follow each other */
        if (seen->hosts[i - 1] == host)
            return;
    if ((seen->host_count & (seen->host_count - 1)) == 0) { /* full: a power of two, or 0 */
        grown = arena_alloc_array(ledger->mem, seen->host_count ? 2 * seen->host_count : 1,
                               sizeof(*grown));
        if (seen->host_count)
            memcpy(grown, seen->hosts, seen->host_count * sizeof(*grown));
        seen->hosts = grown;
    }
    seen->hosts[seen->host_count++] = host;
}

static void see(struct ledger *ledger, struct ledger_entry *sum, const struct seen *seen)
{
    size_t now = ledger->process_count;

    if (seen->processes) {
        sum->record.seen.processes = add_saturating(sum->record.seen.processes, seen->processes);
        for (size_t i = 0; i < seen->host_count; i++)
            see_host(ledger, &sum->record.seen, seen->hosts[i]);
    } else if (now && sum->last_process != now) {
        sum->last_process = now;
        sum->record.seen.processes++;
        if (ledger->processes[now - 1].host)
            see_host(ledger, &sum->record.seen, ledger->processes[now - 1].host);
    }
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* A stack that loses blocks may leave descriptors open as well, under the same signature. */
static uint64_t class_key(uint64_t signature, enum ledger_class class)
{
    return hash_mix(signature, class);
}

static uint64_t key_of(const struct ledger *ledger, const struct ledger_entry *entry)
{
    uint64_t key = class_key(entry->record.signature, entry->class);

    return ledger->apart ? hash_mix(key, (uint64_t)entry->rank << 8 | (entry->record.kind & 0xff))
                         : key;
}

static void add_amounts(struct record *sum, const struct record *record)
{
    sum->bytes = add_saturating(sum->bytes, record->bytes);
    sum->blocks = add_saturating(sum->blocks, record->blocks);
    sum->retained.bytes = add_saturating(sum->retained.bytes, record->retained.bytes);
    sum->retained.blocks = add_saturating(sum->retained.blocks, record->retained.blocks);
    /* As if all were off in the same direction: not more exact than it is. */
    sum->error.bytes = add_saturating(sum->error.bytes, record->error.bytes);
    sum->error.blocks = add_saturating(sum->error.blocks, record->error.blocks);
    sum->error.samples = add_saturating(sum->error.samples, record->error.samples);
    if (record->first_ns && (!sum->first_ns || record->first_ns < sum->first_ns))
        sum->first_ns = record->first_ns;
    if (record->last_ns > sum->last_ns)
        sum->last_ns = record->last_ns;
}

static void add_tags(struct ledger *ledger, struct ledger_entry *sum, const struct record *record)
{
    bool fresh;

    for (size_t i = 0; i < record->tag_count; i++)
        tags_add(&sum->tags, one_name(ledger, &ledger->tags, record->tags[i].name, &fresh),
                 record->tags[i].bytes, record->tags[i].blocks);
    tags_sort(&sum->tags);
    sum->record.tags = sum->tags.sum;
    sum->record.tag_count = sum->tags.count;
}

/* What outlives the process that it comes from. */
static struct record kept(struct ledger *ledger, const struct record *record)
{
    const struct frame **frames = arena_alloc_array(ledger->mem, record->frame_count, sizeof(*frames));

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

/* The worst of what it is gives it its name. */
static void take_name(struct ledger *ledger, struct ledger_entry *sum,
                      const struct ledger_entry *entry)
{
    sum->rank = entry->rank;
    sum->sort = arena_copy(ledger->mem, entry->sort, strlen(entry->sort));
    sum->words = arena_copy(ledger->mem, entry->words, strlen(entry->words));
    sum->record.verdict = entry->record.verdict;
}

static struct ledger_entry *add(struct ledger *ledger, const struct ledger_entry *entry)
{
    uint64_t *slot = hashmap_put(&ledger->by_key, key_of(ledger, entry), NULL);
    struct ledger_entry *sum;

    if (!*slot) {
        ledger->entries = array_grow(ledger->entries, &ledger->capacity, ledger->count + 1,
                                   sizeof(*ledger->entries));
        sum = &ledger->entries[ledger->count++];
        *sum = (struct ledger_entry){
            .record = kept(ledger, &entry->record), .class = entry->class, .unit = entry->unit};
        take_name(ledger, sum, entry);
        *slot = ledger->count;
    }
    sum = &ledger->entries[*slot - 1];
    add_amounts(&sum->record, &entry->record);
    add_tags(ledger, sum, &entry->record);
    see(ledger, sum, &entry->record.seen);
    if (entry->rank < sum->rank)
        take_name(ledger, sum, entry);
    return sum;
}

struct ledger_entry *ledger_add_record(struct ledger *ledger, const struct record *record)
{
    struct ledger_entry entry = {.record = *record,
                                 .class = LEDGER_RECORD,
                                 .sort = verdict_word[record->verdict],
                                 .words = verdict_words[record->verdict],
                                 .rank = RANK_VERDICT + verdict_rank(record->verdict),
                                 .unit = "block"};

    return ledger->shows[record->verdict] ? add(ledger, &entry) : NULL;
}

struct ledger_entry *ledger_add_error(struct ledger *ledger, const struct record *record,
                                      const char *type)
{
    struct ledger_entry entry = {.record = *record,
                                 .class = LEDGER_ERROR,
                                 .sort = type,
                                 .words = type,
                                 .rank = RANK_ERROR,
                                 .unit = "time"};

    return add(ledger, &entry);
}

struct ledger_entry *ledger_add_resource(struct ledger *ledger, const struct record *record,
                                         const char *type)
{
    char words[64];
    struct ledger_entry entry = {.record = *record,
                                 .class = LEDGER_RESOURCE,
                                 .sort = type,
                                 .words = words,
                                 .rank = RANK_RESOURCE,
                                 .unit = "time"};

    snprintf(words, sizeof(words), "left open (%.40s)", type);
    return add(ledger, &entry);
}

/* ---- A process ------------------------------------------------------------------------------- */

static void add_error(struct ledger *ledger, uint64_t signature, const char *type, uint64_t count,
                      uint64_t ns, const struct stack *stack)
{
    struct record record = record_from_stack(stack);

    record.signature = signature;
    record.blocks = count;
    record.first_ns = record.last_ns = ns;
    ledger_add_error(ledger, &record, type);
}

bool ledger_add_process(struct ledger *ledger, const struct process *process)
{
    const struct crash *crash = process->crash;
    struct ledger_process self = {
        process->host,       process->exe,        process->pid,
        process->started_ns, process->sample > 1, process->look ? process->look->milestone : 0};

    if (!ledger_begin_process(ledger, &self))
        return false;
    for (size_t i = 0; i < process->record_count; i++)
        if (ledger->suppressed || !process->records[i].suppressed_by)
            ledger_add_record(ledger, &process->records[i]);
    for (size_t i = 0; i < process->mistake_count; i++) {
        const struct mistake *mistake = &process->mistakes[i];

        add_error(ledger, mistake->signature, bad_free_word[mistake->type], mistake->count,
                  mistake->time_ns, &mistake->released);
    }
    if (crash)
        add_error(ledger, crash->signature, crash_type_name(crash), 1, crash->time_ns, &crash->stack);
    for (size_t i = 0; i < process->resource_count; i++) {
        const struct resource *resource = &process->resources[i];

        if (resource_is_reportable(resource) && (ledger->suppressed || !resource->record.suppressed_by))
            ledger_add_resource(ledger, &resource->record, resource->type);
    }
    return true;
}

struct ledger_entry *ledger_find(const struct ledger *ledger, enum ledger_class class,
                                 uint64_t signature)
{
    uint64_t at = hashmap_get(&ledger->by_key, class_key(signature, class));

    return at ? &ledger->entries[at - 1] : NULL;
}
