#include "preload/interpose/static_malloc.h"
#include "preload/memory/arena.h"
#include "preload/interpose/displace.h"
#include "preload/elf/symbols.h"
#include "preload/elf/symtab.h"
#include "preload/base/sys.h"

#include <sys/mman.h>

/* Number of bytes that each function gets in the page of copies: its copy and a jump to its
 * hook. */
#define SLOT (DISPLACE_COPY + DISPLACE_FAR_JUMP)
/* Alignment of functions by compilers that put padding between them. */
#define FUNCTION_ALIGNMENT 16
/* Least distance in bytes between the program and the page of copies below it. */
#define MIN_DISTANCE (64u << 10)

static uintptr_t redirected; /* address of the allocator's malloc; 0: no allocator was redirected */

/* ---- Finding the functions of the allocator -------------------------------------------------- */

struct search {
    const struct static_malloc_hook *hooks;
    unsigned count;
    struct static_malloc *out;
    const struct dl_phdr_info *program;
    struct symbols symbols;
};

static const struct static_malloc_hook *find_hook(const struct search *search, const char *name)
{
    for (unsigned i = 0; i < search->count; i++)
        if (strcmp(search->hooks[i].name, name) == 0)
            return &search->hooks[i];
    return NULL;
}

static struct static_malloc_function *find_function(struct static_malloc *found,
                                                    const struct static_malloc_hook *hook)
{
    for (unsigned i = 0; i < found->count; i++)
        if (found->function[i].hook == hook)
            return &found->function[i];
    return NULL;
}

/* Adds a function of the allocator to the list of those to redirect. */
static void add_function(struct static_malloc *found, const struct static_malloc_hook *hook,
                         uintptr_t address, uint64_t size)
{
    struct static_malloc_function *known = find_function(found, hook);
    if (known && known->address != address) {
        found->reason = "two functions have that name";
        found->which = hook->name;
    }
    if (!known && found->count < STATIC_MALLOC_MAX)
        found->function[found->count++] =
            (struct static_malloc_function){.hook = hook, .address = address, .size = size};
}

/* Adds a function of the program to the list if its name is that of a hook. A static function with
 * such a name is not part of an allocator, and may have other parameters. */
static void match_symbol(const struct symtab_symbol *function, void *context)
{
    struct search *search = context;
    const struct static_malloc_hook *hook =
        function->is_static ? NULL : find_hook(search, function->name);
    uintptr_t address = search->program->dlpi_addr + function->value;
    if (!hook)
        return;
    if (!search->out->exported || symbols_find_export(&search->symbols, hook->name) == address)
        add_function(search->out, hook, address, function->size);
}

static void find_function_end(const struct symtab_symbol *function, void *context)
{
    struct search *search = context;
    uintptr_t address = search->program->dlpi_addr + function->value;
    for (unsigned i = 0; i < search->out->count; i++) {
        struct static_malloc_function *one = &search->out->function[i];
        if (address > one->address && (!one->end || address < one->end))
            one->end = address;
    }
}

static bool has_required(const struct search *search)
{
    for (unsigned i = 0; i < STATIC_MALLOC_REQUIRED; i++)
        if (!find_function(search->out, &search->hooks[i]))
            return false;
    return true;
}

/* Says whether a relocation of the program is no import of a function that has a hook. A program
 * that imports a function of the family has no allocator of its own, and its file, which may be
 * large, need not be read. */
static bool is_no_hooked_import(const struct symbols *symbols, const elf_relocation *relocation,
                                void *context)
{
    const ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation);
    return !symbols_is_import(symbol) || !find_hook(context, symbols->names + symbol->st_name);
}

static bool exports_required(const struct search *search)
{
    for (unsigned i = 0; i < STATIC_MALLOC_REQUIRED; i++)
        if (!symbols_find_export(&search->symbols, search->hooks[i].name))
            return false;
    return true;
}

/* Searches the program, which is the first object that dl_iterate_phdr visits, for an allocator.
 * Reads the program's file only if it may contain one. */
static int search_program(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    static const char program[] = "/proc/self/exe";
    struct search *search = context;
    search->program = object;
    if (!symbols_read(object, &search->symbols))
        return 1;
    search->out->exported = exports_required(search);
    if (!search->out->exported &&
        !symbols_each_relocation(&search->symbols, is_no_hooked_import, search))
        return 1;
    enum symtab_found state = symtab_each_function(program, match_symbol, search);
    if (!has_required(search)) {
        search->out->reason = "the program's file does not name its functions as such";
        return 1;
    }
    if (state == SYMTAB_ALL)
        symtab_each_function(program, find_function_end, search);
    return 1;
}

bool static_malloc_find(const struct static_malloc_hook *hooks, unsigned count,
                        struct static_malloc *out)
{
    struct search search = {.hooks = hooks, .count = count, .out = out};
    *out = (struct static_malloc){0};
    dl_iterate_phdr(search_program, &search);
    return out->exported || has_required(&search);
}

/* ---- Making the page with the copies of the functions' beginnings ---------------------------- */

struct patch {
    struct displaced displaced;
    uintptr_t at; /* address at which the jump is written */
    uint8_t original[ARCH_JUMP];
    int access; /* protection of the pages with that address */
};

struct patches {
    struct static_malloc *found;
    uint8_t *page;
    struct patch patch[STATIC_MALLOC_MAX];
};

static bool refuse_redirect(struct static_malloc *found, const char *which, const char *reason)
{
    found->which = which;
    found->reason = reason;
    return false;
}

/* Maps a page so near to the program, which lies from "low" to "high", that a jump reaches it. The
 * page is below the program, because the heap grows upwards behind it. */
static uint8_t *map_near(uintptr_t low, uintptr_t high)
{
    uintptr_t size = sys_page_size();
    for (uintptr_t below = MIN_DISTANCE; below < low && high - low + below < ARCH_JUMP_FAR - size;
         below *= 2) {
        uint8_t *page = sys_map_near((low - below) / size * size, size);
        uintptr_t at = (uintptr_t)page;
        if (at && (at < low ? high - at : at - low) < ARCH_JUMP_FAR - size)
            return page;
        if (page)
            sys_unmap(page, size);
    }
    return NULL;
}

static uint8_t *map_page(const struct static_malloc *found)
{
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (unsigned i = 0; i < found->count; i++) {
        uintptr_t address = found->function[i].address;
        low = address < low ? address : low;
        high = address > high ? address : high;
    }
    return map_near(low, high);
}

static void set_around(const struct dl_phdr_info *program, struct displace_function *out)
{
    for (unsigned i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &program->dlpi_phdr[i];
        uintptr_t start = program->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || out->address - start >= part->p_memsz)
            continue;
        out->low = start;
        out->high = start + part->p_memsz;
    }
}

static const char *plan_patch(const struct dl_phdr_info *program,
                              const struct static_malloc_function *function, uint8_t *slot,
                              struct patch *patch)
{
    uintptr_t address = function->address;
    size_t size = function->size;
    /* Nops in front of a function that is not aligned belong to it (-fpatchable-function-entry), so
     * they are no padding of the function before. */
    bool has_padding = function->end && function->end % FUNCTION_ALIGNMENT == 0;
    size_t room = has_padding ? function->end - address : size;
    struct displace_function what = {(const uint8_t *)address,  address, size,
                                     room > size ? room : size, 0,       0};
    patch->access = symbols_page_protection(program, address, true);
    if (!(patch->access & PROT_EXEC) || !(patch->access & PROT_READ) ||
        symbols_page_protection(program, address + what.room, true) != patch->access)
        return "it is not in executable memory";
    set_around(program, &what);
    const char *reason =
        displace_plan(&what, (uintptr_t)slot + DISPLACE_FAR_JUMP, &patch->displaced);
    if (!reason && !displace_leads_out(&what))
        reason = "its callers may rely on registers that it preserves";
    if (reason)
        return reason;
    patch->at = address + patch->displaced.skip;
    memcpy(patch->original, (const void *)patch->at, sizeof patch->original);
    displace_far_jump(function->hook->hook, slot);
    memcpy(slot + DISPLACE_FAR_JUMP, patch->displaced.copy, patch->displaced.copied);
    return NULL;
}

/* Returns the index of the first function with the same address: functions with one address
 * (aliases) are changed only once. */
static unsigned first_alias(const struct patches *patches, unsigned i)
{
    const struct static_malloc_function *function = patches->found->function;
    unsigned first = 0;
    while (function[first].address != function[i].address)
        first++;
    return first;
}

static bool is_alias(const struct patches *patches, unsigned i)
{
    return first_alias(patches, i) < i;
}

static uint8_t *slot_of(const struct patches *patches, unsigned i)
{
    return patches->page + (size_t)first_alias(patches, i) * SLOT;
}

/* ---- Writing code ---------------------------------------------------------------------------- */

static bool write_code(const struct patch *patch, const uint8_t *code)
{
    if (!symbols_protect_pages(patch->at, ARCH_JUMP, patch->access | PROT_WRITE))
        return false;
    memcpy((void *)patch->at, code, ARCH_JUMP);
    __builtin___clear_cache((char *)patch->at, (char *)patch->at + ARCH_JUMP);
    symbols_protect_pages(patch->at, ARCH_JUMP, patch->access);
    return true;
}

static bool write_jumps(struct patches *patches)
{
    uint8_t jump[ARCH_JUMP];
    for (unsigned i = 0; i < patches->found->count; i++) {
        const struct patch *patch = &patches->patch[i];
        if (is_alias(patches, i))
            continue;
        if (displace_jump(patch->at, (uintptr_t)slot_of(patches, i), jump) &&
            write_code(patch, jump))
            continue;
        while (i--)
            if (!is_alias(patches, i))
                write_code(&patches->patch[i], patches->patch[i].original);
        return refuse_redirect(patches->found, NULL, "this process may not change its code");
    }
    return true;
}

static bool fill_page(struct patches *patches, const struct dl_phdr_info *program)
{
    struct static_malloc *found = patches->found;
    for (unsigned i = 0; i < found->count; i++) {
        const char *reason =
            is_alias(patches, i)
                ? NULL
                : plan_patch(program, &found->function[i], slot_of(patches, i), &patches->patch[i]);
        if (reason)
            return refuse_redirect(found, found->function[i].hook->name, reason);
    }
    uintptr_t size = sys_page_size();
    __builtin___clear_cache((char *)patches->page, (char *)patches->page + size);
    return sys_protect(patches->page, size, PROT_READ | PROT_EXEC) == 0 ||
           refuse_redirect(found, NULL, "this process may not create executable code");
}

/* Tells the hooks the addresses of the copies before any jump is written: code that runs between
 * writing two jumps may enter a hook. */
static void set_next(const struct patches *patches)
{
    const struct static_malloc *found = patches->found;
    for (unsigned i = 0; i < found->count; i++)
        *found->function[i].hook->next = (uintptr_t)slot_of(patches, i) + DISPLACE_FAR_JUMP;
}

static int redirect_all(struct dl_phdr_info *program, size_t size UNUSED, void *context)
{
    struct patches *patches = context;
    if (fill_page(patches, program)) {
        set_next(patches);
        write_jumps(patches);
    }
    return 1;
}

bool static_malloc_redirect(struct static_malloc *found)
{
    struct patches patches = {.found = found};
    if (found->reason)
        return false;
    patches.page = map_page(found);
    if (!patches.page)
        return refuse_redirect(found, NULL, "there is no room near its code");
    dl_iterate_phdr(redirect_all, &patches);
    if (found->reason) {
        sys_unmap(patches.page, sys_page_size());
        return false;
    }
    arena_register(patches.page, sys_page_size());
    redirected = found->function[0].address;
    return true;
}

uintptr_t static_malloc_address(void)
{
    return redirected;
}
