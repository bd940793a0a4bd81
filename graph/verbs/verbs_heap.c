/* verbs_heap.c - implements summary, retained, dominators, suspects and waste, the commands of
 * leakgraph about the whole heap.
 */
#include "graph/verbs/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "graph/analyze/owner_tree.h"

/* ---- The command summary --------------------------------------------------------------------- */

struct site_sum {
    uint64_t bytes, blocks;
};

static void tell_verdicts(struct verb_run *run)
{
    static const struct column columns[] = {{"verdict", "verdict", CELL_TEXT},
                                            {"blocks", "blocks", CELL_NUMBER},
                                            {"bytes", "bytes", CELL_BYTES},
                                            {"share", "share", CELL_SHARE}};
    struct site_sum sums[16] = {0};

    for (uint32_t i = 0; i < run->graph->blocks; i++) {
        struct site_sum *sum = &sums[run->graph->block[i].verdict];

        sum->blocks++;
        sum->bytes += run->graph->block[i].size;
    }
    listing_open_table(run->listing, "verdicts", "By verdict", columns, 4);
    for (unsigned i = 0; i < LEAK_VERDICT_MAX; i++)
        if (sums[i].blocks)
            listing_row(run->listing,
                        (union cell[]){{.text = verb_verdict_word(i)},
                                       {.number = sums[i].blocks},
                                       {.number = sums[i].bytes},
                                       {.share = verb_share(sums[i].bytes, run->graph->bytes)}});
    listing_close_table(run->listing, 0);
}

static void tell_sites(struct verb_run *run)
{
    static const struct column columns[] = {{"bytes", "bytes", CELL_BYTES},
                                            {"share", "share", CELL_SHARE},
                                            {"blocks", "blocks", CELL_NUMBER},
                                            {"type", "type", CELL_TYPE},
                                            {"site", "from", CELL_TEXT}};
    struct heap_graph *graph = run->graph;
    size_t sites = (size_t)graph->sites + 1;
    uint64_t *bytes = array_grow(NULL, &(size_t){0}, sites, sizeof(*bytes)), used = 0, shown;
    uint64_t *blocks = array_grow(NULL, &(size_t){0}, sites, sizeof(*blocks));
    uint32_t *order;

    memset(bytes, 0, sites * sizeof(*bytes));
    memset(blocks, 0, sites * sizeof(*blocks));
    for (uint32_t i = 0; i < graph->blocks; i++) {
        bytes[graph->block[i].site] += graph->block[i].size;
        used += blocks[graph->block[i].site]++ == 0;
    }
    shown = verb_rows(run, used);
    order = verb_order(bytes, (uint32_t)sites, shown);
    listing_open_table(run->listing, "sites", "By allocation site", columns, 5);
    for (uint64_t i = 0; i < shown; i++)
        if (blocks[order[i]])
            listing_row(run->listing,
                        (union cell[]){{.number = bytes[order[i]]},
                                       {.share = verb_share(bytes[order[i]], graph->bytes)},
                                       {.number = blocks[order[i]]},
                                       {.text = verb_site_type(run, order[i])},
                                       {.text = graph_names_site(run->names, order[i])}});
    listing_close_table(run->listing, used - shown);
    free(order);
    free(blocks);
    free(bytes);
}

int verb_summary(struct verb_run *run)
{
    const struct heap_graph *graph = run->graph;
    struct listing *listing = run->listing;
    char time[TIME_TEXT_SIZE];

    listing_fact(listing, "program", "Program", CELL_TEXT, (union cell){.text = graph->store.exe});
    listing_fact(listing, "pid", "Process", CELL_NUMBER,
                 (union cell){.number = (uint64_t)graph->store.header.pid});
    listing_fact(listing, "time", "Time", CELL_TEXT,
                 (union cell){.text = time_format_iso(graph->when_ns, time)});
    listing_fact(listing, "recording", "Recording", CELL_TEXT,
                 (union cell){.text = *graph->recording ? graph->recording : NULL});
    listing_fact(listing, "blocks", "Blocks", CELL_NUMBER, (union cell){.number = graph->blocks});
    listing_fact(listing, "bytes", "Bytes", CELL_BYTES, (union cell){.number = graph->bytes});
    listing_fact(listing, "pointers", "Pointers between blocks", CELL_NUMBER,
                 (union cell){.number = graph->edges});
    listing_fact(listing, "root_words", "Root words", CELL_NUMBER,
                 (union cell){.number = graph->roots});
    tell_verdicts(run);
    tell_sites(run);
    return STATUS_GOOD;
}

/* ---- The command retained -------------------------------------------------------------------- */

int verb_retained(struct verb_run *run)
{
    static const struct column columns[] = {
        {"address", "block", CELL_ADDRESS},   {"size", "size", CELL_BYTES},
        {"retained", "retained", CELL_BYTES}, {"share", "share", CELL_SHARE},
        {"held", "blocks", CELL_NUMBER},      {"verdict", "verdict", CELL_TEXT},
        {"type", "type", CELL_TYPE},          {"site", "from", CELL_TEXT}};
    struct heap_graph *graph = run->graph;
    struct dominators dominators = dominators_find(graph);
    uint64_t shown = verb_rows(run, graph->blocks);
    uint32_t *order = verb_order(dominators.bytes, graph->blocks, shown);

    listing_open_table(run->listing, "blocks", NULL, columns, 8);
    for (uint64_t i = 0; i < shown; i++) {
        const struct graph_block *block = &graph->block[order[i]];
        uint64_t bytes = dominators.bytes[order[i]];

        listing_row(run->listing,
                    (union cell[]){{.number = block->address},
                                   {.number = block->size},
                                   {.number = bytes},
                                   {.share = verb_share(bytes, graph->bytes)},
                                   {.number = dominators.blocks[order[i]]},
                                   {.text = verb_verdict(block)},
                                   {.text = verb_type(run, order[i])},
                                   {.text = graph_names_site(run->names, block->site)}});
    }
    listing_close_table(run->listing, graph->blocks - shown);
    free(order);
    dominators_end(&dominators);
    return STATUS_GOOD;
}

/* ---- The command dominators ------------------------------------------------------------------ */

#define SHARE_LEAST 0.01 /* share of the heap; below the first level, smaller groups are left out */

struct tree_run {
    struct verb_run *run;
    struct owner_question question;
};

static void tell_below(struct tree_run *tree, const struct owner_groups *groups,
                       const struct owner_group *group, size_t depth);

/* Returns the words between the description of a group and the name of the root that points to the
 * group's largest block. If the group has several blocks, the root may not hold the others. */
static const char *group_held_by(const struct owner_group *group)
{
    return group->blocks > 1 ? ", the largest held by " : ", held by ";
}

/* Returns the name of the root word that points to the group's largest block; NULL: no root word
 * does. */
static const char *group_root(struct verb_run *run, const struct owner_group *group)
{
    uint32_t root = heap_graph_root_of(run->graph, group->largest);

    return root == GRAPH_NONE ? NULL : graph_names_root(run->names, root);
}

static void tell_group_text(struct tree_run *tree, const struct owner_group *group, size_t depth)
{
    struct verb_run *run = tree->run;
    const char *root = depth ? NULL : group_root(run, group);
    const char *site = verb_group_site(run, group->site);
    char share[32], *blocks = verb_blocks(run, group->blocks, group->site);

    snprintf(share, sizeof(share), "%.1f %%", 100 * verb_share(group->bytes, run->graph->bytes));
    fprintf(run->listing->stream, "%12s %8s  %*s%s%s%s", term_size(group->bytes).text, share,
            (int)(2 * depth), "", blocks ? blocks : "", site ? " from " : "",
            site ? term_text(site, strlen(site), 0).text : "");
    free(blocks);
    if (group->lost)
        fputs(", lost", run->listing->stream);
    if (root)
        fprintf(run->listing->stream, "%s%s", group_held_by(group),
                term_text(root, strlen(root), 0).text);
    fputc('\n', run->listing->stream);
}

static void tell_group_json(struct tree_run *tree, const struct owner_group *group, size_t depth)
{
    struct verb_run *run = tree->run;
    struct json_writer *json = &run->listing->json;

    json_put_number(json, "retained", group->bytes);
    json_put_fraction(json, "share", verb_share(group->bytes, run->graph->bytes));
    json_put_number(json, "held", group->held);
    json_put_number(json, "blocks", group->blocks);
    json_put_number(json, "bytes", group->own);
    if (!run->listing->no_types)
        json_put_text(json, "type", verb_site_type(run, group->site));
    json_put_text(json, "site", verb_group_site(run, group->site));
    json_put_bool(json, "lost", group->lost);
    json_put_address(json, "largest", run->graph->block[group->largest].address);
    json_put_text(json, "root", depth ? NULL : group_root(run, group));
}

static void tell_group(struct tree_run *tree, const struct owner_groups *groups,
                       const struct owner_group *group, size_t depth)
{
    struct json_writer *json = &tree->run->listing->json;

    if (!tree->run->listing->is_json) {
        tell_group_text(tree, group, depth);
        tell_below(tree, groups, group, depth + 1);
        return;
    }
    json_open(json, NULL, '{');
    tell_group_json(tree, group, depth);
    json_open(json, "holds", '[');
    tell_below(tree, groups, group, depth + 1);
    json_close(json, ']');
    json_close(json, '}');
}

/* Writes the groups of one level, and those of the levels below. Below the first level, small
 * groups are left out. */
static void tell_groups(struct tree_run *tree, const struct owner_groups *groups, size_t depth)
{
    struct verb_run *run = tree->run;
    uint64_t shown = verb_rows(run, groups->count);

    for (uint64_t i = 0; i < shown; i++)
        if (!depth || verb_share(groups->group[i].bytes, run->graph->bytes) >= SHARE_LEAST)
            tell_group(tree, groups, &groups->group[i], depth);
    if (!depth && groups->count > shown && !run->listing->is_json)
        fprintf(run->listing->stream, "%s more (--top=N shows N)\n",
                term_number(groups->count - shown).text);
}

static void tell_below(struct tree_run *tree, const struct owner_groups *groups,
                       const struct owner_group *group, size_t depth)
{
    struct owner_groups below;

    if (depth >= tree->run->options->depth)
        return;
    below = owner_groups_below(&tree->question, groups, group);
    tell_groups(tree, &below, depth);
    owner_groups_end(&below);
}

int verb_dominators(struct verb_run *run)
{
    struct dominators dominators = dominators_find(run->graph);
    uint32_t *as = verb_sites_as(run);
    struct tree_run tree = {run, {run->graph, &dominators, as}};
    struct owner_groups groups = owner_groups_top(&tree.question);

    if (run->listing->is_json)
        json_open(&run->listing->json, "owners", '[');
    else
        fprintf(run->listing->stream, "%12s %8s  %s\n", "retained", "share",
                "blocks, by what holds them");
    tell_groups(&tree, &groups, 0);
    if (run->listing->is_json)
        json_close(&run->listing->json, ']');
    owner_groups_end(&groups);
    dominators_end(&dominators);
    free(as);
    return STATUS_GOOD;
}

/* ---- The command suspects -------------------------------------------------------------------- */

#define SUSPECT_SHARE 0.1 /* share of the heap that a suspect holds at least */

/* The blocks of one site among those that a group of owners (struct owner_group: blocks of one site)
 * keeps alive. */
struct site_below {
    uint32_t site;
    uint32_t example; /* the largest of these blocks */
    uint64_t blocks, bytes;
};

/* Adds up, by site, a block and all blocks that it dominates. */
static void add_below(const struct heap_graph *graph, const struct dominators *dominators,
                      uint32_t block, struct site_below *of_site)
{
    uint32_t *stack = NULL;
    size_t room = 0, depth = 0;

    for (;;) {
        struct site_below *sum = &of_site[graph->block[block].site];
        uint32_t count;
        const uint32_t *child = dominators_children(dominators, block, &count);

        if (!sum->blocks++ || graph->block[block].size > graph->block[sum->example].size)
            sum->example = block;
        sum->bytes += graph->block[block].size;
        stack = array_grow(stack, &room, depth + count + 1, sizeof(*stack));
        memcpy(stack + depth, child, count * sizeof(*child));
        depth += count;
        if (!depth)
            break;
        block = stack[--depth];
    }
    free(stack);
}

/* Finds the site with most bytes among the blocks that a group holds; it may be the group's own
 * site. */
static struct site_below find_most(const struct owner_question *question,
                                   const struct owner_groups *groups,
                                   const struct owner_group *group)
{
    const struct heap_graph *graph = question->graph;
    const struct dominators *dominators = question->dominators;
    size_t sites = (size_t)graph->sites + 1;
    struct site_below *of_site = array_grow(NULL, &(size_t){0}, sites, sizeof(*of_site));
    struct site_below best = {.site = group->site,
                              .example = group->largest,
                              .blocks = group->blocks,
                              .bytes = group->own};
    struct owner_groups below = owner_groups_below(question, groups, group);

    memset(of_site, 0, sites * sizeof(*of_site));
    for (uint32_t i = 0; i < below.count; i++)
        for (uint32_t k = 0; k < below.group[i].blocks; k++) {
            uint32_t member = below.member[below.group[i].first + k];
            uint32_t above = dominators->idom[member];

            /* a block whose dominator is of the same site was added together with its dominator */
            if (graph->block[above].site != graph->block[member].site)
                add_below(graph, dominators, member, of_site);
        }
    for (uint32_t site = 0; site < sites; site++)
        if (of_site[site].bytes > best.bytes) {
            best = of_site[site];
            best.site = site;
        }
    owner_groups_end(&below);
    free(of_site);
    return best;
}

static void tell_suspect(struct tree_run *tree, const struct owner_groups *groups,
                         const struct owner_group *group)
{
    struct verb_run *run = tree->run;
    struct heap_graph *graph = run->graph;
    struct site_below most = find_most(&tree->question, groups, group);
    const struct graph_block *block = &graph->block[group->largest];
    const char *root = group_root(run, group), *site = graph_names_site(run->names, group->site);
    const char *type = verb_site_type(run, group->site);
    char *blocks = group->blocks > 1 ? verb_blocks(run, group->blocks, group->site) : NULL;
    char *sentence = NULL;
    size_t length;
    FILE *text = open_memstream(&sentence, &length);

    if (!text)
        return;
    fprintf(text, "%s%s from %s%s%s%s %s %.0f %% of the heap (%s)",
            group->blocks == 1 ? "One "
            : blocks           ? blocks
                               : "",
            group->blocks > 1 ? ""
            : type            ? term_text(type, strlen(type), 0).text
                              : "block",
            term_text(site, strlen(site), 0).text, root ? group_held_by(group) : "",
            root ? term_text(root, strlen(root), 0).text : "", root && group->blocks > 1 ? "," : "",
            group->blocks == 1 ? "holds" : "hold", 100 * verb_share(group->bytes, graph->bytes),
            term_size(group->bytes).text);
    if (most.site != group->site) {
        const char *inner = graph_names_site(run->names, most.site);
        char *words = verb_blocks(run, most.blocks, most.site);

        fprintf(text, ", most of it %s from %s (%s)", words ? words : "",
                term_text(inner, strlen(inner), 0).text, term_size(most.bytes).text);
        free(words);
    }
    if (graph_block_is_lost(block))
        fputs("; nothing points to it any more: it is lost", text);
    fputs(".", text);
    fclose(text);
    free(blocks);
    if (!run->listing->is_json) {
        fprintf(run->listing->stream, "%s\n  leakgraph %s path 0x%" PRIx64 "\n", sentence,
                term_shell_word(run->options->file).text,
                (uint64_t)graph->block[most.example].address);
    } else {
        struct json_writer *json = &run->listing->json;

        json_open(json, NULL, '{');
        json_put_text(json, "sentence", sentence);
        json_put_address(json, "block", block->address);
        json_put_number(json, "blocks", group->blocks);
        json_put_number(json, "retained", group->bytes);
        json_put_fraction(json, "share", verb_share(group->bytes, graph->bytes));
        if (!run->listing->no_types)
            json_put_text(json, "type", type);
        json_put_text(json, "site", site);
        json_put_text(json, "root", root);
        json_put_bool(json, "lost", graph_block_is_lost(block));
        json_open(json, "most", '{');
        json_put_number(json, "blocks", most.blocks);
        json_put_number(json, "bytes", most.bytes);
        if (!run->listing->no_types)
            json_put_text(json, "type", verb_site_type(run, most.site));
        json_put_text(json, "site", graph_names_site(run->names, most.site));
        json_close(json, '}');
        json_put_address(json, "example", graph->block[most.example].address);
        json_close(json, '}');
    }
    free(sentence);
}

int verb_suspects(struct verb_run *run)
{
    struct heap_graph *graph = run->graph;
    struct dominators dominators = dominators_find(graph);
    uint32_t told = 0, *as = verb_sites_as(run);
    struct tree_run tree = {run, {graph, &dominators, as}};
    struct owner_groups groups = owner_groups_top(&tree.question);

    if (run->listing->is_json)
        json_open(&run->listing->json, "suspects", '[');
    for (uint32_t i = 0; i < groups.count; i++)
        if (verb_share(groups.group[i].bytes, graph->bytes) >= SUSPECT_SHARE && ++told)
            tell_suspect(&tree, &groups, &groups.group[i]);
    if (run->listing->is_json)
        json_close(&run->listing->json, ']');
    else if (!told)
        fprintf(run->listing->stream, "No blocks of one site hold %.0f %% of the heap alone.\n",
                100 * SUSPECT_SHARE);
    owner_groups_end(&groups);
    dominators_end(&dominators);
    free(as);
    return STATUS_GOOD;
}

/* ---- The command waste ----------------------------------------------------------------------- */

#define CHUNK_LEAST 32
#define CHUNK_HEAD 8
#define CHUNK_ALIGN 16

/* Returns the bytes that the malloc of the C library adds to a block: a head, and padding. Very
 * large blocks have a mapping of their own, which malloc rounds up to pages; this larger padding is
 * not counted. */
static uint64_t chunk_extra(const struct graph_block *block)
{
    uint64_t chunk = (block->size + CHUNK_HEAD + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1);

    return (chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk) - block->size;
}

int verb_waste(struct verb_run *run)
{
    static const struct column columns[] = {{"extra_bytes", "added", CELL_BYTES},
                                            {"bytes", "requested", CELL_BYTES},
                                            {"blocks", "blocks", CELL_NUMBER},
                                            {"site", "from", CELL_TEXT}};
    struct heap_graph *graph = run->graph;
    size_t sites = (size_t)graph->sites + 1;
    uint64_t *extra, *bytes, *blocks, all = 0, used = 0, shown;
    uint32_t *order;

    if (!(graph->flags & LEAK_GRAPH_GLIBC))
        return verb_complain(STATUS_NOTHING, "the program's malloc is not the C library's: what it "
                                             "adds to a block is not known");
    extra = array_grow(NULL, &(size_t){0}, sites, sizeof(*extra));
    bytes = array_grow(NULL, &(size_t){0}, sites, sizeof(*bytes));
    blocks = array_grow(NULL, &(size_t){0}, sites, sizeof(*blocks));
    memset(extra, 0, sites * sizeof(*extra));
    memset(bytes, 0, sites * sizeof(*bytes));
    memset(blocks, 0, sites * sizeof(*blocks));
    for (uint32_t i = 0; i < graph->blocks; i++) {
        const struct graph_block *block = &graph->block[i];

        if (block->kind == LEAK_KIND_CUSTOM)
            continue;
        extra[block->site] += chunk_extra(block);
        all += chunk_extra(block);
        bytes[block->site] += block->size;
        used += blocks[block->site]++ == 0;
    }
    shown = verb_rows(run, used);
    order = verb_order(extra, (uint32_t)sites, shown);
    listing_fact(run->listing, "extra_bytes", "Added by malloc", CELL_BYTES,
                 (union cell){.number = all});
    listing_fact(run->listing, "bytes", "Requested", CELL_BYTES,
                 (union cell){.number = graph->bytes});
    listing_open_table(run->listing, "sites", "By allocation site", columns, 4);
    for (uint64_t i = 0; i < shown; i++)
        listing_row(run->listing, (union cell[]){{.number = extra[order[i]]},
                                                 {.number = bytes[order[i]]},
                                                 {.number = blocks[order[i]]},
                                                 {.text = graph_names_site(run->names, order[i])}});
    listing_close_table(run->listing, used - shown);
    free(order);
    free(extra);
    free(bytes);
    free(blocks);
    return STATUS_GOOD;
}
