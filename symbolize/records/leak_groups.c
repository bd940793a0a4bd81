/* leak_groups.c - see leak_groups.h. A record says what it would agree in: first with others of its
 * call, and where there are none with others of its line. Those that say the same are an entry, so
 * all its parts share a function. */
#include "symbolize/records/leak_groups.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/demangle.h"
#include "symbolize/records/sampling_error.h"
#include "common/base/hashmap.h"

/* What records may agree in: equal ones do. */
struct agreement {
    uint64_t key;      /* 0 = in nothing */
    uint64_t function; /* name_hash of the one they share then */
};

/* "app::Widget::Widget(int)" */
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

/* Who called frames[at]; *users says whether that is code of the user's. */
static uint64_t callers_of(const struct record *record, size_t at, bool *users)
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

static uint64_t group_of(const struct record *record)
{
    return (uint64_t)record->verdict << 8 | (record->suppressed_by != NULL);
}

static struct agreement by_call(const struct record *record)
{
    size_t outer = next_user(record, record->user);
    size_t at = is_constructor_at(record, outer) ? outer : record->user;
    bool users, constructor = is_constructor_at(record, at);
    uint64_t callers = callers_of(record, at, &users);
    uint64_t function = record->frames[at]->name_hash;

    /* Of main there is only one call, and all that it forgets once would be one bug. */
    if (!constructor && !users && record->blocks < 2)
        return (struct agreement){0};
    return (struct agreement){hash_mix(hash_mix(hash_mix(group_of(record), function), callers),
                                       constructor ? 0 : record->blocks),
                              function};
}

static uint64_t place_of(const struct frame *frame)
{
    return hash_mix(frame->name_hash, (uint64_t)frame->line << 32 | frame->column);
}

/* Is it the line that forgets? If some are freed, this caller does. */
static bool has_line(const struct record *record)
{
    return record->frames[record->user]->line && !record->freed.places && !record->freed.blocks;
}

static struct agreement by_line(const struct record *record)
{
    uint64_t line = hash_mix(~group_of(record), place_of(record->frames[record->user]));

    return (struct agreement){hash_mix(line, record->bytes / (record->blocks ? record->blocks : 1)),
                              record->frames[record->user]->name_hash};
}

/* The line and its caller's; 0 = there is no caller. */
static uint64_t by_two_lines(const struct record *record)
{
    size_t outer = next_user(record, record->user);

    if (outer == record->frame_count || !record->frames[outer]->line)
        return 0;
    return hash_mix(hash_mix(~group_of(record), place_of(record->frames[record->user])),
                    place_of(record->frames[outer]));
}

/* By whom what held them was freed; 0 = nobody knows. */
static uint64_t by_holder(const struct record *record)
{
    const struct orphaned *orphaned = &record->orphaned;
    const struct frame *freed;

    if (!orphaned->blocks || !orphaned->holder)
        return 0;
    freed = orphaned->frames[orphaned->user];
    return hash_mix(
        hash_mix(hash_mix(~group_of(record), place_of(orphaned->holder)), place_of(freed)), 1);
}

/* ---- Keys that stand for one ---------------------------------------------------------------- */

struct unions {
    struct map to;    /* key -> one that stands for it */
    struct map first; /* what unites -> the key that had it first */
};

static uint64_t key_of(const struct unions *unions, uint64_t key)
{
    for (uint64_t next; (next = hashmap_get(&unions->to, key)) != 0;)
        key = next;
    return key;
}

/* All keys that "what" was said of are one. */
static void unite(struct unions *unions, uint64_t key, uint64_t what)
{
    uint64_t *first = hashmap_put(&unions->first, what, NULL), one;

    if (!*first)
        *first = key;
    one = key_of(unions, *first);
    key = key_of(unions, key);
    if (key != one)
        *hashmap_put(&unions->to, key, NULL) = one;
}

static void agree_by_line(const struct record *record, struct agreement *agreement,
                          struct unions *unions)
{
    uint64_t two = by_two_lines(record);

    *agreement = by_line(record);
    if (two)
        unite(unions, agreement->key, two);
}

static void agree_by_holder(const struct record *record, struct agreement *agreement,
                            struct unions *unions)
{
    uint64_t holder = by_holder(record);

    if (!holder)
        return;
    if (!agreement->key)
        *agreement = (struct agreement){hash_mix(holder, record->signature),
                                        record->frames[record->user]->name_hash};
    unite(unions, agreement->key, holder);
}

static bool may_agree(const struct record *record)
{
    return record->user < record->frame_count && record->frames[record->user]->function &&
           record->verdict != VERDICT_INDIRECT && record->verdict != VERDICT_RUNTIME;
}

/* By record. */
static struct agreement *agree(const struct process *process)
{
    struct agreement *all = array_grow(NULL, &(size_t){0}, process->record_count, sizeof(*all));
    struct unions unions = {0};
    struct map calls = {0};

    for (size_t i = 0; i < process->record_count; i++) {
        all[i] =
            may_agree(&process->records[i]) ? by_call(&process->records[i]) : (struct agreement){0};
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
            agree_by_line(record, &all[i], &unions);
        agree_by_holder(record, &all[i], &unions);
    }
    for (size_t i = 0; i < process->record_count; i++)
        all[i].key = key_of(&unions, all[i].key);
    hashmap_end(&unions.to);
    hashmap_end(&unions.first);
    hashmap_end(&calls);
    return all;
}

/* ---- Entries -------------------------------------------------------------------------------- */

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

/* Parts of one holder may have no function in common. */
static void share(struct entry *entry, uint64_t function)
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

size_t entries_shared(const struct entry *entry, const struct record *part)
{
    size_t at = entry->shared ? frame_named(part, entry->shared) : part->user;

    return at < part->frame_count ? at : part->user;
}

static bool has_thread(const struct record *record, uint32_t serial)
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
        sum->more_threads |= !has_thread(sum, part->threads[i].serial);
    estimate_add_error(&sum->error, &part->error);
}

struct record entries_sum(const struct process *process, const struct entry *entry)
{
    struct record sum = process->records[entry->parts[0]];

    for (size_t i = 1; i < entry->count; i++)
        add_to_sum(&sum, &process->records[entry->parts[i]]);
    sum.bytes = entry->bytes;
    sum.blocks = entry->blocks;
    sum.retained = entry->retained;
    sum.user = entries_shared(entry, &sum);
    return sum;
}

struct sorted {
    struct record sum;
    struct entry entry;
};

static int in_order(const void *left, const void *right, void *sort)
{
    return record_compare(&((const struct sorted *)left)->sum, &((const struct sorted *)right)->sum,
                         *(const enum sort_order *)sort);
}

static void sort_entries(struct process *process, enum sort_order sort)
{
    struct sorted *sorted = array_grow(NULL, &(size_t){0}, process->entry_count, sizeof(*sorted));

    for (size_t i = 0; i < process->entry_count; i++)
        sorted[i] =
            (struct sorted){entries_sum(process, &process->entries[i]), process->entries[i]};
    if (process->entry_count)
        qsort_r(sorted, process->entry_count, sizeof(*sorted), in_order, &sort);
    for (size_t i = 0; i < process->entry_count; i++)
        process->entries[i] = sorted[i].entry;
    free(sorted);
}

void entries_fill(struct mem *mem, enum sort_order sort, struct process *process)
{
    struct agreement *all = agree(process);
    size_t *sizes = array_grow(NULL, &(size_t){0}, process->record_count, sizeof(*sizes));
    struct map by_key = {0};

    process->entries = arena_alloc_array(mem, process->record_count, sizeof(*process->entries));
    process->entry_count = 0;
    for (size_t i = 0; i < process->record_count; i++) {
        uint64_t *slot = all[i].key ? hashmap_put(&by_key, all[i].key, NULL) : &(uint64_t){0};

        if (!*slot) {
            sizes[process->entry_count] = 0;
            *slot = ++process->entry_count;
        }
        sizes[*slot - 1]++;
        process->records[i].lead = *slot; /* until the entries have their room */
    }
    for (size_t i = 0; i < process->entry_count; i++)
        process->entries[i].parts = arena_alloc_array(mem, sizes[i], sizeof(size_t));
    for (size_t i = 0; i < process->record_count; i++) {
        size_t at = process->records[i].lead - 1;

        share(&process->entries[at], sizes[at] > 1 ? all[i].function : 0);
        add_part(process, &process->entries[at], i);
    }
    sort_entries(process, sort);
    hashmap_end(&by_key);
    free(sizes);
    free(all);
}

bool entries_check(const struct process *process)
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
