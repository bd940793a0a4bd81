/* anonymize.c - removes private data from a report; described in build.h. */
#include "symbolize/build/build.h"

static void anonymize_frames(const struct frame *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct frame *frame = (struct frame *)frames[i];

        frame->file = base_name(frame->file);
        frame->module = base_name(frame->module);
    }
}

static void anonymize_stack(const struct stack *stack)
{
    anonymize_frames(stack->frames, stack->count);
}

static void anonymize_root(struct root *root)
{
    root->file = base_name(root->file);
    root->module = base_name(root->module);
}

static void anonymize_path(const struct path *path)
{
    if (!path)
        return;
    anonymize_root((struct root *)path->root);
    for (size_t i = 0; i < path->count; i++)
        if (path->steps[i].frame)
            anonymize_frames(&path->steps[i].frame, 1);
}

static void anonymize_address(const struct address_info *who)
{
    anonymize_stack(&who->allocated);
    for (size_t i = 0; i < who->pointer_count; i++) {
        struct root *root = (struct root *)who->pointers[i].root;

        if (root)
            anonymize_root(root);
        if (who->pointers[i].frame)
            anonymize_frames(&who->pointers[i].frame, 1);
    }
}

static void anonymize_place(const struct freed_place *place)
{
    anonymize_frames(&place->frame, 1);
    if (place->common)
        anonymize_frames(&place->common, 1);
    if (place->below)
        anonymize_frames(&place->below, 1);
}

static void anonymize_freed(const struct freed *freed)
{
    anonymize_frames(freed->frames, freed->frame_count);
    for (size_t i = 0; i < freed->places; i++)
        anonymize_place(&freed->place[i]);
}

static void anonymize_orphaned(const struct orphaned *orphaned)
{
    anonymize_frames(orphaned->frames, orphaned->frame_count);
    anonymize_frames(&orphaned->holder, orphaned->holder != NULL);
}

static void anonymize_lost(const struct lost_place *place)
{
    anonymize_frames(&place->holder_maker, place->holder_maker != NULL);
    anonymize_stack(&place->at);
    anonymize_stack(&place->before);
    anonymize_stack(&place->after);
}

static void anonymize_ways(const struct when_lost *when)
{
    const struct frame *const lines[] = {when->passed.end, when->allocates, when->loses};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        anonymize_frames(&lines[i], lines[i] != NULL);
    anonymize_stack(&when->passed.stack);
    for (size_t i = 0; i < when->way_count; i++) {
        anonymize_stack(&when->ways[i].stack);
        anonymize_frames(&when->ways[i].end, 1);
        anonymize_frames(&when->ways[i].jumped_from, when->ways[i].jumped_from != NULL);
    }
}

static void anonymize_record(struct record *record)
{
    anonymize_frames(record->frames, record->frame_count);
    anonymize_freed(&record->freed);
    anonymize_freed(&record->beside);
    anonymize_orphaned(&record->orphaned);
    anonymize_orphaned(&record->earlier);
    for (size_t i = 0; i < record->line_count; i++)
        anonymize_frames(&record->lines[i].frame, 1);
    for (size_t i = 0; i < record->counterpart_count; i++)
        anonymize_frames(&record->counterparts[i].frame, 1);
    for (size_t i = 0; i < record->handover_count; i++)
        anonymize_frames(&record->handovers[i].frame, 1);
    anonymize_path(record->path);
    if (record->when_lost) {
        anonymize_lost(&record->when_lost->place);
        anonymize_lost(&record->when_lost->then);
        anonymize_stack(&record->when_lost->used);
        anonymize_ways(record->when_lost);
    }
    if (record->suppressed_by)
        ((struct rule *)record->suppressed_by)->where = base_name(record->suppressed_by->where);
}

static void anonymize_crash(struct crash *crash)
{
    anonymize_stack(&crash->stack);
    for (size_t i = 0; i < crash->block_count; i++) {
        anonymize_stack(&crash->blocks[i].freed);
        anonymize_stack(&crash->blocks[i].allocated);
    }
    for (size_t i = 0; i < crash->module_count; i++)
        crash->modules[i] = base_name(crash->modules[i]);
}

/* Removes private data from a resource: directories of paths, and names that are no path, like
 * addresses of socket peers. */
static void anonymize_resource(struct resource *resource)
{
    size_t kept = 0;

    anonymize_frames(resource->record.frames, resource->record.frame_count);
    anonymize_stack(&resource->opened);
    anonymize_stack(&resource->closed);
    for (size_t i = 0; i < resource->name_count; i++)
        if (*resource->names[i] == '/')
            resource->names[kept++] = base_name(resource->names[i]);
    resource->name_count = kept;
}

void anonymize_process(struct process *process)
{
    process->host = process->store = NULL;
    process->exe = base_name(process->exe);
    process->argc = 0;
    for (size_t i = 0; i < process->record_count; i++)
        anonymize_record(&process->records[i]);
    for (size_t i = 0; i < process->grown_count; i++)
        anonymize_record(&process->grown[i]);
    for (size_t i = 0; i < process->peak_part_count; i++)
        anonymize_stack(&process->peak_parts[i].stack);
    for (size_t i = 0; i < process->temporary_count; i++)
        anonymize_stack(&process->temporary[i].stack);
    if (process->held) {
        anonymize_frames(&process->held->frame, 1);
        if (process->held->freed_in)
            anonymize_frames(&process->held->freed_in, 1);
    }
    for (size_t i = 0; i < process->allocated_count; i++)
        anonymize_stack(&process->allocated[i].stack);
    for (size_t i = 0; i < process->recent_count; i++) {
        anonymize_stack(&process->recent[i].freed);
        anonymize_stack(&process->recent[i].allocated);
    }
    if (process->who)
        anonymize_address(process->who);
    for (size_t i = 0; i < process->resource_count; i++)
        anonymize_resource(&process->resources[i]);
    process->inherited_count = 0;
    if (process->crash)
        anonymize_crash(process->crash);
    for (size_t i = 0; i < process->mistake_count; i++) {
        const struct bad_free *mistake = &process->mistakes[i];

        anonymize_stack(&mistake->released);
        anonymize_stack(&mistake->allocated);
        anonymize_stack(&mistake->first);
    }
    for (size_t i = 0; i < process->owner_count; i++) {
        struct root *root = (struct root *)process->owners[i].root;

        root->file = base_name(root->file);
        root->module = base_name(root->module);
        anonymize_path(process->owners[i].path);
    }
    for (size_t i = 0; i < process->thread_count; i++)
        anonymize_stack(&process->threads[i].stack);
    for (size_t i = 0; i < process->blind_count; i++)
        process->blind[i].path = base_name(process->blind[i].path);
}

void anonymize_rules(struct report *report)
{
    for (size_t i = 0; i < report->unused_count; i++)
        ((struct rule *)report->unused[i])->where = base_name(report->unused[i]->where);
    for (size_t i = 0; i < report->expired_count; i++)
        ((struct rule *)report->expired[i])->where = base_name(report->expired[i]->where);
}
