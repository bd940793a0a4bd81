/* read_process.c - reads chunks with texts and records of any length: the process, its modules
 * and options, Python code. */
#include <inttypes.h>
#include <stdlib.h>

#include "common/store/reader_internal.h"

/* Reads a text of `length` bytes that a NUL must follow, and advances *at behind the NUL. NULL:
 * there is no such text. */
static const char *next_text(struct store *store, const uint8_t **at, const uint8_t *end,
                             size_t length)
{
    const char *text;

    if ((size_t)(end - *at) <= length || (*at)[length] != 0)
        return NULL;
    text = arena_copy(store->mem, (const char *)*at, length);
    *at += length + 1;
    return text;
}

static void read_process(struct reader *reader, const uint8_t *at, size_t length)
{
    struct store *store = reader->store;
    const uint8_t *end = at + length;
    struct leak_process process;
    size_t room;

    if (length < sizeof(process) || store->argv) {
        reader->damaged++;
        return;
    }
    memcpy(&process, at, sizeof(process));
    at += sizeof(process);
    store->exe = next_text(store, &at, end, process.exe_length);
    if (store->exe)
        store->cwd = next_text(store, &at, end, process.cwd_length);
    if (!store->cwd) {
        reader->damaged++;
        return;
    }
    room = (size_t)(end - at);
    if (room > process.argv_length)
        room = process.argv_length;
    end = at + room;
    store->argv = arena_alloc_array(store->mem, (process.argc < room ? process.argc : room) + 1,
                                    sizeof(char *));
    while (at < end && store->argc < process.argc) {
        const char *text =
            next_text(store, &at, end, strnlen((const char *)at, (size_t)(end - at)));

        if (!text) {
            reader->damaged++;
            return;
        }
        store->argv[store->argc++] = text;
    }
}

static bool is_valid_module(const struct leak_module *module, size_t rest)
{
    const size_t fixed = offsetof(struct leak_module, path);

    return module->length % 8 == 0 && module->length > fixed && module->length <= rest &&
           module->path_length < module->length - fixed &&
           module->build_id_length <= LEAK_BUILD_ID_MAX && module->start <= module->end;
}

/* Reads the struct leak_module at `at`. Returns its length; 0: it is invalid, and counted as
 * damaged. */
static size_t read_module(struct reader *reader, const uint8_t *at, size_t rest,
                          struct store_module *made)
{
    const size_t fixed = offsetof(struct leak_module, path);
    struct arena *mem = reader->store->mem;
    struct leak_module module;

    memcpy(&module, at, rest < fixed ? rest : fixed);
    if (rest < fixed || !is_valid_module(&module, rest)) {
        reader->damaged++;
        return 0;
    }
    *made = (struct store_module){
        .path = arena_copy(mem, (const char *)at + fixed,
                           strnlen((const char *)at + fixed, module.path_length)),
        .build_id =
            (const uint8_t *)arena_copy(mem, (const char *)module.build_id, module.build_id_length),
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

struct store_module *read_module_list(struct reader *reader, const uint8_t *at, size_t length,
                                      size_t *count, struct interval_map *spans)
{
    struct store_module *modules = arena_alloc_array(
        reader->store->mem, length / offsetof(struct leak_module, path) + 1, sizeof(*modules));

    for (size_t used; length; at += used, length -= used) {
        struct store_module *made = &modules[*count];

        used = read_module(reader, at, length, made);
        if (!used)
            break;
        interval_map_add(spans, made->start, made->end, (uint32_t)(*count)++);
    }
    interval_map_sort(spans);
    return modules;
}

static void read_modules(struct reader *reader, const uint8_t *at, size_t length)
{
    struct store *store = reader->store;

    while (length >= offsetof(struct leak_module, path)) {
        struct store_module made;
        size_t used = read_module(reader, at, length, &made);

        if (!used)
            return; /* without a valid length the next module cannot be found */
        store->modules = array_grow(store->modules, &reader->module_capacity,
                                    store->module_count + 1, sizeof(*store->modules));
        store->modules[store->module_count++] = made;
        at += used;
        length -= used;
    }
}

/* ---- Python code ----------------------------------------------------------------------------- */

static bool is_valid_code(const struct leak_code *code, size_t rest)
{
    uint64_t used = (uint64_t)code->file_length + code->name_length + 2 + code->lines_length;

    return code->length % 8 == 0 && code->length <= rest && code->length >= sizeof(*code) &&
           used <= code->length - sizeof(*code) && code->id &&
           code->line_table < LEAK_LINE_TABLE_MAX;
}

static void add_code(struct reader *reader, const struct leak_code *code, const uint8_t *text)
{
    struct store *store = reader->store;
    const char *file = (const char *)text, *name = file + code->file_length + 1;
    const char *lines = name + code->name_length + 1;

    store->codes = array_grow(store->codes, &reader->code_capacity, store->code_count + 1,
                              sizeof(*store->codes));
    store->codes[store->code_count++] = (struct store_code){
        .id = code->id,
        .file = arena_copy(store->mem, file, strnlen(file, code->file_length)),
        .name = arena_copy(store->mem, name, strnlen(name, code->name_length)),
        .first_line = code->first_line,
        .line_table = code->line_table,
        .lines = (const uint8_t *)arena_copy(store->mem, lines, code->lines_length),
        .lines_length = code->lines_length};
}

static void read_codes(struct reader *reader, const uint8_t *at, size_t length)
{
    while (length >= sizeof(struct leak_code)) {
        struct leak_code code;

        memcpy(&code, at, sizeof(code));
        if (!is_valid_code(&code, length)) {
            reader->damaged++;
            return; /* without a valid length the next code cannot be found */
        }
        add_code(reader, &code, at + sizeof(code));
        at += code.length;
        length -= code.length;
    }
}

static int by_id(const void *left, const void *right)
{
    const struct store_code *a = left, *b = right;

    return COMPARE(a->id, b->id);
}

static void read_codes_end(struct store *store)
{
    struct store_code *grown = store->codes;

    if (!grown)
        return;
    store->codes = arena_alloc_array(store->mem, store->code_count, sizeof(*grown));
    memcpy(store->codes, grown, store->code_count * sizeof(*grown));
    free(grown);
    qsort(store->codes, store->code_count, sizeof(*store->codes), by_id);
}

void read_packed_end(struct reader *reader)
{
    struct store *store = reader->store;
    struct store_module *grown = store->modules;

    read_codes_end(store);
    if (!grown)
        return;
    store->modules = arena_alloc_array(store->mem, store->module_count, sizeof(*grown));
    memcpy(store->modules, grown, store->module_count * sizeof(*grown));
    free(grown);
    for (size_t i = 0; i < store->module_count; i++)
        interval_map_add(&store->module_spans, store->modules[i].start, store->modules[i].end,
                         (uint32_t)i);
    interval_map_sort(&store->module_spans);
}

/* Reads suppressions: the payload is the name of their source, a NUL, and the text. */
static void read_suppressions(struct reader *reader, const uint8_t *at, size_t length)
{
    struct store *store = reader->store;
    const char *where = (const char *)at, *text = memchr(where, 0, length);

    if (!text || length - (size_t)(text + 1 - where) > LEAK_SUPPRESSIONS_MAX ||
        store->suppressions_count == STORE_SUPPRESSIONS_MAX) {
        reader->damaged++;
        return;
    }
    text++;
    length = strnlen(text, length - (size_t)(text - where));
    store->suppressions[store->suppressions_count++] =
        (struct store_suppressions){.where = arena_copy(store->mem, where, strlen(where)),
                                    .text = arena_copy(store->mem, text, length),
                                    .length = length};
}

static void read_forks(struct reader *reader, const uint8_t *at, size_t length)
{
    struct store *store = reader->store;
    struct leak_forks forks;
    char *chain = "";

    if (length < sizeof(forks)) {
        reader->damaged++;
        return;
    }
    memcpy(&forks, at, sizeof(forks));
    for (uint32_t i = 0; i < forks.depth && i < LEAK_FORKS_MOST; i++)
        chain = arena_format(store->mem, "%sT%" PRIu32 ".%" PRIu32 "/", chain,
                             forks.forks[i].thread, forks.forks[i].count);
    store->fork_chain = forks.depth <= LEAK_FORKS_MOST ? chain : NULL;
}

void read_packed(struct reader *reader, const struct chunk *chunk)
{
    const uint8_t *at = reader->image->data + chunk->payload;

    if (chunk->type == LEAK_CHUNK_PROCESS)
        read_process(reader, at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_MODULES)
        read_modules(reader, at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_CODES)
        read_codes(reader, at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_OPTIONS)
        reader->store->options = arena_copy(reader->store->mem, (const char *)at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_OWN && chunk->length >= sizeof(struct leak_own))
        memcpy(&reader->store->own, at, sizeof(struct leak_own));
    else if (chunk->type == LEAK_CHUNK_FORKS)
        read_forks(reader, at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_SUPPRESSIONS)
        read_suppressions(reader, at, chunk->length);
}
