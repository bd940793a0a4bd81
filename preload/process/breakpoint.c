#include "preload/process/breakpoint.h"
#include "preload/base/atomic.h"
#include "preload/elf/cxx_match.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/lock.h"
#include "preload/base/log.h"
#include "preload/interpose/modules.h"
#include "preload/elf/symbols.h"
#include "preload/elf/symtab.h"
#include "preload/base/sys.h"
#include "context.h"

#include <sys/mman.h>

#define MOST 64 /* static functions of one name, overloads */

static struct point {
    uintptr_t address;
    arch_code was;
    int access; /* of the page */
} points[MOST];
static uint32_t point_count; /* published when all of a point is there */

static const char *wanted;
static void (*when_met)(void);
static bool is_met, refused;
static unsigned long long loaded; /* objects that ever came, at the last search */
static struct lock lock;          /* who writes */

/* ---- Writing code --------------------------------------------------------------------------- */

/* The page stays executable: others may be running there. */
static bool write_code(uintptr_t address, arch_code code, int access)
{
    if (!symbols_open(address, sizeof code, access | PROT_READ | PROT_WRITE))
        return false;
    store_release((arch_code *)address, code);
    __builtin___clear_cache((char *)address, (char *)address + sizeof code);
    symbols_open(address, sizeof code, access);
    return true;
}

static bool is_ours_there(uintptr_t address)
{
    arch_code code;
    return sys_peek(address, &code, sizeof code) && code == ARCH_UNKNOWN_CODE;
}

/* Its object may have gone, and another one lie there. False: it cannot be put back. */
static bool put_back(const struct point *point)
{
    return !is_ours_there(point->address) || write_code(point->address, point->was, point->access);
}

/* ---- It is met ------------------------------------------------------------------------------ */

static struct point *find_point(uintptr_t pc)
{
    uint32_t count = load_acquire(&point_count);
    for (uint32_t i = 0; i < count; i++)
        if (points[i].address == pc)
            return &points[i];
    return NULL;
}

/* A handler of the program's in this thread could come by as well. */
static bool put_all_back(const struct point *here)
{
    uint64_t mask;
    sys_signals_block(&mask);
    lock_take_raw(&lock);
    bool done = put_back(here);
    for (uint32_t i = 0, count = load_relaxed(&point_count); i < count; i++)
        put_back(&points[i]);
    lock_give_raw(&lock);
    sys_signals_restore(&mask);
    return done;
}

/* Also when it was met before: a debugger may have written down what stood there, and have put it
 * back. False: the instruction is the program's own. */
static bool on_signal(const ucontext_t *context)
{
    const struct point *point = find_point(context_pc(context));
    if (!point)
        return false;
    if (!exchange_relaxed(&is_met, true))
        when_met();
    if (put_all_back(point))
        return true;
    log_line("start_at=", wanted, ": the process may not change its code any more", NULL);
    return false;
}

/* ---- Searching ------------------------------------------------------------------------------ */

struct search {
    const struct dl_phdr_info *object;
    uint64_t objects,
        came; /* all that there are; since the last search, which are the last of them */
    bool stripped;
};

static bool is_code(const struct dl_phdr_info *object, uintptr_t address)
{
    return address % _Alignof(arch_code) == 0 && symbols_is_around(object, address) &&
           symbols_access(object, address, true) & PROT_EXEC;
}

static void wait_at(const struct dl_phdr_info *object, uintptr_t address)
{
    struct point *known = find_point(address), *point = known ? known : &points[point_count];
    if (known ? is_ours_there(address) : point_count == MOST)
        return;
    *point =
        (struct point){address, *(const arch_code *)address, symbols_access(object, address, true)};
    if (!known)
        store_release(&point_count, point_count + 1); /* pairs with find_point: before it is met */
    refused |= !write_code(address, ARCH_UNKNOWN_CODE, point->access);
}

static void visit(const struct symtab_symbol *function, void *context)
{
    struct search *search = context;
    uintptr_t address = search->object->dlpi_addr + function->value;
    if (cxxname_is(function->name, wanted) && is_code(search->object, address))
        wait_at(search->object, address);
}

static int look_into(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    struct search *search = context;
    const char *path = object->dlpi_name;
    if (search->objects-- > search->came)
        return 0;
    if (!path || !*path)
        path = "/proc/self/exe";
    if (!strchr(path, '/') || modules_own(object->dlpi_addr + object->dlpi_phdr->p_vaddr))
        return 0;
    search->object = object;
    enum symtab_found found = symtab_each(path, visit, search);
    search->stripped |= found != SYMTAB_ALL && path != object->dlpi_name;
    return load_relaxed(&is_met);
}

static int count_object(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    struct search *search = context;
    search->objects++;
    search->came = object->dlpi_adds - loaded;
    return 0;
}

static void look_into_new(struct search *search)
{
    dl_iterate_phdr(count_object, search);
    if (!search->came)
        return;
    loaded += search->came;
    dl_iterate_phdr(look_into, search);
}

/* The loader is at work. It counts an object when it is in the list, and what is mapped of it then
 * is all of its code. */
static void on_loading(void)
{
    static uint32_t
        busy; /* names are read with memory of ours; nobody else's change is waited for */
    struct search search = {0};
    if (load_relaxed(&is_met) || exchange_acquire(&busy, 1))
        return;
    look_into_new(&search);
    store_release(&busy, 0);
}

/* ---- Start ---------------------------------------------------------------------------------- */

static void say_what_is_there(bool stripped)
{
    if (refused)
        log_line("start_at=", wanted,
                 ": this process may not change its code, so the call is not noticed", NULL);
    else if (!point_count)
        log_line("start_at=", wanted, ": no function of that name so far",
                 stripped ? "; the program has no symbols but those it exports" : "", NULL);
}

void awaited_start(const char *name, void (*met)(void),
                   int (*install)(int, const struct sigaction *, struct sigaction *))
{
    struct search search = {0};
    wanted = name;
    when_met = met;
    handlers_keep_fault(SIGILL, on_signal, install);
    look_into_new(&search);
    say_what_is_there(search.stripped);
    modules_loading = on_loading;
}

void awaited_fork_child(void)
{
    if (!exchange_relaxed(&lock.word, 0) || !is_met)
        return;
    for (uint32_t i = 0; i < point_count; i++)
        put_back(&points[i]);
}
