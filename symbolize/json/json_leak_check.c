/* json_leak_check.c - see json_leak_check.h and docs/schema.json. */
#include "symbolize/json/json_leak_check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/encode/hex.h"
#include "common/view/json_growth.h"

static void milliseconds(struct emit *emit, const char *key, uint64_t ns, bool known)
{
    if (known)
        emit_fraction(emit, key, (double)ns / 1e6);
    else
        emit_null(emit, key);
}

void json_look(struct emit *emit, const char *key, const struct look *look)
{
    if (!look) {
        emit_null(emit, key);
        return;
    }
    emit_open(emit, key, '{');
    emit_time(emit, "when", look->when_ns);
    emit_text(emit, "rung", look->rung);
    emit_text(emit, "occasion", look->occasion);
    emit_text(emit, "trouble", look->trouble);
    milliseconds(emit, "pause_ms", look->pause_ns, look->timed);
    milliseconds(emit, "check_ms", look->check_ns, look->timed);
    emit_number(emit, "threads_parked", look->threads_parked);
    emit_number(emit, "threads_missed", look->threads_missed);
    emit_number(emit, "skipped", look->skipped);
    emit_known(emit, "milestone", look->milestone != 0, look->milestone);
    emit_close(emit, '}');
}

void json_milestones(struct emit *emit, const struct process *process)
{
    emit_open(emit, "milestones", '[');
    for (size_t i = 0; i < process->milestone_count; i++) {
        emit_open(emit, NULL, '{');
        emit->flat = true;
        emit_number(emit, "number", process->milestones[i].number);
        emit_time(emit, "time", process->milestones[i].time_ns);
        emit_text(emit, "mark", process->milestones[i].name);
        emit_close(emit, '}');
        emit->flat = false;
    }
    emit_close(emit, ']');
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static void write_root(struct emit *emit, const struct root *root)
{
    emit_open(emit, NULL, '{');
    emit->flat = true;
    emit_text(emit, "root", root->words);
    emit_text(emit, "class", root_class_word[root->class]);
    emit_text(emit, "variable", root->variable);
    emit_text(emit, "function", root->function);
    emit_text(emit, "file", root->file);
    emit_known(emit, "line", root->line != 0, root->line);
    emit_text(emit, "module", root->module);
    emit_known(emit, "thread", root->thread.serial != 0, root->thread.serial);
    emit_known(emit, "offset", root->has_offset, root->offset);
    emit_close(emit, '}');
    emit->flat = false;
}

static void write_step(struct emit *emit, const struct path_step *step)
{
    const struct frame *frame = step->frame;

    emit_open(emit, NULL, '{');
    emit->flat = true;
    emit_number(emit, "offset", step->offset);
    emit_number(emit, "into", step->into);
    emit_number(emit, "size", step->size);
    emit_text(emit, "function", frame ? frame->function : NULL);
    emit_text(emit, "file", frame ? frame->file : NULL);
    emit_known(emit, "line", frame && frame->line, frame ? frame->line : 0);
    if (step->known)
        emit_id(emit, "signature", step->signature);
    else
        emit_null(emit, "signature");
    emit_close(emit, '}');
    emit->flat = false;
}

static void write_skipped(struct emit *emit, uint64_t count)
{
    emit_open(emit, NULL, '{');
    emit->flat = true;
    emit_number(emit, "skipped", count);
    emit_close(emit, '}');
    emit->flat = false;
}

static void write_path(struct emit *emit, const char *key, const struct root *root,
                       const struct path *path)
{
    emit_open(emit, key, '[');
    write_root(emit, root);
    for (size_t i = 0; path && i < path->count; i++) {
        if (path->skipped && i == path->skipped_at)
            write_skipped(emit, path->skipped);
        write_step(emit, &path->steps[i]);
    }
    emit_close(emit, ']');
}

void json_path(struct emit *emit, const char *key, const struct path *path)
{
    if (path)
        write_path(emit, key, path->root, path);
    else
        emit_null(emit, key);
}

void json_owners(struct emit *emit, const struct process *process)
{
    emit_open(emit, "owners", '[');
    for (size_t i = 0; i < process->owner_count; i++) {
        const struct owner *owner = &process->owners[i];

        emit_open(emit, NULL, '{');
        emit_text(emit, "root", owner->root->words);
        emit_number(emit, "bytes", owner->bytes);
        emit_number(emit, "blocks", owner->blocks);
        write_path(emit, "path", owner->path ? owner->path->root : owner->root, owner->path);
        json_growth(emit, owner->growth);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

/* ---- Samples -------------------------------------------------------------------------------- */

static void write_content(struct emit *emit, const struct sample *sample)
{
    size_t size = 4 * sample->length + 1;
    char *text = sample->length ? malloc(size) : NULL;

    if (text)
        dump_line(sample->content, sample->length, text, size);
    emit_text(emit, "content", text);
    free(text);
}

void json_sample(struct emit *emit, const struct sample *sample)
{
    char serial[64];

    snprintf(serial, sizeof(serial), "T%" PRIu32 "#%" PRIu32, sample->thread.serial, sample->count);
    emit_open(emit, NULL, '{');
    emit->flat = true;
    if (sample->address)
        emit_address(emit, "address", sample->address);
    else
        emit_null(emit, "address");
    emit_number(emit, "size", sample->size);
    emit_text(emit, "serial", serial);
    emit_text(emit, "thread", sample->thread.name);
    emit_time(emit, "time", sample->time_ns);
    write_content(emit, sample);
    emit_close(emit, '}');
    emit->flat = false;
}
