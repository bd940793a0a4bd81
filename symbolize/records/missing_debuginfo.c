/* missing_debuginfo.c - modules whose frames lack names or lines; see records.h. */
#include "symbolize/records/records.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"
#include "common/names/resolve.h"

static const char *reason_of(enum binary_state state)
{
    if (state == BINARY_MISSING)
        return "the file no longer exists";
    if (state == BINARY_REPLACED)
        return "the file was replaced";
    if (state == BINARY_NOT_ELF)
        return "it is not a readable ELF file";
    if (state == BINARY_BROKEN)
        return "its debug information is damaged: the process that read it crashed or ran too long";
    return "it has no debug information";
}

static const char *remedy_for(enum binary_state state, const struct resolved_module *module)
{
    if (state == BINARY_NOT_ELF || state == BINARY_BROKEN)
        return NULL;
    if (!module->build_id)
        return state == BINARY_NO_LINES ? "build it with -g" : "rebuild and run again";
    if (state == BINARY_NO_LINES)
        return "build it with -g, install its -dbgsym package (dpkg -S), or set DEBUGINFOD_URLS";
    return "give its old debug file with --debug-dir, or set DEBUGINFOD_URLS";
}

static int compare_paths(const void *left, const void *right)
{
    const struct blind_module *a = left, *b = right;
    int order = strcmp(a->path, b->path);

    return order ? order : strcmp(a->build_id ? a->build_id : "", b->build_id ? b->build_id : "");
}

void missing_debuginfo_fill(struct arena *mem, const struct hashmap *modules,
                            struct process *process)
{
    const struct resolved_module *module;

    process->blind = arena_alloc_array(mem, modules->used, sizeof(*process->blind));
    for (size_t at = 0; (module = (void *)(uintptr_t)hashmap_next(modules, &at));) {
        enum binary_state state = binary_state(module->binary);

        if (state == BINARY_COMPLETE)
            continue;
        process->blind[process->blind_count++] =
            (struct blind_module){.path = module->path,
                                  .build_id = module->build_id,
                                  .why = reason_of(state),
                                  .remedy = remedy_for(state, module),
                                  .nameless = state != BINARY_NO_LINES,
                                  .runtime = classify_is_runtime_module(module->path)};
    }
    if (process->blind_count)
        qsort(process->blind, process->blind_count, sizeof(*process->blind), compare_paths);
}
