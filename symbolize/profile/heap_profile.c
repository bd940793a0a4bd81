/* heap_profile.c - makes the stacks of a report, with their weights; described in profile.h. */
#include "symbolize/profile/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *const weight_word[WEIGHT_MAX] = {
#define W(name, word, meaning) word,
    WEIGHT_TABLE(W)
#undef W
};

const char *const weight_words[WEIGHT_MAX] = {
#define W(name, word, meaning) meaning,
    WEIGHT_TABLE(W)
#undef W
};

void amount_add(struct amount *sum, struct amount more)
{
    sum->bytes = add_saturating(sum->bytes, more.bytes);
    sum->blocks = add_saturating(sum->blocks, more.blocks);
}

uint64_t heap_profile_hash_frame(struct heap_profile *profile, const struct frame *frame)
{
    bool fresh;
    uint64_t *slot = hashmap_put(&profile->hashes, (uintptr_t)frame, &fresh);

    if (fresh) {
        char buffer[FRAME_NAME_SIZE];
        const char *name = frame_name(frame, buffer);

        *slot = hash_text(1, name, strlen(name));
        if (profile->lines) {
            *slot = hash_text(*slot, frame->file ? frame->file : "",
                              frame->file ? strlen(frame->file) : 0);
            *slot = hash_mix(*slot, frame->line);
        }
    }
    return *slot;
}

/* Returns the stack with these frames in the profile; adds it if it is new. */
static struct profile_stack *stack_of(struct heap_profile *profile, const struct process *process,
                                      const struct frame *const *frames, size_t count,
                                      const char *label)
{
    uint64_t key = hash_mix(2, profile->many ? (uintptr_t)process : 0), *slot;
    size_t first = profile->view->all_frames ? 0 : frame_first_caller(frames, count);

    if (!count && !label)
        label = "[no_stack]";
    for (size_t i = first; i < count; i++)
        key = hash_mix(key, heap_profile_hash_frame(profile, frames[i]));
    if (label)
        key = hash_text(key, label, strlen(label));
    slot = hashmap_put(&profile->by_frames, key, NULL);
    if (!*slot) {
        profile->stacks = array_grow(profile->stacks, &profile->capacity, profile->count + 1,
                                     sizeof(*profile->stacks));
        profile->stacks[profile->count++] = (struct profile_stack){
            .process = process, .label = label, .frames = frames + first, .count = count - first};
        *slot = profile->count;
    }
    return &profile->stacks[*slot - 1];
}

static void add_weight(struct heap_profile *profile, struct profile_stack *stack,
                       enum weight weight, uint64_t bytes, uint64_t blocks)
{
    struct amount amount = {bytes, blocks};

    amount_add(&stack->of[weight], amount);
    amount_add(&profile->total[weight], amount);
}

static void add_record(struct heap_profile *profile, const struct process *process,
                       const struct record *record)
{
    struct profile_stack *stack =
        stack_of(profile, process, record->frames, record->frame_count, NULL);

    add_weight(profile, stack, WEIGHT_LIVE, record->bytes, record->blocks);
    if ((record->verdict == VERDICT_LOST || record->verdict == VERDICT_INDIRECT) &&
        !record->suppressed_by)
        add_weight(profile, stack, WEIGHT_LEAKED, record->bytes, record->blocks);
}

static void add_listed(struct heap_profile *profile, const struct process *process)
{
    struct listing listing = {.process = process, .view = profile->view};
    const struct record *record;

    while ((record = listing_next(&listing)))
        add_weight(profile, stack_of(profile, process, record->frames, record->frame_count, NULL),
                   WEIGHT_LISTED, record->bytes, record->blocks);
}

/* Adds a part of a larger sum to the stack of that part, and subtracts it from `rest`. */
static void add_part(struct heap_profile *profile, const struct process *process,
                     enum weight weight, const struct stack *stack, struct amount part,
                     struct amount *rest)
{
    add_weight(profile, stack_of(profile, process, stack->frames, stack->count, NULL), weight,
               part.bytes, part.blocks);
    rest->bytes -= part.bytes < rest->bytes ? part.bytes : rest->bytes;
    rest->blocks -= part.blocks < rest->blocks ? part.blocks : rest->blocks;
}

static void add_rest(struct heap_profile *profile, const struct process *process,
                     enum weight weight, struct amount rest)
{
    if (rest.bytes)
        add_weight(profile, stack_of(profile, process, NULL, 0, "[smaller_sites]"), weight,
                   rest.bytes, rest.blocks);
}

static void add_peak(struct heap_profile *profile, const struct process *process)
{
    struct amount rest = {process->peak.bytes, process->peak.blocks};

    for (size_t i = 0; i < process->peak_part_count; i++) {
        const struct peak_part *part = &process->peak_parts[i];

        add_part(profile, process, WEIGHT_PEAK, &part->stack,
                 (struct amount){part->bytes, part->blocks}, &rest);
    }
    add_rest(profile, process, WEIGHT_PEAK, rest);
}

static void add_temporary(struct heap_profile *profile, const struct process *process)
{
    struct amount rest = {process->temporary_bytes, process->temporary_blocks};

    for (size_t i = 0; i < process->temporary_count; i++) {
        const struct temporary_part *part = &process->temporary[i];

        add_part(profile, process, WEIGHT_TEMPORARY, &part->stack,
                 (struct amount){part->bytes, part->blocks}, &rest);
    }
    add_rest(profile, process, WEIGHT_TEMPORARY, rest);
}

static void add_allocated(struct heap_profile *profile, const struct process *process)
{
    for (size_t i = 0; i < process->allocated_count; i++) {
        const struct allocated *allocated = &process->allocated[i];

        add_weight(
            profile,
            stack_of(profile, process, allocated->stack.frames, allocated->stack.count, NULL),
            WEIGHT_ALLOCATED, allocated->bytes, allocated->blocks);
    }
}

static void add_process(struct heap_profile *profile, const struct process *process)
{
    add_listed(profile, process);
    if (report_omits_process(process, profile->view))
        return;
    for (size_t i = 0; i < process->record_count; i++)
        if (process->records[i].blocks)
            add_record(profile, process, &process->records[i]);
    add_peak(profile, process);
    add_temporary(profile, process);
    add_allocated(profile, process);
}

struct heap_profile heap_profile_begin(const struct report *report, const struct view *view,
                                       bool lines)
{
    struct heap_profile profile = {
        .report = report, .view = view, .lines = lines, .many = report->process_count > 1};

    for (size_t i = 0; i < report->process_count && !view->quiet; i++)
        add_process(&profile, &report->processes[i]);
    return profile;
}

void heap_profile_end(struct heap_profile *profile)
{
    hashmap_end(&profile->by_frames);
    hashmap_end(&profile->hashes);
    free(profile->stacks);
    profile->stacks = NULL;
    profile->count = profile->capacity = 0;
}

void heap_profile_check(const struct heap_profile *profile)
{
    for (enum weight weight = 0; weight < WEIGHT_MAX; weight++) {
        struct amount sum = {0};

        for (size_t i = 0; i < profile->count; i++)
            amount_add(&sum, profile->stacks[i].of[weight]);
        assert(sum.bytes == profile->total[weight].bytes);
        assert(sum.blocks == profile->total[weight].blocks);
    }
}
