/* read_crash.c - the signal that killed.
 *
 * One record of a fixed size, and behind it the modules there were. It is published in steps, so
 * what was not reached any more is zero. Numbers that do not hold are left out one by one: a crash
 * may be all that a damaged process has to say.
 */
#include <string.h>

#include "common/store/reader_internal.h"

static void end_text(char *text, size_t size)
{
    text[size - 1] = 0;
}

static void check_frames(struct reading *reading, struct leak_crash *head)
{
    if (head->frame_count > LEAK_CRASH_FRAMES || head->outer_count > LEAK_CRASH_OUTER) {
        head->frame_count = head->outer_count = 0;
        reading->damaged++;
    }
    for (uint32_t i = 0; i < head->frame_count; i++) {
        struct leak_crash_frame *frame = &head->frames[i];

        if (frame->times && (!frame->period || frame->period > i + 1)) {
            frame->times = 0;
            reading->damaged++;
        }
    }
    if (!head->outer_count)
        head->left_out = 0;
}

static void read_modules(struct reading *reading, const uint8_t *payload, size_t length,
                         struct store_crash *crash)
{
    const struct leak_table *table = &crash->head.modules;
    size_t rest, used;
    const uint8_t *at;

    if (table->at > length || table->count > length - table->at) {
        reading->damaged++;
        return;
    }
    at = payload + table->at;
    rest = table->count;
    crash->modules =
        mem_take_array(reading->store->mem, rest / offsetof(struct leak_module, path) + 1,
                       sizeof(*crash->modules));
    for (; rest; at += used, rest -= used) {
        struct store_module *made = &crash->modules[crash->module_count];

        used = read_module(reading, at, rest, made);
        if (!used)
            break;
        spans_add(&crash->module_spans, made->start, made->end, (uint32_t)crash->module_count++);
    }
    spans_sort(&crash->module_spans);
}

/* False: never published, or no crash at all. */
static bool head_holds(struct reading *reading, const struct leak_crash *head)
{
    if (head->state == LEAK_CRASH_NONE)
        return false;
    if (head->head_size == sizeof(*head) && head->state <= LEAK_CRASH_FATAL && head->signal > 0 &&
        head->signal <= 64 && head->register_count <= LEAK_CRASH_REGISTERS)
        return true;
    reading->damaged++;
    return false;
}

static void read_one(struct reading *reading, const struct chunk *chunk)
{
    struct store *store = reading->store;
    const uint8_t *payload = reading->image->data + chunk->payload;
    struct store_crash *crash;

    if (chunk->length < sizeof(crash->head))
        return;
    crash = mem_take(store->mem, sizeof(*crash));
    memcpy(&crash->head, payload, sizeof(crash->head));
    if (!head_holds(reading, &crash->head))
        return;
    check_frames(reading, &crash->head);
    end_text(crash->head.name, sizeof(crash->head.name));
    end_text(crash->head.at.path, sizeof(crash->head.at.path));
    end_text(crash->head.below.path, sizeof(crash->head.below.path));
    end_text(crash->head.above.path, sizeof(crash->head.above.path));
    end_text(crash->head.stack.path, sizeof(crash->head.stack.path));
    for (size_t i = 0; i <= LEAK_CRASH_REGISTERS; i++)
        crash->near_site[i] = store_site_of(store, crash->head.near[i].site);
    read_modules(reading, payload, chunk->length, crash);
    if (store->crash)
        spans_end(&store->crash->module_spans);
    store->crash = crash;
}

void read_crash(struct reading *reading, const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_CRASH && chunks->chunk[i].length)
            read_one(reading, &chunks->chunk[i]);
}
