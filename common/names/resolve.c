/* resolve.c - caches the frames of addresses, and marks wrappers and Python frames. */
#include "common/names/resolve.h"

#include "leak_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/term_text.h"
#include "common/names/names.h"
#include "common/names/perfmap.h"
#include "common/names/python_line.h"
#include "common/suppress/filters.h"

struct resolver {
    struct arena *mem;
    struct binary_search_path search;
    struct name_process reading;    /* the name process, which reads the binaries */
    struct hashmap modules;         /* hash of path and build-id -> struct resolved_module * */
    struct hashmap binaries;        /* file_key() -> struct binary * */
    struct hashmap unmapped;        /* hash of a pc in no module and the number of its process ->
                                     * struct resolved_place * */
    struct perfmap *perfmap;        /* names generated code; NULL = none */
    uint64_t process;               /* number of the process whose perf map is in use, a part of
                                     * the keys in `unmapped` */
    struct hashmap names;           /* hash of a mangled name -> demangled name */
    struct hashmap wrappers;        /* hash of a list of wrappers as text -> struct scope_list * */
    const struct scope_list *named; /* the user's current list of wrappers */
    uint64_t named_hash;
    bool has_python;       /* call stacks of the current process have Python frames */
    struct hashmap python; /* hash of file, function and line of Python code -> struct
                            * resolved_place * */
};

static const struct scope_list no_wrappers;

struct resolver *resolve_begin(struct arena *mem, const struct binary_search_path *search)
{
    struct resolver *resolver = arena_alloc(mem, sizeof(*resolver));

    resolver->mem = mem;
    resolver->search = *search;
    resolver->reading = name_process_begin(&resolver->search);
    resolver->named = &no_wrappers;
    return resolver;
}

void resolve_set_wrappers(struct resolver *resolver, const char *list)
{
    bool fresh;
    uint64_t *slot;

    resolver->named_hash = *list ? hash_text(5, list, strlen(list)) : 0;
    resolver->named = &no_wrappers;
    if (!*list)
        return;
    slot = hashmap_put(&resolver->wrappers, resolver->named_hash, &fresh);
    if (fresh) {
        struct scope_list *made = arena_alloc(resolver->mem, sizeof(*made));

        scope_list_parse(resolver->mem, list, made);
        *slot = (uintptr_t)made;
    }
    resolver->named = (const struct scope_list *)(uintptr_t)*slot;
}

void resolve_end(struct resolver *resolver)
{
    struct resolved_module *module;

    for (size_t at = 0; (module = (void *)(uintptr_t)hashmap_next(&resolver->modules, &at));) {
        hashmap_end(&module->places);
    }
    name_process_end(&resolver->reading);
    hashmap_end(&resolver->modules);
    hashmap_end(&resolver->binaries);
    hashmap_end(&resolver->unmapped);
    hashmap_end(&resolver->python);
    hashmap_end(&resolver->names);
    hashmap_end(&resolver->wrappers);
}

static const char *hex_text(struct arena *mem, const uint8_t *bytes, size_t length)
{
    char *text = arena_alloc(mem, 2 * length + 1);

    for (size_t i = 0; i < length; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

/* Returns the key of a file in resolver->binaries, which is equal for all paths that lead to the
 * file. The key also depends on the user with whose rights the file is opened, and on the recorded
 * build-id, because the file is used only if its own build-id equals that. */
static uint64_t file_key(const struct resolver *resolver, const struct binary_name *name)
{
    const char *root = resolver->search.sysroot ? resolver->search.sysroot : "";
    const char *path = arena_format(resolver->mem, "%s%s", root, name->path);
    uint64_t key = hash_text(6, (const char *)name->build_id, name->build_id_length);
    struct stat status;

    key = hash_mix(key, resolver->reading.reader.uid);
    if (name->path[0] != '/' || stat(path, &status) != 0)
        return hash_text(key, path, strlen(path));
    return hash_mix(hash_mix(key, status.st_dev), status.st_ino);
}

/* Returns the opened file. Opens a file only once if it has two paths, as /lib/libc.so.6 has where
 * /lib links to /usr/lib: reading the debug information of a large library takes longer than the
 * rest of a report. */
static struct binary *open_binary(struct resolver *resolver, const struct binary_name *name)
{
    bool fresh;
    uint64_t *slot = hashmap_put(&resolver->binaries, file_key(resolver, name), &fresh);

    if (fresh)
        *slot = (uintptr_t)binary_open(resolver->mem, &resolver->reading, name);
    return (struct binary *)(uintptr_t)*slot;
}

struct resolved_module *resolve_module(struct resolver *resolver, const struct binary_name *name,
                                       bool program)
{
    uint64_t key =
        hash_text(hash_text(1, name->path, strlen(name->path)), (const char *)name->build_id,
                  name->build_id_length) ^
        resolver->named_hash ^
        hash_mix((program ? 7 : 6) + 8 * resolver->has_python, resolver->reading.reader.uid);
    bool fresh;
    uint64_t *slot = hashmap_put(&resolver->modules, key, &fresh);
    struct resolved_module *module = (void *)(uintptr_t)*slot;
    /* The name of the executable is left out of the hash; "/" stands for it, which is no file's
     * name. */
    const char *base = program ? "/" : base_name(name->path);

    if (!fresh)
        return module;
    module = arena_alloc(resolver->mem, sizeof(*module));
    *slot = (uintptr_t)module;
    module->path = arena_copy(resolver->mem, name->path, strlen(name->path));
    if (name->build_id_length)
        module->build_id = hex_text(resolver->mem, name->build_id, name->build_id_length);
    module->binary = open_binary(resolver, name);
    module->name_hash = hash_text(2, base, strlen(base));
    module->wrappers = resolver->named;
    module->interprets = resolver->has_python && classify_is_python_module(module->path);
    return module;
}

const char *resolve_name(struct resolver *resolver, const char *name)
{
    bool fresh;
    uint64_t *slot;

    if (!name)
        return NULL;
    slot = hashmap_put(&resolver->names, hash_text(3, name, strlen(name)), &fresh);
    if (fresh)
        *slot = (uintptr_t)demangle(resolver->mem, name);
    return (const char *)(uintptr_t)*slot;
}

/* The role of a frame: from the built-in tables, unless the user's list of wrappers says
 * otherwise. */
static enum frame_role frame_role_in(const struct resolved_module *module,
                                     const struct frame *frame)
{
    enum frame_role role = classify_frame(frame->module, frame->function, frame->file);
    int named = scope_list_match_function(module->wrappers, frame->function);

    if (role == FRAME_USER && (named > 0 || module->interprets))
        return FRAME_WRAPPER;
    return role == FRAME_WRAPPER && named < 0 ? FRAME_USER : role;
}

/* Names a function as a C++ programmer would: a call operator without a name of its own by the
 * function that contains it, or by its class. */
static const char *name_function(struct resolver *resolver, const struct dwarf_frame *found)
{
    const char *name = resolve_name(resolver, found->name);

    if (!found->scope || !name)
        return name;
    return arena_format(resolver->mem, found->in_lambda ? "%s::{lambda}::%s" : "%s::%s",
                        resolve_name(resolver, found->scope), name);
}

static void fill_frame(struct resolver *resolver, struct resolved_module *module,
                       const struct dwarf_frame *found, uint64_t offset, struct frame *frame)
{
    *frame = (struct frame){.function = name_function(resolver, found),
                            .line = found->line,
                            .column = found->column,
                            .module = module->path,
                            .build_id = module->build_id,
                            .offset = offset,
                            .has_offset = true,
                            .inlined = found->inlined};
    if (found->name && !found->scope && strcmp(found->name, frame->function) != 0)
        frame->symbol = arena_copy(resolver->mem, found->name, strlen(found->name));
    if (found->file)
        frame->file = arena_copy(resolver->mem, found->file, strlen(found->file));
    frame->role = frame_role_in(module, frame);
    /* The offset in the module identifies an unknown function; it is the same in every run. */
    frame->name_hash = frame->function
                           ? hash_text(module->name_hash, frame->function, strlen(frame->function))
                           : hash_mix(module->name_hash, offset);
}

static uint64_t looked_up;

uint64_t resolve_count(void)
{
    return __atomic_load_n(&looked_up, __ATOMIC_RELAXED);
}

const struct resolved_place *resolve_place(struct resolver *resolver,
                                           struct resolved_module *module, uint64_t offset)
{
    struct dwarf_frame found[DWARF_INLINE_MAX];
    bool fresh;
    uint64_t *slot = hashmap_put(&module->places, offset, &fresh);
    struct resolved_place *place = (void *)(uintptr_t)*slot;

    if (!fresh)
        return place;
    __atomic_fetch_add(&looked_up, 1, __ATOMIC_RELAXED);
    place = arena_alloc(resolver->mem, sizeof(*place));
    *slot = (uintptr_t)place;
    place->count = binary_find_frames(module->binary, offset, found);
    if (!place->count) {
        found[0] = (struct dwarf_frame){0};
        place->count = 1;
    }
    place->frames = arena_alloc_array(resolver->mem, place->count, sizeof(*place->frames));
    for (size_t i = 0; i < place->count; i++)
        fill_frame(resolver, module, &found[i], offset, &place->frames[i]);
    return place;
}

void resolve_set_reader(struct resolver *resolver, struct file_owner reader)
{
    name_process_set_reader(&resolver->reading, reader);
}

void resolve_set_perfmap(struct resolver *resolver, struct perfmap *map)
{
    resolver->perfmap = map;
    resolver->process++;
}

/* Names a frame of generated code if the perf map covers its address. */
static void name_from_perfmap(struct resolver *resolver, struct frame *frame)
{
    struct perfmap_name found = {0};
    struct perfmap_function name;
    uint64_t hash;

    if (resolver->perfmap)
        found = perfmap_find(resolver->perfmap, frame->offset);
    if (!found.text)
        return;
    name = perfmap_parse_name(resolver->mem, found.text, found.length);
    frame->function = name.function;
    frame->file = name.file;
    frame->line = name.line;
    frame->column = name.column;
    frame->role = name.runtime ? FRAME_RUNTIME : FRAME_USER;
    if (resolver->has_python && found.length > 4 && memcmp(found.text, "py::", 4) == 0)
        frame->role =
            FRAME_WRAPPER; /* with python -X perf, a piece of generated code for each Python
                            * function only calls the interpreter */
    hash = name.file ? hash_text(4, base_name(name.file), strlen(base_name(name.file))) : 4;
    frame->name_hash = hash_text(hash, name.function, strlen(name.function));
}

void resolve_set_python(struct resolver *resolver, bool has_frames)
{
    resolver->has_python = has_frames;
}

static struct frame make_python_frame(struct resolver *resolver, const struct store_code *code,
                                      uint32_t line)
{
    struct frame frame = {.function = arena_copy(resolver->mem, code->name, strlen(code->name)),
                          .file = arena_copy(resolver->mem, code->file, strlen(code->file)),
                          .line = line,
                          .python = true,
                          .role =
                              classify_is_python_library(code->file) ? FRAME_WRAPPER : FRAME_USER};
    const char *base = base_name(frame.file);

    frame.name_hash =
        hash_text(hash_text(8, base, strlen(base)), frame.function, strlen(frame.function));
    return frame;
}

const struct resolved_place *resolve_python(struct resolver *resolver,
                                            const struct store_code *code, uint64_t offset)
{
    static const struct store_code unknown = {.name = "[Python]", .file = "?"};
    uint32_t line = code ? python_line(code, offset) : 0;
    bool fresh;
    uint64_t key, *slot;
    struct resolved_place *place;

    code = code ? code : &unknown;
    key = hash_text(hash_text(9, code->file, strlen(code->file)), code->name, strlen(code->name));
    slot = hashmap_put(&resolver->python, hash_mix(key, line), &fresh);
    if (!fresh)
        return (void *)(uintptr_t)*slot;
    place = arena_alloc(resolver->mem, sizeof(*place));
    *slot = (uintptr_t)place;
    place->count = 1;
    place->frames = arena_alloc(resolver->mem, sizeof(*place->frames));
    *place->frames = make_python_frame(resolver, code, line);
    return place;
}

const struct resolved_place *resolve_older(struct resolver *resolver, uint64_t size)
{
    struct resolved_place *place = arena_alloc(resolver->mem, sizeof(*place));
    const char *how = size > LEAK_OLDER_EXACT ? "up to " : "";
    char *name =
        arena_format(resolver->mem, "[before the attach: %s%s bytes]", how, term_number(size).text);

    place->count = 1;
    place->frames = arena_alloc(resolver->mem, sizeof(*place->frames));
    *place->frames =
        (struct frame){.function = name, .role = FRAME_USER, .name_hash = hash_mix(6, size)};
    return place;
}

const struct resolved_place *resolve_unmapped(struct resolver *resolver, uint64_t pc)
{
    bool fresh;
    uint64_t *slot = hashmap_put(&resolver->unmapped, hash_mix(resolver->process, pc), &fresh);
    struct resolved_place *place = (void *)(uintptr_t)*slot;

    if (!fresh)
        return place;
    place = arena_alloc(resolver->mem, sizeof(*place));
    *slot = (uintptr_t)place;
    place->count = 1;
    place->frames = arena_alloc(resolver->mem, sizeof(*place->frames));
    /* The address of generated code differs from run to run, so all unnamed generated code
     * shares one hash. */
    *place->frames = (struct frame){
        .offset = pc, .has_offset = true, .role = FRAME_USER, .name_hash = hash_mix(4, 4)};
    name_from_perfmap(resolver, place->frames);
    return place;
}
