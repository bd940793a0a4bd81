/* anonymize.c - see anonymize.h. */
#include "symbolize/build/anonymize.h"

static void bare_frames(const struct frame *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct frame *frame = (struct frame *)frames[i];

        frame->file = base_name(frame->file);
        frame->module = base_name(frame->module);
    }
}

static void bare_stack(const struct stack *stack)
{
    bare_frames(stack->frames, stack->count);
}

static void bare_root(struct root *root)
{
    root->file = base_name(root->file);
    root->module = base_name(root->module);
}

static void bare_path(const struct path *path)
{
    if (!path)
        return;
    bare_root((struct root *)path->root);
    for (size_t i = 0; i < path->count; i++)
        if (path->steps[i].frame)
            bare_frames(&path->steps[i].frame, 1);
}

static void bare_who(const struct who *who)
{
    bare_stack(&who->allocated);
    for (size_t i = 0; i < who->pointer_count; i++) {
        struct root *root = (struct root *)who->pointers[i].root;

        if (root)
            bare_root(root);
        if (who->pointers[i].frame)
            bare_frames(&who->pointers[i].frame, 1);
    }
}

static void bare_freed(const struct freed *freed)
{
    bare_frames(freed->frames, freed->frame_count);
    for (size_t i = 0; i < freed->places; i++)
        bare_frames(&freed->place[i].frame, 1);
}

static void bare_record(struct record *record)
{
    bare_frames(record->frames, record->frame_count);
    bare_freed(&record->freed);
    bare_freed(&record->beside);
    bare_frames(record->orphaned.frames, record->orphaned.frame_count);
    if (record->orphaned.holder)
        bare_frames(&record->orphaned.holder, 1);
    for (size_t i = 0; i < record->line_count; i++)
        bare_frames(&record->lines[i].frame, 1);
    bare_path(record->path);
    if (record->suppressed_by)
        ((struct rule *)record->suppressed_by)->where = base_name(record->suppressed_by->where);
}

static void bare_crash(struct crash *crash)
{
    bare_stack(&crash->stack);
    for (size_t i = 0; i < crash->block_count; i++) {
        bare_stack(&crash->blocks[i].freed);
        bare_stack(&crash->blocks[i].allocated);
    }
    for (size_t i = 0; i < crash->module_count; i++)
        crash->modules[i] = base_name(crash->modules[i]);
}

/* Paths lose their directories; who was spoken to is left out. */
static void bare_resource(struct resource *resource)
{
    size_t kept = 0;

    bare_frames(resource->record.frames, resource->record.frame_count);
    bare_stack(&resource->opened);
    bare_stack(&resource->closed);
    for (size_t i = 0; i < resource->name_count; i++)
        if (*resource->names[i] == '/')
            resource->names[kept++] = base_name(resource->names[i]);
    resource->name_count = kept;
}

void anonymous_make(struct process *process)
{
    process->host = process->store = NULL;
    process->exe = base_name(process->exe);
    process->argc = 0;
    for (size_t i = 0; i < process->record_count; i++)
        bare_record(&process->records[i]);
    for (size_t i = 0; i < process->grown_count; i++)
        bare_record(&process->grown[i]);
    for (size_t i = 0; i < process->peak_part_count; i++)
        bare_stack(&process->peak_parts[i].stack);
    for (size_t i = 0; i < process->allocated_count; i++)
        bare_stack(&process->allocated[i].stack);
    for (size_t i = 0; i < process->recent_count; i++) {
        bare_stack(&process->recent[i].freed);
        bare_stack(&process->recent[i].allocated);
    }
    if (process->who)
        bare_who(process->who);
    for (size_t i = 0; i < process->resource_count; i++)
        bare_resource(&process->resources[i]);
    process->inherited_count = 0;
    if (process->crash)
        bare_crash(process->crash);
    for (size_t i = 0; i < process->mistake_count; i++) {
        const struct mistake *mistake = &process->mistakes[i];

        bare_stack(&mistake->released);
        bare_stack(&mistake->allocated);
        bare_stack(&mistake->first);
    }
    for (size_t i = 0; i < process->owner_count; i++) {
        struct root *root = (struct root *)process->owners[i].root;

        root->file = base_name(root->file);
        root->module = base_name(root->module);
        bare_path(process->owners[i].path);
    }
    for (size_t i = 0; i < process->thread_count; i++)
        bare_stack(&process->threads[i].stack);
    for (size_t i = 0; i < process->blind_count; i++)
        process->blind[i].path = base_name(process->blind[i].path);
}

void anonymous_rules(struct report *report)
{
    for (size_t i = 0; i < report->unused_count; i++)
        ((struct rule *)report->unused[i])->where = base_name(report->unused[i]->where);
    for (size_t i = 0; i < report->expired_count; i++)
        ((struct rule *)report->expired[i])->where = base_name(report->expired[i]->where);
}
