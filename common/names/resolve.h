/* resolve.h - frames for addresses, each resolved once. Owns the opened binaries and a cache per
 * binary. Records share the returned frames, which live as long as the arena. */
#ifndef COMMON_NAMES_RESOLVE_H
#define COMMON_NAMES_RESOLVE_H

#include "common/names/binary.h"
#include "common/base/hashmap.h"
#include "common/base/arena.h"
#include "common/model/model.h"
#include "common/names/perfmap.h"
#include "common/store/store.h"

struct resolver;
struct scope_list;

/* A binary and its cache. */
struct resolved_module {
    const char *path, *build_id; /* build_id: hex digits, NULL = none */
    struct binary *binary;
    struct hashmap places; /* offset -> struct resolved_place * */
    uint64_t name_hash;
    bool interprets;                   /* it has the interpreter of the process's Python frames */
    const struct scope_list *wrappers; /* the list that was current when the module was resolved */
};

/* The frames at one address, innermost first; at least one. */
struct resolved_place {
    struct frame *frames;
    size_t count;
};

struct resolver *resolve_begin(struct arena *mem, const struct binary_search_path *search);
void resolve_end(struct resolver *resolver); /* closes files and frees caches; frames stay */

/* From now on, functions that match the list (see filters.h) are wrappers, and functions with - in
 * front are not, whatever their names are. Frames that were returned before do not change. */
void resolve_set_wrappers(struct resolver *resolver, const char *list);

/* Equal path and build-id give the same module. program: it is the program itself, whose file name
 * is not part of hashes: a copy under another name has the same ones. */
struct resolved_module *resolve_module(struct resolver *resolver, const struct binary_name *name,
                                       bool program);

/* How many addresses were looked up by now, of all resolvers; from any thread. */
uint64_t resolve_count(void);

/* Resolves an address of a module. offset: the address minus the module's bias; for a return
 * address, 1 less. */
const struct resolved_place *resolve_place(struct resolver *resolver,
                                           struct resolved_module *module, uint64_t offset);

/* From now on, binaries are opened with the rights of this user; see foreign_file.h. */
void resolve_set_reader(struct resolver *resolver, struct file_owner reader);

/* From now on, the map names addresses that are in no module; NULL = no map. The caller owns the
 * map. */
void resolve_set_perfmap(struct resolver *resolver, struct perfmap *map);

/* The frame at an address in no module: generated code, or a damaged recording file. */
const struct resolved_place *resolve_unmapped(struct resolver *resolver, uint64_t pc);
/* The frame of Python code, at the offset of an instruction in it; code NULL: it was not recorded. */
const struct resolved_place *resolve_python(struct resolver *resolver,
                                            const struct store_code *code, uint64_t offset);
/* Says whether the process has Python frames. If it has, the C frames of its interpreter are
 * wrappers. */
void resolve_set_python(struct resolver *resolver, bool has_frames);
/* What stands for the stack of blocks of at most so many bytes from before libleak was loaded. */
const struct resolved_place *resolve_older(struct resolver *resolver, uint64_t size);

/* Demangles a name, cached; NULL gives NULL. */
const char *resolve_name(struct resolver *resolver, const char *name);

#endif
