/* text_modules.c - writes modules without names or lines, and what to do about it; described in
 * text.h.
 */
#include "symbolize/text/text.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

/* ---- Writing each module, with -v ------------------------------------------------------------ */

static bool is_same_module(const struct blind_module *a, const struct blind_module *b)
{
    return strcmp(a->path, b->path) == 0 && !a->build_id == !b->build_id &&
           (!a->build_id || strcmp(a->build_id, b->build_id) == 0);
}

static const struct process *nth_process(const struct text_processes *processes, size_t nth)
{
    return &processes->report->processes[processes->full[nth]];
}

/* Says whether the module was written for an earlier process. Each module is written only once. */
static bool was_told(const struct text_processes *processes, size_t nth,
                     const struct blind_module *module)
{
    for (size_t i = 0; i < nth; i++) {
        const struct process *process = nth_process(processes, i);

        for (size_t k = 0; k < process->blind_count; k++)
            if (is_same_module(&process->blind[k], module))
                return true;
    }
    return false;
}

void text_blind_modules(const struct text_processes *processes, size_t nth, FILE *stream)
{
    const struct process *process = nth_process(processes, nth);

    for (size_t i = 0; i < process->blind_count; i++) {
        const struct blind_module *module = &process->blind[i];

        if (was_told(processes, nth, module))
            continue;
        fprintf(stream, "%s: %s", term_text(module->path, strlen(module->path), 0).text,
                module->why);
        if (module->build_id)
            fprintf(stream, "\n  (build-id %s)", module->build_id);
        if (module->remedy)
            fprintf(stream, ":\n  %s", module->remedy);
        putc('\n', stream);
    }
}

/* ---- Writing the modules of all processes together ------------------------------------------- */

/* The modules of all listed processes, each name once. */
struct modules {
    const struct blind_module **at;
    size_t count, capacity;
};

static bool has_module(const struct frame *const *frames, size_t count,
                       const struct blind_module *module)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i]->module && strcmp(frames[i]->module, module->path) == 0)
            return true;
    return false;
}

static bool is_listed(const struct process *process, const struct record *record,
                      const struct view *view)
{
    if (record->suppressed_by && !view->suppressed)
        return false;
    return record_is_growing(record) ||
           (text_lists_records(process, view) && text_list_has(process, record, view));
}

/* Says whether the module is in a stack that the report lists, or would list with --top=0. */
static bool is_in_listed(const struct process *process, const struct blind_module *module,
                         const struct view *view)
{
    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        if (is_listed(process, record, view) &&
            has_module(record->frames, record->frame_count, module))
            return true;
    }
    for (size_t i = 0; i < process->grown_count; i++)
        if (has_module(process->grown[i].frames, process->grown[i].frame_count, module))
            return true;
    for (size_t i = 0; i < process->resource_count; i++)
        if (has_module(process->resources[i].record.frames,
                       process->resources[i].record.frame_count, module))
            return true;
    for (size_t i = 0; i < process->mistake_count; i++) {
        const struct bad_free *mistake = &process->mistakes[i];

        if (has_module(mistake->released.frames, mistake->released.count, module) ||
            has_module(mistake->allocated.frames, mistake->allocated.count, module))
            return true;
    }
    return false;
}

/* Says whether the report names the module: only if it is in a listed stack, and is not the C
 * library or a runtime library. */
static bool is_told(const struct process *process, size_t blind, const struct view *view)
{
    const struct blind_module *module = &process->blind[blind];

    return !module->runtime && is_in_listed(process, module, view);
}

bool text_tells_modules(const struct report *report, const struct view *view)
{
    for (size_t i = 0; i < report->process_count; i++)
        for (size_t k = 0; k < report->processes[i].blind_count; k++)
            if (view->verbose || is_told(&report->processes[i], k, view))
                return true;
    return false;
}

static void add_module(struct modules *modules, const struct blind_module *module)
{
    for (size_t i = 0; i < modules->count; i++)
        if (is_same_module(modules->at[i], module))
            return;
    modules->at =
        array_grow(modules->at, &modules->capacity, modules->count + 1, sizeof(*modules->at));
    modules->at[modules->count++] = module;
}

static struct modules collect_modules(const struct text_processes *processes,
                                      const struct view *view)
{
    struct modules made = {0};

    for (size_t i = 0; i < processes->full_count; i++) {
        const struct process *process = nth_process(processes, i);

        for (size_t k = 0; k < process->blind_count; k++)
            if (is_told(process, k, view))
                add_module(&made, &process->blind[k]);
    }
    return made;
}

/* Writes "No debug information: app, bash, libssl.so.3." */
static void write_without_lines(const struct modules *modules, FILE *stream)
{
    struct text_names names = {.head = "No debug information: ", .stream = stream};

    for (size_t i = 0; i < modules->count; i++)
        if (!modules->at[i]->nameless)
            text_names_add(&names, base_name(modules->at[i]->path));
    text_names_end(&names, ".\n");
}

static bool remedy_begins(const struct blind_module *module, const char *word)
{
    return !module->nameless && module->remedy && strncmp(module->remedy, word, strlen(word)) == 0;
}

static void write_own(const struct modules *modules, FILE *stream)
{
    struct text_names names = {.head = "Build with -g: ", .stream = stream};

    for (size_t i = 0; i < modules->count; i++)
        if (remedy_begins(modules->at[i], "build"))
            text_names_add(&names, base_name(modules->at[i]->path));
    text_names_end(&names, ".\n");
}

static bool is_first_of_package(const struct modules *modules, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (modules->at[i]->install &&
            strcmp(modules->at[i]->install, modules->at[at]->install) == 0)
            return false;
    return true;
}

/* Writes "Install bash-dbgsym, or set DEBUGINFOD_URLS=https://...". */
static void write_packages(const struct modules *modules, const char *server, FILE *stream)
{
    struct text_names names = {.head = "Install ", .stream = stream};
    bool other = false;

    for (size_t i = 0; i < modules->count; i++) {
        const struct blind_module *module = modules->at[i];

        if (!module->nameless && module->install && is_first_of_package(modules, i))
            text_names_add(&names, module->install);
        other |= remedy_begins(module, "set ");
    }
    if (!names.columns && !(other && server))
        return;
    text_names_end(&names, server ? ", or set" : ".\n");
    if (!server)
        return;
    if (!names.columns)
        fputs("Set ", stream);
    else
        fputs(names.left_out || names.columns + strlen(server) > 50 ? "\n  " : " ", stream);
    fprintf(stream, "DEBUGINFOD_URLS=%s\n", server);
}

/* Writes the modules without any names, mostly because their files have changed since the run. If
 * the reasons differ, only the modules with the reason of the first are written. */
static void write_nameless(const struct modules *modules, FILE *stream)
{
    struct text_names names = {.head = "No names from ", .stream = stream};
    const struct blind_module *first = NULL;

    for (size_t i = 0; i < modules->count; i++) {
        if (!modules->at[i]->nameless)
            continue;
        if (!first)
            first = modules->at[i];
        if (strcmp(first->why, modules->at[i]->why) == 0)
            text_names_add(&names, base_name(modules->at[i]->path));
    }
    if (!first)
        return;
    text_names_end(&names, ": ");
    fprintf(stream, "%s%s\n", first->why, first->remedy ? ":" : ".");
    if (first->remedy)
        fprintf(stream, "  %s.\n", first->remedy);
}

void text_missing_debuginfo(const struct text_processes *processes, const struct view *view,
                            FILE *stream)
{
    struct modules modules = collect_modules(processes, view);

    write_without_lines(&modules, stream);
    write_own(&modules, stream);
    write_packages(&modules, processes->report->debuginfod, stream);
    write_nameless(&modules, stream);
    free(modules.at);
}
