/* resolve.c - the cache in front of libdw; see resolve.h. */
#include "common/names/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names/frame_class.h"
#include "common/names/demangle.h"
#include "common/names/perfmap_name.h"
#include "common/suppress/scope_filter.h"

struct resolver {
    struct mem *mem;
    struct binary_search_path search;
    struct map modules;             /* hash of path and build-id -> struct resolved_module * */
    struct map nowhere;             /* pc, and of which process -> struct place * */
    struct perfmap *generated;      /* NULL = none */
    uint64_t process;               /* a number for each map */
    struct map names;               /* hash of a mangled name -> demangled one */
    struct map wrappers;            /* hash of a list -> struct scope_list * */
    const struct scope_list *named; /* the one in force */
    uint64_t named_hash;
};

static const struct scope_list no_wrappers;

struct resolver *resolve_begin(struct mem *mem, const struct binary_search_path *search)
{
    struct resolver *resolver = arena_alloc(mem, sizeof(*resolver));

    resolver->mem = mem;
    resolver->search = *search;
    resolver->named = &no_wrappers;
    return resolver;
}

void resolve_wrappers(struct resolver *resolver, const char *list)
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

        scope_read(resolver->mem, list, made);
        *slot = (uintptr_t)made;
    }
    resolver->named = (const struct scope_list *)(uintptr_t)*slot;
}

void resolve_end(struct resolver *resolver)
{
    struct resolved_module *module;

    for (size_t at = 0; (module = (void *)(uintptr_t)hashmap_next(&resolver->modules, &at));) {
        hashmap_end(&module->places);
        binary_close(module->binary);
    }
    hashmap_end(&resolver->modules);
    hashmap_end(&resolver->nowhere);
    hashmap_end(&resolver->names);
    hashmap_end(&resolver->wrappers);
}

static const char *hex(struct mem *mem, const uint8_t *bytes, size_t length)
{
    char *text = arena_alloc(mem, 2 * length + 1);

    for (size_t i = 0; i < length; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

struct resolved_module *resolve_module(struct resolver *resolver, const struct binary_name *name)
{
    uint64_t key = hash_text(hash_text(1, name->path, strlen(name->path)),
                             (const char *)name->build_id, name->build_id_length) ^
                   resolver->named_hash;
    bool fresh;
    uint64_t *slot = hashmap_put(&resolver->modules, key, &fresh);
    struct resolved_module *module = (void *)(uintptr_t)*slot;
    const char *base = base_name(name->path);

    if (!fresh)
        return module;
    module = arena_alloc(resolver->mem, sizeof(*module));
    *slot = (uintptr_t)module;
    module->path = arena_copy(resolver->mem, name->path, strlen(name->path));
    if (name->build_id_length)
        module->build_id = hex(resolver->mem, name->build_id, name->build_id_length);
    module->binary = binary_open(resolver->mem, &resolver->search, name);
    module->name_hash = hash_text(2, base, strlen(base));
    module->wrappers = resolver->named;
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

/* The built-in patterns, and what the user knows better. */
static enum frame_role role_of(const struct resolved_module *module, const struct frame *frame)
{
    enum frame_role role = classify_frame(frame->module, frame->function, frame->file);
    int named = scope_names(module->wrappers, frame->function);

    if (role == FRAME_USER && named > 0)
        return FRAME_WRAPPER;
    return role == FRAME_WRAPPER && named < 0 ? FRAME_USER : role;
}

static void fill_frame(struct resolver *resolver, struct resolved_module *module,
                       const struct dwarf_frame *found, uint64_t offset, struct frame *frame)
{
    *frame = (struct frame){.function = resolve_name(resolver, found->name),
                            .line = found->line,
                            .column = found->column,
                            .module = module->path,
                            .build_id = module->build_id,
                            .offset = offset,
                            .has_offset = true,
                            .inlined = found->inlined};
    if (found->name && strcmp(found->name, frame->function) != 0)
        frame->symbol = arena_copy(resolver->mem, found->name, strlen(found->name));
    if (found->file)
        frame->file = arena_copy(resolver->mem, found->file, strlen(found->file));
    frame->role = role_of(module, frame);
    /* An unknown function is told apart by its place in the module, the same in every run. */
    frame->name_hash = frame->function
                           ? hash_text(module->name_hash, frame->function, strlen(frame->function))
                           : hash_mix(module->name_hash, offset);
}

const struct place *resolve_place(struct resolver *resolver, struct resolved_module *module,
                                  uint64_t offset)
{
    struct dwarf_frame found[DWARF_INLINE_MAX];
    bool fresh;
    uint64_t *slot = hashmap_put(&module->places, offset, &fresh);
    struct place *place = (void *)(uintptr_t)*slot;

    if (!fresh)
        return place;
    place = arena_alloc(resolver->mem, sizeof(*place));
    *slot = (uintptr_t)place;
    place->count = binary_find(module->binary, offset, found);
    if (!place->count) {
        found[0] = (struct dwarf_frame){0};
        place->count = 1;
    }
    place->frames = arena_alloc_array(resolver->mem, place->count, sizeof(*place->frames));
    for (size_t i = 0; i < place->count; i++)
        fill_frame(resolver, module, &found[i], offset, &place->frames[i]);
    return place;
}

void resolve_generated(struct resolver *resolver, struct perfmap *map)
{
    resolver->generated = map;
    resolver->process++;
}

/* If anybody knows what was there. */
static void name_generated(struct resolver *resolver, struct frame *frame)
{
    struct perfmap_name found = {0};
    struct perfname name;
    uint64_t hash;

    if (resolver->generated)
        found = perfmap_find(resolver->generated, frame->offset);
    if (!found.text)
        return;
    name = perfname_read(resolver->mem, found.text, found.length);
    frame->function = name.function;
    frame->file = name.file;
    frame->line = name.line;
    frame->column = name.column;
    frame->role = name.runtime ? FRAME_RUNTIME : FRAME_USER;
    hash = name.file ? hash_text(4, base_name(name.file), strlen(base_name(name.file))) : 4;
    frame->name_hash = hash_text(hash, name.function, strlen(name.function));
}

const struct place *resolve_nowhere(struct resolver *resolver, uint64_t pc)
{
    bool fresh;
    uint64_t *slot = hashmap_put(&resolver->nowhere, hash_mix(resolver->process, pc), &fresh);
    struct place *place = (void *)(uintptr_t)*slot;

    if (!fresh)
        return place;
    place = arena_alloc(resolver->mem, sizeof(*place));
    *slot = (uintptr_t)place;
    place->count = 1;
    place->frames = arena_alloc(resolver->mem, sizeof(*place->frames));
    /* Code made at run time lies elsewhere in each run: all of it is one name, as long as it has
     * none. */
    *place->frames = (struct frame){
        .offset = pc, .has_offset = true, .role = FRAME_USER, .name_hash = hash_mix(4, 4)};
    name_generated(resolver, place->frames);
    return place;
}
