/* resolve.h - finds the frames at addresses, each address once. A resolver owns the opened
 * binaries and a cache for each. Records share the returned frames, which live as long as the
 * arena. */
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

/* A binary and the cache of its frames. */
struct resolved_module {
    const char *path, *build_id; /* build_id: hex digits, NULL = none */
    struct binary *binary;
    struct hashmap places; /* offset in the binary -> struct resolved_place * */
    uint64_t name_hash;
    bool interprets;                   /* the module has the interpreter that executes the
                                        * process's Python frames */
    const struct scope_list *wrappers; /* the user's list of wrappers that was set when the
                                        * module was resolved */
};

/* The frames at one address, innermost first; at least one. */
struct resolved_place {
    struct frame *frames;
    size_t count;
};

struct resolver *resolve_begin(struct arena *mem, const struct binary_search_path *search);
/* Closes files and frees caches; frames stay valid. */
void resolve_end(struct resolver *resolver);

/* From now on, functions that match a pattern of the list (filters.h) are wrappers, and functions
 * that match a pattern with - in front are not, whatever their names suggest. Frames returned
 * before do not change. */
void resolve_set_wrappers(struct resolver *resolver, const char *list);

/* Returns the module with that path and build-id. program: the module is the executable, whose
 * file name does not enter hashes, so that a copy under another name has the same signatures. */
struct resolved_module *resolve_module(struct resolver *resolver, const struct binary_name *name,
                                       bool program);

/* The number of addresses looked up so far by all resolvers. May be called from any thread. */
uint64_t resolve_count(void);

/* Finds the frames at an address of a module. offset: the address minus the module's bias; for a
 * return address 1 less, so that it lies in the call. */
const struct resolved_place *resolve_place(struct resolver *resolver,
                                           struct resolved_module *module, uint64_t offset);

/* From now on, binaries are opened with the rights of this user (foreign_file.h). */
void resolve_set_reader(struct resolver *resolver, struct file_owner reader);

/* From now on, the perf map names addresses that are in no module; NULL = no map. The caller
 * owns the map. */
void resolve_set_perfmap(struct resolver *resolver, struct perfmap *map);

/* The frame at an address in no module: generated code, or nonsense from a damaged recording
 * file. */
const struct resolved_place *resolve_unmapped(struct resolver *resolver, uint64_t pc);
/* The frame of a Python instruction, at an offset in the bytecode; code NULL: the code was not
 * recorded. */
const struct resolved_place *resolve_python(struct resolver *resolver,
                                            const struct store_code *code, uint64_t offset);
/* From now on, `has_frames` says whether call stacks of the process have Python frames. If they
 * have, C frames of its interpreter are wrappers. */
void resolve_set_python(struct resolver *resolver, bool has_frames);
/* A frame that stands in place of the stack of blocks that were allocated before libleak was
 * loaded. size: most bytes of such a block; the frame's name contains it. */
const struct resolved_place *resolve_older(struct resolver *resolver, uint64_t size);

/* Demangles a name, with a cache. Returns NULL if the name is NULL. */
const char *resolve_name(struct resolver *resolver, const char *name);

#endif
