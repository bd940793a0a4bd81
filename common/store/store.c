/* store.c - questions to a checked account; see store.h. */
#include "common/store/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void store_note(struct store *store, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (size_t i = 0; i < store->note_count; i++)
        if (strcmp(store->notes[i], text) == 0)
            return;
    store->notes =
        mem_more(store->notes, &store->note_capacity, store->note_count + 1, sizeof(*store->notes));
    store->notes[store->note_count++] = mem_copy(store->mem, text, strlen(text));
}

const struct store_module *store_module_of(const struct store *store, uint64_t pc, uint32_t number)
{
    const struct store_module *best = NULL;
    size_t cursor = store->module_spans.count;
    uint32_t index;

    while ((index = spans_next(&store->module_spans, pc, &cursor)) != SPANS_NONE) {
        const struct store_module *module = &store->modules[index];

        if (module->loaded > number && (!best || module->loaded < best->loaded))
            best = module;
    }
    return best;
}

const struct store_module *store_last_module_of(const struct store *store, uint64_t pc)
{
    const struct store_module *best = NULL;
    size_t cursor = store->module_spans.count;
    uint32_t index;

    while ((index = spans_next(&store->module_spans, pc, &cursor)) != SPANS_NONE)
        if (!best || store->modules[index].loaded > best->loaded)
            best = &store->modules[index];
    return best;
}

const struct store_thread *store_thread_of(const struct store *store, uint32_t serial)
{
    size_t low = 0, high = store->thread_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (store->threads[middle].serial == serial)
            return &store->threads[middle];
        if (store->threads[middle].serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

uint32_t store_site_of(const struct store *store, uint32_t id)
{
    size_t low = 0, high = store->site_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (store->sites[middle].id == id)
            return (uint32_t)middle;
        if (store->sites[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return STORE_NO_SITE;
}

/* Lines "name=value (source)". */
bool store_option(const struct store *store, const char *name, char *text, size_t size)
{
    size_t length = strlen(name);

    for (const char *line = store->options, *next; line && *line; line = next) {
        const char *end = strchr(line, '\n'), *value = line + length + 1, *source = NULL;

        end = end ? end : line + strlen(line);
        next = *end ? end + 1 : end;
        if (strncmp(line, name, length) != 0 || line[length] != '=')
            continue;
        for (const char *at = value; at + 1 < end; at++)
            if (at[0] == ' ' && at[1] == '(')
                source = at;
        snprintf(text, size, "%.*s", (int)((source ? source : end) - value), value);
        return true;
    }
    return false;
}

uint64_t store_time(const struct store *store, uint32_t tick)
{
    return store->header.started_ns + (uint64_t)tick * (1000000000ull / LEAK_TICKS_PER_SECOND);
}

/* ---- The invariants ------------------------------------------------------------------------- */

static bool is_node_or_root(const struct store *store, uint32_t node)
{
    return node < store->node_count || node < LEAK_NODE_FIRST;
}

static bool check_tree(const struct store *store, const char **broken)
{
    for (size_t i = LEAK_NODE_FIRST; i < store->node_count; i++) {
        *broken = "a node's parent is below it";
        if (store->nodes[i].parent >= i)
            return false;
    }
    for (size_t i = 1; i < store->thread_count; i++) {
        *broken = "thread serials ascend";
        if (store->threads[i - 1].serial >= store->threads[i].serial)
            return false;
    }
    return true;
}

static bool check_sites(const struct store *store, const char **broken)
{
    for (size_t i = 0, freed = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];

        *broken = "a site's node is in range";
        if (!is_node_or_root(store, site->node))
            return false;
        *broken = "a site's kind is known";
        if (site->kind >= LEAK_KIND_MAX)
            return false;
        *broken = "a site's tag has a name";
        if (site->tag && (site->tag > LEAK_TAGS || !store->tags || !store->tags[site->tag]))
            return false;
        *broken = "site ids ascend";
        if (i && store->sites[i - 1].id >= site->id)
            return false;
        *broken = "what lives was allocated";
        if (site->live_blocks > site->counts.allocs || site->live_bytes > site->counts.bytes)
            return false;
        *broken = "only what lives is estimated, and only from samples";
        if (site->variance.samples && (!site->live_blocks || !store->header.sample))
            return false;
        *broken = "the records of where blocks were freed lie site by site";
        if (site->freed != freed || site->freed_count > store->freed_count - freed)
            return false;
        freed += site->freed_count;
        if (i + 1 == store->site_count && freed != store->freed_count)
            return false;
    }
    return true;
}

static bool check_frees(const struct store *store, const char **broken)
{
    for (size_t i = 0; i < store->freed_count; i++) {
        const struct store_freed *freed = &store->freed[i];

        *broken = "where blocks were freed names a site and a node";
        if (freed->site >= store->site_count || !is_node_or_root(store, freed->node))
            return false;
        *broken = "where blocks were freed is in order";
        if (i && (freed[-1].site > freed->site ||
                  (freed[-1].site == freed->site && freed[-1].blocks < freed->blocks)))
            return false;
        *broken = "a site's records of where its blocks were freed are its own";
        if (i - store->sites[freed->site].freed >= store->sites[freed->site].freed_count)
            return false;
    }
    for (size_t i = 0; i < store->recent_count; i++) {
        const struct store_recent *recent = &store->recent[i];

        *broken = "a recent free names a node, and a site or none";
        if (!is_node_or_root(store, recent->node) ||
            (recent->site >= store->site_count && recent->site != STORE_NO_SITE))
            return false;
        *broken = "recent frees are newest first";
        if (i && recent[-1].tick < recent->tick)
            return false;
    }
    return true;
}

static bool check_events(const struct store *store, const char **broken)
{
    for (size_t i = 0; i < store->event_count; i++) {
        const struct store_event *at = &store->events[i];

        *broken = "a wrong release is of a known type and form";
        if (!at->event.type || at->event.type >= LEAK_EVENT_MAX || !at->event.form ||
            at->event.form >= LEAK_FORM_MAX || at->event.place >= LEAK_PLACE_MAX ||
            at->event.freed_form >= LEAK_FORM_MAX || !at->event.count)
            return false;
        *broken = "a wrong release names its nodes, and a site or none";
        if (!is_node_or_root(store, at->node) || !is_node_or_root(store, at->freed_node) ||
            (at->site >= store->site_count && at->site != STORE_NO_SITE))
            return false;
    }
    return true;
}

static bool in_table(uint32_t first, uint32_t count, size_t all)
{
    return first <= all && count <= all - first;
}

static bool check_found(const struct store *store, const char **broken)
{
    const struct store_look *look = store->look;

    for (size_t i = 0; i < look->found_count; i++) {
        const struct store_found *found = &look->found[i];

        *broken = "what a look left out has no blocks";
        if (found->verdict == LEAK_VERDICT_NONE && found->blocks)
            return false;
        if (found->verdict == LEAK_VERDICT_NONE)
            continue;
        *broken = "what a look found names a site, an owner that is lost, and a root";
        if (found->verdict >= LEAK_VERDICT_MAX || found->site >= store->site_count ||
            (found->owner != STORE_NONE &&
             (found->owner >= look->found_count ||
              look->found[found->owner].verdict != LEAK_VERDICT_LOST)) ||
            (found->root != STORE_NONE && found->root >= look->root_count))
            return false;
        *broken = "its path and its samples are in range";
        if (!in_table(found->path, found->path_count, look->step_count) ||
            !in_table(found->sample, found->sample_count, look->sample_count))
            return false;
    }
    return true;
}

static bool check_look(const struct store *store, const char **broken)
{
    const struct store_look *look = store->look;

    if (!look)
        return true;
    *broken = "a look's rung, occasion and trouble are known";
    if (look->head.rung > LEAK_RUNG_PARKED || look->head.occasion >= LEAK_OCCASION_MAX ||
        look->head.trouble >= LEAK_TROUBLE_MAX)
        return false;
    for (size_t i = 0; i < look->root_count; i++) {
        *broken = "a root's class is known";
        if (look->roots[i].root_class >= LEAK_ROOT_CLASS_MAX)
            return false;
    }
    for (size_t i = 0; i < look->part_count; i++) {
        *broken = "a part is of a root and a site";
        if (look->parts[i].root >= look->root_count || look->parts[i].site >= store->site_count)
            return false;
    }
    for (size_t i = 0; i < look->step_count; i++) {
        *broken = "a step names a site or none";
        if (look->steps[i].site >= store->site_count && look->steps[i].site != STORE_NO_SITE)
            return false;
    }
    for (size_t i = 0; i < look->sample_count; i++) {
        *broken = "a sample's content is in range";
        if (!in_table(look->samples[i].content.first, look->samples[i].content.count,
                      look->content_count))
            return false;
    }
    for (size_t i = 0; i < look->thread_count; i++) {
        *broken = "a thread's stack is in range";
        if (!in_table(look->threads[i].pc, look->threads[i].pc_count, look->pc_count))
            return false;
    }
    return check_found(store, broken);
}

static bool check_crash(const struct store *store, const char **broken)
{
    const struct store_crash *crash = store->crash;

    if (!crash)
        return true;
    *broken = "a crash's state, signal, registers and frames are in range";
    if (crash->head.state == LEAK_CRASH_NONE || crash->head.state > LEAK_CRASH_FATAL ||
        crash->head.signal <= 0 || crash->head.signal > 64 ||
        crash->head.register_count > LEAK_CRASH_REGISTERS ||
        crash->head.frame_count > LEAK_CRASH_FRAMES || crash->head.outer_count > LEAK_CRASH_OUTER)
        return false;
    for (uint32_t i = 0; i < crash->head.frame_count; i++) {
        *broken = "what repeats in a crash's stack is there";
        if (crash->head.frames[i].times &&
            (!crash->head.frames[i].period || crash->head.frames[i].period > i + 1))
            return false;
    }
    for (size_t i = 0; i <= LEAK_CRASH_REGISTERS; i++) {
        *broken = "what is near a crash names a site or none";
        if (crash->near_site[i] >= store->site_count && crash->near_site[i] != STORE_NO_SITE)
            return false;
    }
    return true;
}

static bool check_resources(const struct store *store, const char **broken)
{
    *broken = "a resource's stacks are in range, and its kind is known";
    for (size_t i = 0; i < store->resource_count; i++) {
        const struct store_resource *one = &store->resources[i];

        if (!is_node_or_root(store, one->opened.node) ||
            !is_node_or_root(store, one->closed.node) || !is_node_or_root(store, one->again.node) ||
            one->type >= LEAK_RESOURCE_MAX || one->sort >= LEAK_SORT_MAX)
            return false;
    }
    return true;
}

static bool check_history(const struct store *store, const char **broken)
{
    const struct store_history *history = &store->history;

    *broken = "moments and rows ascend, within their number";
    if (history->moment_count > LEAK_HISTORY_POINTS || history->row_count > LEAK_HISTORY_ROWS ||
        history->series_count > LEAK_HISTORY_COLUMNS ||
        history->peak_site_count > LEAK_PEAK_SITES || history->limit_of >= LEAK_LIMIT_MAX)
        return false;
    for (size_t i = 1; i < history->moment_count; i++)
        if (history->moments[i].tick <= history->moments[i - 1].tick)
            return false;
    for (size_t i = 1; i < history->row_count; i++)
        if (history->rows[i] <= history->rows[i - 1])
            return false;
    *broken = "a series and a part of the peak name a site";
    for (size_t i = 0; i < history->series_count; i++)
        if (history->series[i].site >= store->site_count ||
            history->series[i].first_row > history->row_count)
            return false;
    for (size_t i = 0; i < history->peak_site_count; i++)
        if (history->peak_sites[i].site >= store->site_count)
            return false;
    return true;
}

bool store_check(const struct store *store, const char **broken)
{
    if (!check_tree(store, broken) || !check_sites(store, broken) || !check_frees(store, broken) ||
        !check_events(store, broken) || !check_look(store, broken) || !check_crash(store, broken) ||
        !check_resources(store, broken) || !check_history(store, broken))
        return false;
    *broken = NULL;
    return true;
}

void store_end(struct store *store)
{
    spans_end(&store->module_spans);
    if (store->look)
        spans_end(&store->look->module_spans);
    if (store->crash)
        spans_end(&store->crash->module_spans);
    free(store->notes);
    free(store->resources);
    store->notes = NULL;
}
