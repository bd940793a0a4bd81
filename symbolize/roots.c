/* roots.c - see roots.h. */
#include "symbolize/roots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle.h"

struct roots roots_begin(struct mem *mem, struct signatures *signatures)
{
    const struct store_look *look = signatures->store->look;
    struct roots roots = {.mem = mem, .signatures = signatures, .store = signatures->store};

    if (look)
        roots.named = mem_take_array(mem, look->root_count, sizeof(*roots.named));
    return roots;
}

void roots_end(struct roots *roots)
{
    roots->named = NULL;
}

/* ---- Words --------------------------------------------------------------------------------------
 */

static struct thread_ref thread_of(struct roots *roots, uint32_t serial)
{
    const struct store_thread *thread = store_thread_of(roots->store, serial);
    struct thread_ref made = {.serial = serial};

    if (thread && *thread->name)
        made.name = mem_copy(roots->mem, thread->name, strlen(thread->name));
    return made;
}

/* "T2" */
static const char *thread_words(struct roots *roots, const struct root *root)
{
    if (!root->thread.serial)
        return "a thread that never allocated";
    return mem_format(roots->mem, "T%" PRIu32, root->thread.serial);
}

/* "f()", of a qualified name the part without its arguments. */
static const char *call_words(struct roots *roots, const char *function)
{
    const char *scope = demangle_scope(function);

    return mem_format(roots->mem, "%.*s()", (int)demangle_bare_length(scope), scope);
}

/* ---- One class each
 * ------------------------------------------------------------------------------ */

static const struct store_module *module_around(const struct store_look *look, uint64_t address)
{
    size_t cursor = look->module_spans.count;
    uint32_t found = spans_next(&look->module_spans, address, &cursor);

    return found == SPANS_NONE ? NULL : &look->modules[found];
}

static void name_global(struct roots *roots, const struct leak_held *held, struct root *root)
{
    const struct store_module *module = module_around(roots->store->look, held->address);

    if (!module) {
        root->words = "data of a module";
        return;
    }
    root->module = mem_copy(roots->mem, module->path, strlen(module->path));
    root->offset = held->address - module->bias;
    root->has_offset = true;
    root->words = mem_format(roots->mem, "%s +0x%" PRIx64, base_name(root->module), root->offset);
}

static void name_stack(struct roots *roots, const struct leak_held *held, struct root *root)
{
    const char *thread;
    const struct place *place;

    root->thread = thread_of(roots, held->thread);
    thread = thread_words(roots, root);
    if (!held->pc) {
        root->words = mem_format(roots->mem, "the stack of %s", thread);
        return;
    }
    place = signatures_last_place(roots->signatures, held->pc + 1); /* it is no return address */
    root->module = place->frames[place->count - 1].module;
    root->function = place->frames[place->count - 1].function;
    if (root->function)
        root->words = mem_format(roots->mem, "a stack slot of %s (%s)",
                                 call_words(roots, root->function), thread);
    else
        root->words = mem_format(roots->mem, "a stack slot of a function in %s (%s)",
                                 root->module ? base_name(root->module) : "no module", thread);
}

static void name_tls(struct roots *roots, const struct leak_held *held, struct root *root)
{
    root->thread = thread_of(roots, held->thread);
    if (held->key)
        root->words = mem_format(roots->mem, "pthread key %d of %s", held->key - 1,
                                 thread_words(roots, root));
    else
        root->words =
            mem_format(roots->mem, "thread-local storage of %s", thread_words(roots, root));
}

static void name(struct roots *roots, const struct leak_held *held, struct root *root)
{
    root->class = held->root_class;
    switch (held->root_class) {
    case LEAK_ROOT_CLASS_GLOBALS:
        name_global(roots, held, root);
        return;
    case LEAK_ROOT_CLASS_STACKS:
        name_stack(roots, held, root);
        return;
    case LEAK_ROOT_CLASS_REGISTERS:
        root->thread = thread_of(roots, held->thread);
        root->words = mem_format(roots->mem, "a register of %s", thread_words(roots, root));
        return;
    case LEAK_ROOT_CLASS_TLS:
        name_tls(roots, held, root);
        return;
    case LEAK_ROOT_CLASS_USER:
        root->words = "root region";
        return;
    case LEAK_ROOT_CLASS_ANON:
        root->words = mem_format(roots->mem, "mapping 0x%" PRIx64, held->start);
        root->offset = held->address - held->start;
        root->has_offset = true;
        return;
    }
    root->words = "an unknown place";
}

const struct root *roots_name(struct roots *roots, uint32_t index)
{
    struct root *root;

    if (roots->named[index])
        return roots->named[index];
    root = mem_take(roots->mem, sizeof(*root));
    name(roots, &roots->store->look->roots[index], root);
    roots->named[index] = root;
    return root;
}
