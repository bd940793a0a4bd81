/* verbs_cycles.c - implements the command cycles of leakgraph, which lists blocks that hold each
 * other.
 */
#include "graph/verbs/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "graph/analyze/components.h"

#define CYCLE_EDGES 16 /* most edges of a cycle that are written; a longer cycle is cut */

/* The sets of blocks that point to each other in cycles, by the edges that are not ignored. */
struct cycle_search {
    const bool *left_out; /* for each edge, whether it is ignored; NULL: no edge is ignored */
    struct components components;
};

/* Cycles whose blocks have the same sites, and whose pointers are the same words of these
 * blocks. */
struct cycle_kind {
    const char *words;
    uint64_t cycles, blocks, bytes, lost;
    uint64_t example; /* address of a block on one cycle of this kind */
    size_t number;    /* index of this kind before sorting */
};

/* The pointers that are the same word of blocks of one site, within one kind of cycles. */
struct cycle_word {
    size_t kind;
    uint32_t from, at; /* block and word of the first pointer counted here, as an example */
    uint64_t pointers;
};

struct cycle_kinds {
    struct cycle_kind *kind;
    struct hashmap of; /* hash of the words -> index in `kind` + 1 */
    size_t count, room;
    struct cycle_word *word;
    struct hashmap of_word; /* hash of kind, site and word -> index in `word` + 1 */
    size_t words, word_room;
};

/* Writes a block and its pointer on a cycle: "struct list.first" if types are known, else "list_new
 * (list.c:4) +0x8". */
static void write_cycle_step(struct verb_run *run, uint32_t from, uint64_t offset, FILE *text)
{
    const char *field = offset == LISTING_NO_OFFSET ? NULL : verb_field(run, from, offset);
    const char *type = verb_site_type(run, run->graph->block[from].site);

    if (type && field) {
        fprintf(text, "%s%s%s", term_text(type, strlen(type), 0).text, *field == '[' ? "" : ".",
                field);
        return;
    }
    fprintf(text, "%s", type ? type : graph_names_site(run->names, run->graph->block[from].site));
    if (offset != LISTING_NO_OFFSET)
        fprintf(text, " +0x%" PRIx64, offset);
}

/* Returns a description of a cycle: "list_new (list.c:4) +0x8 -> item_new (list.c:9) +0x0 ->". It
 * begins with the block of the lowest site, so that equal cycles have equal descriptions. */
static char *cycle_words(struct verb_run *run, const uint32_t *edge, uint32_t count)
{
    const struct heap_graph *graph = run->graph;
    uint32_t begin = 0, site[CYCLE_EDGES], from[CYCLE_EDGES];
    char *words = NULL;
    size_t length;
    FILE *text = open_memstream(&words, &length);

    for (uint32_t i = 0; i < count; i++) {
        from[(i + 1) % count] = graph->edge[edge[i]].to;
        site[(i + 1) % count] = graph->block[graph->edge[edge[i]].to].site;
    }
    for (uint32_t i = 1; i < count; i++)
        if (site[i] < site[begin] ||
            (site[i] == site[begin] && graph->edge[edge[i]].at < graph->edge[edge[begin]].at))
            begin = i;
    for (uint32_t i = 0; text && i < count; i++) {
        uint32_t at = (begin + i) % count;

        write_cycle_step(run, from[at], verb_edge_at(&graph->edge[edge[at]]), text);
        fputs(i + 1 < count ? " -> " : " -> the first", text);
    }
    if (text)
        fclose(text);
    return words;
}

/* most words that are counted, in all kinds of cycles together, because arrays have many words;
 * further words are not listed */
#define WORDS_MOST 65536

static void count_word(const struct heap_graph *graph, struct cycle_kinds *kinds, size_t kind,
                       uint32_t from, uint32_t edge)
{
    uint32_t at = graph->edge[edge].at;
    uint64_t key = hash_mix(hash_mix(kind, graph->block[from].site), at);
    uint64_t *known = hashmap_put(&kinds->of_word, key, NULL);

    if (!*known && kinds->words < WORDS_MOST) {
        kinds->word =
            array_grow(kinds->word, &kinds->word_room, kinds->words + 1, sizeof(*kinds->word));
        kinds->word[kinds->words++] = (struct cycle_word){kind, from, at, 0};
        *known = kinds->words;
    }
    if (*known)
        kinds->word[*known - 1].pointers++;
}

/* Says whether one of the block's three edges before this one has the same target, as a std::vector
 * has three pointers to one block. */
static bool is_repeated(const struct heap_graph *graph, uint32_t from, uint32_t edge)
{
    for (uint32_t k = edge; k-- > graph->first[from] && k + 4 > edge;)
        if (graph->edge[k].to == graph->edge[edge].to)
            return true;
    return false;
}

/* Counts all pointers between blocks of the set. */
static void count_words(const struct heap_graph *graph, struct cycle_kinds *kinds, size_t kind,
                        const struct cycle_search *search, uint32_t set)
{
    const struct components *components = &search->components;

    for (uint32_t i = components->first[set]; i < components->first[set + 1]; i++) {
        uint32_t from = components->member[i];

        for (uint32_t k = graph->first[from]; k < graph->first[from + 1]; k++)
            if (components->set_of[graph->edge[k].to] == set && graph->edge[k].at < GRAPH_AT_MOST &&
                !(search->left_out && search->left_out[k]) && !is_repeated(graph, from, k))
                count_word(graph, kinds, kind, from, k);
    }
}

static void count_cycle(struct verb_run *run, struct cycle_kinds *kinds,
                        const struct cycle_search *search, uint32_t set)
{
    const struct heap_graph *graph = run->graph;
    const struct components *components = &search->components;
    uint32_t edge[CYCLE_EDGES],
        count = components_cycle(graph, search->left_out, components, set, edge, CYCLE_EDGES);
    char *words = cycle_words(run, edge, count);
    uint64_t *known = hashmap_put(&kinds->of, hash_text(1, words, strlen(words)), NULL);
    struct cycle_kind *kind;

    if (!*known) {
        kinds->kind = array_grow(kinds->kind, &kinds->room, kinds->count + 1, sizeof(*kind));
        kinds->kind[kinds->count] = (struct cycle_kind){
            .words = arena_copy(run->names->mem, words, strlen(words)),
            .example = graph->block[components->member[components->first[set]]].address,
            .number = kinds->count};
        kinds->count++;
        *known = kinds->count;
    }
    free(words);
    count_words(run->graph, kinds, *known - 1, search, set);
    kind = &kinds->kind[*known - 1];
    kind->cycles++;
    for (uint32_t i = components->first[set]; i < components->first[set + 1]; i++) {
        const struct graph_block *block = &graph->block[components->member[i]];

        kind->blocks++;
        kind->bytes += block->size;
        kind->lost += graph_block_is_lost(block);
    }
}

static int by_falling_size(const void *one, const void *other)
{
    const struct cycle_kind *a = one, *b = other;

    return a->bytes != b->bytes ? COMPARE(b->bytes, a->bytes) : COMPARE(a->example, b->example);
}

/* Describes a word of a cycle. All elements of an array are one: "struct entry *[]". */
static char *word_text(struct verb_run *run, const struct cycle_word *word)
{
    char *text = NULL, *to;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    if (!stream)
        return NULL;
    write_cycle_step(run, word->from, 8ull * word->at, stream);
    fclose(stream);
    to = text;
    for (const char *at = text; *at; to++) {
        *to = *at++;
        if (*to == '[')
            at += strspn(at, "0123456789,");
    }
    *to = '\0';
    return text;
}

#define WORDS_SHOWN 12

/* Lists the words that point from block to block in this kind of cycles, at most 12: "struct
 * a.next, struct b.first". */
static const char *kind_words(struct verb_run *run, const struct cycle_kinds *kinds, size_t number)
{
    const char *between = run->listing->is_json ? ", " : "\n                ";
    struct hashmap seen = {0};
    char *all = NULL;
    const char *kept;
    size_t length, shown = 0;
    FILE *stream = open_memstream(&all, &length);

    for (size_t i = 0; stream && i < kinds->words; i++) {
        char *text = kinds->word[i].kind == number ? word_text(run, &kinds->word[i]) : NULL;
        uint64_t *known = text ? hashmap_put(&seen, hash_text(1, text, strlen(text)), NULL) : NULL;

        if (known && !(*known)++ && ++shown <= WORDS_SHOWN)
            fprintf(stream, "%s%s", shown > 1 ? between : "", text);
        free(text);
    }
    hashmap_end(&seen);
    if (!stream)
        return NULL;
    if (shown > WORDS_SHOWN)
        fprintf(stream, "%sand %zu more", between, shown - WORDS_SHOWN);
    fclose(stream);
    kept = arena_copy(run->names->mem, all, strlen(all));
    free(all);
    return kept;
}

static void free_kinds(struct cycle_kinds *kinds)
{
    hashmap_end(&kinds->of);
    hashmap_end(&kinds->of_word);
    free(kinds->word);
    free(kinds->kind);
}

static void list_kinds(struct verb_run *run, struct cycle_kinds *kinds, const char *key,
                       const char *heading)
{
    static const struct column columns[] = {{"bytes", "bytes", CELL_BYTES},
                                            {"blocks", "blocks", CELL_NUMBER},
                                            {"lost_blocks", "lost", CELL_NUMBER},
                                            {"cycles", "cycles", CELL_NUMBER},
                                            {"example", "one is at", CELL_ADDRESS},
                                            {"closed_by", "closed by", CELL_TEXT},
                                            {"words", "", CELL_TEXT}};
    uint64_t shown = verb_rows(run, kinds->count);

    if (kinds->count)
        qsort(kinds->kind, kinds->count, sizeof(*kinds->kind), by_falling_size);
    listing_open_table(run->listing, key, heading, columns, run->listing->is_json ? 7 : 6);
    for (uint64_t i = 0; i < shown; i++) {
        const char *words = kind_words(run, kinds, kinds->kind[i].number);

        listing_row(run->listing, (union cell[]){{.number = kinds->kind[i].bytes},
                                                 {.number = kinds->kind[i].blocks},
                                                 {.number = kinds->kind[i].lost},
                                                 {.number = kinds->kind[i].cycles},
                                                 {.number = kinds->kind[i].example},
                                                 {.text = kinds->kind[i].words},
                                                 {.text = words}});
        if (!run->listing->is_json && words)
            fprintf(run->listing->stream, "%12s  pointers between its blocks:%s%s\n", "",
                    "\n                ", words);
    }
    listing_close_table(run->listing, kinds->count - shown);
}

/* Marks the edges that do not keep their target alive (graph_types_edge_is_weak). NULL: there are
 * none. The caller frees the result. */
static bool *find_weak_edges(struct verb_run *run)
{
    const struct heap_graph *graph = run->graph;
    struct graph_types *types = &run->names->types;
    size_t sites = (size_t)graph->sites + 1, found = 0;
    bool *of_site = array_grow(NULL, &(size_t){0}, sites, sizeof(bool));
    bool *weak = array_grow(NULL, &(size_t){0}, (size_t)graph->edges + 1, sizeof(bool));

    for (uint32_t site = 0; site < sites; site++)
        of_site[site] = graph_types_has_weak(types, site);
    for (uint32_t from = 0; from < graph->blocks; from++)
        for (uint32_t k = graph->first[from]; k < graph->first[from + 1]; k++) {
            weak[k] = of_site[graph->block[from].site] && graph_types_edge_is_weak(types, from, k);
            found += weak[k];
        }
    free(of_site);
    if (found)
        return weak;
    free(weak);
    return NULL;
}

static bool has_member_in(const struct components *components, uint32_t set,
                          const struct components *other)
{
    for (uint32_t i = components->first[set]; i < components->first[set + 1]; i++)
        if (other->set_of[components->member[i]] != GRAPH_NONE)
            return true;
    return false;
}

int verb_cycles(struct verb_run *run)
{
    bool *weak = find_weak_edges(run);
    struct cycle_search search = {weak, components_find(run->graph, weak)}, all = {0};
    struct cycle_kinds kinds = {0}, weak_kinds = {0};

    for (uint32_t set = 0; set < search.components.count; set++)
        count_cycle(run, &kinds, &search, set);
    list_kinds(run, &kinds, "cycles", NULL);
    if (weak)
        all.components = components_find(run->graph, NULL);
    for (uint32_t set = 0; set < all.components.count; set++)
        if (!has_member_in(&all.components, set, &search.components))
            count_cycle(run, &weak_kinds, &all, set);
    if (weak_kinds.count || run->listing->is_json)
        list_kinds(run, &weak_kinds, "weak_cycles",
                   "Cycles only by pointers back inside containers, or by weak pointers:");
    free_kinds(&kinds);
    free_kinds(&weak_kinds);
    free(weak);
    components_end(&search.components);
    components_end(&all.components);
    return STATUS_GOOD;
}
