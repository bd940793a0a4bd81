/* evidence_gaps.c - finds the reasons why the results of a process are incomplete; described in
 * build.h. */
#include "symbolize/build/build.h"

#include <string.h>

#include "common/base/term_text.h"
#include "common/sites/signature.h"

static const char *find_gap(struct arena *mem, const struct store *store)
{
    uint64_t missed = store->header.untracked[LEAK_UNTRACKED_NO_MEMORY];

    if (store->broken)
        return arena_format(mem, "its recording file is %s", store->broken);
    if (store->header.flags & LEAK_FLAG_FULL)
        return "its recording file was full";
    if (missed)
        return arena_format(mem, "without memory to track %s",
                            term_count(missed, "allocation").text);
    if (store->header.flags & LEAK_FLAG_NEVER_ENABLED)
        return "detection was never enabled";
    return NULL;
}

/* Says whether the user chose by an option that the process makes no leak check at its end. */
static bool is_unchecked_by_choice(const struct store *store)
{
    const struct leak_snapshot *failed = store->failed ? store->failed
                                         : store->look ? &store->look->head
                                                       : NULL;
    char value[8];

    if (store_get_option(store, "exit_look", value, sizeof(value)) && strcmp(value, "off") == 0)
        return true;
    return store->header.sample > 1 || store->header.flags & LEAK_FLAG_CRASH_ONLY ||
           (failed && failed->trouble == LEAK_TROUBLE_FILTERED);
}

static bool has_final_check(const struct store *store, const struct process *process)
{
    return process->look && process->look->made && process->look->last && !store->failed;
}

static bool has_live_blocks(const struct process *process)
{
    uint64_t blocks = 0;

    for (int v = 0; v < VERDICT_MAX; v++)
        blocks += v == VERDICT_RUNTIME ? 0 : process->totals.of[v].blocks;
    return blocks != 0;
}

static const char *find_verdict_gap(struct arena *mem, const struct store *store,
                                    const struct process *process)
{
    bool ended = process->how != END_RUNNING && process->how != END_EXEC;

    if (!ended || !has_live_blocks(process) || has_final_check(store, process) ||
        is_unchecked_by_choice(store))
        return NULL;
    if (leak_check_info_missing(mem, store))
        return leak_check_info_missing(mem, store);
    if (process->how == END_SIGNAL)
        return arena_format(mem, "killed by signal %d before a leak check", process->end_value);
    return process->how == END_LOST ? "ended unseen before a leak check, by a signal for example"
                                    : "there was no leak check at its end";
}

static void show_stacks(struct signatures *signatures, struct only_filter *only)
{
    for (uint32_t node = LEAK_NODE_FIRST; node < signatures->store->node_count; node++) {
        const struct resolved_place *place = signatures_place_at_node(signatures, node);

        for (size_t i = 0; place && i < place->count; i++)
            only_filter_show_frame(only, &place->frames[i]);
        if (!only_filter_seeks(only))
            return;
    }
}

void evidence_seek_names(struct resolver *resolver, const struct store *store,
                         const struct suppressions *suppressions)
{
    struct only_filter *only = suppress_names_sought(suppressions);
    struct signatures signatures;

    if (!only)
        return;
    for (size_t i = 0; i < store->module_count; i++)
        only_filter_show_module(only, store->modules[i].path);
    for (size_t i = 0; store->look && i < store->look->module_count; i++)
        only_filter_show_module(only, store->look->modules[i].path);
    for (size_t i = 0; i < store->thread_count; i++)
        only_filter_show_thread(
            only, &(struct thread_ref){store->threads[i].serial, store->threads[i].name});
    if (!only_filter_seeks(only))
        return;
    signatures = signatures_begin(resolver, store);
    show_stacks(&signatures, only);
    signatures_end(&signatures);
}

void evidence_fill(struct arena *mem, const struct store *store, struct process *process)
{
    process->gap = find_gap(mem, store);
    process->verdict_gap = find_verdict_gap(mem, store, process);
}
