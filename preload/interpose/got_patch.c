#include "preload/interpose/got_patch.h"
#include "preload/base/base.h"
#include "preload/base/sys.h"
#include "preload/store/store.h"
#include "preload/elf/symbols.h"

#include <sys/mman.h>

static const void *own_address;
static struct symbols own; /* libleak's own symbols, read once under the lock of dl_iterate_phdr */
static uintptr_t (*other_replacement)(const char *name);

struct redirection {
    const struct dl_phdr_info *object;
    /* True: imports that have the name of a hook are redirected. False: only imports for which
     * other_replacement returns a function. */
    bool to_hooks;
    struct got_writer writer;
};

void got_patch_start(const void *address)
{
    own_address = address;
}

/* ---- Names and their replacements ------------------------------------------------------------ */

static int find_own_object(struct dl_phdr_info *object, size_t size UNUSED, void *context UNUSED)
{
    return symbols_object_contains(object, (uintptr_t)own_address) && symbols_read(object, &own);
}

const struct symbols *got_patch_own_symbols(void)
{
    return own.symbol || dl_iterate_phdr(find_own_object, NULL) ? &own : NULL;
}

struct definitions {
    const char *name;
    unsigned count;
};

static int count_definition(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    struct definitions *definitions = context;
    struct symbols symbols;
    /* The loader's own malloc, which some loaders export, does not count: only the loader calls
     * it. */
    if (object->dlpi_addr != own.bias && object->dlpi_addr != _r_debug.r_ldbase &&
        symbols_read(object, &symbols) && symbols_find_export(&symbols, definitions->name))
        definitions->count++;
    return definitions->count > 1;
}

/* Returns the address of the function that replaces an import; 0: the import is not redirected. */
static uintptr_t find_replacement(const struct symbols *symbols, const ElfW(Sym) * symbol,
                                  const struct redirection *redirection)
{
    const char *name = symbols->names + symbol->st_name;
    uintptr_t found = 0;
    if (!symbols_is_import(symbol))
        return 0;
    if (other_replacement)
        found = other_replacement(name);
    return found || !redirection->to_hooks ? found : symbols_find_export(&own, name);
}

/* Says whether an import may be redirected or needs no redirection: its name has only one
 * definition outside of libleak, or no hook has its name. dlsym counts as one definition, because
 * libc and, for old programs, libdl define the same function. */
static bool has_one_definition(const struct symbols *symbols, const elf_relocation *relocation,
                               void *context)
{
    const ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation);
    struct definitions definitions = {.name = symbols->names + symbol->st_name};
    return !find_replacement(symbols, symbol, context) || strcmp(definitions.name, "dlsym") == 0 ||
           !dl_iterate_phdr(count_definition, &definitions);
}

/* Reads the symbols of an object. False: the object must not be redirected. */
static bool read_object(const struct redirection *redirection, struct symbols *symbols)
{
    return got_patch_own_symbols() && symbols_read(redirection->object, symbols) &&
           symbols_each_relocation(symbols, has_one_definition, (void *)redirection);
}

/* ---- Redirecting an object before the loader binds its imports: in its symbol table ---------- */

static bool localize_import(const struct symbols *symbols, const elf_relocation *relocation,
                            void *context)
{
    ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation);
    const struct redirection *redirection = context;
    uintptr_t hook = find_replacement(symbols, symbol, redirection);
    if (!hook)
        return true;
    int access = symbols_page_protection(redirection->object, (uintptr_t)symbol, false);
    if (!symbols_protect_pages((uintptr_t)symbol, sizeof *symbol, PROT_READ | PROT_WRITE))
        return false;
    store_relaxed(&symbol->st_value, hook - symbols->bias);
    /* The value is written before the local binding: once the loader sees that binding, it uses the
     * value. */
    store_release(&symbol->st_other, STV_HIDDEN);
    store_release(&symbol->st_info,
                  (unsigned char)ELFW(ST_INFO)(STB_LOCAL, ELFW(ST_TYPE)(symbol->st_info)));
    return symbols_protect_pages((uintptr_t)symbol, sizeof *symbol, access);
}

static bool redirect_unbound(const struct dl_phdr_info *object, bool to_hooks)
{
    struct symbols symbols;
    struct redirection redirection = {.object = object, .to_hooks = to_hooks};
    return read_object(&redirection, &symbols) &&
           symbols_each_relocation(&symbols, localize_import, &redirection);
}

/* ---- New objects while this thread is in dlopen ---------------------------------------------- */

static __thread struct {
    /* Imports of new objects are redirected: all that have the name of a hook (deep), or only those
     * for which other_replacement returns a function. */
    bool active;
    /* Each object whose imports cannot be redirected is counted as untracked, because its calls do
     * not reach the hooks otherwise: it is opened with RTLD_DEEPBIND, or libleak was loaded late. */
    bool deep;
    /* The new objects need libraries that are not loaded yet. They are counted as untracked until
     * they are redirected. */
    bool waiting;
    /* Number of objects at the start of the loader's list that need no redirection: they were
     * loaded before this dlopen, or are redirected already. The loader appends new objects. */
    uint32_t known;
    /* Number of objects that the loader had unloaded since the start of the process when "known"
     * was counted. */
    unsigned long long removed;
} opening __attribute__((tls_model("initial-exec")));

static uintptr_t loader_start, loader_end;

static int find_loader(struct dl_phdr_info *object, size_t size UNUSED, void *context UNUSED)
{
    if (object->dlpi_addr != _r_debug.r_ldbase)
        return 0;
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD)
            loader_end =
                object->dlpi_addr + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
    loader_start = object->dlpi_addr;
    return 1;
}

static int count_object(struct dl_phdr_info *object, size_t size UNUSED, void *context UNUSED)
{
    opening.known++;
    opening.removed = object->dlpi_subs;
    return 0;
}

/* Subtracts from opening.known the objects that other threads have closed since they were counted.
 * If the closed objects were new ones, opening.known becomes too low, and an object that another
 * thread has opened is redirected, too: that is harmless, because its calls reach the hooks
 * anyway. */
static void subtract_removed(const struct dl_phdr_info *object)
{
    uint64_t more = object->dlpi_subs - opening.removed;
    opening.known -= more < opening.known ? more : opening.known;
    opening.removed = object->dlpi_subs;
}

static bool is_new_object(const struct dl_phdr_info *object, uint32_t *index)
{
    subtract_removed(object);
    return (*index)++ >= opening.known;
}

/* Says whether a new object needs libraries that are not loaded yet. Such a library may define a
 * malloc of its own. */
static int lacks_libraries(struct dl_phdr_info *object, size_t size UNUSED, void *index)
{
    struct symbols symbols;
    return is_new_object(object, index) && symbols_read(object, &symbols) &&
           !symbols_libraries_loaded(&symbols);
}

static int redirect_new(struct dl_phdr_info *object, size_t size UNUSED, void *index)
{
    if (is_new_object(object, index)) {
        opening.known++;
        if (!redirect_unbound(object, opening.deep) && opening.deep)
            store_count_untracked(LEAK_UNTRACKED_DEEPBIND, 1);
    }
    return 0;
}

static void set_waiting(bool waiting)
{
    if (waiting != opening.waiting && opening.deep)
        store_count_untracked(LEAK_UNTRACKED_DEEPBIND, waiting ? 1 : -1);
    opening.waiting = waiting;
}

void got_patch_expect_open(bool deep)
{
    opening.active = deep || other_replacement;
    opening.deep = deep;
    opening.waiting = false;
    opening.known = 0;
    if (!opening.active)
        return;
    if (!loader_end)
        dl_iterate_phdr(find_loader, NULL);
    dl_iterate_phdr(count_object, NULL);
}

void got_patch_on_load(uintptr_t caller)
{
    uint32_t first = 0, second = 0;
    if (!opening.active || _r_debug.r_state != RT_ADD ||
        caller - loader_start >= loader_end - loader_start)
        return;
    set_waiting(dl_iterate_phdr(lacks_libraries, &first));
    if (!opening.waiting)
        dl_iterate_phdr(redirect_new, &second);
}

/* ---- Redirecting an object whose imports are bound: in its GOT slots ------------------------- */

static bool open_pages(struct got_writer *writer, uintptr_t word)
{
    if (word - writer->pages.start < writer->pages.size)
        return true;
    got_writer_end(writer);
    int access = symbols_page_protection(writer->object, word, true);
    if (access & PROT_WRITE)
        return true;
    struct symbols_pages pages = symbols_protected_pages(writer->object, word);
    if (!symbols_protect_pages(pages.start, pages.size, PROT_READ | PROT_WRITE))
        return false;
    writer->pages = pages;
    writer->access = access;
    return true;
}

bool got_writer_write(struct got_writer *writer, uintptr_t *word, uintptr_t value)
{
    if (!open_pages(writer, (uintptr_t)word))
        return false;
    store_release(word, value);
    return true;
}

void got_writer_end(struct got_writer *writer)
{
    if (writer->pages.size)
        symbols_protect_pages(writer->pages.start, writer->pages.size, writer->access);
    writer->pages.size = 0;
}

static bool redirect_slot(const struct symbols *symbols, const elf_relocation *relocation,
                          void *context)
{
    struct redirection *redirection = context;
    uintptr_t hook =
        find_replacement(symbols, symbols_of_relocation(symbols, relocation), redirection);
    uintptr_t *slot = (uintptr_t *)(symbols->bias + relocation->r_offset);
    unsigned type = ELFW(R_TYPE)(relocation->r_info);
    return !hook || (type != ARCH_SLOT_DATA && type != ARCH_SLOT_CALL) ||
           load_relaxed(slot) == hook || got_writer_write(&redirection->writer, slot, hook);
}

static int redirect_bound(struct dl_phdr_info *object, size_t size UNUSED, void *context UNUSED)
{
    struct symbols symbols;
    struct redirection redirection = {object, false, {.object = object}};
    if (read_object(&redirection, &symbols) && object->dlpi_addr != own.bias)
        symbols_each_relocation(&symbols, redirect_slot, &redirection);
    got_writer_end(&redirection.writer);
    return 0;
}

void got_patch_redirect(uintptr_t (*function)(const char *name))
{
    other_replacement = function;
    dl_iterate_phdr(redirect_bound, NULL);
}
