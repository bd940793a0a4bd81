#include "preload/interpose/static_malloc.h"
#include "preload/base/arena.h"
#include "preload/interpose/displace.h"
#include "preload/elf/symbols.h"
#include "preload/elf/symtab.h"
#include "preload/base/sys.h"

#include <sys/mman.h>

#define SLOT (DISPLACE_COPY + DISPLACE_FAR_JUMP) /* of the page, for each function */
#define NEAREST (64u << 10)                      /* below the program */

uintptr_t linked_home;

/* ---- Which functions ------------------------------------------------------------------------ */

struct search {
    const struct linked_hook *hooks;
    unsigned count;
    struct linked *out;
    const struct dl_phdr_info *program;
    struct symbols symbols;
};

static const struct linked_hook *find_hook(const struct search *search, const char *name)
{
    for (unsigned i = 0; i < search->count; i++)
        if (strcmp(search->hooks[i].name, name) == 0)
            return &search->hooks[i];
    return NULL;
}

static struct linked_function *find_function(struct linked *linked, const struct linked_hook *hook)
{
    for (unsigned i = 0; i < linked->count; i++)
        if (linked->function[i].hook == hook)
            return &linked->function[i];
    return NULL;
}

/* Another name of one that is known changes nothing: its calls come as that one's. */
static void add(struct linked *linked, const struct linked_hook *hook, uintptr_t address,
                uint64_t size)
{
    struct linked_function *known = find_function(linked, hook);
    if (known && known->address != address) {
        linked->why = "there are two of that name";
        linked->which = hook->name;
    }
    if (!known && linked->count < LINKED_MOST)
        linked->function[linked->count++] =
            (struct linked_function){.hook = hook, .address = address, .size = size};
}

/* A static function of such a name is another thing, with other parameters. */
static void take(const struct symtab_symbol *function, void *context)
{
    struct search *search = context;
    const struct linked_hook *hook = function->is_static ? NULL : find_hook(search, function->name);
    uintptr_t address = search->program->dlpi_addr + function->value;
    if (!hook)
        return;
    if (!search->out->exported || symbols_find_export(&search->symbols, hook->name) == address)
        add(search->out, hook, address, function->size);
}

static void take_end(const struct symtab_symbol *function, void *context)
{
    struct search *search = context;
    uintptr_t address = search->program->dlpi_addr + function->value;
    for (unsigned i = 0; i < search->out->count; i++) {
        struct linked_function *one = &search->out->function[i];
        if (address > one->address && (!one->end || address < one->end))
            one->end = address;
    }
}

static bool has_needed(const struct search *search)
{
    for (unsigned i = 0; i < LINKED_NEEDED; i++)
        if (!find_function(search->out, &search->hooks[i]))
            return false;
    return true;
}

/* Who asks others for one of them has no allocator, and his file, which may be large, is not read.
 */
static bool is_other(const struct symbols *symbols, const ElfW(Rela) * relocation, void *context)
{
    const ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation);
    return !symbols_is_import(symbol) || !find_hook(context, symbols->names + symbol->st_name);
}

static bool exports_needed(const struct search *search)
{
    for (unsigned i = 0; i < LINKED_NEEDED; i++)
        if (!symbols_find_export(&search->symbols, search->hooks[i].name))
            return false;
    return true;
}

/* The first object is the program. Its file is read when it may have one. */
static int look_into(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    static const char program[] = "/proc/self/exe";
    struct search *search = context;
    search->program = object;
    if (!symbols_read(object, &search->symbols))
        return 1;
    search->out->exported = exports_needed(search);
    if (!search->out->exported && !symbols_each_relocation(&search->symbols, is_other, search))
        return 1;
    enum symtab_found found = symtab_each_function(program, take, search);
    if (!has_needed(search)) {
        search->out->why = "the program's file does not name its functions as such";
        return 1;
    }
    if (found == SYMTAB_ALL)
        symtab_each_function(program, take_end, search);
    return 1;
}

bool linked_find(const struct linked_hook *hooks, unsigned count, struct linked *out)
{
    struct search search = {.hooks = hooks, .count = count, .out = out};
    *out = (struct linked){0};
    dl_iterate_phdr(look_into, &search);
    return out->exported || has_needed(&search);
}

/* ---- The page ------------------------------------------------------------------------------- */

struct way {
    struct displaced displaced;
    uintptr_t at; /* where the jump is written */
    uint8_t was[ARCH_JUMP];
    int access; /* of its pages */
};

struct leading {
    struct linked *linked;
    uint8_t *page;
    struct way way[LINKED_MOST];
};

static bool refuse(struct linked *linked, const char *which, const char *why)
{
    linked->which = which;
    linked->why = why;
    return false;
}

/* Below the program: the heap grows upwards. */
static uint8_t *map_near(uintptr_t low, uintptr_t high)
{
    uintptr_t size = sys_page_size();
    for (uintptr_t below = NEAREST; below < low && high - low + below < ARCH_JUMP_FAR - size;
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

static uint8_t *map_page(const struct linked *linked)
{
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (unsigned i = 0; i < linked->count; i++) {
        uintptr_t address = linked->function[i].address;
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

static const char *plan(const struct dl_phdr_info *program, const struct linked_function *function,
                        uint8_t *slot, struct way *way)
{
    uintptr_t address = function->address;
    size_t size = function->size, room = function->end ? function->end - address : size;
    struct displace_function what = {(const uint8_t *)address,  address, size,
                                     room > size ? room : size, 0,       0};
    way->access = symbols_page_protection(program, address, true);
    if (!(way->access & PROT_EXEC) || !(way->access & PROT_READ) ||
        symbols_page_protection(program, address + what.room, true) != way->access)
        return "it is not where code is";
    set_around(program, &what);
    const char *why = displace_plan(&what, (uintptr_t)slot + DISPLACE_FAR_JUMP, &way->displaced);
    if (!why && !displace_leads_out(&what))
        why = "who calls it may know which registers it leaves as they are";
    if (why)
        return why;
    way->at = address + way->displaced.skip;
    memcpy(way->was, (const void *)way->at, sizeof way->was);
    displace_far_jump(function->hook->hook, slot);
    memcpy(slot + DISPLACE_FAR_JUMP, way->displaced.copy, way->displaced.copied);
    return NULL;
}

/* The first of those that stand at its place: two names of one function are led once. */
static unsigned first_of(const struct leading *leading, unsigned i)
{
    const struct linked_function *function = leading->linked->function;
    unsigned first = 0;
    while (function[first].address != function[i].address)
        first++;
    return first;
}

static bool is_led(const struct leading *leading, unsigned i)
{
    return first_of(leading, i) < i;
}

static uint8_t *slot_of(const struct leading *leading, unsigned i)
{
    return leading->page + (size_t)first_of(leading, i) * SLOT;
}

/* ---- Writing code --------------------------------------------------------------------------- */

static bool write_code(const struct way *way, const uint8_t *code)
{
    if (!symbols_protect_pages(way->at, ARCH_JUMP, way->access | PROT_WRITE))
        return false;
    memcpy((void *)way->at, code, ARCH_JUMP);
    __builtin___clear_cache((char *)way->at, (char *)way->at + ARCH_JUMP);
    symbols_protect_pages(way->at, ARCH_JUMP, way->access);
    return true;
}

static bool write_jumps(struct leading *leading)
{
    uint8_t jump[ARCH_JUMP];
    for (unsigned i = 0; i < leading->linked->count; i++) {
        const struct way *way = &leading->way[i];
        if (is_led(leading, i))
            continue;
        if (displace_jump(way->at, (uintptr_t)slot_of(leading, i), jump) && write_code(way, jump))
            continue;
        while (i--)
            if (!is_led(leading, i))
                write_code(&leading->way[i], leading->way[i].was);
        return refuse(leading->linked, NULL, "this process may not change its code");
    }
    return true;
}

static bool fill_page(struct leading *leading, const struct dl_phdr_info *program)
{
    struct linked *linked = leading->linked;
    for (unsigned i = 0; i < linked->count; i++) {
        const char *why = is_led(leading, i) ? NULL
                                             : plan(program, &linked->function[i],
                                                    slot_of(leading, i), &leading->way[i]);
        if (why)
            return refuse(linked, linked->function[i].hook->name, why);
    }
    uintptr_t size = sys_page_size();
    __builtin___clear_cache((char *)leading->page, (char *)leading->page + size);
    return sys_protect(leading->page, size, PROT_READ | PROT_EXEC) == 0 ||
           refuse(linked, NULL, "this process may not have new code");
}

/* Any hook may be called while the others are still being written: by whatever we call. */
static void set_next(const struct leading *leading)
{
    const struct linked *linked = leading->linked;
    for (unsigned i = 0; i < linked->count; i++)
        *linked->function[i].hook->next = (uintptr_t)slot_of(leading, i) + DISPLACE_FAR_JUMP;
}

static int lead(struct dl_phdr_info *program, size_t size UNUSED, void *context)
{
    struct leading *leading = context;
    if (fill_page(leading, program)) {
        set_next(leading);
        write_jumps(leading);
    }
    return 1;
}

bool linked_lead(struct linked *linked)
{
    struct leading leading = {.linked = linked};
    if (linked->why)
        return false;
    leading.page = map_page(linked);
    if (!leading.page)
        return refuse(linked, NULL, "there is no room near its code");
    dl_iterate_phdr(lead, &leading);
    if (linked->why) {
        sys_unmap(leading.page, sys_page_size());
        return false;
    }
    arena_register(leading.page, sys_page_size());
    linked_home = linked->function[0].address;
    return true;
}
