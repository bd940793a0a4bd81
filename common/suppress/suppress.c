/* suppress.c - collects suppressions from all sources, and suppresses records. */
#include "common/suppress/suppress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/suppress/filters.h"
#include "common/suppress/rules.h"

/* The rules of one file or recording. */
struct set {
    const char *where, *text;
    size_t length;
    bool everywhere, here; /* everywhere: the rules hold for all processes; here: they hold for the
                            * current recording */
    bool known;            /* this is the set of built-in rules */
    struct rules rules;
    struct rules_index *index;
};

/* A scope (--modules, --functions or --threads), and what it excluded. */
struct side {
    bool given; /* set on the command line, which overrides the recorded options */
    struct scope_list list;
    const char *sought; /* the list whose names were last added to suppressions.sought */
    struct loaded_rule left_out;
};

struct suppressions {
    struct arena *mem;
    struct set **sets;
    size_t count, capacity;
    struct verdict_total total;
    struct only_filter *only;   /* conditions of --only; NULL = none */
    struct only_filter *sought; /* names of --only and of scopes; it is an error if no process has
                                 * one of them */
    struct loaded_rule left_out;
    struct side sides[SCOPE_KEYS];
    bool match_given; /* set on the command line, which overrides the recorded options */
    bool any_frame;
    bool selected; /* suppress_select_store() was called */
    uint64_t until_ns;
};

struct suppressions *suppress_begin(void)
{
    struct arena *mem = arena_begin();
    struct suppressions *suppressions = arena_alloc(mem, sizeof(*suppressions));

    suppressions->mem = mem;
    return suppressions;
}

void suppress_end(struct suppressions *suppressions)
{
    if (!suppressions)
        return;
    for (size_t i = 0; i < suppressions->count; i++)
        rules_index_end(suppressions->sets[i]->index);
    free(suppressions->sets);
    arena_end(suppressions->mem);
}

/* ---- Adding rules and options ---------------------------------------------------------------- */

static struct set *add_rule_set(struct suppressions *suppressions, const char *where,
                                const char *text, size_t length)
{
    struct arena *mem = suppressions->mem;
    struct set *set = arena_alloc(mem, sizeof(*set));

    set->where = arena_copy(mem, where, strlen(where));
    set->text = arena_copy(mem, text, length);
    set->length = length;
    set->rules = rules_parse(mem, set->where, set->text, length);
    set->index = rules_index_begin(mem, &set->rules);
    suppressions->sets = array_grow(suppressions->sets, &suppressions->capacity,
                                    suppressions->count + 1, sizeof(*suppressions->sets));
    suppressions->sets[suppressions->count++] = set;
    return set;
}

const char *suppress_add(struct suppressions *suppressions, const char *where, const char *text,
                         size_t length)
{
    struct set *set = add_rule_set(suppressions, where, text, length);

    set->everywhere = true;
    return set->rules.trouble;
}

extern const char default_suppressions[], default_suppressions_end[];

void suppress_print_defaults(FILE *stream)
{
    fwrite(default_suppressions, 1, (size_t)(default_suppressions_end - default_suppressions),
           stream);
}

void suppress_add_defaults(struct suppressions *suppressions)
{
    struct set *set = add_rule_set(suppressions, "built in", default_suppressions,
                                   (size_t)(default_suppressions_end - default_suppressions));

    set->everywhere = set->known = true;
    for (size_t i = 0; i < set->rules.count; i++)
        set->rules.made[i]->rule.built_in = true;
}

const char *suppress_add_file(struct suppressions *suppressions, const char *path)
{
    FILE *stream = fopen(path, "re");
    char *text = NULL;
    size_t length = 0, capacity = 0, got;
    const char *trouble;

    if (!stream)
        return arena_format(suppressions->mem, "%s: cannot be read: %s", path, strerror(errno));
    do {
        text = array_grow(text, &capacity, length + 65536, 1);
        length += got = fread(text + length, 1, capacity - length, stream);
    } while (got);
    if (ferror(stream))
        trouble = arena_format(suppressions->mem, "%s: cannot be read: %s", path, strerror(errno));
    else
        trouble = suppress_add(suppressions, path, text, length);
    fclose(stream);
    free(text);
    return trouble;
}

/* Finds the set of rules of a recording, or makes it from the text of the rules; recordings of one
 * program usually have the same text. */
static struct set *find_store_set(struct suppressions *suppressions,
                                  const struct store_suppressions *own)
{
    for (size_t i = 0; i < suppressions->count; i++) {
        struct set *set = suppressions->sets[i];

        if (!set->everywhere && set->length == own->length && strcmp(set->where, own->where) == 0 &&
            memcmp(set->text, own->text, own->length) == 0)
            return set;
    }
    return add_rule_set(suppressions, own->where, own->text, own->length);
}

const char *suppress_add_only(struct suppressions *suppressions, const char *text)
{
    const char *wrong;
    struct only_filter *only =
        only_filter_parse(suppressions->mem, text, suppressions->only, &wrong);

    if (!only)
        return wrong;
    suppressions->only = only;
    suppressions->left_out.rule = (struct rule){.text = "--only", .where = "the command line"};
    return NULL;
}

struct only_filter *suppress_names_sought(const struct suppressions *suppressions)
{
    return suppressions && only_filter_seeks(suppressions->sought) ? suppressions->sought : NULL;
}

const char *suppress_names_unfound(const struct suppressions *suppressions)
{
    return suppressions && suppressions->selected
               ? only_filter_unfound(suppressions->mem, suppressions->sought)
               : NULL;
}

static void set_scope_rule(struct suppressions *suppressions, enum scope_key key, const char *text,
                           const char *where)
{
    struct side *side = &suppressions->sides[key];

    side->left_out.rule = (struct rule){
        .text = arena_format(suppressions->mem, "%s=%s", scope_option_name[key], text),
        .where = where};
}

const char *suppress_set_scope(struct suppressions *suppressions, enum scope_key key,
                               const char *text)
{
    struct side *side = &suppressions->sides[key];

    if (!scope_list_parse(suppressions->mem, text, &side->list))
        return "it takes a comma list of names, each with + or - in front, or neither";
    side->given = true;
    set_scope_rule(suppressions, key, text, "the command line");
    return NULL;
}

void suppress_set_match_any(struct suppressions *suppressions, bool any)
{
    suppressions->match_given = true;
    suppressions->any_frame = any;
}

/* Adds the names of a scope to those that must occur in a process, unless they were added
 * before. */
static void seek_scope(struct suppressions *suppressions, enum scope_key key)
{
    struct side *side = &suppressions->sides[key];
    const char *text = side->left_out.rule.text;

    if (!side->list.count || (side->sought && strcmp(side->sought, text) == 0))
        return;
    side->sought = text;
    suppressions->sought =
        scope_list_sought(suppressions->mem, &side->list, key, suppressions->sought);
}

/* Takes the scopes from the recorded options, unless the command line set them. */
static void select_store_scopes(struct suppressions *suppressions, const struct store *store)
{
    char text[4096];

    for (enum scope_key key = 0; key < SCOPE_KEYS; key++) {
        struct side *side = &suppressions->sides[key];

        side->left_out.total = (struct verdict_total){0};
        if (side->given)
            continue;
        side->list = (struct scope_list){0};
        if (!store_get_option(store, scope_option_name[key], text, sizeof(text)))
            continue;
        scope_list_parse(suppressions->mem, text, &side->list);
        set_scope_rule(suppressions, key, text, "the options of the process");
    }
    if (!suppressions->match_given)
        suppressions->any_frame = store_get_option(store, "modules_match", text, sizeof(text)) &&
                                  strcmp(text, "any") == 0;
}

void suppress_select_store(struct suppressions *suppressions, const struct store *store,
                           uint64_t until_ns)
{
    if (!suppressions)
        return;
    if (!suppressions->selected)
        suppressions->sought = suppressions->only;
    suppressions->selected = true;
    suppressions->until_ns = until_ns;
    suppressions->left_out.total = suppressions->total = (struct verdict_total){0};
    select_store_scopes(suppressions, store);
    for (enum scope_key key = 0; key < SCOPE_KEYS; key++)
        seek_scope(suppressions, key);
    for (size_t i = 0; i < suppressions->count; i++) {
        struct set *set = suppressions->sets[i];

        set->here = set->everywhere;
        for (size_t k = 0; k < set->rules.count; k++)
            set->rules.made[k]->total = (struct verdict_total){0};
    }
    for (size_t i = 0; i < store->suppressions_count; i++)
        find_store_set(suppressions, &store->suppressions[i])->here = true;
}

const char *suppress_store_error(const struct suppressions *suppressions, size_t i)
{
    for (size_t k = 0; suppressions && k < suppressions->count; k++) {
        const struct set *set = suppressions->sets[k];

        if (set->here && !set->everywhere && set->rules.trouble && i-- == 0)
            return set->rules.trouble;
    }
    return NULL;
}

/* ---- Suppressing records --------------------------------------------------------------------- */

static void add_record_amounts(struct verdict_total *total, const struct record *record)
{
    total->bytes = add_saturating(total->bytes, record->bytes);
    total->blocks = add_saturating(total->blocks, record->blocks);
    total->records++;
}

/* Returns the rule that stands for the first filter (--only or a scope) that excludes the record;
 * NULL: no filter does. */
static struct loaded_rule *filter_excluding(struct suppressions *suppressions,
                                            const struct record *record)
{
    if (!only_filter_matches(suppressions->only, record, suppressions->until_ns))
        return &suppressions->left_out;
    for (enum scope_key key = 0; key < SCOPE_KEYS; key++)
        if (!scope_list_includes(&suppressions->sides[key].list, key, suppressions->any_frame,
                                 record))
            return &suppressions->sides[key].left_out;
    return NULL;
}

bool suppress_record(struct suppressions *suppressions, struct record *record,
                     const struct record *owner)
{
    struct loaded_rule *made = owner ? (struct loaded_rule *)(uintptr_t)owner->suppressed_by : NULL;

    if (!suppressions || record->verdict == VERDICT_RUNTIME)
        return false;
    if (!made)
        made = filter_excluding(suppressions, record);
    for (size_t i = 0; i < suppressions->count && !made; i++)
        if (suppressions->sets[i]->here)
            made = rules_index_find(suppressions->sets[i]->index, record);
    if (!made)
        return false;
    record->suppressed_by = &made->rule;
    made->used = true;
    add_record_amounts(&made->total, record);
    add_record_amounts(&suppressions->total, record);
    return true;
}

static void add_rule_use(const struct loaded_rule *made, struct process *process)
{
    if (made->total.records)
        process->rules[process->rule_count++] = (struct rule_use){&made->rule, made->total};
}

void suppress_fill_totals(struct suppressions *suppressions, struct process *process)
{
    size_t most = 1 + SCOPE_KEYS;

    if (!suppressions)
        return;
    process->suppressed = suppressions->total;
    for (size_t i = 0; i < suppressions->count; i++)
        most += suppressions->sets[i]->here ? suppressions->sets[i]->rules.count : 0;
    if (!process->suppressed.records)
        return;
    process->rules = arena_alloc_array(suppressions->mem, most, sizeof(*process->rules));
    add_rule_use(&suppressions->left_out, process);
    for (enum scope_key key = 0; key < SCOPE_KEYS; key++)
        add_rule_use(&suppressions->sides[key].left_out, process);
    for (size_t i = 0; i < suppressions->count; i++) {
        const struct set *set = suppressions->sets[i];

        for (size_t k = 0; set->here && k < set->rules.count; k++)
            add_rule_use(set->rules.made[k], process);
    }
}

void suppress_fill_unused(struct suppressions *suppressions, struct report *report)
{
    size_t most = 0;

    for (size_t i = 0; suppressions && i < suppressions->count; i++)
        most += suppressions->sets[i]->rules.count;
    if (!most)
        return;
    report->unused = arena_alloc_array(suppressions->mem, most, sizeof(*report->unused));
    report->expired = arena_alloc_array(suppressions->mem, most, sizeof(*report->expired));
    for (size_t i = 0; i < suppressions->count; i++)
        for (size_t k = 0; k < suppressions->sets[i]->rules.count; k++) {
            const struct loaded_rule *made = suppressions->sets[i]->rules.made[k];

            if (made->expired)
                report->expired[report->expired_count++] = &made->rule;
            else if (!made->used && !suppressions->sets[i]->known)
                report->unused[report->unused_count++] = &made->rule;
        }
}
