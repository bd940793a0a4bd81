/* json_record.c - records and resources; see json.h. */
#include "symbolize/json/json.h"

#include "common/view/json_parts.h"

void json_error(struct json_writer *json, const struct process *process, const struct error *error)
{
    if (!process->sample) {
        json_put_null(json, "error");
        return;
    }
    json_open(json, "error", '{');
    json_put_number(json, "bytes", error->bytes);
    json_put_number(json, "blocks", error->blocks);
    json_put_number(json, "samples", error->samples);
    json_close(json, '}');
}

static void write_json_threads(struct json_writer *json, const struct record *record)
{
    json_open(json, "threads", '[');
    for (size_t i = 0; i < record->thread_count; i++)
        json_thread(json, NULL, &record->threads[i]);
    if (record->more_threads) { /* there were more threads, whose number is unknown */
        json_open(json, NULL, '{');
        json_put_null(json, "serial");
        json_put_null(json, "name");
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_json_freed(struct json_writer *json, const struct freed *freed)
{
    size_t user = 0;

    while (user < freed->frame_count && freed->frames[user] != freed->place[0].frame)
        user++;
    if (freed->places)
        json_frames(json, "freed_elsewhere", freed->frames, freed->frame_count, user);
    else
        json_put_null(json, "freed_elsewhere");
    if (freed->places && freed->enough)
        json_put_fraction(json, "freed_share", freed->place[0].share);
    else
        json_put_null(json, "freed_share");
    if (freed->places)
        json_put_bool(json, "freed_same_path", !freed->other_path);
    else
        json_put_null(json, "freed_same_path");
    if (freed->places && freed->late > 0)
        json_put_fraction(json, "freed_at_exit", freed->late);
    json_put_number(json, "freed_blocks", freed->blocks);
}

static void write_beside(struct json_writer *json, const struct freed *beside)
{
    size_t user = 0;

    while (user < beside->frame_count && beside->frames[user] != beside->place[0].frame)
        user++;
    if (beside->places)
        json_frames(json, "freed_beside", beside->frames, beside->frame_count, user);
    else
        json_put_null(json, "freed_beside");
}

/* The place that freed the owner of these blocks, and the user frame that allocated the owner. */
static void write_json_orphaned(struct json_writer *json, const struct orphaned *orphaned)
{
    if (!orphaned->blocks) {
        json_put_null(json, "holder_freed");
        return;
    }
    json_open(json, "holder_freed", '{');
    json_put_number(json, "blocks", orphaned->blocks);
    if (orphaned->holder)
        json_frames(json, "holder", &orphaned->holder, 1, 0);
    else
        json_put_null(json, "holder");
    json_frames(json, "frames", orphaned->frames, orphaned->frame_count, orphaned->user);
    json_close(json, '}');
}

void json_retained(struct json_writer *json, const struct record *record)
{
    if (!record->retained.blocks) {
        json_put_null(json, "retained");
        return;
    }
    json_open(json, "retained", '{');
    json_put_number(json, "bytes", record->retained.bytes);
    json_put_number(json, "blocks", record->retained.blocks);
    json_close(json, '}');
}

static void write_json_samples(struct json_writer *json, const struct record *record)
{
    json_open(json, "samples", '[');
    for (size_t i = 0; i < record->sample_count; i++)
        json_sample(json, &record->samples[i]);
    json_close(json, ']');
}

static void write_json_lines(struct json_writer *json, const struct record *record)
{
    json_open(json, "lines", '[');
    for (size_t i = 0; i < record->line_count; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "file", record->lines[i].frame->file);
        json_put_number(json, "line", record->lines[i].frame->line);
        json_put_number(json, "bytes", record->lines[i].bytes);
        json_put_number(json, "blocks", record->lines[i].blocks);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void json_tags(struct json_writer *json, const struct record *record)
{
    json_open(json, "tags", '[');
    for (size_t i = 0; i < record->tag_count; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "name", record->tags[i].name);
        json_put_number(json, "bytes", record->tags[i].bytes);
        json_put_number(json, "blocks", record->tags[i].blocks);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void json_record(struct json_writer *json, const struct process *process,
                 const struct record *record)
{
    json_put_id(json, "signature", record->signature);
    json_put_text(json, "verdict", verdict_word[record->verdict]);
    json_put_text(json, "kind", kind_word[record->kind]);
    json_put_number(json, "bytes", record->bytes);
    json_put_number(json, "blocks", record->blocks);
    json_error(json, process, &record->error);
    json_put_time(json, "first", record->first_ns);
    json_put_time(json, "last", record->last_ns);
    write_json_threads(json, record);
    json_frames(json, "frames", record->frames, record->frame_count, record->user);
    json_retained(json, record);
    json_put_bool(json, "cycle", record->cycle);
    json_put_bool(json, "dropped", record->dropped);
    json_put_bool(json, "ignored", record->ignored);
    json_put_bool(json, "shared", record->shared);
    json_put_bool(json, "tagged", record->tagged);
    if (record->owner)
        json_put_id(json, "owner", process->records[record->owner - 1].signature);
    else
        json_put_null(json, "owner");
    if (record->lead)
        json_put_id(json, "part_of", process->records[record->lead - 1].signature);
    else
        json_put_null(json, "part_of");
    write_json_lines(json, record);
    json_path(json, "path", record->path);
    write_json_samples(json, record);
    json_growth(json, record->growth);
    write_json_freed(json, &record->freed);
    write_beside(json, &record->beside);
    write_json_orphaned(json, &record->orphaned);
    json_tags(json, record);
    json_put_text(json, "suppressed_by",
                  record->suppressed_by ? record->suppressed_by->text : NULL);
}

void json_resource(struct json_writer *json, const struct resource *resource)
{
    const struct record *record = &resource->record;

    json_put_text(json, "type", resource->type);
    json_put_text(json, "name", resource->name_count ? resource->names[0] : NULL);
    json_open(json, "names", '[');
    for (size_t i = 0; i < resource->name_count; i++)
        json_put_text(json, NULL, resource->names[i]);
    json_close(json, ']');
    json_put_number(json, "count", record->blocks);
    json_put_known(json, "bytes", resource->has_bytes, record->bytes);
    json_put_bool(json, "once", resource->once);
    json_put_id(json, "signature", record->signature);
    json_put_time(json, "first", record->first_ns);
    json_put_time(json, "last", record->last_ns);
    write_json_threads(json, record);
    json_frames(json, "frames", record->frames, record->frame_count, record->user);
    json_stack_or_null(json, "opened", &resource->opened);
    json_stack_or_null(json, "closed", &resource->closed);
    if (resource->closed.count)
        json_thread(json, "closed_by", &resource->closed_by);
    else
        json_put_null(json, "closed_by");
    json_put_bool(json, "taken", resource->taken);
    write_beside(json, &record->beside);
    write_json_orphaned(json, &record->orphaned);
}
