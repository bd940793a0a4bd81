/* missing_debuginfo.c - modules whose frames could not be named in full, and what to do about it;
 * see missing_debuginfo.h.
 */
#include "symbolize/records/missing_debuginfo.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/frame_class.h"
#include "common/names/resolve.h"

static const char *why_blind(enum binary_state state)
{
    if (state == BINARY_GONE)
        return "the file is gone";
    if (state == BINARY_REPLACED)
        return "another file stands at its path now";
    if (state == BINARY_FOREIGN)
        return "it is no ELF file that can be read";
    return "it has no debug information";
}

static const char *remedy(enum binary_state state, const struct resolved_module *module)
{
    if (state == BINARY_FOREIGN)
        return NULL;
    if (!module->build_id)
        return state == BINARY_NO_LINES ? "build it with -g" : "rebuild and run again";
    if (state == BINARY_NO_LINES)
        return "build it with -g, install its -dbgsym package (dpkg -S), or set DEBUGINFOD_URLS";
    return "give its old debug file with --debug-dir, or set DEBUGINFOD_URLS";
}

static int by_path(const void *left, const void *right)
{
    const struct blind_module *a = left, *b = right;
    int order = strcmp(a->path, b->path);

    return order ? order : strcmp(a->build_id ? a->build_id : "", b->build_id ? b->build_id : "");
}

void blind_fill(struct mem *mem, const struct map *modules, struct process *process)
{
    const struct resolved_module *module;

    process->blind = arena_alloc_array(mem, modules->used, sizeof(*process->blind));
    for (size_t at = 0; (module = (void *)(uintptr_t)hashmap_next(modules, &at));) {
        enum binary_state state = binary_state(module->binary);

        if (state == BINARY_GOOD)
            continue;
        process->blind[process->blind_count++] =
            (struct blind_module){.path = module->path,
                                  .build_id = module->build_id,
                                  .why = why_blind(state),
                                  .remedy = remedy(state, module),
                                  .nameless = state != BINARY_NO_LINES,
                                  .runtime = classify_runtime_module(module->path)};
    }
    if (process->blind_count)
        qsort(process->blind, process->blind_count, sizeof(*process->blind), by_path);
}
