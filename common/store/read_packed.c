/* read_packed.c - the chunks that are texts and records of any length: what the process is, which
 * modules it had, which options were set. */
#include <stdlib.h>
#include <string.h>

#include "common/store/reader_internal.h"

/* A text of `length` bytes and its NUL at *at, or NULL; moves *at behind it. */
static const char *take_text(struct store *store, const uint8_t **at, const uint8_t *end,
                             size_t length)
{
    const char *text;

    if ((size_t)(end - *at) <= length || (*at)[length] != 0)
        return NULL;
    text = mem_copy(store->mem, (const char *)*at, length);
    *at += length + 1;
    return text;
}

static void read_process(struct reading *reading, const uint8_t *at, size_t length)
{
    struct store *store = reading->store;
    const uint8_t *end = at + length;
    struct leak_process process;
    size_t room;

    if (length < sizeof(process) || store->argv) {
        reading->damaged++;
        return;
    }
    memcpy(&process, at, sizeof(process));
    at += sizeof(process);
    store->exe = take_text(store, &at, end, process.exe_length);
    if (store->exe)
        store->cwd = take_text(store, &at, end, process.cwd_length);
    if (!store->cwd) {
        reading->damaged++;
        return;
    }
    room = (size_t)(end - at);
    if (room > process.argv_length)
        room = process.argv_length;
    end = at + room;
    store->argv =
        mem_take_array(store->mem, (process.argc < room ? process.argc : room) + 1, sizeof(char *));
    while (at < end && store->argc < process.argc) {
        const char *text =
            take_text(store, &at, end, strnlen((const char *)at, (size_t)(end - at)));

        if (!text) {
            reading->damaged++;
            return;
        }
        store->argv[store->argc++] = text;
    }
}

static bool module_holds(const struct leak_module *module, size_t rest)
{
    const size_t fixed = offsetof(struct leak_module, path);

    return module->length % 8 == 0 && module->length > fixed && module->length <= rest &&
           module->path_length < module->length - fixed &&
           module->build_id_length <= LEAK_BUILD_ID_MAX && module->start <= module->end;
}

size_t read_module(struct reading *reading, const uint8_t *at, size_t rest,
                   struct store_module *made)
{
    const size_t fixed = offsetof(struct leak_module, path);
    struct mem *mem = reading->store->mem;
    struct leak_module module;

    memcpy(&module, at, rest < fixed ? rest : fixed);
    if (rest < fixed || !module_holds(&module, rest)) {
        reading->damaged++;
        return 0;
    }
    *made = (struct store_module){
        .path = mem_copy(mem, (const char *)at + fixed,
                         strnlen((const char *)at + fixed, module.path_length)),
        .build_id =
            (const uint8_t *)mem_copy(mem, (const char *)module.build_id, module.build_id_length),
        .build_id_length = module.build_id_length,
        .start = module.start,
        .end = module.end,
        .bias = module.bias,
        .loaded_ns = module.loaded_ns,
        .unloaded_ns = module.unloaded_ns,
        .loaded = module.loaded,
        .unloaded = module.unloaded};
    return module.length;
}

static void read_modules(struct reading *reading, const uint8_t *at, size_t length)
{
    struct store *store = reading->store;

    while (length >= offsetof(struct leak_module, path)) {
        struct store_module made;
        size_t used = read_module(reading, at, length, &made);

        if (!used)
            return; /* without a length there is no way to the next one */
        store->modules = mem_more(store->modules, &reading->module_capacity,
                                  store->module_count + 1, sizeof(*store->modules));
        store->modules[store->module_count++] = made;
        at += used;
        length -= used;
    }
}

void read_packed_end(struct reading *reading)
{
    struct store *store = reading->store;
    struct store_module *grown = store->modules;

    if (!grown)
        return;
    store->modules = mem_take_array(store->mem, store->module_count, sizeof(*grown));
    memcpy(store->modules, grown, store->module_count * sizeof(*grown));
    free(grown);
    for (size_t i = 0; i < store->module_count; i++)
        spans_add(&store->module_spans, store->modules[i].start, store->modules[i].end,
                  (uint32_t)i);
    spans_sort(&store->module_spans);
}

/* Where it is from, NUL, the text. */
static void read_suppressions(struct reading *reading, const uint8_t *at, size_t length)
{
    struct store *store = reading->store;
    const char *where = (const char *)at, *text = memchr(where, 0, length);

    if (!text || length - (size_t)(text + 1 - where) > LEAK_SUPPRESSIONS_MAX ||
        store->suppressions_count == STORE_SUPPRESSIONS_MAX) {
        reading->damaged++;
        return;
    }
    text++;
    length = strnlen(text, length - (size_t)(text - where));
    store->suppressions[store->suppressions_count++] =
        (struct store_suppressions){.where = mem_copy(store->mem, where, strlen(where)),
                                    .text = mem_copy(store->mem, text, length),
                                    .length = length};
}

void read_packed(struct reading *reading, const struct chunk *chunk)
{
    const uint8_t *at = reading->image->data + chunk->payload;

    if (chunk->type == LEAK_CHUNK_PROCESS)
        read_process(reading, at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_MODULES)
        read_modules(reading, at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_OPTIONS)
        reading->store->options = mem_copy(reading->store->mem, (const char *)at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_OWN && chunk->length >= sizeof(struct leak_own))
        memcpy(&reading->store->own, at, sizeof(struct leak_own));
    else if (chunk->type == LEAK_CHUNK_SUPPRESSIONS)
        read_suppressions(reading, at, chunk->length);
}
