/* text_modules.c - modules without names or lines, and what to do about it; see text.h. */
#include "symbolize/text/text.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

#define NAME_COLUMNS 40 /* of a module, and of a package */

/* ---- One by one, with -v --------------------------------------------------------------------- */

static bool is_same_module(const struct blind_module *a, const struct blind_module *b)
{
    return strcmp(a->path, b->path) == 0 && !a->build_id == !b->build_id &&
           (!a->build_id || strcmp(a->build_id, b->build_id) == 0);
}

static const struct process *nth_process(const struct text_processes *processes, size_t nth)
{
    return &processes->report->processes[processes->full[nth]];
}

/* A module is told once for all processes. */
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

/* ---- All together ---------------------------------------------------------------------------- */

/* The modules of all listed processes; each name once. */
struct modules {
    const struct blind_module **at;
    size_t count, capacity;
};

static bool has_records(const struct process *process, const struct view *view)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        if ((view->show[v] || (v == VERDICT_INDIRECT && view->show[VERDICT_LOST])) &&
            process->totals.of[v].records)
            return text_lists_records(process, view);
    return view->suppressed && process->suppressed.records;
}

bool text_tells_modules(const struct report *report, const struct view *view)
{
    for (size_t i = 0; i < report->process_count; i++)
        if (view->verbose || has_records(&report->processes[i], view))
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

        for (size_t k = 0; has_records(process, view) && k < process->blind_count; k++)
            if (!process->blind[k].runtime)
                add_module(&made, &process->blind[k]);
    }
    return made;
}

/* A line of names: a head, names with commas between as far as they fit, and how many more. */
struct names {
    const char *head;
    size_t columns; /* that are written; 0 = the line has not begun */
    size_t left_out;
    FILE *stream;
};

static void add_name(struct names *names, const char *name)
{
    struct term_text shown = term_text(name, strlen(name), NAME_COLUMNS);
    const char *join = names->columns ? ", " : names->head;
    size_t columns = strlen(join) + shown.columns;

    if (names->left_out || (names->columns && names->columns + columns > TEXT_COLUMNS - 11)) {
        names->left_out++;
        return;
    }
    fprintf(names->stream, "%s%s", join, shown.text);
    names->columns += columns;
}

static void end_names(const struct names *names, const char *end)
{
    if (names->left_out)
        fprintf(names->stream, " and %s more", term_number(names->left_out).text);
    if (names->columns)
        fputs(end, names->stream);
}

/* "No debug information: app, bash, libssl.so.3." */
static void write_without_lines(const struct modules *modules, FILE *stream)
{
    struct names names = {.head = "No debug information: ", .stream = stream};

    for (size_t i = 0; i < modules->count; i++)
        if (!modules->at[i]->nameless)
            add_name(&names, base_name(modules->at[i]->path));
    end_names(&names, ".\n");
}

static bool remedy_begins(const struct blind_module *module, const char *word)
{
    return !module->nameless && module->remedy && strncmp(module->remedy, word, strlen(word)) == 0;
}

static void write_own(const struct modules *modules, FILE *stream)
{
    struct names names = {.head = "Build with -g: ", .stream = stream};

    for (size_t i = 0; i < modules->count; i++)
        if (remedy_begins(modules->at[i], "build"))
            add_name(&names, base_name(modules->at[i]->path));
    end_names(&names, ".\n");
}

static bool is_first_of_package(const struct modules *modules, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (modules->at[i]->install &&
            strcmp(modules->at[i]->install, modules->at[at]->install) == 0)
            return false;
    return true;
}

/* "Install bash-dbgsym, or set DEBUGINFOD_URLS=https://..." */
static void write_packages(const struct modules *modules, const char *server, FILE *stream)
{
    struct names names = {.head = "Install ", .stream = stream};
    bool other = false;

    for (size_t i = 0; i < modules->count; i++) {
        const struct blind_module *module = modules->at[i];

        if (!module->nameless && module->install && is_first_of_package(modules, i))
            add_name(&names, module->install);
        other |= remedy_begins(module, "set ");
    }
    if (!names.columns && !(other && server))
        return;
    end_names(&names, server ? ", or set" : ".\n");
    if (!server)
        return;
    if (!names.columns)
        fputs("Set ", stream);
    else
        fputs(names.left_out || names.columns + strlen(server) > 50 ? "\n  " : " ", stream);
    fprintf(stream, "DEBUGINFOD_URLS=%s\n", server);
}

/* Files that are not those of the run: those with the first reason. */
static void write_nameless(const struct modules *modules, FILE *stream)
{
    struct names names = {.head = "No names from ", .stream = stream};
    const struct blind_module *first = NULL;

    for (size_t i = 0; i < modules->count; i++) {
        if (!modules->at[i]->nameless)
            continue;
        if (!first)
            first = modules->at[i];
        if (strcmp(first->why, modules->at[i]->why) == 0)
            add_name(&names, base_name(modules->at[i]->path));
    }
    if (!first)
        return;
    end_names(&names, ": ");
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
