/* graph_types.c - finds the types of blocks, and names of their pointers; described in
 * graph_types.h.
 */
#include "graph/names/graph_types.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "graph/names/leak_check.h"
#include "symbolize/text/text.h"

struct type_fields {
    struct named_field *field;
    size_t count;
};

/* ---- Finding the types of sites -------------------------------------------------------------- */

static struct share share_of_site(const struct heap_graph *graph, uint32_t index)
{
    const struct store_found *found = &graph->store.look->found[index];

    return (struct share){
        .site = index, .found = index, .blocks = found->blocks, .bytes = found->bytes};
}

/* Returns the type that all blocks of several sites have. The stacks of these sites differ only in
 * return addresses, as those of the copies of a loop do. NULL: not all blocks have one type. */
static const struct site_type *find_common(struct types *engine, const struct share *share,
                                           size_t count)
{
    struct record record = {0};
    uint64_t blocks = 0;

    types_fill_record(engine, share, count, &record);
    for (size_t i = 0; i < count; i++)
        blocks += share[i].blocks;
    if (record.type_count != 1 || record.types[0].blocks != blocks)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct site_type *type = types_of_share(engine, &share[i]);

        if (type->type == record.types[0].type)
            return type;
    }
    return NULL;
}

struct copies {
    struct hashmap of; /* signature -> index + 1 of the last site with this signature */
    /* index of a site -> index + 1 of the site before it with the same signature */
    uint32_t *before;
};

static struct copies find_copies(const struct heap_graph *graph,
                                 const struct signatures *signatures)
{
    struct copies copies = {
        .before = array_grow(NULL, &(size_t){0}, (size_t)graph->sites + 1, sizeof(uint32_t))};

    for (uint32_t i = 0; i < graph->sites; i++) {
        uint64_t *last = hashmap_put(
            &copies.of, signatures_of_node(signatures, graph->store.sites[i].node), NULL);

        copies.before[i] = (uint32_t)*last;
        *last = i + 1;
    }
    return copies;
}

static void type_copies(struct graph_types *types, const struct copies *copies, uint32_t last)
{
    struct share *share = NULL;
    size_t room = 0, count = 0;
    const struct site_type *common;
    bool missing = false;

    for (uint32_t i = last; i; i = copies->before[i - 1]) {
        share = array_grow(share, &room, count + 1, sizeof(*share));
        share[count] = share_of_site(types->graph, i - 1);
        types->site[i] = types_of_share(&types->engine, &share[count++]);
        missing |= !types->site[i]->type;
    }
    common = missing && count > 1 ? find_common(&types->engine, share, count) : NULL;
    for (size_t i = 0; common && i < count; i++)
        types->site[share[i].site + 1] = common;
    free(share);
}

struct graph_types graph_types_find(struct heap_graph *graph, struct signatures *signatures,
                                    struct roots *roots)
{
    struct arena *mem = graph->store.mem;
    size_t sites = (size_t)graph->sites + 1;
    struct graph_types types = {.graph = graph,
                                .engine = types_begin(mem, signatures, roots),
                                .site = arena_alloc_array(mem, sites, sizeof(*types.site))};
    struct copies copies = find_copies(graph, signatures);

    for (uint32_t i = graph->sites; i > 0; i--)
        if (!types.site[i])
            type_copies(&types, &copies, i);
    hashmap_end(&copies.of);
    free(copies.before);
    return types;
}

void graph_types_end(struct graph_types *types)
{
    types_end(&types->engine);
    hashmap_end(&types->fields);
    *types = (struct graph_types){0};
}

static const struct site_type *of_site(const struct graph_types *types, uint32_t site)
{
    return types->site && site ? types->site[site] : NULL;
}

const struct block_type *graph_types_site(const struct graph_types *types, uint32_t site)
{
    const struct site_type *of = of_site(types, site);

    return of ? of->type : NULL;
}

bool graph_types_conflict(const struct graph_types *types, uint32_t site)
{
    const struct site_type *of = of_site(types, site);

    return of && !of->type && of->conflict;
}

uint64_t graph_types_key(const struct graph_types *types, uint32_t site)
{
    const struct block_type *type = graph_types_site(types, site);

    return type ? hash_text(hash_mix(type->at, type->layout), type->name, strlen(type->name)) : 0;
}

/* ---- Writing types --------------------------------------------------------------------------- */

const char *graph_type_words(const struct block_type *type, uint64_t block_size,
                             char text[GRAPH_TYPE_SIZE])
{
    char layout[TEXT_LAYOUT_SIZE], name[TYPE_NAME_SIZE];

    *text = 0;
    if (!type)
        return text;
    text_type_layout(&(struct type_sum){.type = type, .block_size = block_size}, layout);
    snprintf(name, sizeof(name), "%s", type->name);
    if (strlen(name) <= CXX_SHORTEN_MAX)
        cxx_shorten_name(name);
    snprintf(text, GRAPH_TYPE_SIZE, "%.190s%.60s", name, layout);
    return text;
}

const char *graph_types_block(const struct graph_types *types, uint32_t block,
                              char text[GRAPH_TYPE_SIZE])
{
    const struct graph_block *of;

    *text = 0;
    if (!types->site)
        return text;
    of = &types->graph->block[block];
    return graph_type_words(graph_types_site(types, of->site), of->size, text);
}

const char *graph_types_all(const struct graph_types *types, uint32_t site,
                            char text[GRAPH_TYPE_SIZE])
{
    const struct site_type *of = of_site(types, site);

    return graph_type_words(of ? of->type : NULL, of ? of->block_size : 0, text);
}

/* ---- Finding the field at an offset ---------------------------------------------------------- */

#define DEPTH_MOST 4 /* most levels of arrays of structures that are nested in one another */

static const struct type_fields *fields_of(struct graph_types *types, struct binary *binary,
                                           struct type_id id)
{
    uint64_t key = hash_mix(hash_mix((uintptr_t)binary, id.unit), id.offset);
    uint64_t *known = hashmap_put(&types->fields, key, NULL);
    struct named_field found[TYPE_FIELDS_MOST];
    struct type_fields *fields;

    if (*known)
        return (const struct type_fields *)(uintptr_t)*known;
    fields = arena_alloc(types->engine.mem, sizeof(*fields));
    *known = (uintptr_t)fields;
    fields->count = types_fields(binary, id, found);
    fields->field = arena_alloc_array(types->engine.mem, fields->count, sizeof(*fields->field));
    if (fields->count)
        memcpy(fields->field, found, fields->count * sizeof(*found));
    return fields;
}

static bool is_at(const struct named_field *field, uint64_t offset)
{
    return *field->name && field->size && offset >= field->offset &&
           (offset - field->offset) / field->size < (field->count ? field->count : UINT64_MAX) &&
           ((offset - field->offset) % field->size == 0 || field->count != 1);
}

/* Returns the field at an offset. If members of a union share the offset, returns the only pointer
 * among them. NULL: there is no such field, or no single pointer. */
static const struct named_field *field_at(const struct type_fields *fields, uint64_t offset)
{
    const struct named_field *found = NULL;
    unsigned others = 0, pointers = 0;

    for (size_t i = 0; i < fields->count; i++) {
        const struct named_field *field = &fields->field[i];

        if (!is_at(field, offset))
            continue;
        others += field->form != FIELD_POINTER;
        pointers += field->form == FIELD_POINTER;
        if (!found || field->form == FIELD_POINTER)
            found = field;
    }
    return pointers == 1 || pointers + others == 1 ? found : NULL;
}

static void append(char text[GRAPH_TYPE_SIZE], const char *word)
{
    size_t used = strlen(text);

    snprintf(text + used, GRAPH_TYPE_SIZE - used, "%s", word);
}

static void append_index(char text[GRAPH_TYPE_SIZE], uint64_t index)
{
    char number[32];

    snprintf(number, sizeof(number), "[%" PRIu64 "]", index);
    append(text, number);
}

/* Appends the name of the field at an offset of a structure, and finds this field. *found is NULL
 * if the type is no structure but a pointer or number. False: the field is unknown. */
static bool append_field(struct graph_types *types, struct binary *binary, struct type_id id,
                         uint64_t offset, int depth, char text[GRAPH_TYPE_SIZE],
                         const struct named_field **found)
{
    const struct type_fields *fields = fields_of(types, binary, id);
    const struct named_field *field = *found = field_at(fields, offset);

    if (!field)
        return !fields->count && !offset && *text;
    append(text, *text ? "." : "");
    append(text, field->name);
    if (field->count == 1)
        return true;
    offset -= field->offset;
    append_index(text, offset / field->size);
    offset %= field->size;
    if (field->form == FIELD_POINTER)
        return !offset;
    return depth > 0 && append_field(types, binary, field->id, offset, depth - 1, text, found);
}

/* Finds the field of the pointer at an offset of a block; NULL: unknown. text: receives its name,
 * or is empty. */
static const struct named_field *find_field(struct graph_types *types, uint32_t block,
                                            uint64_t offset, char text[GRAPH_TYPE_SIZE])
{
    uint32_t site = types->site ? types->graph->block[block].site : 0;
    const struct block_type *type = graph_types_site(types, site);
    const struct named_field *field = NULL;

    *text = 0;
    if (!type || !type->size || offset < type->at)
        return NULL;
    offset -= type->at;
    if (type->layout == TYPE_ARRAY) {
        append_index(text, offset / type->size);
        offset %= type->size;
    }
    if (!append_field(types, types->site[site]->binary, types->site[site]->id, offset, DEPTH_MOST,
                      text, &field))
        *text = 0;
    return *text ? field : NULL;
}

const char *graph_types_field(struct graph_types *types, uint32_t block, uint64_t offset,
                              char text[GRAPH_TYPE_SIZE])
{
    find_field(types, block, offset, text);
    return text;
}

/* ---- Pointers that do not keep their target alive -------------------------------------------- */

/* Says whether a type is the bucket array of a hash table of libstdc++. One of the buckets points
 * into the table object itself, at the place before the first node. */
static bool is_bucket_array(const struct block_type *type)
{
    static const char bucket[] = "std::__detail::_Hash_node_base *";

    return strncmp(type->name, bucket, sizeof(bucket) - 1) == 0;
}

/* Says whether an edge leads to a structure of another type, or not to the start of a structure.
 * Its target is then no node of the container that has the pointer. */
static bool leads_into_container(const struct graph_types *types, uint32_t from, uint32_t edge)
{
    const struct heap_graph *graph = types->graph;

    return heap_graph_edge_offset(graph, edge) != 0 ||
           graph_types_key(types, graph->block[from].site) !=
               graph_types_key(types, graph->block[graph->edge[edge].to].site);
}

bool graph_types_has_weak(struct graph_types *types, uint32_t site)
{
    const struct block_type *type = graph_types_site(types, site);
    const struct type_fields *fields;

    if (!type)
        return false;
    if (is_bucket_array(type))
        return true;
    fields = fields_of(types, types->site[site]->binary, types->site[site]->id);
    for (size_t i = 0; i < fields->count; i++)
        if (fields->field[i].role ||
            (fields->field[i].form == FIELD_BYTES && *fields->field[i].name))
            return true;
    return false;
}

bool graph_types_edge_is_weak(struct graph_types *types, uint32_t from, uint32_t edge)
{
    const struct heap_graph *graph = types->graph;
    const struct block_type *type = graph_types_site(types, graph->block[from].site);
    const struct named_field *field;
    char text[GRAPH_TYPE_SIZE];

    if (!type || graph->edge[edge].at >= GRAPH_AT_MOST)
        return false;
    if (is_bucket_array(type))
        return heap_graph_edge_offset(graph, edge) != 0;
    field = find_field(types, from, 8ull * graph->edge[edge].at, text);
    if (!field || !field->role)
        return false;
    return field->role != POINTER_LINK || leads_into_container(types, from, edge);
}

/* ---- Paths in words of the source ------------------------------------------------------------ */

struct graph_path graph_types_path(struct graph_types *types, struct heap_graph *graph,
                                   uint32_t root, const uint32_t *block, uint32_t count)
{
    struct arena *mem = types->engine.mem;
    struct graph_path made = {.count = count};
    struct path path = {0};
    struct path_step *steps;
    struct leak_held held;

    if (!types->site || graph->root[root].range >= graph->ranges)
        return made;
    path.found = leak_check_asked(graph);
    types_forget_path(&types->engine, path.found);
    path.count = leak_check_set_path(graph, root, block, count);
    path.steps = steps = arena_alloc_array(mem, path.count, sizeof(*steps));
    held = leak_check_root(graph, root);
    path.root = roots_describe_word(types->engine.roots, &held);
    types_name_path(&types->engine, &path);
    made.words = path.words;
    made.named = path.named;
    made.word = arena_alloc_array(mem, count, sizeof(*made.word));
    for (size_t i = 0; i < path.count; i++)
        made.word[i] = steps[i].word && strncmp(steps[i].word, "->", 2) == 0 ? steps[i].word + 2
                                                                             : steps[i].word;
    return made;
}
