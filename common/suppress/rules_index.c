/* rules_index.c - finds the rule that suppresses a record among many thousands (rules.h).
 *
 * The search of the tree runs a nondeterministic automaton: from a set of nodes, each frame of the
 * stack leads to a set of other nodes. A node behind "..." stays in the set for the rest of the
 * search. A hash table finds edges without wildcards; edges with wildcards are tried one by one.
 * Hash collisions do no harm, since rules_match_record() checks the rule at the end. */
#include "common/suppress/rules.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hashmap.h"

#define NO_RULE 1 /* value in by_frame: no rule matches the frame; other values are index + 2 */
#define ROOT 1    /* number of the tree's root; nodes are numbered from 1, 0 = none */

struct node {
    const struct rule_frame *edge; /* frame of a rule that leads to this node; NULL = root */
    size_t rule;                   /* 1 + index of the first rule that ends at this node */
    uint32_t globs, next_glob;     /* first child whose edge has a wildcard; next such child of
                                    * this node's parent */
    uint32_t star;                 /* child behind "..."; 0 = none */
    uint64_t seen, kept; /* number of the last step (one frame of one search) that reached this
                          * node; number of the last search in whose sets this node stays because it
                          * is behind "..." */
};

/* The tree nodes to which the frames of the stack so far lead. */
struct set {
    uint32_t *nodes;
    size_t count, capacity;
};

struct rules_index {
    const struct rules *rules;
    size_t *next; /* for each rule, 1 + index of the next rule of the same node or signature */
    struct hashmap by_signature; /* signature -> 1 + index of the first rule with that signature */
    struct hashmap by_name;      /* hash of a name -> 1 + index of the first LeakSanitizer rule that
                                  * equals the name */
    struct hashmap by_frame;     /* frame -> NO_RULE, or 2 + index of the first LeakSanitizer rule
                                  * that matches it */
    size_t *globs;               /* indices of LeakSanitizer rules with wildcards */
    size_t glob_count;

    struct node *nodes;
    size_t node_count, node_capacity;
    struct hashmap edges; /* hash of a node and an edge without wildcards -> child */
    struct set here, there, stars;
    uint64_t step, walk;
    size_t best; /* 1 + index of the first matching rule so far; 0 = none */
};

/* ---- Building the tree of rules with frames -------------------------------------------------- */

static uint64_t edge_key(uint32_t node, int what, uint32_t line, const char *name)
{
    return hash_text(hash_mix(hash_mix(node, (uint64_t)what), line), name, strlen(name));
}

static uint32_t new_node(struct rules_index *index, const struct rule_frame *edge)
{
    index->nodes = array_grow(index->nodes, &index->node_capacity, index->node_count + 2,
                              sizeof(*index->nodes));
    if (!index->node_count) /* node 0 is never used, because 0 stands for "none" */
        index->nodes[index->node_count++] = (struct node){0};
    index->nodes[index->node_count] = (struct node){.edge = edge};
    return (uint32_t)index->node_count++;
}

static bool is_same_edge(const struct rule_frame *a, const struct rule_frame *b)
{
    return a->what == b->what && a->line == b->line && strcmp(a->pattern, b->pattern) == 0;
}

static uint32_t child_of(struct rules_index *index, uint32_t node, const struct rule_frame *edge)
{
    uint32_t child;
    uint64_t *slot;

    if (edge->what == RULE_FRAMES) {
        if (!index->nodes[node].star) {
            child = new_node(index, edge);
            index->nodes[node].star = child;
        }
        return index->nodes[node].star;
    }
    /* The key is made of the pattern as if it were a name. A pattern with wildcards does no harm
     * there, since no real name equals it. */
    slot = hashmap_put(&index->edges, edge_key(node, edge->what, edge->line, edge->pattern), NULL);
    if (*slot && is_same_edge(index->nodes[*slot].edge, edge))
        return (uint32_t)*slot;
    child = new_node(index, edge);
    *slot = child;
    if (strpbrk(edge->pattern, "*?")) {
        index->nodes[child].next_glob = index->nodes[node].globs;
        index->nodes[node].globs = child;
    }
    return child;
}

/* Adds a rule. Called in descending order of i, so that the first rule heads each list. */
static void add_rule(struct rules_index *index, size_t i)
{
    const struct loaded_rule *made = index->rules->made[i];
    uint64_t *slot;
    uint32_t node = ROOT;

    if (made->glob && strchr(made->glob, '*')) {
        index->globs[index->glob_count++] = i;
    } else if (made->glob) {
        *hashmap_put(&index->by_name, hash_text(1, made->glob, strlen(made->glob)), NULL) = i + 1;
    } else if (made->has_signature) {
        slot = hashmap_put(&index->by_signature, made->signature, NULL);
        index->next[i] = *slot;
        *slot = i + 1;
    } else {
        for (size_t k = 0; k < made->frame_count; k++)
            node = child_of(index, node, &made->frames[k]);
        index->next[i] = index->nodes[node].rule;
        index->nodes[node].rule = i + 1;
    }
}

struct rules_index *rules_index_begin(struct arena *mem, const struct rules *rules)
{
    struct rules_index *index = arena_alloc(mem, sizeof(*index));

    index->rules = rules;
    index->next = arena_alloc_array(mem, rules->count, sizeof(*index->next));
    index->globs = arena_alloc_array(mem, rules->count, sizeof(*index->globs));
    new_node(index, NULL);
    for (size_t i = rules->count; i > 0; i--)
        add_rule(index, i - 1);
    return index;
}

void rules_index_end(struct rules_index *index)
{
    hashmap_end(&index->by_signature);
    hashmap_end(&index->by_name);
    hashmap_end(&index->by_frame);
    hashmap_end(&index->edges);
    free(index->nodes);
    free(index->here.nodes);
    free(index->there.nodes);
    free(index->stars.nodes);
}

/* ---- Matching LeakSanitizer rules ------------------------------------------------------------ */

static size_t match_globs(const struct rules_index *index, const struct frame *frame)
{
    const char *const names[] = {frame->function, frame->file, frame->module};
    size_t first = SIZE_MAX;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t found = names[i] && *names[i]
                           ? hashmap_get(&index->by_name, hash_text(1, names[i], strlen(names[i])))
                           : 0;

        if (found && found - 1 < first && rules_match_frame(index->rules->made[found - 1], frame))
            first = found - 1;
    }
    for (size_t i = index->glob_count; i > 0 && index->globs[i - 1] < first; i--)
        if (rules_match_frame(index->rules->made[index->globs[i - 1]], frame))
            first = index->globs[i - 1];
    return first == SIZE_MAX ? NO_RULE : first + 2;
}

static size_t find_frame_rule(struct rules_index *index, const struct record *record)
{
    for (size_t i = 0; i < record->frame_count && verdict_is_leak(record->verdict); i++) {
        bool fresh;
        uint64_t *known = hashmap_put(&index->by_frame, (uintptr_t)record->frames[i], &fresh);

        if (fresh)
            *known = match_globs(index, record->frames[i]);
        if (*known != NO_RULE)
            return *known - 1;
    }
    return 0;
}

/* ---- Matching rules with frames -------------------------------------------------------------- */

static void push_node(struct set *set, uint32_t node)
{
    set->nodes = array_grow(set->nodes, &set->capacity, set->count + 1, sizeof(*set->nodes));
    set->nodes[set->count++] = node;
}

/* Adds a node to the set for the next frame, and also its child behind "...", since "..." may stand
 * for no frame at all. A rule that ends at the node matches. */
static void enter_node(struct rules_index *index, uint32_t at, const struct record *record)
{
    struct node *node = &index->nodes[at];

    if (node->seen == index->step)
        return;
    node->seen = index->step;
    push_node(&index->there, at);
    for (size_t i = node->rule; i && (!index->best || i < index->best); i = index->next[i - 1])
        if (rules_match_record(index->rules->made[i - 1], record))
            index->best = i;
    if (!node->star)
        return;
    if (index->nodes[node->star].kept != index->walk)
        push_node(&index->stars, node->star);
    index->nodes[node->star].kept = index->walk;
    enter_node(index, node->star, record);
}

static void follow_edges(struct rules_index *index, uint32_t at, const struct rule_name *name,
                         const struct record *record)
{
    const uint32_t lines[] = {0, name->line};

    for (size_t i = 0; i < (name->line ? 2 : 1); i++) {
        uint64_t child = hashmap_get(&index->edges, edge_key(at, name->what, lines[i], name->name));

        if (child)
            enter_node(index, (uint32_t)child, record);
    }
    for (uint32_t child = index->nodes[at].globs; child; child = index->nodes[child].next_glob)
        if (rules_match_name(index->nodes[child].edge, name))
            enter_node(index, child, record);
}

static void swap_node_sets(struct rules_index *index)
{
    struct set here = index->here;

    index->here = index->there;
    index->there = here;
    index->there.count = 0;
    index->step++;
}

/* Goes down the tree along the stack, from place `from` on (0 is the allocator), and notes the
 * first rule that matches. */
static void walk_tree(struct rules_index *index, const struct record *record, size_t from)
{
    struct rule_name names[RULE_NAMES_MAX];

    index->walk++;
    index->stars.count = index->there.count = 0;
    index->step++;
    enter_node(index, ROOT, record);
    for (size_t at = from; at <= record->frame_count && index->there.count; at++) {
        size_t count = rules_place_names(record, at, names);

        swap_node_sets(index);
        for (size_t i = 0; i < index->here.count; i++)
            for (size_t k = 0; k < count; k++)
                follow_edges(index, index->here.nodes[i], &names[k], record);
        for (size_t i = 0; i < index->stars.count; i++)
            enter_node(index, index->stars.nodes[i], record);
    }
}

static size_t find_signature_rule(const struct rules_index *index, const struct record *record)
{
    size_t found = hashmap_get(&index->by_signature, record->signature);

    while (found && !rules_match_record(index->rules->made[found - 1], record))
        found = index->next[found - 1];
    return found;
}

struct loaded_rule *rules_index_find(struct rules_index *index, const struct record *record)
{
    size_t found = find_frame_rule(index, record);

    if (!found) {
        index->best = find_signature_rule(index, record);
        if (index->node_count > ROOT + 1 || index->nodes[ROOT].rule) {
            walk_tree(index, record, 0);
            if (rules_may_skip_allocator(record))
                walk_tree(index, record, 1);
        }
        found = index->best;
    }
    return found ? index->rules->made[found - 1] : NULL;
}
