/* build.c - fills in one process of the model; described in build.h. */
#include "symbolize/build/build.h"

#include <stdlib.h>
#include <string.h>

#include "common/store/store.h"
#include "symbolize/records/records.h"
#include "symbolize/faults/faults.h"
#include "symbolize/records/sampling_error.h"
#include "symbolize/heap/heap.h"
#include "symbolize/output/output.h"
#include "common/sites/signature.h"
#include "common/base/term_text.h"

static const struct {
    const char *name, *words;
} untracked_table[] = {
#define X(name, words) {#name, words},
    LEAK_UNTRACKED_TABLE(X)
#undef X
};

static const char *copy_or_null(struct arena *mem, const char *text)
{
    return text && *text ? arena_copy(mem, text, strlen(text)) : NULL;
}

static void fill_identity(struct arena *mem, const struct store *store, struct process *process)
{
    const struct leak_header *header = &store->header;

    process->store = copy_or_null(mem, store->path);
    process->host = copy_or_null(mem, store->host);
    process->exe = copy_or_null(mem, store->exe);
    process->argc = store->argc;
    process->argv = arena_alloc_array(mem, store->argc, sizeof(char *));
    for (size_t i = 0; i < store->argc; i++)
        process->argv[i] = arena_copy(mem, store->argv[i], strlen(store->argv[i]));
    process->pid = header->pid;
    process->ppid = header->ppid;
    process->started_ns = header->started_ns;
    process->ended_ns = header->ended_ns;
    process->peak_ns = header->peak_ns;
    process->peak_bytes = header->peak_bytes;
    process->how = store_end_how(store);
    process->has_end_value = process->how == END_EXIT || process->how == END_SIGNAL;
    process->end_value = process->has_end_value ? header->end_value : 0;
    process->forked = (header->flags & LEAK_FLAG_FORKED) != 0;
    process->fork_chain =
        store->fork_chain ? arena_copy(mem, store->fork_chain, strlen(store->fork_chain)) : NULL;
    process->damaged = store->note_count != 0;
    process->sample = header->sample;
    process->asked = (header->flags & LEAK_FLAG_ASKED) != 0;
    process->crash_only = (header->flags & LEAK_FLAG_CRASH_ONLY) != 0;
    process->late = (header->flags & LEAK_FLAG_LATE) != 0;
    process->never_enabled = (header->flags & LEAK_FLAG_NEVER_ENABLED) != 0;
    process->until_ns = process->how == END_RUNNING ? time_now_ns()
                        : header->ended_ns          ? header->ended_ns
                                                    : store_time_of_tick(store, header->epoch);
}

/* Says whether the counter `why` of untracked allocations counts single blocks that libleak would
 * have tracked otherwise. With sample= such a counter has only the sampled blocks. */
static bool is_counted_per_block(int why)
{
    return why == LEAK_UNTRACKED_FILTERED || why == LEAK_UNTRACKED_NO_MEMORY;
}

static void fill_coverage(struct arena *mem, const struct store *store, struct process *process)
{
    const struct leak_header *header = &store->header;

    process->own_bytes = store->own.used;
    process->own_astray = (int64_t)(store->own.used - store->own.mapped - store->own.charged);
    process->unknown_frees = header->unknown_frees;
    process->unwind_checks = header->unwind_checks;
    process->unwind_mismatches = header->unwind_mismatches;
    process->unwind_stops = header->unwind_stops;
    process->untracked = arena_alloc_array(mem, LEAK_UNTRACKED_MAX, sizeof(*process->untracked));
    for (int i = 0; i < LEAK_UNTRACKED_MAX; i++)
        if (header->untracked[i])
            process->untracked[process->untracked_count++] =
                (struct untracked){.name = untracked_table[i].name,
                                   .words = untracked_table[i].words,
                                   .count = header->untracked[i],
                                   .estimated = header->sample > 1 && is_counted_per_block(i)};
}

static void fill_stacks(const struct store *store, struct stacks *stacks)
{
    uint64_t captures = store->free_captures;

    for (size_t i = 0; i < store->thread_count; i++) {
        const struct store_thread *thread = &store->threads[i];

        if (!(store->header.flags & LEAK_FLAG_NO_STACKS))
            captures = add_saturating(captures, thread->allocations);
        stacks->walks = add_saturating(stacks->walks, thread->walks);
        stacks->frames_walked = add_saturating(stacks->frames_walked, thread->frames_walked);
        stacks->frames_shared = add_saturating(stacks->frames_shared, thread->frames_shared);
    }
    /* A thread counts that it unwinds a stack (walks) before it counts that it has recorded the
     * stack (captures), so in the file of a running process the captures may be too low. */
    stacks->captures = captures > stacks->walks ? captures : stacks->walks;
    stacks->leaf_cache_hits = stacks->captures - stacks->walks;
}

/* Returns how the stack of each node ends. A caller's node has a lower index than its callee's, so
 * one pass is enough. */
static uint8_t *node_endings(const struct store *store)
{
    uint8_t *roots = array_grow(NULL, &(size_t){0}, store->node_count + 1, 1);

    for (size_t i = LEAK_NODE_FIRST; i < store->node_count; i++) {
        uint32_t parent = store->nodes[i].parent;

        roots[i] = parent < LEAK_NODE_FIRST ? (uint8_t)parent : roots[parent];
    }
    return roots;
}

static struct handed_down fill_sums(const struct store *store, struct process *process)
{
    struct handed_down inherited = {0};
    struct variance live = {0};
    uint8_t *roots = node_endings(store);

    for (size_t i = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];
        uint32_t root;

        process->live_bytes = add_saturating(process->live_bytes, site->live_bytes);
        process->live_blocks = add_saturating(process->live_blocks, site->live_blocks);
        variance_add_site(&live, store, site);
        if (site->older) {
            process->older_blocks = add_saturating(process->older_blocks, site->live_blocks);
            process->older_bytes = add_saturating(process->older_bytes, site->live_bytes);
            continue; /* blocks from before libleak was loaded: their allocation was not seen */
        }
        if (site->inherited) {
            inherited.bytes = add_saturating(inherited.bytes, site->live_bytes);
            inherited.blocks = add_saturating(inherited.blocks, site->live_blocks);
            variance_add_site(&inherited.variance, store, site);
            continue; /* the parent process allocated these blocks */
        }
        process->allocations += site->counts.allocs;
        process->frees += site->counts.frees;
        process->bytes_allocated += site->counts.bytes;
        root = site->node < LEAK_NODE_FIRST ? site->node : roots[site->node];
        if (root != LEAK_ROOT_COMPLETE && root != LEAK_ROOT_NO_STACKS &&
            root != LEAK_ROOT_DISABLED) {
            process->truncated[root]++;
            process->truncated_stacks++;
        }
    }
    free(roots);
    process->live_error = variance_half_width(&live);
    /* threads publish their counters in batches, so the peak may be too low */
    if (process->live_bytes > process->peak_bytes) {
        process->peak_bytes = process->live_bytes;
        process->peak_ns = process->until_ns;
    }
    return inherited;
}

static void select_wrappers(struct resolver *resolver, const struct store *store,
                            const struct build_options *options)
{
    char recorded[4096];

    if (!options->wrappers && !store_get_option(store, "wrappers", recorded, sizeof(recorded)))
        *recorded = 0;
    resolve_set_wrappers(resolver, options->wrappers ? options->wrappers : recorded);
}

static struct perfmap *open_perfmap(struct arena *mem, const struct store *store,
                                    const struct build_options *options,
                                    const struct process *process)
{
    struct perfmap_of of = {
        .file = options->perf_map ? output_expand_name(mem, options->perf_map, process, 1) : NULL,
        .store = store->path,
        .pid = process->pid,
        .started_ns = process->started_ns,
        .ended_ns = process->ended_ns};

    return perfmap_begin(mem, &of);
}

void build_process(struct arena *mem, struct resolver *resolver, const struct store *store,
                   const struct build_options *options, struct process *process)
{
    struct handed_down inherited;
    struct perfmap *generated;

    memset(process, 0, sizeof(*process));
    select_wrappers(resolver, store, options);
    fill_identity(mem, store, process);
    generated = open_perfmap(mem, store, options, process);
    resolve_set_perfmap(resolver, generated);
    fill_coverage(mem, store, process);
    fill_stacks(store, &process->stacks);
    inherited = fill_sums(store, process);
    if (options->group.inherited)
        inherited.blocks = 0; /* inherited blocks are listed, so no note about them is needed */
    suppress_select_store(options->group.suppressions, store, process->until_ns);
    report_notes_fill(mem, store, &inherited, options->group.suppressions, process);
    resources_fill(mem, resolver, store, options->group.suppressions, process);
    progress_say("grouping records");
    group_records(mem, resolver, store, &options->group, process);
    report_notes_add_slices(mem, process);
    progress_say("adding up allocations");
    if (options->allocated)
        alloc_profile_fill(mem, resolver, store, process);
    peak_fill(mem, resolver, store, process);
    temporary_fill(mem, resolver, store, process);
    progress_say("describing what was found");
    leak_check_info_fill(mem, resolver, store, process);
    when_lost_fill(mem, resolver, store, 0, process);
    evidence_fill(mem, store, process);
    evidence_seek_names(resolver, store, options->group.suppressions);
    address_info_fill(mem, resolver, store, &options->who, process);
    recent_frees_fill(mem, resolver, store, &options->recent, process);
    bad_frees_fill(mem, resolver, store, process);
    crash_fill(mem, resolver, store, process);
    resolve_set_perfmap(resolver, NULL);
    perfmap_end(generated);
}

/* ---- Comparing the results of the processes -------------------------------------------------- */

static uint64_t errors_hash(const struct process *process, uint64_t hash)
{
    for (size_t i = 0; i < process->mistake_count; i++) {
        const struct bad_free *mistake = &process->mistakes[i];

        hash = hash_mix(hash, mistake->signature);
        hash = hash_mix(hash, mistake->size ^ mistake->count << 32);
    }
    if (process->crash) {
        /* hash the text only up to the address, which differs from run to run */
        const char *words = process->crash->words;

        hash = hash_mix(hash, process->crash->signature);
        hash = hash_text(hash, words, strcspn(words, "0123456789"));
    }
    return hash;
}

static uint64_t process_hash(const struct process *process)
{
    const char *exe = process->exe ? process->exe : "";
    uint64_t hash = hash_text(7, exe, strlen(exe));

    for (size_t i = 0; i < process->resource_count; i++) {
        const struct resource *resource = &process->resources[i];

        hash = hash_text(hash, resource->type, strlen(resource->type));
        hash = hash_mix(hash, resource->record.signature);
        hash = hash_mix(hash, resource->record.blocks);
    }
    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        hash = hash_mix(hash, record->signature ^ record->verdict);
        hash = hash_mix(hash, (uint64_t)(record->cycle | record->dropped << 1 |
                                         (record->suppressed_by != NULL) << 2));
        hash = hash_mix(hash, record->kind);
        hash = hash_mix(hash, record->blocks);
        hash = hash_mix(hash, record->bytes);
    }
    hash = errors_hash(process, hash);
    return hash;
}

static void make_stable_root(const struct root *shared)
{
    struct root *root = (struct root *)shared;

    if (root->class != LEAK_ROOT_CLASS_ANON)
        return;
    root->words = ROOTS_MAPPING;
    root->has_offset = false;
}

/* Clears rates and times, which differ from run to run, and keeps the verdict. */
static void make_stable_growth(const struct growth *shared)
{
    struct growth *growth = (struct growth *)shared;

    if (growth)
        *growth =
            (struct growth){.verdict = growth->verdict, .reason = growth_word[growth->verdict]};
}

static void make_stable_leak_check(struct process *process)
{
    if (process->look) {
        process->look->when_ns = process->look->pause_ns = process->look->check_ns = 0;
        process->look->timed = false;
    }
    for (size_t i = 0; i < process->thread_count; i++) {
        process->threads[i].tid = 0;
        stack_make_stable(process->threads[i].stack.frames, process->threads[i].stack.count);
    }
    for (size_t i = 0; i < process->owner_count; i++) {
        make_stable_root(process->owners[i].root);
        make_stable_growth(process->owners[i].growth);
    }
}

static void make_stable_samples(struct record *record)
{
    for (size_t i = 0; i < record->sample_count; i++) {
        struct sample *sample = (struct sample *)&record->samples[i];

        sample->address = sample->time_ns = 0;
        if (sample->pointers)
            sample->length = sample->field_count = 0;
    }
}

static void leave_out_contents(struct process *process)
{
    for (size_t i = 0; i < process->record_count; i++)
        for (size_t k = 0; k < process->records[i].sample_count; k++) {
            struct sample *sample = (struct sample *)&process->records[i].samples[k];

            sample->length = sample->field_count = 0;
        }
}

static void make_stable_resources(struct process *process)
{
    for (size_t i = 0; i < process->resource_count; i++) {
        struct resource *resource = &process->resources[i];

        resource->record.first_ns = resource->record.last_ns = 0;
        stack_make_stable(resource->record.frames, resource->record.frame_count);
        stack_make_stable(resource->opened.frames, resource->opened.count);
        stack_make_stable(resource->closed.frames, resource->closed.count);
    }
    /* which descriptors are inherited depends on the parent process */
    process->inherited_count = 0;
}

static void make_stable_lost(const struct lost_place *place)
{
    stack_make_stable(place->at.frames, place->at.count);
    stack_make_stable(place->before.frames, place->before.count);
    stack_make_stable(place->after.frames, place->after.count);
}

static void make_stable_record(struct record *record)
{
    record->first_ns = record->last_ns = 0;
    record->first_lost = record->last_lost = (struct check_span){0};
    stack_make_stable(record->frames, record->frame_count);
    if (!record->freed.exact)
        record->freed.places = record->freed.frame_count = 0;
    stack_make_stable(record->freed.frames, record->freed.frame_count);
    if (!record->beside.exact)
        record->beside.places = record->beside.frame_count = 0;
    stack_make_stable(record->beside.frames, record->beside.frame_count);
    if (!record->freed.exact)
        record->orphaned = (struct orphaned){0};
    stack_make_stable(record->orphaned.frames, record->orphaned.frame_count);
    if (record->orphaned.holder)
        stack_make_stable(&record->orphaned.holder, 1);
    make_stable_samples(record);
    if (record->when_lost) {
        make_stable_lost(&record->when_lost->place);
        make_stable_lost(&record->when_lost->then);
    }
    if (record->path)
        make_stable_root(record->path->root);
    make_stable_growth(record->growth);
}

static void make_stable(struct process *process)
{
    process->pid = process->ppid = 0;
    process->host = process->store = NULL;
    process->started_ns = process->ended_ns = process->peak_ns = process->until_ns = 0;
    process->recent_count = process->history_count = process->peak_part_count = 0;
    process->temporary_count = process->temporary_blocks = process->temporary_bytes = 0;
    process->milestone_count = 0;
    process->peak = (struct moment){0}; /* the time of the peak differs from run to run */
    process->own_bytes = 0;
    /* how many stacks were captured differs from run to run, because frees are sampled at random */
    process->stacks = (struct stacks){0};
    for (size_t i = 0; i < process->record_count; i++)
        make_stable_record(&process->records[i]);
    for (size_t i = 0; i < process->grown_count; i++)
        make_stable_record(&process->grown[i]);
    for (size_t i = 0; i < process->allocated_count; i++)
        stack_make_stable(process->allocated[i].stack.frames, process->allocated[i].stack.count);
    make_stable_leak_check(process);
    bad_frees_make_stable(process);
    crash_make_stable(process);
    make_stable_resources(process);
}

void build_finish(struct report *report, const struct build_options *options)
{
    struct hashmap first = {0};

    report_put_lead_first(report);
    for (size_t i = 0; i < report->process_count; i++) {
        struct process *process = &report->processes[i];
        bool fresh;
        uint64_t *slot = hashmap_put(&first, process_hash(process), &fresh);

        if (fresh)
            *slot = i;
        process->alike = *slot;
        if (options->stable)
            make_stable(process);
        if (!options->content || options->anonymous)
            leave_out_contents(process);
        if (options->anonymous)
            anonymize_process(process);
    }
    suppress_fill_unused(options->group.suppressions, report);
    if (options->anonymous)
        anonymize_rules(report);
    if (report->process_count)
        report->host = report->processes[0].host;
    hashmap_end(&first);
}
