/* store.c - looks up modules, nodes, sites and options of a recording, and checks its
 * invariants. */
#include "common/store/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/store/store_dir.h"

void store_add_note(struct store *store, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (size_t i = 0; i < store->note_count; i++)
        if (strcmp(store->notes[i], text) == 0)
            return;
    store->notes = array_grow(store->notes, &store->note_capacity, store->note_count + 1,
                              sizeof(*store->notes));
    store->notes[store->note_count++] = arena_copy(store->mem, text, strlen(text));
}

const struct store_module *store_find_module(const struct store *store, uint64_t pc,
                                             uint32_t number)
{
    const struct store_module *best = NULL;
    size_t cursor = store->module_spans.count;
    uint32_t index;

    while ((index = interval_map_next(&store->module_spans, pc, &cursor)) != INTERVAL_NONE) {
        const struct store_module *module = &store->modules[index];

        if (module->loaded > number && (!best || module->loaded < best->loaded))
            best = module;
    }
    return best;
}

const struct store_module *store_find_last_module(const struct store *store, uint64_t pc)
{
    const struct store_module *best = NULL;
    size_t cursor = store->module_spans.count;
    uint32_t index;

    while ((index = interval_map_next(&store->module_spans, pc, &cursor)) != INTERVAL_NONE)
        if (!best || store->modules[index].loaded > best->loaded)
            best = &store->modules[index];
    return best;
}

static bool has_lower_serial(const void *thread, const void *serial)
{
    return ((const struct store_thread *)thread)->serial < *(const uint32_t *)serial;
}

bool store_node_is_older(const struct store *store, uint32_t node)
{
    return node >= LEAK_NODE_FIRST && node != STORE_NONE &&
           store->nodes[node].parent == LEAK_ROOT_NO_STACKS &&
           store->nodes[node].pc > LEAK_OLDER_PC;
}

bool store_node_is_python(const struct store *store, uint32_t node)
{
    return node >= LEAK_NODE_FIRST && node != STORE_NONE &&
           store->nodes[node].number & LEAK_NODE_CODE;
}

static bool has_lower_code_id(const void *code, const void *id)
{
    return ((const struct store_code *)code)->id < *(const uint32_t *)id;
}

const struct store_code *store_find_code(const struct store *store, uint32_t node)
{
    uint32_t id = store->nodes[node].number & ~LEAK_NODE_CODE;
    size_t i = array_lower_bound(store->codes, store->code_count, sizeof(*store->codes),
                                 has_lower_code_id, &id);

    return i < store->code_count && store->codes[i].id == id ? &store->codes[i] : NULL;
}

const struct store_thread *store_find_thread(const struct store *store, uint32_t serial)
{
    size_t i = array_lower_bound(store->threads, store->thread_count, sizeof(*store->threads),
                                 has_lower_serial, &serial);

    return i < store->thread_count && store->threads[i].serial == serial ? &store->threads[i]
                                                                         : NULL;
}

static bool has_lower_id(const void *site, const void *id)
{
    return ((const struct store_site *)site)->id < *(const uint32_t *)id;
}

uint32_t store_find_site(const struct store *store, uint32_t id)
{
    size_t i = array_lower_bound(store->sites, store->site_count, sizeof(*store->sites),
                                 has_lower_id, &id);

    return i < store->site_count && store->sites[i].id == id ? (uint32_t)i : STORE_NO_SITE;
}

/* Options are stored as lines "name=value (source)". */
bool store_get_option(const struct store *store, const char *name, char *text, size_t size)
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

uint64_t store_time_of_tick(const struct store *store, uint32_t tick)
{
    return store->header.started_ns + (uint64_t)tick * (1000000000ull / LEAK_TICKS_PER_SECOND);
}

enum end_how store_end_how(const struct store *store)
{
    switch (store->header.end_how) {
    case LEAK_END_EXIT:
        return END_EXIT;
    case LEAK_END_SIGNAL:
        return END_SIGNAL;
    case LEAK_END_EXEC:
        return END_EXEC;
    }
    if (store->header.exec_at)
        return END_EXEC;
    return store_process_is_alive(store->host, store->header.pid, store->header.start_time)
               ? END_RUNNING
               : END_LOST;
}

/* ---- Invariants of a struct store ------------------------------------------------------------ */

/* Makes the function that uses this macro return false if the condition holds; *broken then names
 * the broken invariant. */
#define BROKEN_IF(condition, invariant)                                                            \
    do {                                                                                           \
        *broken = (invariant);                                                                     \
        if (condition)                                                                             \
            return false;                                                                          \
    } while (0)

static bool is_node_or_root(const struct store *store, uint32_t node)
{
    return node < store->node_count || node < LEAK_NODE_FIRST;
}

static bool check_tree(const struct store *store, const char **broken)
{
    for (size_t i = LEAK_NODE_FIRST; i < store->node_count; i++)
        BROKEN_IF(store->nodes[i].parent >= i, "a node's parent is below it");
    for (size_t i = 1; i < store->thread_count; i++)
        BROKEN_IF(store->threads[i - 1].serial >= store->threads[i].serial,
                  "thread serials ascend");
    return true;
}

static bool check_sites(const struct store *store, const char **broken)
{
    for (size_t i = 0, freed = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];

        BROKEN_IF(!is_node_or_root(store, site->node), "a site's node is in range");
        BROKEN_IF(site->kind >= LEAK_KIND_MAX, "a site's kind is known");
        BROKEN_IF(site->tag && (site->tag > LEAK_TAGS || !store->tags || !store->tags[site->tag]),
                  "a site's tag has a name");
        BROKEN_IF(i && store->sites[i - 1].id >= site->id, "site ids ascend");
        BROKEN_IF(site->live_blocks > site->counts.allocs || site->live_bytes > site->counts.bytes,
                  "what lives was allocated");
        BROKEN_IF(site->variance.samples && (!site->live_blocks || !store->header.sample),
                  "only what lives is estimated, and only from samples");
        BROKEN_IF(site->freed != freed || site->freed_count > store->freed_count - freed,
                  "the records of where blocks were freed lie site by site");
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

        BROKEN_IF(freed->site >= store->site_count || !is_node_or_root(store, freed->node),
                  "where blocks were freed names a site and a node");
        BROKEN_IF(i && (freed[-1].site > freed->site ||
                        (freed[-1].site == freed->site && freed[-1].blocks < freed->blocks)),
                  "where blocks were freed is in order");
        BROKEN_IF(i - store->sites[freed->site].freed >= store->sites[freed->site].freed_count,
                  "a site's records of where its blocks were freed are its own");
    }
    for (size_t i = 0; i < store->recent_count; i++) {
        const struct store_recent *recent = &store->recent[i];

        BROKEN_IF(!is_node_or_root(store, recent->node) ||
                      (recent->site >= store->site_count && recent->site != STORE_NO_SITE),
                  "a recent free names a node, and a site or none");
        BROKEN_IF(i && recent[-1].tick < recent->tick, "recent frees are newest first");
    }
    return true;
}

static bool check_events(const struct store *store, const char **broken)
{
    for (size_t i = 0; i < store->event_count; i++) {
        const struct store_event *at = &store->events[i];

        BROKEN_IF(!at->event.type || at->event.type >= LEAK_EVENT_MAX || !at->event.form ||
                      at->event.form >= LEAK_FORM_MAX || at->event.place >= LEAK_PLACE_MAX ||
                      at->event.freed_form >= LEAK_FORM_MAX || !at->event.count,
                  "a wrong release is of a known type and form");
        BROKEN_IF(!is_node_or_root(store, at->node) || !is_node_or_root(store, at->freed_node) ||
                      (at->site >= store->site_count && at->site != STORE_NO_SITE),
                  "a wrong release names its nodes, and a site or none");
    }
    return true;
}

static bool in_table(uint32_t first, uint32_t count, size_t all)
{
    return first <= all && count <= all - first;
}

static bool check_found(const struct store *store, const char **broken)
{
    const struct store_leak_check *look = store->look;

    for (size_t i = 0; i < look->found_count; i++) {
        const struct store_found *found = &look->found[i];

        BROKEN_IF(found->verdict == LEAK_VERDICT_NONE && found->blocks,
                  "what a look left out has no blocks");
        if (found->verdict == LEAK_VERDICT_NONE)
            continue;
        BROKEN_IF(found->verdict >= LEAK_VERDICT_MAX || found->site >= store->site_count ||
                      (found->owner != STORE_NONE &&
                       (found->owner >= look->found_count ||
                        look->found[found->owner].verdict != LEAK_VERDICT_LOST)) ||
                      (found->root != STORE_NONE && found->root >= look->root_count),
                  "what a look found names a site, an owner that is lost, and a root");
        BROKEN_IF(!in_table(found->path, found->path_count, look->step_count) ||
                      !in_table(found->sample, found->sample_count, look->sample_count),
                  "its path and its samples are in range");
    }
    return true;
}

static bool check_look(const struct store *store, const char **broken)
{
    const struct store_leak_check *look = store->look;

    if (!look)
        return true;
    BROKEN_IF(look->head.rung > LEAK_RUNG_PARKED || look->head.occasion >= LEAK_OCCASION_MAX ||
                  look->head.trouble >= LEAK_TROUBLE_MAX,
              "a look's rung, occasion and trouble are known");
    for (size_t i = 0; i < look->root_count; i++)
        BROKEN_IF(look->roots[i].root_class >= LEAK_ROOT_CLASS_MAX, "a root's class is known");
    for (size_t i = 0; i < look->part_count; i++)
        BROKEN_IF(look->parts[i].root >= look->root_count ||
                      look->parts[i].site >= store->site_count,
                  "a part is of a root and a site");
    for (size_t i = 0; i < look->step_count; i++)
        BROKEN_IF(look->steps[i].site >= store->site_count && look->steps[i].site != STORE_NO_SITE,
                  "a step names a site or none");
    for (size_t i = 0; i < look->sample_count; i++)
        BROKEN_IF(!in_table(look->samples[i].content.first, look->samples[i].content.count,
                            look->content_count),
                  "a sample's content is in range");
    for (size_t i = 0; i < look->thread_count; i++)
        BROKEN_IF(!in_table(look->threads[i].pc, look->threads[i].pc_count, look->pc_count),
                  "a thread's stack is in range");
    return check_found(store, broken);
}

static bool check_crash(const struct store *store, const char **broken)
{
    const struct store_crash *crash = store->crash;

    if (!crash)
        return true;
    BROKEN_IF(crash->head.state == LEAK_CRASH_NONE || crash->head.state > LEAK_CRASH_FATAL ||
                  crash->head.signal <= 0 || crash->head.signal > 64 ||
                  crash->head.register_count > LEAK_CRASH_REGISTERS ||
                  crash->head.frame_count > LEAK_CRASH_FRAMES ||
                  crash->head.outer_count > LEAK_CRASH_OUTER,
              "a crash's state, signal, registers and frames are in range");
    for (uint32_t i = 0; i < crash->head.frame_count; i++)
        BROKEN_IF(crash->head.frames[i].times &&
                      (!crash->head.frames[i].period || crash->head.frames[i].period > i + 1),
                  "what repeats in a crash's stack is there");
    for (size_t i = 0; i <= LEAK_CRASH_REGISTERS; i++)
        BROKEN_IF(crash->near_site[i] >= store->site_count && crash->near_site[i] != STORE_NO_SITE,
                  "what is near a crash names a site or none");
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

    BROKEN_IF(history->moment_count > LEAK_HISTORY_POINTS ||
                  history->row_count > LEAK_HISTORY_ROWS ||
                  history->series_count > LEAK_HISTORY_COLUMNS ||
                  history->peak_site_count > LEAK_PEAK_SITES || history->limit_of >= LEAK_LIMIT_MAX,
              "moments and rows ascend, within their number");
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
    interval_map_end(&store->module_spans);
    if (store->look)
        interval_map_end(&store->look->module_spans);
    if (store->crash)
        interval_map_end(&store->crash->module_spans);
    free(store->notes);
    free(store->resources);
    store->notes = NULL;
}
