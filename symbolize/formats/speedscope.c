/* speedscope.c - writes a file for speedscope; described in formats.h.
 *
 * The file has two profiles for each weight, one in bytes and one in blocks; all profiles share the
 * frames. A stack is a sample, with its outermost frame first.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/encode/json_writer.h"
#include "symbolize/profile/profile.h"

struct writing {
    struct json_writer json;
    struct heap_profile *profile;
    struct hashmap frames; /* hash of a frame, a label or a process -> its number + 1 */
    uint64_t frame_count;
};

/* ---- Writing the frames ---------------------------------------------------------------------- */

static uint64_t key_of_label(const struct profile_stack *stack)
{
    return hash_text(3, stack->label, strlen(stack->label));
}

static uint64_t key_of_process(const struct profile_stack *stack)
{
    return hash_mix(4, (uintptr_t)stack->process);
}

/* Numbers a frame. True: the frame is new, and must be written next. */
static bool number_frame(struct writing *writing, uint64_t key)
{
    bool fresh;
    uint64_t *slot = hashmap_put(&writing->frames, key, &fresh);

    if (fresh)
        *slot = ++writing->frame_count;
    return fresh;
}

static void write_named_frame(struct writing *writing, const char *name, const struct frame *frame)
{
    struct json_writer *json = &writing->json;

    json_open(json, NULL, '{');
    json_put_text(json, "name", name);
    if (frame && frame->file) {
        json_put_text(json, "file", frame->file);
        if (frame->line)
            json_put_number(json, "line", frame->line);
        if (frame->line && frame->column)
            json_put_number(json, "col", frame->column);
    }
    json_close(json, '}');
}

static void write_frames_of(struct writing *writing, const struct profile_stack *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        char buffer[FRAME_NAME_SIZE];
        const struct frame *frame = stack->frames[i];

        if (number_frame(writing, heap_profile_hash_frame(writing->profile, frame)))
            write_named_frame(writing, frame_name(frame, buffer), frame);
    }
    if (stack->label && number_frame(writing, key_of_label(stack)))
        write_named_frame(writing, stack->label, NULL);
    if (writing->profile->many && number_frame(writing, key_of_process(stack))) {
        char name[FRAME_NAME_SIZE];

        snprintf(name, sizeof(name), "%s (pid %" PRId32 ")", process_name(stack->process),
                 stack->process->pid);
        write_named_frame(writing, name, NULL);
    }
}

static void write_speedscope_frames(struct writing *writing)
{
    struct json_writer *json = &writing->json;

    json_open(json, "shared", '{');
    json_open(json, "frames", '[');
    json->flat = true;
    for (size_t i = 0; i < writing->profile->count; i++)
        write_frames_of(writing, &writing->profile->stacks[i]);
    json->flat = false;
    json_close(json, ']');
    json_close(json, '}');
}

/* ---- Writing the profiles -------------------------------------------------------------------- */

static uint64_t value_of(const struct profile_stack *stack, enum weight weight, bool blocks)
{
    return blocks ? stack->of[weight].blocks : stack->of[weight].bytes;
}

static void put_frame(struct writing *writing, uint64_t key)
{
    json_put_number(&writing->json, NULL, hashmap_get(&writing->frames, key) - 1);
}

static void write_sample(struct writing *writing, const struct profile_stack *stack)
{
    json_open(&writing->json, NULL, '[');
    if (writing->profile->many)
        put_frame(writing, key_of_process(stack));
    if (stack->label)
        put_frame(writing, key_of_label(stack));
    for (size_t i = stack->count; i-- > 0;)
        put_frame(writing, heap_profile_hash_frame(writing->profile, stack->frames[i]));
    json_close(&writing->json, ']');
}

static void write_speedscope_profile(struct writing *writing, enum weight weight, bool blocks)
{
    struct json_writer *json = &writing->json;
    const struct heap_profile *profile = writing->profile;
    char name[64];

    snprintf(name, sizeof(name), "%s %s", weight_word[weight], blocks ? "blocks" : "bytes");
    json_open(json, NULL, '{');
    json_put_text(json, "type", "sampled");
    json_put_text(json, "name", name);
    json_put_text(json, "unit", blocks ? "none" : "bytes");
    json_put_number(json, "startValue", 0);
    json_put_number(json, "endValue",
                    blocks ? profile->total[weight].blocks : profile->total[weight].bytes);
    json->flat = true;
    json_open(json, "samples", '[');
    for (size_t i = 0; i < profile->count; i++)
        if (value_of(&profile->stacks[i], weight, blocks))
            write_sample(writing, &profile->stacks[i]);
    json_close(json, ']');
    json_open(json, "weights", '[');
    for (size_t i = 0; i < profile->count; i++)
        if (value_of(&profile->stacks[i], weight, blocks))
            json_put_number(json, NULL, value_of(&profile->stacks[i], weight, blocks));
    json_close(json, ']');
    json->flat = false;
    json_close(json, '}');
}

/* Writes a profile for each weight except "listed", which depends on the options of the report. */
static void write_speedscope_profiles(struct writing *writing)
{
    json_open(&writing->json, "profiles", '[');
    for (int blocks = 0; blocks < 2; blocks++)
        for (enum weight weight = WEIGHT_LEAKED; weight < WEIGHT_MAX; weight++)
            if (writing->profile->total[weight].blocks)
                write_speedscope_profile(writing, weight, blocks);
    json_close(&writing->json, ']');
}

void speedscope_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct heap_profile profile = heap_profile_begin(report, view, true);
    struct writing writing = {.json = {.stream = stream}, .profile = &profile};
    struct json_writer *json = &writing.json;

    json_open(json, NULL, '{');
    json_put_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_put_text(json, "exporter", "libleak " LEAK_VERSION);
    json_put_text(json, "name",
                  report->process_count ? process_name(&report->processes[0]) : "nothing");
    json_put_number(json, "activeProfileIndex", 0);
    write_speedscope_frames(&writing);
    write_speedscope_profiles(&writing);
    json_close(json, '}');
    putc('\n', stream);
    hashmap_end(&writing.frames);
    heap_profile_end(&profile);
}
