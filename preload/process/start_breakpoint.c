#include "preload/process/start_breakpoint.h"
#include "preload/base/base.h"
#include "preload/elf/symtab.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/interpose/modules.h"
#include "preload/elf/symbols.h"
#include "preload/base/sys.h"
#include "context.h"

#include <sys/mman.h>

/* The largest number of functions that may have the name in start_at= (static functions,
 * overloads); further ones get no breakpoint. */
#define BREAKPOINTS_MAX 64

static struct breakpoint {
    uintptr_t address;
    arch_code original;
    int access; /* access rights of the page that contains the address */
} breakpoints[BREAKPOINTS_MAX];
/* Number of complete breakpoints; raised after a breakpoint is complete. */
static uint32_t breakpoint_count;

static const char *function_name;
static void (*on_reached)(void);
static bool is_reached, refused;
/* Number of objects that the loader had ever loaded at the time of the last search. */
static unsigned long long objects_searched;
static struct lock write_lock; /* held while code is written */

/* ---- Writing code ---------------------------------------------------------------------------- */

/* Replaces an instruction. The page stays executable meanwhile, because other threads may execute
 * code in it. */
static bool write_code(uintptr_t address, arch_code code, int access)
{
    if (!symbols_protect_pages(address, sizeof code, access | PROT_READ | PROT_WRITE))
        return false;
    store_release((arch_code *)address, code);
    __builtin___clear_cache((char *)address, (char *)address + sizeof code);
    symbols_protect_pages(address, sizeof code, access);
    return true;
}

static bool is_inserted(uintptr_t address)
{
    arch_code code;
    return sys_peek(address, &code, sizeof code) && code == ARCH_UNKNOWN_CODE;
}

/* Removes a breakpoint if it is still there: the object may have been unloaded, and another one be
 * mapped at the address. False: the code cannot be written. */
static bool remove_breakpoint(const struct breakpoint *breakpoint)
{
    return !is_inserted(breakpoint->address) ||
           write_code(breakpoint->address, breakpoint->original, breakpoint->access);
}

/* ---- When a breakpoint is reached ------------------------------------------------------------ */

static struct breakpoint *find_breakpoint(uintptr_t pc)
{
    uint32_t count = load_acquire(&breakpoint_count);
    for (uint32_t i = 0; i < count; i++)
        if (breakpoints[i].address == pc)
            return &breakpoints[i];
    return NULL;
}

/* Removes all breakpoints. Signals are blocked, because a handler of the program could reach a
 * breakpoint in this thread. */
static bool remove_all(const struct breakpoint *here)
{
    uint64_t mask;
    sys_signals_block(&mask);
    lock_take_raw(&write_lock);
    bool done = remove_breakpoint(here);
    for (uint32_t i = 0, count = load_relaxed(&breakpoint_count); i < count; i++)
        remove_breakpoint(&breakpoints[i]);
    lock_give_raw(&write_lock);
    sys_signals_restore(&mask);
    return done;
}

/* Handles SIGILL: removes the breakpoint, even if it was reached before, because a debugger may
 * have saved the inserted code and restored it later. False: the undefined instruction belongs to
 * the program. */
static bool on_sigill(const siginfo_t *info UNUSED, ucontext_t *context)
{
    const struct breakpoint *breakpoint = find_breakpoint(context_pc(context));
    if (!breakpoint)
        return false;
    if (!exchange_relaxed(&is_reached, true))
        on_reached();
    if (remove_all(breakpoint))
        return true;
    log_line("start_at=", function_name, ": the process may not change its code any more", NULL);
    return false;
}

/* ---- Searching objects for the function ------------------------------------------------------ */

struct search {
    const struct dl_phdr_info *object;
    /* Number of all objects, and of those that were loaded since the last search, which are at the
     * end of the list. */
    uint64_t objects, fresh;
    bool stripped;
};

/* Says whether a breakpoint fits into the code at the address. It does not fit into a function that
 * is shorter: it would reach into the next function. */
static bool is_function_code(const struct dl_phdr_info *object, uintptr_t address, uint64_t size)
{
    return address % _Alignof(arch_code) == 0 && (!size || size >= sizeof(arch_code)) &&
           symbols_object_contains(object, address) &&
           symbols_page_protection(object, address, true) & PROT_EXEC;
}

static void insert_breakpoint(const struct dl_phdr_info *object, uintptr_t address)
{
    struct breakpoint *known = find_breakpoint(address),
                      *breakpoint = known ? known : &breakpoints[breakpoint_count];
    if (known ? is_inserted(address) : breakpoint_count == BREAKPOINTS_MAX)
        return;
    *breakpoint = (struct breakpoint){address, *(const arch_code *)address,
                                      symbols_page_protection(object, address, true)};
    /* Pairs with load_acquire in find_breakpoint. */
    if (!known)
        store_release(&breakpoint_count, breakpoint_count + 1);
    refused |= !write_code(address, ARCH_UNKNOWN_CODE, breakpoint->access);
}

static void visit_function(const struct symtab_symbol *function, void *context)
{
    struct search *search = context;
    uintptr_t address = search->object->dlpi_addr + function->value;
    if (symtab_name_matches(function->name, function_name) &&
        is_function_code(search->object, address, function->size))
        insert_breakpoint(search->object, address);
}

static int search_object(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    struct search *search = context;
    const char *path = object->dlpi_name;
    if (search->objects-- > search->fresh)
        return 0;
    if (!path || !*path)
        path = "/proc/self/exe";
    if (!strchr(path, '/') || modules_is_own(object->dlpi_addr + object->dlpi_phdr->p_vaddr))
        return 0;
    search->object = object;
    enum symtab_found found = symtab_each_function(path, visit_function, search);
    search->stripped |= found != SYMTAB_ALL && path != object->dlpi_name;
    return load_relaxed(&is_reached);
}

static int count_object(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    struct search *search = context;
    search->objects++;
    search->fresh = object->dlpi_adds - objects_searched;
    return 0;
}

static void search_new_objects(struct search *search)
{
    dl_iterate_phdr(count_object, search);
    if (!search->fresh)
        return;
    objects_searched += search->fresh;
    dl_iterate_phdr(search_object, search);
}

/* Searches new objects for the function of start_at=; called while the loader works. The loader
 * counts an object when it is in the list, and all code of the object is mapped then. */
static void on_loading(void)
{
    /* Reading symbols uses memory of libleak that only one thread may use; a second thread does not
     * wait. */
    static uint32_t busy;
    struct search search = {0};
    if (load_relaxed(&is_reached) || exchange_acquire(&busy, 1))
        return;
    search_new_objects(&search);
    store_release(&busy, 0);
}

/* ---- Start ----------------------------------------------------------------------------------- */

static void log_breakpoints(bool stripped)
{
    if (refused)
        log_line("start_at=", function_name,
                 ": this process may not change its code, so the call is not noticed", NULL);
    else if (!breakpoint_count)
        log_line("start_at=", function_name, ": no function of that name so far",
                 stripped ? "; the program has no symbols but those it exports" : "", NULL);
}

void breakpoint_start(const char *name, void (*reached)(void),
                      int (*install)(int, const struct sigaction *, struct sigaction *))
{
    struct search search = {0};
    function_name = name;
    on_reached = reached;
    trampoline_reserve_fault(SIGILL, on_sigill, install);
    search_new_objects(&search);
    log_breakpoints(search.stripped);
    modules_state.on_load = on_loading;
}

void breakpoint_fork_child(void)
{
    if (!exchange_relaxed(&write_lock.word, 0) || !is_reached)
        return;
    for (uint32_t i = 0; i < breakpoint_count; i++)
        remove_breakpoint(&breakpoints[i]);
}
