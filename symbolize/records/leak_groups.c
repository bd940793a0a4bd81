/* leak_groups.c - groups records with one cause; described in leak_groups.h.
 *
 * Each record gets a key: a hash of its function and callers, or, if no other record has that key,
 * of its line. Records with equal keys form an entry, so its parts share a function. Entries whose
 * owners were freed in the same line are then united.
 */
#include "symbolize/records/leak_groups.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"
#include "symbolize/records/sampling_error.h"
#include "common/base/hashmap.h"

/* The key of a record. Records with an equal key form one entry. */
struct agreement {
    uint64_t key;      /* 0 = the record shares its cause with no other */
    uint64_t function; /* name_hash of the function that the records share */
};

/* Says whether a function is a constructor, like "app::Widget::Widget(int)". */
static bool is_constructor(const char *function)
{
    const char *scope = demangle_scope(function);
    size_t length = demangle_bare_length(scope), word = 0;

    while (word < length && scope[length - 1 - word] != ':')
        word++;
    return word && 2 * word + 2 <= length &&
           memcmp(scope + length - word, scope + length - 2 * word - 2, word) == 0 &&
           (length == 2 * word + 2 || scope[length - 2 * word - 3] == ':');
}

/* Hashes the callers of frames[at]. *users: set to true if one of them is user code. */
static uint64_t callers_hash(const struct record *record, size_t at, bool *users)
{
    uint64_t hash = 3;

    *users = false;
    for (size_t i = at + 1; i < record->frame_count; i++) {
        hash = hash_mix(hash, record->frames[i]->name_hash);
        *users |= record->frames[i]->role == FRAME_USER;
    }
    return hash;
}

static size_t next_user(const struct record *record, size_t at)
{
    while (++at < record->frame_count && record->frames[at]->role != FRAME_USER)
        ;
    return at;
}

static bool is_constructor_at(const struct record *record, size_t at)
{
    return at < record->frame_count && record->frames[at]->function &&
           is_constructor(record->frames[at]->function);
}

static uint64_t verdict_key(const struct record *record)
{
    return (uint64_t)record->verdict << 8 | (record->suppressed_by != NULL);
}

static struct agreement call_agreement(const struct record *record)
{
    size_t outer = next_user(record, record->user);
    size_t at = is_constructor_at(record, outer) ? outer : record->user;
    bool users, constructor = is_constructor_at(record, at);
    uint64_t callers = callers_hash(record, at, &users);
    uint64_t function = record->frames[at]->name_hash;

    /* main is called only once: when it leaks a single block in two places, these are two bugs. */
    if (!constructor && !users && record->blocks < 2)
        return (struct agreement){0};
    return (struct agreement){hash_mix(hash_mix(hash_mix(verdict_key(record), function), callers),
                                       constructor ? 0 : record->blocks),
                              function};
}

/* Hashes the function and its line; without debug information, the address stands for the line. */
static uint64_t frame_place_key(const struct frame *frame)
{
    return hash_mix(frame->name_hash,
                    frame->line ? (uint64_t)frame->line << 32 | frame->column : ~frame->offset);
}

/* Says whether the bug is in the line that allocates. If other blocks of the line are freed, the
 * bug is in a caller. */
static bool has_line(const struct record *record)
{
    return record->frames[record->user]->line && !record->freed.places && !record->freed.blocks;
}

static struct agreement line_agreement(const struct record *record)
{
    uint64_t line = hash_mix(~verdict_key(record), frame_place_key(record->frames[record->user]));

    return (struct agreement){hash_mix(line, record->bytes / (record->blocks ? record->blocks : 1)),
                              record->frames[record->user]->name_hash};
}

/* Hashes the allocating line and the line of its caller; 0 = the stack has no caller. */
static uint64_t two_line_key(const struct record *record)
{
    size_t outer = next_user(record, record->user);

    if (outer == record->frame_count || !record->frames[outer]->line)
        return 0;
    return hash_mix(hash_mix(~verdict_key(record), frame_place_key(record->frames[record->user])),
                    frame_place_key(record->frames[outer]));
}

/* Hashes the line that allocated the owner and the line that freed it; 0 = unknown. */
static uint64_t holder_key(const struct record *record)
{
    const struct orphaned *orphaned = &record->orphaned;
    const struct frame *freed;

    if (!orphaned->blocks || !orphaned->holder)
        return 0;
    freed = orphaned->frames[orphaned->user];
    return hash_mix(hash_mix(hash_mix(~verdict_key(record), frame_place_key(orphaned->holder)),
                             frame_place_key(freed)),
                    1);
}

/* ---- Uniting keys: several keys that mean one entry ------------------------------------------ */

struct unions {
    struct hashmap to;    /* key -> another key that replaces it */
    struct hashmap first; /* property of records -> the first key of a record with it */
};

static uint64_t union_key(const struct unions *unions, uint64_t key)
{
    for (uint64_t next; (next = hashmap_get(&unions->to, key)) != 0;)
        key = next;
    return key;
}

/* Unites this key with all keys of records that have the property `what`. */
static void unite_keys(struct unions *unions, uint64_t key, uint64_t what)
{
    uint64_t *first = hashmap_put(&unions->first, what, NULL), one;

    if (!*first)
        *first = key;
    one = union_key(unions, *first);
    key = union_key(unions, key);
    if (key != one)
        *hashmap_put(&unions->to, key, NULL) = one;
}

static void unite_by_line(const struct record *record, struct agreement *agreement,
                          struct unions *unions)
{
    uint64_t two = two_line_key(record);

    *agreement = line_agreement(record);
    if (two)
        unite_keys(unions, agreement->key, two);
}

static void unite_by_holder(const struct record *record, struct agreement *agreement,
                            struct unions *unions)
{
    uint64_t holder = holder_key(record);

    if (!holder)
        return;
    if (!agreement->key)
        *agreement = (struct agreement){hash_mix(holder, record->signature),
                                        record->frames[record->user]->name_hash};
    unite_keys(unions, agreement->key, holder);
}

static bool may_agree(const struct record *record)
{
    return record->user < record->frame_count && record->verdict != VERDICT_INDIRECT &&
           record->verdict != VERDICT_RUNTIME && !record->owner;
}

/* Says whether the function that would be shared is known by its name. */
static bool has_name(const struct record *record)
{
    return record->frames[record->user]->function != NULL;
}

/* Returns the struct agreement (the key by which records form entries) of each record, by the
 * record's index. */
static struct agreement *find_agreements(const struct process *process)
{
    struct agreement *all = array_grow(NULL, &(size_t){0}, process->record_count, sizeof(*all));
    struct unions unions = {0};
    struct hashmap calls = {0};

    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        all[i] =
            may_agree(record) && has_name(record) ? call_agreement(record) : (struct agreement){0};
        if (all[i].key)
            ++*hashmap_put(&calls, all[i].key, NULL);
    }
    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        if (!may_agree(record))
            continue;
        if (all[i].key && hashmap_get(&calls, all[i].key) < 2)
            all[i] = (struct agreement){0};
        if (!all[i].key && has_line(record))
            unite_by_line(record, &all[i], &unions);
        unite_by_holder(record, &all[i], &unions);
    }
    for (size_t i = 0; i < process->record_count; i++)
        all[i].key = union_key(&unions, all[i].key);
    hashmap_end(&unions.to);
    hashmap_end(&unions.first);
    hashmap_end(&calls);
    return all;
}

/* ---- Making the entries ---------------------------------------------------------------------- */

static void add_part(struct process *process, struct entry *entry, size_t i)
{
    struct record *record = &process->records[i];

    record->lead = entry->count ? entry->parts[0] + 1 : 0;
    entry->parts[entry->count++] = i;
    entry->bytes = add_saturating(entry->bytes, record->bytes);
    entry->blocks = add_saturating(entry->blocks, record->blocks);
    entry->retained.bytes = add_saturating(entry->retained.bytes, record->retained.bytes);
    entry->retained.blocks = add_saturating(entry->retained.blocks, record->retained.blocks);
}

/* Sets the function that all parts of the entry share. Parts that are united because one line freed
 * their owners may share none: 0. */
static void share_function(struct entry *entry, uint64_t function)
{
    if (!entry->count || entry->shared == function)
        entry->shared = function;
    else
        entry->shared = 0;
}

static size_t frame_named(const struct record *record, uint64_t name)
{
    for (size_t i = record->user; i < record->frame_count; i++)
        if (record->frames[i]->name_hash == name)
            return i;
    return record->frame_count;
}

size_t leak_group_shared_frame(const struct entry *entry, const struct record *part)
{
    size_t at = entry->shared ? frame_named(part, entry->shared) : part->user;

    return at < part->frame_count ? at : part->user;
}

static bool sum_has_thread(const struct record *record, uint32_t serial)
{
    for (size_t i = 0; i < record->thread_count; i++)
        if (record->threads[i].serial == serial)
            return true;
    return false;
}

static void add_to_sum(struct record *sum, const struct record *part)
{
    if (record_is_growing(part) &&
        (!record_is_growing(sum) || part->growth->bytes_per_second > sum->growth->bytes_per_second))
        sum->growth = part->growth;
    if (part->first_ns < sum->first_ns)
        sum->first_ns = part->first_ns;
    if (part->last_ns > sum->last_ns)
        sum->last_ns = part->last_ns;
    sum->more_threads |= part->more_threads;
    for (size_t i = 0; i < part->thread_count; i++)
        sum->more_threads |= !sum_has_thread(sum, part->threads[i].serial);
    error_add(&sum->error, &part->error);
}

/* Returns the number of allocations of all parts. Parts with one stack and kind have the same
 * number, which counts once. 0 = the number of one part is unknown. */
static uint64_t sum_allocated(const struct process *process, const struct entry *entry)
{
    struct hashmap counted = {0};
    uint64_t sum = 0;

    for (size_t i = 0; i < entry->count; i++) {
        const struct record *part = &process->records[entry->parts[i]];
        bool fresh;

        if (!part->freed.allocated) {
            sum = 0;
            break;
        }
        hashmap_put(&counted, hash_mix(part->signature, part->kind), &fresh);
        if (fresh)
            sum = add_saturating(sum, part->freed.allocated);
    }
    hashmap_end(&counted);
    return sum;
}

struct record leak_group_sum(const struct process *process, const struct entry *entry)
{
    struct record sum = process->records[entry->parts[0]];

    for (size_t i = 1; i < entry->count; i++)
        add_to_sum(&sum, &process->records[entry->parts[i]]);
    sum.bytes = entry->bytes;
    sum.blocks = entry->blocks;
    sum.retained = entry->retained;
    sum.freed.allocated = sum_allocated(process, entry);
    sum.user = leak_group_shared_frame(entry, &sum);
    return sum;
}

struct sorted {
    struct record sum;
    struct entry entry;
};

static int compare_entries(const void *left, const void *right, void *sort)
{
    return record_compare(&((const struct sorted *)left)->sum, &((const struct sorted *)right)->sum,
                          *(const enum sort_order *)sort);
}

static void sort_entries(struct process *process, enum sort_order sort)
{
    struct sorted *sorted = array_grow(NULL, &(size_t){0}, process->entry_count, sizeof(*sorted));

    for (size_t i = 0; i < process->entry_count; i++)
        sorted[i] =
            (struct sorted){leak_group_sum(process, &process->entries[i]), process->entries[i]};
    if (process->entry_count)
        qsort_r(sorted, process->entry_count, sizeof(*sorted), compare_entries, &sort);
    for (size_t i = 0; i < process->entry_count; i++)
        process->entries[i] = sorted[i].entry;
    free(sorted);
}

void leak_groups_fill(struct arena *mem, enum sort_order sort, struct process *process)
{
    struct agreement *all = find_agreements(process);
    size_t *sizes = array_grow(NULL, &(size_t){0}, process->record_count, sizeof(*sizes));
    struct hashmap by_key = {0};

    process->entries = arena_alloc_array(mem, process->record_count, sizeof(*process->entries));
    process->entry_count = 0;
    for (size_t i = 0; i < process->record_count; i++) {
        uint64_t *slot = all[i].key ? hashmap_put(&by_key, all[i].key, NULL) : &(uint64_t){0};

        if (!*slot) {
            sizes[process->entry_count] = 0;
            *slot = ++process->entry_count;
        }
        sizes[*slot - 1]++;
        /* `lead` holds the index of the entry + 1 until add_part() sets its final value */
        process->records[i].lead = *slot;
    }
    for (size_t i = 0; i < process->entry_count; i++)
        process->entries[i].parts = arena_alloc_array(mem, sizes[i], sizeof(size_t));
    for (size_t i = 0; i < process->record_count; i++) {
        size_t at = process->records[i].lead - 1;

        share_function(&process->entries[at], sizes[at] > 1 ? all[i].function : 0);
        add_part(process, &process->entries[at], i);
    }
    sort_entries(process, sort);
    hashmap_end(&by_key);
    free(sizes);
    free(all);
}

bool leak_groups_check(const struct process *process)
{
    bool good = true;
    size_t parts = 0;

    for (size_t i = 0; i < process->entry_count; i++) {
        const struct entry *entry = &process->entries[i];
        uint64_t bytes = 0, blocks = 0;

        for (size_t k = 0; k < entry->count; k++) {
            const struct record *part = &process->records[entry->parts[k]];

            bytes = add_saturating(bytes, part->bytes);
            blocks = add_saturating(blocks, part->blocks);
            good &= part->verdict == process->records[entry->parts[0]].verdict;
            good &= part->lead == (k ? entry->parts[0] + 1 : 0);
            good &= !entry->shared || frame_named(part, entry->shared) < part->frame_count;
        }
        good &= bytes == entry->bytes && blocks == entry->blocks && entry->count > 0;
        good &=
            entry->count == 1 || entry->shared || process->records[entry->parts[0]].orphaned.blocks;
        parts += entry->count;
    }
    return good && parts == process->record_count;
}
