/* resolve.h - frames for addresses, each looked up once.
 *
 * Owns the opened binaries and a cache per binary. Frames it hands out are shared by all records
 * and live as long as the arena.
 */
#ifndef COMMON_NAMES_RESOLVE_H
#define COMMON_NAMES_RESOLVE_H

#include "common/names/binary.h"
#include "common/base/hashmap.h"
#include "common/base/arena.h"
#include "common/model/model.h"
#include "common/names/perfmap.h"

struct resolver;
struct scope_list;

/* A binary and what was learned of it. */
struct resolved_module {
    const char *path, *build_id; /* build_id: hex digits, NULL = none */
    struct binary *binary;
    struct map places; /* offset -> struct place * */
    uint64_t name_hash;
    const struct scope_list *wrappers; /* that were in force when it was asked for */
};

/* The frames at one address, innermost first; at least one. */
struct place {
    struct frame *frames;
    size_t count;
};

struct resolver *resolve_begin(struct mem *mem, const struct binary_search_path *search);
void resolve_end(struct resolver *resolver); /* files and caches; frames stay */

/* From here on functions of that list (see scope_filter.h) only pass a size on, and those with - in
 * front do not, whatever their names say. Frames that were handed out stay as they are. */
void resolve_wrappers(struct resolver *resolver, const char *list);

/* The same path and build-id give the same module. */
struct resolved_module *resolve_module(struct resolver *resolver, const struct binary_name *name);

/* offset: address to look up minus the module's bias; a return address minus 1. */
const struct place *resolve_place(struct resolver *resolver, struct resolved_module *module,
                                  uint64_t offset);

/* From here on that map names what lies in no module; NULL = nothing does. It stays the caller's.
 */
void resolve_generated(struct resolver *resolver, struct perfmap *map);

/* An address in no module: code made at run time, or a store that is damaged. */
const struct place *resolve_nowhere(struct resolver *resolver, uint64_t pc);

/* A linker's name as people write it, looked up once; NULL gives NULL. */
const char *resolve_name(struct resolver *resolver, const char *name);

#endif
