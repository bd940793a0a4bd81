#include "preload/unwind/unwind_check.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/base/log.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/unwind/context_tree.h"
#include "arch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define INNER_MAX 32      /* the runtime's own frames */
#define CURSOR_WORDS 4096 /* no libunwind's unw_cursor_t is larger */
#define STACK_SIZE 65536  /* both need less than 4 KiB */
#define SHOWN_MAX 16      /* mismatches told of at verbosity=1 */
#define NOT_CACHED 0      /* UNW_CACHE_NONE: it would not notice a dlclose */
#define ACCESS_MEMORY 3   /* which pointer of unw_accessors_t */

/* One check, and the stack that the other one runs on. */
struct oracle_walk {
    struct frame start;
    bool reached;        /* theirs.pc[0] is start */
    unsigned inner;      /* frames before that */
    unsigned most;       /* frames of theirs that are of interest */
    uintptr_t low, high; /* of the program's stack, if known: readable */
    struct oracle_stack ours, theirs;
    uintptr_t cursor[CURSOR_WORDS];
    ucontext_t context;
    _Alignas(16) char stack[STACK_SIZE];
};

uint64_t oracle_every_;

enum { NOT_OPEN, OPENING, OPEN };

static struct {
    const struct kind *kind;
    unsigned state;   /* NOT_OPEN … */
    bool shows;       /* verbosity */
    uint32_t walking; /* threads inside it */
} other;

/* What memory of ours libunwind reads now: its callback does not say for whom it asks. */
static __thread const struct oracle_walk *reading_for __attribute__((tls_model("initial-exec")));

/* False: enough. */
static bool note(struct oracle_walk *walk, uintptr_t pc, uintptr_t sp)
{
    if (!pc)
        return false;
    if (!walk->reached && (pc != walk->start.pc || sp != walk->start.sp))
        return ++walk->inner < INNER_MAX;
    walk->reached = true;
    walk->theirs.pc[walk->theirs.count++] = pc;
    return walk->theirs.count < walk->most;
}

/* Foreign code: it needs room, its allocations are no news of the program's, errno stays, and no
 * handler leaves it by longjmp. */
static void on_own_stack(struct guard *guard, struct oracle_walk *walk, void (*function)(void *),
                         void *argument)
{
    uint64_t mask;
    int error = errno;
    bool calling_real = guard->calling_real;
    sys_signals_block(&mask);
    guard->calling_real = true;
    add_relaxed(&other.walking, 1);
    arch_call_on(walk->stack + STACK_SIZE, function, argument);
    sub_relaxed(&other.walking, 1);
    guard->calling_real = calling_real;
    sys_signals_restore(&mask);
    errno = error;
}

/* ---- libunwind ------------------------------------------------------------------------------ */

static struct {
    int (*init)(void *cursor, ucontext_t *context);
    int (*step)(void *cursor);
    int (*get)(void *cursor, int number, uintptr_t *out);
    int (*is_signal_frame)(void *cursor);
    int (*set_caching)(void *space, int policy);
    void *(*accessors)(void *space);
    void **space;
} libunwind;

/* In the place of its own, which would write and read a pipe to see what is mapped. */
static int read_memory(void *space UNUSED, uintptr_t address, uintptr_t *word, int write,
                       void *argument UNUSED)
{
    const struct oracle_walk *walk = reading_for;
    if (write)
        return -1;
    if (address - walk->low < walk->high - walk->low ||
        address - (uintptr_t)walk < sizeof *walk - sizeof *word) {
        memcpy(word, (const void *)address, sizeof *word);
        return 0;
    }
    return sys_peek(address, word, sizeof *word) ? 0 : -1;
}

static void step_by_libunwind(struct oracle_walk *walk)
{
    /* Asking costs reads of memory, so only where it makes a difference. */
    const bool asks = ARCH_LIBUNWIND_PC != ARCH_LIBUNWIND_INTERRUPTED_PC;
    bool interrupted = false;
    uintptr_t pc, sp;
    do {
        int number = interrupted ? ARCH_LIBUNWIND_INTERRUPTED_PC : ARCH_LIBUNWIND_PC;
        if (libunwind.get(walk->cursor, number, &pc) < 0 ||
            libunwind.get(walk->cursor, ARCH_DWARF_SP, &sp) < 0 || !note(walk, arch_strip(pc), sp))
            return;
        interrupted = asks && libunwind.is_signal_frame(walk->cursor) > 0;
    } while (libunwind.step(walk->cursor) > 0);
}

/* getcontext may return twice, says the compiler: there are no variables here to be lost. */
static void walk_by_libunwind(void *walk)
{
    struct oracle_walk *here = walk;
    reading_for = here;
    if (getcontext(&here->context) == 0 && libunwind.init(here->cursor, &here->context) == 0)
        step_by_libunwind(here);
}

/* Its first use opens a pipe, on the two lowest numbers that are free. With a reader of ours it has
 * no use for it. */
static void first_use_of_libunwind(void)
{
    int number[2];
    struct stat was;
    for (int i = 0; i < 2; i++)
        number[i] = sys_open("/dev/null", O_RDONLY | O_CLOEXEC, 0);
    for (int i = 0; i < 2; i++)
        sys_close(number[i]);
    ((void **)libunwind.accessors(*libunwind.space))[ACCESS_MEMORY] = (void *)read_memory;
    libunwind.set_caching(*libunwind.space, NOT_CACHED);
    for (int i = 0; i < 2; i++)
        if (sys_fstat(number[i], &was) == 0 && S_ISFIFO(was.st_mode))
            sys_close(number[i]);
}

static bool open_libunwind(void)
{
    static const struct {
        const char *name;
        void **to;
    } wanted[] = {
        {"_UL" ARCH_LIBUNWIND "_init_local", (void **)&libunwind.init},
        {"_UL" ARCH_LIBUNWIND "_step", (void **)&libunwind.step},
        {"_UL" ARCH_LIBUNWIND "_get_reg", (void **)&libunwind.get},
        {"_UL" ARCH_LIBUNWIND "_is_signal_frame", (void **)&libunwind.is_signal_frame},
        {"_UL" ARCH_LIBUNWIND "_set_caching_policy", (void **)&libunwind.set_caching},
        {"_U" ARCH_LIBUNWIND "_get_accessors", (void **)&libunwind.accessors},
        {"_UL" ARCH_LIBUNWIND "_local_addr_space", (void **)&libunwind.space},
    };
    void *library = real.dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < ARRAY_LENGTH(wanted); i++)
        if (!(*wanted[i].to = dlsym(library, wanted[i].name)))
            return false;
    if (library)
        first_use_of_libunwind();
    return library != NULL;
}

/* ---- libgcc ---------------------------------------------------------------------------------- */

static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn note, void *argument);
    _Unwind_Ptr (*ip)(struct _Unwind_Context *context);
    _Unwind_Word (*cfa)(struct _Unwind_Context *context);
} libgcc;

static _Unwind_Reason_Code note_libgcc(struct _Unwind_Context *context, void *walk)
{
    return note(walk, libgcc.ip(context), libgcc.cfa(context)) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void walk_by_libgcc(void *walk)
{
    libgcc.backtrace(note_libgcc, walk);
}

static bool open_libgcc(void)
{
    void *library = real.dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    libgcc.backtrace = (__typeof__(libgcc.backtrace))dlsym(library, "_Unwind_Backtrace");
    libgcc.ip = (__typeof__(libgcc.ip))dlsym(library, "_Unwind_GetIP");
    libgcc.cfa = (__typeof__(libgcc.cfa))dlsym(library, "_Unwind_GetCFA");
    return libgcc.backtrace && libgcc.ip && libgcc.cfa;
}

/* ---- Start and fork ------------------------------------------------------------------------- */

static const struct kind {
    const char *name, *file, *package;
    bool (*open)(void);
    void (*walk)(void *walk);
    bool reads_blindly; /* a stack that ends early for us may be one that it faults on */
} kinds[] = {
    [UNWIND_ORACLE_LIBUNWIND] = {"libunwind", "libunwind.so.8", "libunwind8", open_libunwind,
                                 walk_by_libunwind, false},
    [UNWIND_ORACLE_LIBGCC] = {"libgcc", "libgcc_s.so.1", "libgcc-s1", open_libgcc, walk_by_libgcc,
                              true},
};

void oracle_start(const struct options *options)
{
    if (options->unwind_check && !options->site_stacks) {
        log_line("unwind_check is off: with site_stacks=off there are no stacks", NULL);
        return;
    }
    other.kind = &kinds[options->unwind_oracle];
    other.shows = options->verbosity > 0;
    oracle_every_ = options->unwind_check;
}

static void open_other(void *done)
{
    *(bool *)done = other.kind->open();
    dlerror(); /* what was not found is not the program's error */
}

/* Not from our constructor: dlopen would run libc's own first, with libc's idea of argv and
 * environ, which it has from that constructor. And not while the loader is at work. */
static bool opened(struct guard *guard, struct oracle_walk *walk)
{
    bool done;
    unsigned closed = NOT_OPEN;
    if (likely(load_acquire(&other.state) == OPEN))
        return true;
    if (!environ || load_relaxed(&_r_debug.r_state) != RT_CONSISTENT ||
        !cas_acquire(&other.state, &closed, OPENING))
        return false;
    on_own_stack(guard, walk, open_other, &done);
    if (done) {
        /* Pairs with the acquire above. */
        store_release(&other.state, OPEN);
        return true;
    }
    oracle_every_ = 0;
    log_line("unwind_check is off: no usable ", other.kind->file, " here (Debian package ",
             other.kind->package, ")", NULL);
    return false;
}

void oracle_fork_child(void)
{
    if (!other.walking)
        return;
    other.walking = 0;
    oracle_every_ = 0;
    if (other.shows)
        log_line("unwind_check is off in this child: another thread was being compared when it was "
                 "forked",
                 NULL);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

enum oracle_verdict oracle_judge(const struct oracle_stack *ours, const struct oracle_stack *theirs,
                                 unsigned *at)
{
    for (*at = 0; *at < ours->count; ++*at) {
        if (*at == theirs->count)
            return theirs->end == LEAK_ROOT_NO_RULE ? ORACLE_SAME : ORACLE_DIFFERENT;
        if (theirs->pc[*at] != ours->pc[*at])
            return ORACLE_DIFFERENT;
    }
    if (theirs->count == ours->count || ours->end == LEAK_ROOT_DEPTH)
        return ORACLE_SAME;
    return ours->end == LEAK_ROOT_COMPLETE ? ORACLE_DIFFERENT : ORACLE_STOPPED;
}

/* Where a signal interrupted, the tree has the interrupted pc plus 1. */
static void read_tree(struct guard *guard, uint32_t node, struct oracle_stack *ours)
{
    bool interrupted = false;
    for (ours->count = 0; node >= LEAK_NODE_FIRST && ours->count < UNWIND_DEPTH_MAX;) {
        struct leak_node frame = tree_node(node);
        ours->pc[ours->count++] = frame.pc - interrupted;
        interrupted = rows_get(guard, frame.pc).rule == CFI_SIGNAL;
        node = frame.parent;
    }
    ours->end = node;
}

static enum leak_root end_of(struct guard *guard, const struct oracle_stack *theirs)
{
    struct module_view module;
    uintptr_t last = theirs->count ? theirs->pc[theirs->count - 1] - 1 : 0;
    if (!last)
        return LEAK_ROOT_COMPLETE; /* not even the caller of the hook */
    bool has_table = modules_find(guard, last, &module) &&
                     cfi_row_at(module.eh_frame_hdr, last).rule != CFI_NONE;
    return has_table ? LEAK_ROOT_COMPLETE : LEAK_ROOT_NO_RULE;
}

static void add_frame(struct text *line, const char *whose, const struct oracle_stack *stack,
                      unsigned i)
{
    Dl_info info;
    strbuf_add(line, whose);
    if (i >= stack->count)
        return;
    uintptr_t pc = stack->pc[i];
    if (dladdr((void *)(pc - 1), &info) && info.dli_fname) {
        strbuf_add(line, info.dli_fname);
        strbuf_add(line, "+");
        pc -= (uintptr_t)info.dli_fbase;
    }
    strbuf_add_hex(line, pc);
}

/* The frames around the first one that differs, ours and theirs. */
static void show(const struct oracle_walk *walk, unsigned at)
{
    char buffer[900];
    struct text line = STRBUF_ON(buffer);
    strbuf_add(&line, "unwind_check: frame ");
    strbuf_add_number(&line, at);
    strbuf_add(&line, " differs; ours has ");
    strbuf_add_number(&line, walk->ours.count);
    strbuf_add(&line, " frames and ends with ");
    strbuf_add_number(&line, walk->ours.end);
    strbuf_add(&line, ", that of ");
    strbuf_add(&line, other.kind->name);
    strbuf_add(&line, walk->reached ? " is:" : " never came to the caller of the hook");
    log_line(buffer, NULL);
    for (unsigned i = at < 2 ? 0 : at - 2; i < at + 3; i++) {
        if (i >= walk->ours.count && i >= walk->theirs.count)
            break;
        line = STRBUF_ON(buffer);
        strbuf_add(&line, "  ");
        strbuf_add_number(&line, i);
        add_frame(&line, " ours ", &walk->ours, i);
        add_frame(&line, " theirs ", &walk->theirs, i);
        log_line(buffer, NULL);
    }
}

static void note_verdict(struct guard *guard, struct oracle_walk *walk)
{
    unsigned at;
    if (walk->theirs.count < walk->ours.count)
        walk->theirs.end = end_of(guard, &walk->theirs);
    enum oracle_verdict verdict = oracle_judge(&walk->ours, &walk->theirs, &at);
    add_relaxed(&store_header->unwind_checks, 1);
    if (verdict == ORACLE_STOPPED)
        add_relaxed(&store_header->unwind_stops, 1);
    if (verdict == ORACLE_DIFFERENT &&
        add_relaxed(&store_header->unwind_mismatches, 1) < SHOWN_MAX && other.shows)
        show(walk, at);
}

/* Theirs does not go on from where ours ends; and where there is no table it would look at the
 * code. */
static void stop_before_faults(struct oracle_walk *walk)
{
    uint64_t code[2];
    if (!sys_peek(walk->ours.pc[walk->ours.count - 1], code, sizeof code)) {
        walk->ours.count--;
        walk->ours.end = LEAK_ROOT_DEPTH;
    }
    walk->most = walk->ours.count;
}

void oracle_compare(struct guard *guard, struct oracle *oracle, const struct unwind_bounds *bounds,
                    const struct frame *caller, uint32_t node)
{
    struct oracle_walk *walk = oracle->walk;
    if (!walk)
        walk = oracle->walk = arena_map(sizeof *walk);
    if (!walk || !opened(guard, walk))
        return;
    read_tree(guard, node, &walk->ours);
    walk->most = walk->ours.count + 1;
    if (other.kind->reads_blindly && walk->ours.end != LEAK_ROOT_COMPLETE)
        stop_before_faults(walk);
    walk->start = *caller;
    walk->reached = false;
    walk->inner = walk->theirs.count = 0;
    walk->low = walk->high = 0;
    uintptr_t sp = arch_stack_pointer();
    if (sp - bounds->low < bounds->high - bounds->low) {
        walk->low = sp;
        walk->high = bounds->high - sizeof sp + 1;
    }
    on_own_stack(guard, walk, other.kind->walk, walk);
    note_verdict(guard, walk);
}
