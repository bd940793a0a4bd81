/* roots.c - names roots, and makes the paths from them to blocks; described in heap.h. */
#include "symbolize/heap/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "common/names/binary.h"
#include "common/names/names.h"

struct roots roots_begin(struct arena *mem, struct signatures *signatures)
{
    const struct store_leak_check *look = signatures->store->look;
    struct roots roots = {.mem = mem, .signatures = signatures, .store = signatures->store};

    if (look)
        roots.named = arena_alloc_array(mem, look->root_count, sizeof(*roots.named));
    return roots;
}

/* ---- Words that name a thread, a function or a variable -------------------------------------- */

static struct thread_ref root_thread(struct roots *roots, uint32_t serial)
{
    const struct store_thread *thread = store_find_thread(roots->store, serial);
    struct thread_ref made = {.serial = serial};

    if (thread && *thread->name)
        made.name = arena_copy(roots->mem, thread->name, strlen(thread->name));
    return made;
}

/* Returns the name of the root's thread, like "T2". */
static const char *thread_words(struct roots *roots, const struct root *root)
{
    if (!root->thread.serial)
        return "a thread that never allocated";
    return arena_format(roots->mem, "T%" PRIu32, root->thread.serial);
}

#define CALL_COLUMNS 40 /* longer names of functions have no template arguments */

/* Returns the qualified name of a function without its parameters, like "app::f()". */
static const char *call_words(struct roots *roots, const char *function)
{
    const char *scope = demangle_scope(function);
    char *name = arena_copy(roots->mem, scope, demangle_bare_length(scope));

    if (cxx_shorten_name(name) > CALL_COLUMNS)
        cxx_omit_arguments(name);
    return arena_format(roots->mem, "%s()", name);
}

static const char *place_words(struct roots *roots, const struct root *root)
{
    if (!root->file)
        return "";
    if (!root->line)
        return arena_format(roots->mem, " (%s)", base_name(root->file));
    return arena_format(roots->mem, " (%s:%" PRIu32 ")", base_name(root->file), root->line);
}

/* ---- Naming the roots of each class: globals, stacks, thread-local variables … --------------- */

bool roots_find_module(const struct store *store, uint64_t address, struct store_module *found)
{
    const struct store_leak_check *look = store->look;
    size_t cursor = look ? look->module_spans.count : 0;
    uint32_t index =
        look ? interval_map_next(&look->module_spans, address, &cursor) : INTERVAL_NONE;

    if (index == INTERVAL_NONE)
        return false;
    *found = look->modules[index];
    if (!*found->path && store->exe) /* the loader lists the program itself with an empty path */
        found->path = store->exe;
    for (size_t i = 0; i < store->module_count && !found->build_id_length; i++)
        if (store->modules[i].bias == found->bias &&
            strcmp(store->modules[i].path, found->path) == 0)
            *found = store->modules[i];
    if (!found->build_id_length && !found->loaded_ns)
        found->loaded_ns = store->header.started_ns;
    return true;
}

/* Copies to the root what the debug information has about its variable. */
static void set_variable(struct roots *roots, const struct binary_variable *found,
                         struct root *root)
{
    struct resolver *resolver = roots->signatures->resolver;
    const char *symbol = resolve_name(resolver, found->symbol);

    root->function = resolve_name(resolver, found->function);
    if (found->name)
        root->variable = arena_copy(roots->mem, found->name, strlen(found->name));
    /* a symbol has the namespaces, which the variable's name in the source lacks */
    if (symbol && (!root->function || !root->variable))
        root->variable = symbol;
    if (found->file)
        root->file = arena_copy(roots->mem, found->file, strlen(found->file));
    root->line = found->line;
    root->offset = found->offset;
    root->has_offset = true;
}

static const char *variable_words(struct roots *roots, const struct root *root)
{
    const char *scope = root->function ? demangle_scope(root->function) : "";

    return arena_format(roots->mem, "%.*s%s%s%s", (int)demangle_bare_length(scope), scope,
                        root->function ? "::" : "", root->variable, place_words(roots, root));
}

static void name_global(struct roots *roots, const struct leak_held *held, struct root *root)
{
    struct binary_variable found;
    struct store_module module;

    if (!roots_find_module(roots->store, held->address, &module)) {
        root->words = "data of a module";
        return;
    }
    root->module = arena_copy(roots->mem, module.path, strlen(module.path));
    root->offset = held->address - module.bias;
    root->has_offset = true;
    if (!binary_find_data(signatures_module(roots->signatures, &module)->binary, root->offset,
                          &found)) {
        root->words =
            arena_format(roots->mem, "%s +0x%" PRIx64, base_name(root->module), root->offset);
        return;
    }
    set_variable(roots, &found, root);
    root->words = variable_words(roots, root);
}

/* Finds the local variable that contains the root's word, in the debug information of the
 * function. */
static void name_local(struct roots *roots, const struct leak_held *held, struct root *root)
{
    const struct store_module *module = store_find_last_module(roots->store, held->pc);
    struct binary_variable found;

    if (!module || !held->cfa ||
        !binary_find_local(signatures_module(roots->signatures, module)->binary,
                           held->pc - module->bias, held->cfa, held->address, &found) ||
        !found.name)
        return;
    root->variable = arena_copy(roots->mem, found.name, strlen(found.name));
    root->file = arena_copy_text(roots->mem, found.file);
    root->line = found.line;
    root->offset = found.offset;
    root->has_offset = true;
}

static void name_stack(struct roots *roots, const struct leak_held *held, struct root *root)
{
    const char *thread, *function, *variable = "";
    const struct resolved_place *place;
    const struct frame *frame;

    root->thread = root_thread(roots, held->thread);
    thread = thread_words(roots, root);
    if (!held->pc) {
        root->words = arena_format(roots->mem, "the stack of %s", thread);
        return;
    }
    /* +1 cancels the -1 for return addresses: held->pc is the address of the next instruction
     * itself */
    place = signatures_place_at_pc(roots->signatures, held->pc + 1);
    frame = &place->frames[place->count - 1];
    root->module = frame->module;
    root->function = frame->function;
    name_local(roots, held, root);
    if (root->variable)
        variable = arena_format(roots->mem, "%s, ", root->variable);
    function = root->function ? call_words(roots, root->function)
                              : arena_format(roots->mem, "a function in %s",
                                             root->module ? base_name(root->module) : "no module");
    root->words = arena_format(roots->mem, "%sa stack slot of %s (%s)", variable, function, thread);
}

const struct store_module *roots_program_module(const struct store *store)
{
    for (size_t i = 0; i < store->module_count; i++)
        if (store->exe && strcmp(store->modules[i].path, store->exe) == 0)
            return &store->modules[i];
    return NULL;
}

/* Names a root that is a thread-local variable of the program: "counter (app.c:3) of T2". False: it
 * is no such variable, or it is unknown. */
static bool name_tls_variable(struct roots *roots, const struct leak_held *held, struct root *root)
{
    const struct store_module *program = roots_program_module(roots->store);
    struct binary_variable found;

    if (!program || !binary_find_tls(signatures_module(roots->signatures, program)->binary,
                                     roots->store->header.machine, held->tls_offset, &found))
        return false;
    root->module = arena_copy(roots->mem, program->path, strlen(program->path));
    set_variable(roots, &found, root);
    root->words = arena_format(roots->mem, "%s of %s", variable_words(roots, root),
                               thread_words(roots, root));
    return true;
}

static void name_tls(struct roots *roots, const struct leak_held *held, struct root *root)
{
    const char *thread;

    root->thread = root_thread(roots, held->thread);
    thread = thread_words(roots, root);
    if (held->key)
        root->words = arena_format(roots->mem, "pthread key %d of %s", held->key - 1, thread);
    else if (!name_tls_variable(roots, held, root) && root->thread.name)
        root->words =
            arena_format(roots->mem, "thread-local storage of %s (%s)", thread, root->thread.name);
    else if (!root->words)
        root->words = arena_format(roots->mem, "thread-local storage of %s", thread);
}

static void name_root(struct roots *roots, const struct leak_held *held, struct root *root)
{
    root->class = held->root_class;
    switch ((enum leak_root_class)held->root_class) {
    case LEAK_ROOT_CLASS_GLOBALS:
        name_global(roots, held, root);
        return;
    case LEAK_ROOT_CLASS_STACKS:
        name_stack(roots, held, root);
        return;
    case LEAK_ROOT_CLASS_REGISTERS:
        root->thread = root_thread(roots, held->thread);
        root->words = arena_format(roots->mem, "a register of %s", thread_words(roots, root));
        return;
    case LEAK_ROOT_CLASS_TLS:
        name_tls(roots, held, root);
        return;
    case LEAK_ROOT_CLASS_USER:
        root->words = "root region";
        return;
    case LEAK_ROOT_CLASS_ANON:
        root->words = arena_format(roots->mem, "mapping 0x%" PRIx64, held->start);
        root->offset = held->address - held->start;
        root->has_offset = true;
        return;
    case LEAK_ROOT_CLASS_NONE:
    case LEAK_ROOT_CLASS_MAX:
        root->words = "an unknown place";
    }
}

const struct root *roots_describe_word(struct roots *roots, const struct leak_held *held)
{
    struct root *root = arena_alloc(roots->mem, sizeof(*root));

    name_root(roots, held, root);
    return root;
}

const struct root *roots_describe(struct roots *roots, uint32_t index)
{
    struct root *root;

    if (roots->named[index])
        return roots->named[index];
    root = arena_alloc(roots->mem, sizeof(*root));
    name_root(roots, &roots->store->look->roots[index], root);
    roots->named[index] = root;
    return root;
}

/* number of steps that a path keeps: half from its start, half from its end */
#define STEPS_KEPT 12

struct root_paths root_paths_begin(struct arena *mem, struct signatures *signatures)
{
    const struct store_leak_check *look = signatures->store->look;
    struct root_paths paths = {.mem = mem, .signatures = signatures, .store = signatures->store};

    paths.roots = roots_begin(mem, signatures);
    if (look) {
        paths.longest = arena_alloc_array(mem, look->root_count, sizeof(*paths.longest));
        paths.titles = array_grow(NULL, &(size_t){0}, paths.store->site_count + 1, sizeof(void *));
        memset(paths.titles, 0, paths.store->site_count * sizeof(void *));
    }
    return paths;
}

void root_paths_end(struct root_paths *paths)
{
    free(paths->titles);
}

void root_paths_request(struct signatures *signatures)
{
    const struct store_leak_check *look = signatures->store->look;

    for (size_t i = 0; look && i < look->step_count; i++)
        if (look->steps[i].site != STORE_NO_SITE)
            signatures_request(signatures, signatures->store->sites[look->steps[i].site].node);
}

/* ---- Steps of a path from block to block ----------------------------------------------------- */

const struct frame *root_paths_site_frame(struct root_paths *paths, uint32_t site)
{
    const struct frame *found[TRACE_MAX];
    struct record record = {.frames = found};
    uint32_t ending;

    if (paths->titles[site])
        return paths->titles[site];
    record.frame_count =
        signatures_node_frames(paths->signatures, paths->store->sites[site].node, found, &ending);
    record.user = frame_first_user(found, record.frame_count);
    return paths->titles[site] = record_title_frame(&record);
}

static struct path_step describe_step(struct root_paths *paths, const struct store_step *step)
{
    struct path_step made = {.offset = step->offset, .into = step->into, .size = step->size};

    if (step->site == STORE_NO_SITE)
        return made;
    made.known = true;
    made.signature = signatures_of_node(paths->signatures, paths->store->sites[step->site].node);
    made.frame = root_paths_site_frame(paths, step->site);
    return made;
}

const struct path *root_paths_make(struct root_paths *paths, uint32_t index, uint64_t bytes)
{
    const struct store_leak_check *look = paths->store->look;
    const struct store_found *found = &look->found[index];
    struct path_step *steps;
    struct path *path;
    size_t count = found->path_count, head = count;

    if (found->root == STORE_NONE)
        return NULL;
    path = arena_alloc(paths->mem, sizeof(*path));
    path->root = roots_describe(&paths->roots, found->root);
    path->found = index;
    if (count > STEPS_KEPT) {
        path->skipped = count - STEPS_KEPT;
        path->skipped_at = head = STEPS_KEPT / 2;
        count = STEPS_KEPT;
    }
    path->steps = steps = arena_alloc_array(paths->mem, count, sizeof(*steps));
    path->count = count;
    for (size_t i = 0; i < count; i++)
        steps[i] =
            describe_step(paths, &look->steps[found->path + i + (i < head ? 0 : path->skipped)]);
    if (bytes >= paths->longest[found->root].bytes)
        paths->longest[found->root] = (struct longest_path){path, bytes};
    return path;
}
