/* json_leak_check.c - the leak check, paths, owners and samples; see json.h. */
#include "symbolize/json/json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/encode/encode.h"
#include "common/view/json_parts.h"

/* An element of a list, on one line. */
static void open_flat(struct json_writer *json)
{
    json_open(json, NULL, '{');
    json->flat = true;
}

static void close_flat(struct json_writer *json)
{
    json_close(json, '}');
    json->flat = false;
}

static void emit_milliseconds(struct json_writer *json, const char *key, uint64_t ns, bool known)
{
    if (known)
        json_put_fraction(json, key, (double)ns / 1e6);
    else
        json_put_null(json, key);
}

void json_leak_check(struct json_writer *json, const char *key, const struct leak_check *look)
{
    if (!look) {
        json_put_null(json, key);
        return;
    }
    json_open(json, key, '{');
    json_put_time(json, "when", look->when_ns);
    json_put_text(json, "rung", look->rung);
    json_put_text(json, "occasion", look->occasion);
    json_put_text(json, "trouble", look->trouble);
    emit_milliseconds(json, "pause_ms", look->pause_ns, look->timed);
    emit_milliseconds(json, "check_ms", look->check_ns, look->timed);
    json_put_number(json, "threads_parked", look->threads_parked);
    json_put_number(json, "threads_missed", look->threads_missed);
    json_put_number(json, "skipped", look->skipped);
    json_put_known(json, "milestone", look->milestone != 0, look->milestone);
    json_close(json, '}');
}

void json_milestones(struct json_writer *json, const struct process *process)
{
    json_open(json, "milestones", '[');
    for (size_t i = 0; i < process->milestone_count; i++) {
        open_flat(json);
        json_put_number(json, "number", process->milestones[i].number);
        json_put_time(json, "time", process->milestones[i].time_ns);
        json_put_text(json, "mark", process->milestones[i].name);
        close_flat(json);
    }
    json_close(json, ']');
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static void write_root(struct json_writer *json, const struct root *root)
{
    open_flat(json);
    json_put_text(json, "root", root->words);
    json_put_text(json, "class", root_class_word[root->class]);
    json_put_text(json, "variable", root->variable);
    json_put_text(json, "function", root->function);
    json_put_text(json, "file", root->file);
    json_put_known(json, "line", root->line != 0, root->line);
    json_put_text(json, "module", root->module);
    json_put_known(json, "thread", root->thread.serial != 0, root->thread.serial);
    json_put_known(json, "offset", root->has_offset, root->offset);
    close_flat(json);
}

static void write_step(struct json_writer *json, const struct path_step *step)
{
    const struct frame *frame = step->frame;

    open_flat(json);
    json_put_number(json, "offset", step->offset);
    json_put_number(json, "into", step->into);
    json_put_number(json, "size", step->size);
    json_put_text(json, "function", frame ? frame->function : NULL);
    json_put_text(json, "file", frame ? frame->file : NULL);
    json_put_known(json, "line", frame && frame->line, frame ? frame->line : 0);
    if (step->known)
        json_put_id(json, "signature", step->signature);
    else
        json_put_null(json, "signature");
    close_flat(json);
}

static void write_json_skipped(struct json_writer *json, uint64_t count)
{
    open_flat(json);
    json_put_number(json, "skipped", count);
    close_flat(json);
}

static void write_json_path(struct json_writer *json, const char *key, const struct root *root,
                            const struct path *path)
{
    json_open(json, key, '[');
    write_root(json, root);
    for (size_t i = 0; path && i < path->count; i++) {
        if (path->skipped && i == path->skipped_at)
            write_json_skipped(json, path->skipped);
        write_step(json, &path->steps[i]);
    }
    json_close(json, ']');
}

void json_path(struct json_writer *json, const char *key, const struct path *path)
{
    if (path)
        write_json_path(json, key, path->root, path);
    else
        json_put_null(json, key);
}

void json_owners(struct json_writer *json, const struct process *process)
{
    json_open(json, "owners", '[');
    for (size_t i = 0; i < process->owner_count; i++) {
        const struct owner *owner = &process->owners[i];

        json_open(json, NULL, '{');
        json_put_text(json, "root", owner->root->words);
        json_put_number(json, "bytes", owner->bytes);
        json_put_number(json, "blocks", owner->blocks);
        write_json_path(json, "path", owner->path ? owner->path->root : owner->root, owner->path);
        json_growth(json, owner->growth);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- Samples --------------------------------------------------------------------------------- */

static void write_content(struct json_writer *json, const struct sample *sample)
{
    size_t size = 4 * sample->length + 1;
    char *text = sample->length ? malloc(size) : NULL;

    if (text)
        hex_line(sample->content, sample->length, text, size);
    json_put_text(json, "content", text);
    free(text);
}

void json_sample(struct json_writer *json, const struct sample *sample)
{
    char serial[64];

    snprintf(serial, sizeof(serial), "T%" PRIu32 "#%" PRIu32, sample->thread.serial, sample->count);
    open_flat(json);
    if (sample->address)
        json_put_address(json, "address", sample->address);
    else
        json_put_null(json, "address");
    json_put_number(json, "size", sample->size);
    json_put_text(json, "serial", serial);
    json_put_text(json, "thread", sample->thread.name);
    json_put_time(json, "time", sample->time_ns);
    write_content(json, sample);
    close_flat(json);
}
