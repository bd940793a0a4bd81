/* verbs_blocks.c - implements path, refs, out and find, the commands of leakgraph about single
 * blocks.
 */
#include "graph/verbs/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "common/options/command_line.h"
#include "graph/verbs/find_query.h"
#include "graph/analyze/root_paths.h"

#define SIGNATURE_DIGITS 16

/* ---- Finding the block that the user named --------------------------------------------------- */

static bool read_signature(const char *text, uint64_t *signature)
{
    char *end;

    if (strlen(text) != SIGNATURE_DIGITS || strspn(text, "0123456789abcdef") != SIGNATURE_DIGITS)
        return false;
    *signature = strtoull(text, &end, 16);
    return true;
}

/* Returns the largest block of the record with this signature; prefers blocks that are not lost. */
static uint32_t find_record(const struct verb_run *run, uint64_t signature)
{
    const struct heap_graph *graph = run->graph;
    uint32_t best = GRAPH_NONE;

    for (uint32_t i = 0; i < graph->blocks; i++) {
        const struct graph_block *block = &graph->block[i];

        if (graph_names_signature(run->names, block->site) != signature)
            continue;
        if (best == GRAPH_NONE ||
            (graph_block_is_lost(&graph->block[best]) && !graph_block_is_lost(block)) ||
            (graph_block_is_lost(&graph->block[best]) == graph_block_is_lost(block) &&
             block->size > graph->block[best].size))
            best = i;
    }
    return best;
}

/* Returns the block that the argument of the command names. GRAPH_NONE: there is none; a message
 * says why, and *status is set. */
static uint32_t find_operand(const struct verb_run *run, int *status)
{
    const char *word = run->options->operand;
    uint64_t number;
    uint32_t block;

    if (read_signature(word, &number)) {
        block = find_record(run, number);
        if (block == GRAPH_NONE)
            *status = verb_complain(STATUS_NOTHING, "no record has the signature %s", word);
        return block;
    }
    if (!command_line_read_address(word, &number)) {
        *status = verb_complain(STATUS_UNUSABLE,
                                "%s is no address in hex digits, nor the 16 digits of a signature",
                                term_text(word, strlen(word), 0).text);
        return GRAPH_NONE;
    }
    block = heap_graph_find(run->graph, number);
    if (block == GRAPH_NONE)
        *status = verb_complain(STATUS_NOTHING, "no block is at 0x%" PRIx64, number);
    return block;
}

static void tell_block(struct verb_run *run, uint32_t number)
{
    const struct graph_block *block = &run->graph->block[number];
    struct listing *listing = run->listing;

    listing_fact(listing, "address", "Block", CELL_ADDRESS, (union cell){.number = block->address});
    listing_fact(listing, "size", "Size", CELL_BYTES, (union cell){.number = block->size});
    listing_fact(listing, "verdict", "Verdict", CELL_TEXT,
                 (union cell){.text = verb_verdict(block)});
    if (!listing->no_types)
        listing_fact(listing, "type", "Type", CELL_TYPE,
                     (union cell){.text = verb_type(run, number)});
    listing_fact(listing, "site", "From", CELL_TEXT,
                 (union cell){.text = graph_names_site(run->names, block->site)});
    if (block->has_word)
        listing_fact(listing, "first_word", "First word", CELL_ADDRESS,
                     (union cell){.number = block->word});
}

/* ---- The command path ------------------------------------------------------------------------ */

static const struct column path_columns[] = {
    {"offset", "word", CELL_OFFSET},    {"into", "into", CELL_OFFSET},
    {"address", "block", CELL_ADDRESS}, {"size", "size", CELL_BYTES},
    {"field", "field", CELL_TYPE},      {"type", "type", CELL_TYPE},
    {"site", "from", CELL_TEXT}};

#define PATH_COLUMNS (sizeof(path_columns) / sizeof(*path_columns))

/* Writes one step of a path. field: the name of the pointer to the next block; NULL = unknown. */
static void tell_step(struct verb_run *run, uint64_t at, uint64_t into, const char *field,
                      uint32_t number)
{
    const struct graph_block *block = &run->graph->block[number];

    listing_row(run->listing, (union cell[]){{.number = at},
                                             {.number = into ? into : LISTING_NO_OFFSET},
                                             {.number = block->address},
                                             {.number = block->size},
                                             {.text = field},
                                             {.text = verb_type(run, number)},
                                             {.text = graph_names_site(run->names, block->site)}});
}

static void tell_start(struct verb_run *run, uint32_t start)
{
    uint32_t root = heap_graph_root_of(run->graph, start);
    const struct graph_block *block = &run->graph->block[start];

    if (root != GRAPH_NONE) {
        listing_fact(run->listing, "root", "Held by", CELL_TEXT,
                     (union cell){.text = graph_names_root(run->names, root)});
        listing_fact(run->listing, "root_address", "Root word", CELL_ADDRESS,
                     (union cell){.number = run->graph->root[root].address});
        return;
    }
    if (run->listing->is_json)
        listing_fact(run->listing, "root", "", CELL_TEXT, (union cell){.text = NULL});
    else
        listing_sentence(run->listing, NULL,
                         graph_block_is_lost(block)
                             ? "No root leads here: the path begins at a lost block."
                             : "No root word leads here: the program ignores this block, or "
                               "dropped it while it exited.");
}

/* Writes the path as an expression in the words of the source, such as
 * "cache.buckets[12]->next". */
static struct graph_path tell_words(struct verb_run *run, const uint32_t *step, uint32_t count)
{
    uint32_t root = heap_graph_root_of(run->graph, step[0]);
    struct graph_path path = {0};

    if (root == GRAPH_NONE || run->listing->no_types)
        return path;
    path = graph_types_path(&run->names->types, run->graph, root, step, count);
    if (path.words && path.named == count)
        listing_fact(run->listing, "words", "In the source", CELL_TEXT,
                     (union cell){.text = path.words});
    else if (path.words)
        listing_fact(run->listing, "words_begin", "Its path begins with", CELL_TEXT,
                     (union cell){.text = path.words});
    return path;
}

/* One step of a path, as a row of the table that the command path writes. */
struct path_row {
    uint64_t at, into;
    const char *field;
};

static struct path_row row_of(const struct verb_run *run, const struct graph_path *path,
                              const uint32_t *step, uint32_t i)
{
    const struct heap_graph *graph = run->graph;
    uint32_t root = i ? GRAPH_NONE : heap_graph_root_of(graph, step[0]);
    uint32_t edge = i ? root_tree_edge(graph, step[i - 1], step[i]) : GRAPH_NONE;
    struct path_row row = {.at = LISTING_NO_OFFSET};

    if (root != GRAPH_NONE)
        row.into = graph->root[root].offset;
    if (edge == GRAPH_NONE)
        return row;
    row.at = verb_edge_at(&graph->edge[edge]);
    row.into = heap_graph_edge_offset(graph, edge);
    row.field = row.at == LISTING_NO_OFFSET ? NULL : verb_field(run, step[i - 1], row.at);
    if (!row.field && i < path->count && path->word)
        row.field = path->word[i];
    return row;
}

/* Counts the steps directly behind step i that equal it: they lead to blocks of the same site, by
 * the same word. */
static uint32_t count_alike(const struct verb_run *run, const struct graph_path *path,
                            const uint32_t *step, uint32_t i, uint32_t count)
{
    struct path_row row = row_of(run, path, step, i);
    uint32_t alike = 0;

    for (; i + alike + 1 < count; alike++) {
        struct path_row next = row_of(run, path, step, i + alike + 1);

        if (next.at != row.at || next.into != row.into ||
            run->graph->block[step[i + alike + 1]].site != run->graph->block[step[i]].site)
            break;
    }
    return alike;
}

/* if at least so many equal steps follow a step, a path in text leaves out all of them but the
 * last */
#define ALIKE_MOST 3

static void tell_path(struct verb_run *run, const uint32_t *step, uint32_t count)
{
    struct graph_path path = tell_words(run, step, count);

    listing_open_table(run->listing, "path", "Shortest path", path_columns, PATH_COLUMNS);
    for (uint32_t i = 0; i < count; i++) {
        struct path_row row = row_of(run, &path, step, i);
        uint32_t alike;

        tell_step(run, row.at, row.into, row.field, step[i]);
        if (run->listing->is_json)
            continue;
        alike = count_alike(run, &path, step, i, count);
        if (alike < ALIKE_MOST)
            continue;
        fprintf(run->listing->stream, "%12s  %s more like this one\n", "…",
                term_number(alike - 1).text);
        i += alike - 1;
    }
    listing_close_table(run->listing, 0);
}

int verb_path(struct verb_run *run)
{
    int status = STATUS_GOOD;
    uint32_t target = find_operand(run, &status), count, *step;
    struct root_tree tree;

    if (target == GRAPH_NONE)
        return status;
    tree = root_tree_find(run->graph);
    count = tree.distance[target] + 1;
    step = array_grow(NULL, &(size_t){0}, count, sizeof(*step));
    for (uint32_t at = target, i = count; i-- > 0; at = tree.parent[at])
        step[i] = at;
    root_tree_end(&tree);
    tell_block(run, target);
    tell_start(run, step[0]);
    tell_path(run, step, count);
    free(step);
    return STATUS_GOOD;
}

/* ---- The commands refs and out --------------------------------------------------------------- */

static const struct column root_columns[] = {{"address", "root word", CELL_ADDRESS},
                                             {"into", "into", CELL_OFFSET},
                                             {"root", "root", CELL_TEXT}};

static void tell_roots(struct verb_run *run, uint32_t block)
{
    const struct heap_graph *graph = run->graph;
    uint64_t found = 0, most = verb_rows(run, UINT32_MAX);

    listing_open_table(run->listing, "roots", "Roots that point to it", root_columns, 3);
    for (uint32_t i = 0; i < graph->roots; i++) {
        const struct graph_root *root = &graph->root[i];

        if (root->to != block || found++ >= most)
            continue;
        listing_row(run->listing,
                    (union cell[]){{.number = root->address},
                                   {.number = root->offset ? root->offset : LISTING_NO_OFFSET},
                                   {.text = graph_names_root(run->names, i)}});
    }
    listing_close_table(run->listing, found > most ? found - most : 0);
}

static void tell_edge(struct verb_run *run, uint32_t edge, uint32_t from, uint32_t other)
{
    uint64_t at = verb_edge_at(&run->graph->edge[edge]);

    tell_step(run, at, heap_graph_edge_offset(run->graph, edge),
              at == LISTING_NO_OFFSET ? NULL : verb_field(run, from, at), other);
}

/* The pointers of one name in blocks of one site. */
struct ref_kind {
    const char *field, *type, *site;
    uint64_t pointers;
};

struct ref_kinds {
    struct ref_kind *kind;
    struct hashmap of; /* hash of site and field -> index in `kind` + 1 */
    size_t count, room;
};

/* Returns the name for all elements of an array: "[].key" for "[12].key". */
static const char *field_of_all(const struct verb_run *run, const char *field)
{
    size_t digits = strspn(field + 1, "0123456789");

    return *field == '[' && field[1 + digits] == ']'
               ? arena_format(run->names->mem, "[%s", field + 1 + digits)
               : field;
}

static void count_ref(struct verb_run *run, struct ref_kinds *kinds, uint32_t from, uint32_t edge)
{
    uint64_t at = verb_edge_at(&run->graph->edge[edge]), *known;
    uint32_t site = run->graph->block[from].site;
    const char *field = at == LISTING_NO_OFFSET ? NULL : verb_field(run, from, at);

    if (field)
        field = field_of_all(run, field);
    else if (at != LISTING_NO_OFFSET)
        field = arena_format(run->names->mem, "+0x%" PRIx64, at);
    known = hashmap_put(&kinds->of, hash_text(site, field ? field : "", field ? strlen(field) : 0),
                        NULL);
    if (!*known) {
        kinds->kind = array_grow(kinds->kind, &kinds->room, kinds->count + 1, sizeof(*kinds->kind));
        kinds->kind[kinds->count++] = (struct ref_kind){.field = field,
                                                        .type = verb_site_type(run, site),
                                                        .site = graph_names_site(run->names, site)};
        *known = kinds->count;
    }
    kinds->kind[*known - 1].pointers++;
}

static void tell_kinds(struct verb_run *run, struct ref_kinds *kinds)
{
    static const struct column columns[] = {{"pointers", "pointers", CELL_NUMBER},
                                            {"field", "word", CELL_TEXT},
                                            {"type", "of", CELL_TYPE},
                                            {"site", "from", CELL_TEXT}};
    uint64_t *key = array_grow(NULL, &(size_t){0}, kinds->count + 1, sizeof(*key));
    uint64_t shown = verb_rows(run, kinds->count);
    uint32_t *order;

    for (size_t i = 0; i < kinds->count; i++)
        key[i] = kinds->kind[i].pointers;
    order = verb_order(key, (uint32_t)kinds->count, shown);
    listing_open_table(run->listing, "words", "Words that point to it", columns, 4);
    for (uint64_t i = 0; i < shown; i++) {
        const struct ref_kind *kind = &kinds->kind[order[i]];

        listing_row(run->listing, (union cell[]){{.number = kind->pointers},
                                                 {.text = kind->field},
                                                 {.text = kind->type},
                                                 {.text = kind->site}});
    }
    listing_close_table(run->listing, kinds->count - shown);
    free(order);
    free(key);
    free(kinds->kind);
    hashmap_end(&kinds->of);
}

static void count_refs(struct verb_run *run, uint32_t block)
{
    const struct heap_graph *graph = run->graph;
    struct ref_kinds kinds = {0};
    uint32_t last = GRAPH_NONE;

    for (uint32_t k = graph->in_first[block]; k < graph->in_first[block + 1]; k++) {
        uint32_t from = graph->from[k];

        for (uint32_t i = graph->first[from]; from != last && i < graph->first[from + 1]; i++)
            if (graph->edge[i].to == block)
                count_ref(run, &kinds, from, i);
        last = from;
    }
    tell_kinds(run, &kinds);
}

int verb_refs(struct verb_run *run)
{
    struct heap_graph *graph = run->graph;
    int status = STATUS_GOOD;
    uint32_t block = find_operand(run, &status), last = GRAPH_NONE;
    uint64_t found = 0, most = verb_rows(run, UINT32_MAX);

    if (block == GRAPH_NONE)
        return status;
    heap_graph_link(graph);
    tell_block(run, block);
    tell_roots(run, block);
    count_refs(run, block);
    listing_open_table(run->listing, "blocks", "Blocks that point to it", path_columns,
                       PATH_COLUMNS);
    for (uint32_t k = graph->in_first[block]; k < graph->in_first[block + 1]; k++) {
        uint32_t from = graph->from[k];

        for (uint32_t i = graph->first[from]; from != last && i < graph->first[from + 1]; i++)
            if (graph->edge[i].to == block && found++ < most)
                tell_edge(run, i, from, from);
        last = from;
    }
    listing_close_table(run->listing, found > most ? found - most : 0);
    return STATUS_GOOD;
}

int verb_out(struct verb_run *run)
{
    const struct heap_graph *graph = run->graph;
    int status = STATUS_GOOD;
    uint32_t block = find_operand(run, &status);
    uint64_t found = 0, most = verb_rows(run, UINT32_MAX);

    if (block == GRAPH_NONE)
        return status;
    tell_block(run, block);
    listing_open_table(run->listing, "blocks", "Blocks that it points to", path_columns,
                       PATH_COLUMNS);
    for (uint32_t i = graph->first[block]; i < graph->first[block + 1]; i++)
        if (found++ < most)
            tell_edge(run, i, block, graph->edge[i].to);
    listing_close_table(run->listing, found > most ? found - most : 0);
    return STATUS_GOOD;
}

/* ---- The command find ------------------------------------------------------------------------ */

struct find_run {
    struct verb_run *run;
    struct dominators dominators; /* filled in if the condition needs it */
    struct root_tree tree;        /* filled in if the condition needs it */
    struct hashmap texts;         /* cache of comparisons of texts: hash of site, word and operator
                                   * -> 1: it is false, 2: it is true */
};

static uint64_t find_number(void *context, uint32_t number, enum find_field field)
{
    const struct find_run *find = context;
    const struct heap_graph *graph = find->run->graph;
    const struct graph_block *block = &graph->block[number];

    switch (field) {
    case FIND_ADDRESS:
        return block->address;
    case FIND_SIZE:
        return block->size;
    case FIND_RETAINED:
        return find->dominators.bytes[number];
    case FIND_HELD:
        return find->dominators.blocks[number];
    case FIND_REFS:
        return graph->in_first[number + 1] - graph->in_first[number];
    case FIND_POINTERS:
        return graph->first[number + 1] - graph->first[number];
    case FIND_DISTANCE:
        return find->tree.distance[number];
    case FIND_WORD:
        return block->word;
    default:
        return block->thread;
    }
}

static bool matches_text(const char *text, const char *word, bool contains)
{
    return contains ? strstr(text, word) != NULL : strcmp(text, word) == 0;
}

static const char *site_text(const struct verb_run *run, uint32_t site, enum find_field field)
{
    const char *type = field == FIND_TYPE ? verb_site_type(run, site) : NULL;

    if (field == FIND_TYPE)
        return type ? type : "";
    return graph_names_site(run->names, site);
}

static bool find_text(void *context, uint32_t number, enum find_field field, const char *word,
                      bool contains)
{
    struct find_run *find = context;
    const struct graph_block *block = &find->run->graph->block[number];
    uint64_t *known;

    if (field == FIND_VERDICT)
        return matches_text(verb_verdict(block), word, contains);
    known = hashmap_put(
        &find->texts,
        hash_text(hash_mix(block->site, (uint64_t)field * 2 + contains), word, strlen(word)), NULL);
    if (!*known)
        *known = 1 + (field == FIND_STACK
                          ? graph_names_stack_contains(find->run->names, block->site, word)
                          : matches_text(site_text(find->run, block->site, field), word, contains));
    return *known == 2;
}

int verb_find(struct verb_run *run)
{
    static const struct column columns[] = {
        {"address", "block", CELL_ADDRESS},   {"size", "size", CELL_BYTES},
        {"retained", "retained", CELL_BYTES}, {"verdict", "verdict", CELL_TEXT},
        {"type", "type", CELL_TYPE},          {"site", "from", CELL_TEXT}};
    char wrong[FIND_WRONG_SIZE];
    struct find_query *query = find_query_parse(run->options->operand, wrong);
    struct find_run find = {.run = run};
    struct find_source source = {find_number, find_text, &find};
    struct heap_graph *graph = run->graph;
    uint32_t *found = NULL, count = 0, *order;
    uint64_t *key, bytes = 0, shown;
    size_t room = 0;

    if (!query)
        return verb_complain(STATUS_UNUSABLE, "%s", wrong);
    if (run->listing->no_types && find_query_has(query, FIND_TYPE)) {
        find_query_end(query);
        return verb_complain(STATUS_UNUSABLE, "a condition with type does not go with --no-types");
    }
    find.dominators = dominators_find(graph);
    if (find_query_has(query, FIND_DISTANCE))
        find.tree = root_tree_find(graph);
    for (uint32_t i = 0; i < graph->blocks; i++)
        if (find_query_matches(query, &source, i)) {
            found = array_grow(found, &room, (size_t)count + 1, sizeof(*found));
            found[count++] = i;
            bytes += graph->block[i].size;
        }
    key = array_grow(NULL, &(size_t){0}, (size_t)count + 1, sizeof(*key));
    for (uint32_t i = 0; i < count; i++)
        key[i] = find.dominators.bytes[found[i]];
    shown = verb_rows(run, count);
    order = verb_order(key, count, shown);
    listing_fact(run->listing, "blocks", "Blocks", CELL_NUMBER, (union cell){.number = count});
    listing_fact(run->listing, "bytes", "Bytes", CELL_BYTES, (union cell){.number = bytes});
    listing_open_table(run->listing, "found", "By retained size", columns, 6);
    for (uint64_t i = 0; i < shown; i++) {
        const struct graph_block *block = &graph->block[found[order[i]]];

        listing_row(run->listing,
                    (union cell[]){{.number = block->address},
                                   {.number = block->size},
                                   {.number = key[order[i]]},
                                   {.text = verb_verdict(block)},
                                   {.text = verb_type(run, found[order[i]])},
                                   {.text = graph_names_site(run->names, block->site)}});
    }
    listing_close_table(run->listing, count - shown);
    free(order);
    free(key);
    free(found);
    hashmap_end(&find.texts);
    dominators_end(&find.dominators);
    root_tree_end(&find.tree);
    find_query_end(query);
    return STATUS_GOOD;
}
