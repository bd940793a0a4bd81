#include "preload/interpose/got_patch.h"
#include "preload/base/base.h"
#include "preload/store/store.h"
#include "preload/elf/symbols.h"

#include <sys/mman.h>

static const void *own_address;
static struct symbols own; /* read once, under dl_iterate_phdr's lock */
static uintptr_t (*also)(const char *name);

/* What is done to an object. */
struct leading {
    const struct dl_phdr_info *object;
    bool hooks; /* else only what there is also */
};

void got_start(const void *address)
{
    own_address = address;
}

/* ---- Which names --------------------------------------------------------------------------- */

static int find_own(struct dl_phdr_info *object, size_t size UNUSED, void *context UNUSED)
{
    return symbols_object_contains(object, (uintptr_t)own_address) && symbols_read(object, &own);
}

struct definitions {
    const char *name;
    unsigned count;
};

static int count_definition(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    struct definitions *definitions = context;
    struct symbols symbols;
    /* Some loaders have a malloc that only they call. */
    if (object->dlpi_addr != own.bias && object->dlpi_addr != _r_debug.r_ldbase &&
        symbols_read(object, &symbols) && symbols_find_export(&symbols, definitions->name))
        definitions->count++;
    return definitions->count > 1;
}

/* Our function for an import, 0: it is none of ours. */
static uintptr_t ours(const struct symbols *symbols, const ElfW(Sym) * symbol,
                      const struct leading *leading)
{
    const char *name = symbols->names + symbol->st_name;
    uintptr_t found = 0;
    if (!symbols_is_import(symbol))
        return 0;
    if (also)
        found = also(name);
    return found || !leading->hooks ? found : symbols_find_export(&own, name);
}

static bool has_one_definition(const struct symbols *symbols, const ElfW(Rela) * relocation,
                               void *context)
{
    const ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation);
    struct definitions definitions = {.name = symbols->names + symbol->st_name};
    return !ours(symbols, symbol, context) || !dl_iterate_phdr(count_definition, &definitions);
}

/* Reads an object that may be led. */
static bool may_lead(struct leading *leading, struct symbols *symbols)
{
    if (!own.symbol && !dl_iterate_phdr(find_own, NULL))
        return false;
    return symbols_read(leading->object, symbols) &&
           symbols_each_relocation(symbols, has_one_definition, leading);
}

/* ---- Before the object is bound ------------------------------------------------------------ */

static bool answer_import(const struct symbols *symbols, const ElfW(Rela) * relocation,
                          void *context)
{
    ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation);
    const struct leading *leading = context;
    uintptr_t hook = ours(symbols, symbol, leading);
    if (!hook)
        return true;
    int access = symbols_page_protection(leading->object, (uintptr_t)symbol, false);
    if (!symbols_protect_pages((uintptr_t)symbol, sizeof *symbol, PROT_READ | PROT_WRITE))
        return false;
    store_relaxed(&symbol->st_value, hook - symbols->bias);
    /* Whoever sees a local symbol takes its value. */
    store_release(&symbol->st_other, STV_HIDDEN);
    store_release(&symbol->st_info,
                  (unsigned char)ELF64_ST_INFO(STB_LOCAL, ELF64_ST_TYPE(symbol->st_info)));
    return symbols_protect_pages((uintptr_t)symbol, sizeof *symbol, access);
}

static bool answer(const struct dl_phdr_info *object, bool hooks)
{
    struct symbols symbols;
    struct leading leading = {object, hooks};
    return may_lead(&leading, &symbols) && symbols_each_relocation(&symbols, answer_import, &leading);
}

/* ---- An opening in this thread ------------------------------------------------------------- */

static __thread struct {
    bool on;        /* new objects are to be answered */
    bool deep;      /* in whatever is a hook, and it is said when they are not */
    bool waiting;   /* new objects were not answered so far, and that is said */
    uint32_t known; /* objects before it, and those that were answered; the loader appends */
    unsigned long long gone; /* objects that had gone when they were counted */
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
    opening.gone = object->dlpi_subs;
    return 0;
}

/* Others may have closed objects before the loader's lock was ours: then some are answered that
 * nobody waits for. Whatever would have come to us comes to us. */
static void count_gone(const struct dl_phdr_info *object)
{
    uint64_t more = object->dlpi_subs - opening.gone;
    opening.known -= more < opening.known ? more : opening.known;
    opening.gone = object->dlpi_subs;
}

static bool is_new(const struct dl_phdr_info *object, uint32_t *index)
{
    count_gone(object);
    return (*index)++ >= opening.known;
}

/* One of the libraries still to come may have a malloc of its own. */
static int lacks_libraries(struct dl_phdr_info *object, size_t size UNUSED, void *index)
{
    struct symbols symbols;
    return is_new(object, index) && symbols_read(object, &symbols) &&
           !symbols_libraries_loaded(&symbols);
}

static int answer_new(struct dl_phdr_info *object, size_t size UNUSED, void *index)
{
    if (is_new(object, index)) {
        opening.known++;
        if (!answer(object, opening.deep) && opening.deep)
            store_count_untracked(LEAK_UNTRACKED_DEEPBIND, 1);
    }
    return 0;
}

static void wait_for_more(bool wait)
{
    if (wait != opening.waiting && opening.deep)
        store_count_untracked(LEAK_UNTRACKED_DEEPBIND, wait ? 1 : -1);
    opening.waiting = wait;
}

void got_expect(bool deep)
{
    opening.on = deep || also;
    opening.deep = deep;
    opening.waiting = false;
    opening.known = 0;
    if (!opening.on)
        return;
    if (!loader_end)
        dl_iterate_phdr(find_loader, NULL);
    dl_iterate_phdr(count_object, NULL);
}

void got_loading(uintptr_t caller)
{
    uint32_t first = 0, second = 0;
    if (!opening.on || _r_debug.r_state != RT_ADD ||
        caller - loader_start >= loader_end - loader_start)
        return;
    wait_for_more(dl_iterate_phdr(lacks_libraries, &first));
    if (!opening.waiting)
        dl_iterate_phdr(answer_new, &second);
}

/* ---- An object in use ---------------------------------------------------------------------- */

static bool lead_slot(const struct symbols *symbols, const ElfW(Rela) * relocation, void *context)
{
    const struct leading *leading = context;
    uintptr_t hook = ours(symbols, symbols_of_relocation(symbols, relocation), leading);
    uintptr_t *slot = (uintptr_t *)(symbols->bias + relocation->r_offset);
    unsigned type = ELF64_R_TYPE(relocation->r_info);
    if (!hook || (type != ARCH_SLOT_DATA && type != ARCH_SLOT_CALL) || load_relaxed(slot) == hook)
        return true;
    int access = symbols_page_protection(leading->object, (uintptr_t)slot, true);
    if (!(access & PROT_WRITE) &&
        !symbols_protect_pages((uintptr_t)slot, sizeof *slot, PROT_READ | PROT_WRITE))
        return false;
    store_release(slot, hook);
    return access & PROT_WRITE || symbols_protect_pages((uintptr_t)slot, sizeof *slot, access);
}

static bool lead(const struct dl_phdr_info *object, bool hooks)
{
    struct symbols symbols;
    struct leading leading = {object, hooks};
    return may_lead(&leading, &symbols) && symbols_each_relocation(&symbols, lead_slot, &leading);
}

bool got_lead(const struct dl_phdr_info *object)
{
    return lead(object, true);
}

static int lead_also(struct dl_phdr_info *object, size_t size UNUSED, void *context UNUSED)
{
    lead(object, false);
    return 0;
}

void got_also(uintptr_t (*function)(const char *name))
{
    also = function;
    dl_iterate_phdr(lead_also, NULL);
}
