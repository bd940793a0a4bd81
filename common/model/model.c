/* model.c - the few questions every writer has; see model.h. */
#include "common/model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "leak_store.h"

const char *const verdict_word[VERDICT_MAX] = {
#define V(name, word, words) word,
    VERDICT_TABLE(V)
#undef V
};

const char *const verdict_words[VERDICT_MAX] = {
#define V(name, word, words) words,
    VERDICT_TABLE(V)
#undef V
};

const char *const kind_word[] = {[LEAK_KIND_NONE] = "unknown",
#define X(name, word) [LEAK_KIND_##name] = word,
                                 LEAK_KIND_TABLE(X)
#undef X
};

const char *const form_word[] = {[LEAK_FORM_NONE] = NULL,
#define F(name, word) [LEAK_FORM_##name] = word,
                                 LEAK_FORM_TABLE(F)
#undef F
};

const char *const mistake_word[] = {[LEAK_EVENT_NONE] = NULL,
#define T(name, word) [LEAK_EVENT_##name] = word,
                                    LEAK_EVENT_TABLE(T)
#undef T
};

const char *const root_class_word[] = {[LEAK_ROOT_CLASS_NONE] = NULL,
#define X(name, word) [LEAK_ROOT_CLASS_##name] = word,
                                       LEAK_ROOT_CLASS_TABLE(X)
#undef X
};

const char *const end_word[] = {"exit", "signal", "exec", "running", "lost"};

const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

size_t frame_user(const struct frame *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i]->role == FRAME_USER && (frames[i]->module || frames[i]->function))
            return i;
    return count;
}

const char *frame_name(const struct frame *frame, char buffer[FRAME_NAME_SIZE])
{
    const char *module = frame->module ? base_name(frame->module) : "[no module]";

    if (frame->function)
        return frame->function;
    if (frame->has_offset)
        snprintf(buffer, FRAME_NAME_SIZE, "%s+0x%" PRIx64, module, frame->offset);
    else
        snprintf(buffer, FRAME_NAME_SIZE, "%s", module);
    return buffer;
}

size_t frame_first(const struct frame *const *frames, size_t count)
{
    size_t i = 0;

    while (i < count && frames[i]->role == FRAME_ALLOCATOR)
        i++;
    return i < count ? i : 0;
}

const struct frame *record_title(const struct record *record)
{
    if (record->user < record->frame_count)
        return record->frames[record->user];
    for (size_t i = 0; i < record->frame_count; i++)
        if (record->frames[i]->role != FRAME_ALLOCATOR)
            return record->frames[i];
    return record->frame_count ? record->frames[0] : NULL;
}

bool record_grows(const struct record *record)
{
    return record->growth && growth_grows(record->growth->verdict);
}

void link_owned(struct process *process)
{
    for (size_t i = process->record_count; i > 0; i--) {
        struct record *record = &process->records[i - 1];
        struct record *owner = record->owner ? &process->records[record->owner - 1] : NULL;

        if (!owner)
            continue;
        record->next_owned = owner->owned;
        owner->owned = i;
    }
}

bool has_losses(const struct process *process)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        if (v != VERDICT_REACHABLE && v != VERDICT_RUNTIME && process->totals.of[v].records)
            return true;
    return false;
}

bool has_resources(const struct process *process)
{
    for (size_t i = 0; i < process->resource_count; i++)
        if (resource_matters(&process->resources[i]))
            return true;
    return false;
}

bool resource_matters(const struct resource *resource)
{
    return resource->bad_close ? resource->taken : !resource->once;
}

const char *crash_type(const struct crash *crash)
{
    return crash->overflow ? "stack-overflow" : "crash";
}

uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void total_add(struct verdict_total *sum, const struct verdict_total *one)
{
    sum->bytes = add_saturating(sum->bytes, one->bytes);
    sum->blocks = add_saturating(sum->blocks, one->blocks);
    sum->records = add_saturating(sum->records, one->records);
}

struct totals report_totals(const struct report *report)
{
    struct totals sum = {0};

    for (size_t i = 0; i < report->process_count; i++) {
        const struct totals *one = &report->processes[i].totals;

        for (int v = 0; v < VERDICT_MAX; v++)
            total_add(&sum.of[v], &one->of[v]);
        sum.growing = add_saturating(sum.growing, one->growing);
        sum.errors = add_saturating(sum.errors, one->errors);
        sum.resources = add_saturating(sum.resources, one->resources);
    }
    return sum;
}

struct record record_of_stack(const struct stack *stack)
{
    return (struct record){.frames = stack->frames,
                           .frame_count = stack->count,
                           .user = frame_user(stack->frames, stack->count),
                           .ending = stack->ending};
}
