/* json_record.c - see json_record.h and docs/schema.json. */
#include "symbolize/json/json_record.h"

#include "common/view/json_growth.h"
#include "symbolize/json/json_leak_check.h"
#include "common/view/json_stack.h"

void json_error(struct emit *emit, const struct process *process, const struct error *error)
{
    if (!process->sample) {
        emit_null(emit, "error");
        return;
    }
    emit_open(emit, "error", '{');
    emit_number(emit, "bytes", error->bytes);
    emit_number(emit, "blocks", error->blocks);
    emit_number(emit, "samples", error->samples);
    emit_close(emit, '}');
}

static void write_threads(struct emit *emit, const struct record *record)
{
    emit_open(emit, "threads", '[');
    for (size_t i = 0; i < record->thread_count; i++)
        json_thread(emit, NULL, &record->threads[i]);
    if (record->more_threads) { /* there were others, and nobody kept count */
        emit_open(emit, NULL, '{');
        emit_null(emit, "serial");
        emit_null(emit, "name");
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void write_freed(struct emit *emit, const struct freed *freed)
{
    size_t user = 0;

    while (user < freed->frame_count && freed->frames[user] != freed->place[0].frame)
        user++;
    if (freed->places)
        json_frames(emit, "freed_elsewhere", freed->frames, freed->frame_count, user);
    else
        emit_null(emit, "freed_elsewhere");
    if (freed->places && freed->enough)
        emit_fraction(emit, "freed_share", freed->place[0].share);
    else
        emit_null(emit, "freed_share");
    if (freed->places)
        emit_bool(emit, "freed_same_path", !freed->other_path);
    else
        emit_null(emit, "freed_same_path");
    if (freed->places && freed->late > 0)
        emit_fraction(emit, "freed_at_exit", freed->late);
    emit_number(emit, "freed_blocks", freed->blocks);
}

static void write_beside(struct emit *emit, const struct freed *beside)
{
    size_t user = 0;

    while (user < beside->frame_count && beside->frames[user] != beside->place[0].frame)
        user++;
    if (beside->places)
        json_frames(emit, "freed_beside", beside->frames, beside->frame_count, user);
    else
        emit_null(emit, "freed_beside");
}

/* Who freed what pointed to these blocks; the user's frame of whoever allocated that. */
static void write_orphaned(struct emit *emit, const struct orphaned *orphaned)
{
    if (!orphaned->blocks) {
        emit_null(emit, "holder_freed");
        return;
    }
    emit_open(emit, "holder_freed", '{');
    emit_number(emit, "blocks", orphaned->blocks);
    if (orphaned->holder)
        json_frames(emit, "holder", &orphaned->holder, 1, 0);
    else
        emit_null(emit, "holder");
    json_frames(emit, "frames", orphaned->frames, orphaned->frame_count, orphaned->user);
    emit_close(emit, '}');
}

void json_retained(struct emit *emit, const struct record *record)
{
    if (!record->retained.blocks) {
        emit_null(emit, "retained");
        return;
    }
    emit_open(emit, "retained", '{');
    emit_number(emit, "bytes", record->retained.bytes);
    emit_number(emit, "blocks", record->retained.blocks);
    emit_close(emit, '}');
}

static void write_samples(struct emit *emit, const struct record *record)
{
    emit_open(emit, "samples", '[');
    for (size_t i = 0; i < record->sample_count; i++)
        json_sample(emit, &record->samples[i]);
    emit_close(emit, ']');
}

static void write_lines(struct emit *emit, const struct record *record)
{
    emit_open(emit, "lines", '[');
    for (size_t i = 0; i < record->line_count; i++) {
        emit_open(emit, NULL, '{');
        emit_text(emit, "file", record->lines[i].frame->file);
        emit_number(emit, "line", record->lines[i].frame->line);
        emit_number(emit, "bytes", record->lines[i].bytes);
        emit_number(emit, "blocks", record->lines[i].blocks);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

void json_tags(struct emit *emit, const struct record *record)
{
    emit_open(emit, "tags", '[');
    for (size_t i = 0; i < record->tag_count; i++) {
        emit_open(emit, NULL, '{');
        emit_text(emit, "name", record->tags[i].name);
        emit_number(emit, "bytes", record->tags[i].bytes);
        emit_number(emit, "blocks", record->tags[i].blocks);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

void json_record(struct emit *emit, const struct process *process, const struct record *record)
{
    emit_id(emit, "signature", record->signature);
    emit_text(emit, "verdict", verdict_word[record->verdict]);
    emit_text(emit, "kind", kind_word[record->kind]);
    emit_number(emit, "bytes", record->bytes);
    emit_number(emit, "blocks", record->blocks);
    json_error(emit, process, &record->error);
    emit_time(emit, "first", record->first_ns);
    emit_time(emit, "last", record->last_ns);
    write_threads(emit, record);
    json_frames(emit, "frames", record->frames, record->frame_count, record->user);
    json_retained(emit, record);
    emit_bool(emit, "cycle", record->cycle);
    emit_bool(emit, "dropped", record->dropped);
    emit_bool(emit, "ignored", record->ignored);
    emit_bool(emit, "shared", record->shared);
    emit_bool(emit, "tagged", record->tagged);
    if (record->owner)
        emit_id(emit, "owner", process->records[record->owner - 1].signature);
    else
        emit_null(emit, "owner");
    if (record->lead)
        emit_id(emit, "part_of", process->records[record->lead - 1].signature);
    else
        emit_null(emit, "part_of");
    write_lines(emit, record);
    json_path(emit, "path", record->path);
    write_samples(emit, record);
    json_growth(emit, record->growth);
    write_freed(emit, &record->freed);
    write_beside(emit, &record->beside);
    write_orphaned(emit, &record->orphaned);
    json_tags(emit, record);
    emit_text(emit, "suppressed_by", record->suppressed_by ? record->suppressed_by->text : NULL);
}

void json_resource(struct emit *emit, const struct resource *resource)
{
    const struct record *record = &resource->record;

    emit_text(emit, "type", resource->type);
    emit_text(emit, "name", resource->name_count ? resource->names[0] : NULL);
    emit_open(emit, "names", '[');
    for (size_t i = 0; i < resource->name_count; i++)
        emit_text(emit, NULL, resource->names[i]);
    emit_close(emit, ']');
    emit_number(emit, "count", record->blocks);
    emit_known(emit, "bytes", resource->has_bytes, record->bytes);
    emit_bool(emit, "once", resource->once);
    emit_id(emit, "signature", record->signature);
    emit_time(emit, "first", record->first_ns);
    emit_time(emit, "last", record->last_ns);
    write_threads(emit, record);
    json_frames(emit, "frames", record->frames, record->frame_count, record->user);
    json_stack_or_null(emit, "opened", &resource->opened);
    json_stack_or_null(emit, "closed", &resource->closed);
    if (resource->closed.count)
        json_thread(emit, "closed_by", &resource->closed_by);
    else
        emit_null(emit, "closed_by");
    emit_bool(emit, "taken", resource->taken);
    write_beside(emit, &record->beside);
    write_orphaned(emit, &record->orphaned);
}
