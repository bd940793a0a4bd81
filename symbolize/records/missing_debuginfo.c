/* missing_debuginfo.c - lists modules whose frames lack names or lines; described in records.h. */
#include "symbolize/records/records.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"
#include "common/names/resolve.h"
#include "symbolize/records/packages.h"

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
        return packages_may_have(module->path)
                   ? "install its debug information, or set DEBUGINFOD_URLS"
                   : "build it with -g";
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

/* ---- Packages with debug information --------------------------------------------------------- */

static bool is_for_package(const struct blind_module *module)
{
    return !module->nameless && !module->runtime && packages_may_have(module->path);
}

static const char *install_remedy(struct arena *mem, const struct report *report,
                                  const struct packaged_file *file)
{
    return report->debuginfod ? arena_format(mem, "install %s, or set DEBUGINFOD_URLS=%s",
                                             file->debug, report->debuginfod)
                              : arena_format(mem, "install %s", file->debug);
}

static void advise_module(struct arena *mem, const struct report *report,
                          const struct packaged_file *file, struct blind_module *module)
{
    module->package = file->package;
    module->install = file->debug;
    if (file->debug)
        module->remedy = install_remedy(mem, report, file);
    else if (report->debuginfod)
        module->remedy = arena_format(mem, "set DEBUGINFOD_URLS=%s", report->debuginfod);
}

struct advice {
    struct packaged_file *files;
    size_t count, capacity;
    struct hashmap by_path; /* hash of a path -> index in `files` + 1 */
};

/* Returns the index of the module's file in `files`, + 1; adds the file if it is new. */
static size_t file_of(struct advice *advice, const struct blind_module *module)
{
    uint64_t *slot =
        hashmap_put(&advice->by_path, hash_text(1, module->path, strlen(module->path)), NULL);

    if (!*slot) {
        advice->files =
            array_grow(advice->files, &advice->capacity, advice->count + 1, sizeof(*advice->files));
        advice->files[advice->count++] = (struct packaged_file){.path = module->path};
        *slot = advice->count;
    }
    return *slot;
}

typedef void module_action(struct arena *mem, const struct report *report, struct advice *advice,
                           struct blind_module *module);

static void collect(struct arena *mem, const struct report *report, struct advice *advice,
                    struct blind_module *module)
{
    (void)mem, (void)report;
    file_of(advice, module);
}

static void advise(struct arena *mem, const struct report *report, struct advice *advice,
                   struct blind_module *module)
{
    advise_module(mem, report, &advice->files[file_of(advice, module) - 1], module);
}

static void for_each_module(struct arena *mem, struct report *report, struct advice *advice,
                            module_action *action)
{
    for (size_t i = 0; i < report->process_count; i++)
        for (size_t k = 0; k < report->processes[i].blind_count; k++)
            if (is_for_package(&report->processes[i].blind[k]))
                action(mem, report, advice, &report->processes[i].blind[k]);
}

void missing_debuginfo_advise(struct arena *mem, const char *sysroot, struct report *report)
{
    const char *set = getenv("DEBUGINFOD_URLS");
    struct advice advice = {0};

    for_each_module(mem, report, &advice, collect);
    if (advice.count) {
        packages_find(mem, sysroot, advice.files, advice.count);
        report->debuginfod = set && *set ? NULL : packages_debuginfod_urls(mem, sysroot);
        for_each_module(mem, report, &advice, advise);
    }
    free(advice.files);
    hashmap_end(&advice.by_path);
}
