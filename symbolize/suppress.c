/* suppress.c - see suppress.h.
 *
 * What a rule of LeakSanitizer's says of a frame is asked once: frames are shared by many records.
 */
#include "symbolize/suppress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/map.h"
#include "symbolize/only.h"
#include "symbolize/rules.h"

#define NO_RULE 1 /* in by_frame; else index + 2 */

/* The rules of one text. */
struct set {
    const char *where, *text;
    size_t length;
    bool everywhere, here; /* asked for all processes; for the one it is about */
    struct rules rules;
    struct map by_frame;     /* frame -> the first rule of LeakSanitizer's that names it */
    struct map by_signature; /* signature -> the first block that names it, index + 1 */
    size_t *next;            /* the next one that does, likewise; by index */
    size_t *blocks;          /* indices of the other blocks */
    size_t block_count;
};

struct suppressions {
    struct mem *mem;
    struct set **sets;
    size_t count, capacity;
    struct verdict_total total;
    struct only *only; /* NULL = anything fits */
    struct rule_made left_out;
    uint64_t until_ns;
};

struct suppressions *suppress_begin(void)
{
    struct mem *mem = mem_begin();
    struct suppressions *suppressions = mem_take(mem, sizeof(*suppressions));

    suppressions->mem = mem;
    return suppressions;
}

static void end_set(struct set *set)
{
    map_end(&set->by_frame);
    map_end(&set->by_signature);
}

void suppress_end(struct suppressions *suppressions)
{
    if (!suppressions)
        return;
    for (size_t i = 0; i < suppressions->count; i++)
        end_set(suppressions->sets[i]);
    free(suppressions->sets);
    mem_end(suppressions->mem);
}

/* ---- Texts ---------------------------------------------------------------------------------- */

/* There may be a rule for each of a hundred thousand records: those are found by their signature.
 */
static void index_rules(struct mem *mem, struct set *set)
{
    const struct rules *rules = &set->rules;

    set->next = mem_take_array(mem, rules->count, sizeof(*set->next));
    set->blocks = mem_take_array(mem, rules->count, sizeof(*set->blocks));
    for (size_t i = rules->count; i > 0; i--) { /* so that the first one stands in the map */
        const struct rule_made *made = rules->made[i - 1];
        uint64_t *slot;

        if (!made->has_signature)
            continue;
        slot = map_put(&set->by_signature, made->signature, NULL);
        set->next[i - 1] = *slot;
        *slot = i;
    }
    for (size_t i = 0; i < rules->count; i++)
        if (!rules->made[i]->glob && !rules->made[i]->has_signature)
            set->blocks[set->block_count++] = i;
}

static struct set *add(struct suppressions *suppressions, const char *where, const char *text,
                       size_t length)
{
    struct mem *mem = suppressions->mem;
    struct set *set = mem_take(mem, sizeof(*set));

    set->where = mem_copy(mem, where, strlen(where));
    set->text = mem_copy(mem, text, length);
    set->length = length;
    set->rules = rules_read(mem, set->where, set->text, length);
    index_rules(mem, set);
    suppressions->sets = mem_more(suppressions->sets, &suppressions->capacity,
                                  suppressions->count + 1, sizeof(*suppressions->sets));
    suppressions->sets[suppressions->count++] = set;
    return set;
}

const char *suppress_add(struct suppressions *suppressions, const char *where, const char *text,
                         size_t length)
{
    struct set *set = add(suppressions, where, text, length);

    set->everywhere = true;
    return set->rules.trouble;
}

const char *suppress_add_file(struct suppressions *suppressions, const char *path)
{
    FILE *stream = fopen(path, "re");
    char *text = NULL;
    size_t length = 0, capacity = 0, got;
    const char *trouble;

    if (!stream)
        return mem_format(suppressions->mem, "%s: cannot be read: %s", path, strerror(errno));
    do {
        text = mem_more(text, &capacity, length + 65536, 1);
        length += got = fread(text + length, 1, capacity - length, stream);
    } while (got);
    if (ferror(stream))
        trouble = mem_format(suppressions->mem, "%s: cannot be read: %s", path, strerror(errno));
    else
        trouble = suppress_add(suppressions, path, text, length);
    fclose(stream);
    free(text);
    return trouble;
}

/* Processes of one program bring the same text each. */
static struct set *find(struct suppressions *suppressions, const struct store_suppressions *own)
{
    for (size_t i = 0; i < suppressions->count; i++) {
        struct set *set = suppressions->sets[i];

        if (!set->everywhere && set->length == own->length && strcmp(set->where, own->where) == 0 &&
            memcmp(set->text, own->text, own->length) == 0)
            return set;
    }
    return add(suppressions, own->where, own->text, own->length);
}

const char *suppress_all_but(struct suppressions *suppressions, const char *text)
{
    const char *wrong;
    struct only *only = only_read(suppressions->mem, text, suppressions->only, &wrong);

    if (!only)
        return wrong;
    suppressions->only = only;
    suppressions->left_out.rule = (struct rule){.text = "--only", .where = "the command line"};
    return NULL;
}

void suppress_turn_to(struct suppressions *suppressions, const struct store *store,
                      uint64_t until_ns)
{
    if (!suppressions)
        return;
    suppressions->until_ns = until_ns;
    suppressions->left_out.total = suppressions->total = (struct verdict_total){0};
    for (size_t i = 0; i < suppressions->count; i++) {
        struct set *set = suppressions->sets[i];

        set->here = set->everywhere;
        for (size_t k = 0; k < set->rules.count; k++)
            set->rules.made[k]->total = (struct verdict_total){0};
    }
    for (size_t i = 0; i < store->suppressions_count; i++)
        find(suppressions, &store->suppressions[i])->here = true;
}

const char *suppress_trouble(const struct suppressions *suppressions, size_t i)
{
    for (size_t k = 0; suppressions && k < suppressions->count; k++) {
        const struct set *set = suppressions->sets[k];

        if (set->here && !set->everywhere && set->rules.trouble && i-- == 0)
            return set->rules.trouble;
    }
    return NULL;
}

/* ---- Records -------------------------------------------------------------------------------- */

static uint64_t ask_frame(const struct set *set, const struct frame *frame)
{
    for (size_t i = 0; i < set->rules.count; i++)
        if (rules_match_frame(set->rules.made[i], frame))
            return i + 2;
    return NO_RULE;
}

/* The first one in the text. */
static struct rule_made *find_block(const struct set *set, const struct record *record)
{
    struct rule_made *const *made = set->rules.made;
    size_t named = map_get(&set->by_signature, record->signature);

    while (named && !rules_match_record(made[named - 1], record))
        named = set->next[named - 1];
    for (size_t i = 0; i < set->block_count && (!named || set->blocks[i] < named); i++)
        if (rules_match_record(made[set->blocks[i]], record))
            return made[set->blocks[i]];
    return named ? made[named - 1] : NULL;
}

static struct rule_made *find_rule(struct set *set, const struct record *record)
{
    for (size_t i = 0; i < record->frame_count && rules_is_leak(record->verdict); i++) {
        bool fresh;
        uint64_t *known = map_put(&set->by_frame, (uintptr_t)record->frames[i], &fresh);

        if (fresh)
            *known = ask_frame(set, record->frames[i]);
        if (*known != NO_RULE)
            return set->rules.made[*known - 2];
    }
    return find_block(set, record);
}

static void count(struct verdict_total *total, const struct record *record)
{
    total->bytes = add_saturating(total->bytes, record->bytes);
    total->blocks = add_saturating(total->blocks, record->blocks);
    total->records++;
}

bool suppress_record(struct suppressions *suppressions, struct record *record,
                     const struct record *owner)
{
    struct rule_made *made = owner ? (struct rule_made *)(uintptr_t)owner->suppressed_by : NULL;

    if (!suppressions || record->verdict == VERDICT_RUNTIME)
        return false;
    if (!made && !only_fits(suppressions->only, record, suppressions->until_ns))
        made = &suppressions->left_out;
    for (size_t i = 0; i < suppressions->count && !made; i++)
        if (suppressions->sets[i]->here)
            made = find_rule(suppressions->sets[i], record);
    if (!made)
        return false;
    record->suppressed_by = &made->rule;
    made->used = true;
    count(&made->total, record);
    count(&suppressions->total, record);
    return true;
}

void suppress_tell(struct suppressions *suppressions, struct process *process)
{
    size_t most = 1;

    if (!suppressions)
        return;
    process->suppressed = suppressions->total;
    for (size_t i = 0; i < suppressions->count; i++)
        most += suppressions->sets[i]->here ? suppressions->sets[i]->rules.count : 0;
    if (!process->suppressed.records)
        return;
    process->rules = mem_take_array(suppressions->mem, most, sizeof(*process->rules));
    if (suppressions->left_out.total.records)
        process->rules[process->rule_count++] =
            (struct rule_use){&suppressions->left_out.rule, suppressions->left_out.total};
    for (size_t i = 0; i < suppressions->count; i++) {
        const struct set *set = suppressions->sets[i];

        for (size_t k = 0; set->here && k < set->rules.count; k++)
            if (set->rules.made[k]->total.records)
                process->rules[process->rule_count++] =
                    (struct rule_use){&set->rules.made[k]->rule, set->rules.made[k]->total};
    }
}

void suppress_tell_unused(struct suppressions *suppressions, struct report *report)
{
    size_t most = 0;

    for (size_t i = 0; suppressions && i < suppressions->count; i++)
        most += suppressions->sets[i]->rules.count;
    if (!most)
        return;
    report->unused = mem_take_array(suppressions->mem, most, sizeof(*report->unused));
    report->expired = mem_take_array(suppressions->mem, most, sizeof(*report->expired));
    for (size_t i = 0; i < suppressions->count; i++)
        for (size_t k = 0; k < suppressions->sets[i]->rules.count; k++) {
            const struct rule_made *made = suppressions->sets[i]->rules.made[k];

            if (made->expired)
                report->expired[report->expired_count++] = &made->rule;
            else if (!made->used)
                report->unused[report->unused_count++] = &made->rule;
        }
}
