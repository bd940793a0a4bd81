/* graph_names.c - finds names for sites and root words; described in graph_names.h. */
#include "graph/names/graph_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/names/leak_check.h"

static void merge_sites(struct graph_names *names, struct heap_graph *graph)
{
    uint32_t *first = array_grow(NULL, &(size_t){0}, (size_t)graph->sites + 1, sizeof(*first));
    struct hashmap of = {0};

    first[0] = 0;
    for (uint32_t site = 1; site <= graph->sites; site++) {
        const char *name = graph_names_site(names, site);
        uint64_t key = hash_text(graph_names_signature(names, site), name, strlen(name));
        uint64_t *known =
            hashmap_put(&of, hash_mix(key, graph_types_key(&names->types, site)), NULL);

        *known = *known ? *known : site;
        first[site] = (uint32_t)*known;
    }
    for (uint32_t i = 0; i < graph->blocks; i++)
        graph->block[i].site = first[graph->block[i].site];
    hashmap_end(&of);
    free(first);
}

void graph_names_begin(struct graph_names *names, struct heap_graph *graph, bool types)
{
    static const struct binary_search_path no_other_place;
    struct arena *mem = graph->store.mem;
    *names = (struct graph_names){
        .graph = graph,
        .mem = mem,
        .resolver = resolve_begin(mem, &no_other_place),
        .site = arena_alloc_array(mem, (size_t)graph->sites + 1, sizeof(char *))};

    leak_check_add(graph, types);
    names->signatures = signatures_begin(names->resolver, &graph->store);
    for (uint32_t i = 0; i < graph->sites; i++)
        signatures_request(&names->signatures, graph->store.sites[i].node);
    signatures_resolve(&names->signatures);
    names->roots = roots_begin(mem, &names->signatures);
    if (types)
        names->types = graph_types_find(graph, &names->signatures, &names->roots);
    merge_sites(names, graph);
}

void graph_names_end(struct graph_names *names)
{
    graph_types_end(&names->types);
    signatures_end(&names->signatures);
    resolve_end(names->resolver);
    *names = (struct graph_names){0};
}

static const char *place_words(struct graph_names *names, const struct frame *frame)
{
    char buffer[FRAME_NAME_SIZE];
    const char *name = frame_name(frame, buffer);

    if (frame->file && frame->line)
        return arena_format(names->mem, "%s (%s:%" PRIu32 ")", name, base_name(frame->file),
                            frame->line);
    if (frame->function && frame->module)
        return arena_format(names->mem, "%s (%s)", name, base_name(frame->module));
    return arena_copy(names->mem, name, strlen(name));
}

const char *graph_names_site(struct graph_names *names, uint32_t site)
{
    struct record like;
    struct stack stack;
    const struct frame *frame;

    if (!site || site > names->graph->sites)
        return "an unknown place";
    if (names->site[site])
        return names->site[site];
    stack =
        stack_from_node(names->mem, &names->signatures, names->graph->store.sites[site - 1].node);
    like = record_from_stack(&stack);
    frame = record_title_frame(&like);
    return names->site[site] = frame ? place_words(names, frame) : "an unknown place";
}

uint64_t graph_names_signature(const struct graph_names *names, uint32_t site)
{
    return site && site <= names->graph->sites
               ? signatures_of_node(&names->signatures, names->graph->store.sites[site - 1].node)
               : 0;
}

bool graph_names_stack_contains(struct graph_names *names, uint32_t site, const char *text)
{
    struct stack stack;

    if (!site || site > names->graph->sites)
        return false;
    stack =
        stack_from_node(names->mem, &names->signatures, names->graph->store.sites[site - 1].node);
    for (size_t i = 0; i < stack.count; i++)
        if (stack.frames[i]->function && strstr(stack.frames[i]->function, text))
            return true;
    return false;
}

const char *graph_names_root(struct graph_names *names, uint32_t root)
{
    const struct heap_graph *graph = names->graph;
    const struct root *found;
    struct leak_held held;

    if (graph->root[root].range >= graph->ranges)
        return "an encoded pointer";
    held = leak_check_root(graph, root);
    found = roots_describe_word(&names->roots, &held);
    if (found->variable && found->has_offset && found->offset)
        return arena_format(names->mem, "%s +0x%" PRIx64, found->words, found->offset);
    return found->words;
}
