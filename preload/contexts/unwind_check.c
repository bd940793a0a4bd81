/* unwind_check.c - unwinds a stack with libunwind or libgcc, and compares the result with the
 * recorded stack. */
#include "preload/contexts/unwind_check.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/log.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/contexts/context_tree.h"
#include "arch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define INNER_MAX 32      /* the largest number of libleak's own frames before the hook's caller */
#define CURSOR_WORDS 4096 /* words for libunwind's unw_cursor_t, which no version makes larger */
/* size in bytes of the stack for libunwind or libgcc, which need less than 4 KiB */
#define STACK_SIZE 65536
#define LOGGED_MAX 16   /* the largest number of mismatches that are logged with verbosity=1 */
#define NOT_CACHED 0    /* libunwind's UNW_CACHE_NONE: its cache would not notice a dlclose */
#define ACCESS_MEMORY 3 /* index of the member access_mem in libunwind's unw_accessors_t */

/* One run of the reference unwinder (libunwind or libgcc), and the stack that it runs on. */
struct unwind_check_walk {
    struct frame start;
    /* the reference unwinder has reached the hook's caller (start), whose pc is theirs.pc[0] */
    bool reached;
    unsigned inner; /* number of libleak's own frames, before the hook's caller */
    unsigned most;  /* number of the reference unwinder's frames that are compared */
    /* The part of the program's stack that is readable, if known; otherwise 0. */
    uintptr_t low, high;
    struct unwind_check_stack ours, theirs;
    uintptr_t cursor[CURSOR_WORDS];
    ucontext_t context;
    _Alignas(16) char stack[STACK_SIZE];
};

enum { NOT_OPEN, OPENING, OPEN };

static struct {
    const struct kind *kind;
    unsigned state;   /* NOT_OPEN, OPENING or OPEN */
    bool shows;       /* mismatches are logged */
    uint32_t walking; /* number of threads inside the reference unwinder */
} other;

/* The run for which libunwind reads memory. It is a variable, because libunwind passes no such
 * argument to read_memory_for_libunwind. */
static __thread const struct unwind_check_walk *reading_for
    __attribute__((tls_model("initial-exec")));

/* Records a frame of the reference unwinder. False: no further frames are needed. */
static bool record_reference_frame(struct unwind_check_walk *walk, uintptr_t pc, uintptr_t sp)
{
    if (!pc)
        return false;
    if (!walk->reached && (pc != walk->start.pc || sp != walk->start.sp))
        return ++walk->inner < INNER_MAX;
    walk->reached = true;
    walk->theirs.pc[walk->theirs.count++] = pc;
    return walk->theirs.count < walk->most;
}

/* Calls a function of libunwind or libgcc on a stack of STACK_SIZE bytes, because the program's
 * stack may be small. What the function allocates is not recorded, errno is preserved, and signals
 * are blocked so that no handler leaves the function by longjmp. */
static void call_on_own_stack(struct guard *guard, struct unwind_check_walk *walk,
                              void (*function)(void *), void *argument)
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

/* Reads memory for libunwind. It replaces libunwind's own function, which tests addresses by
 * writing to a pipe. */
static int read_memory_for_libunwind(void *space UNUSED, uintptr_t address, uintptr_t *word,
                                     int write, void *argument UNUSED)
{
    const struct unwind_check_walk *walk = reading_for;
    if (write)
        return -1;
    if (address - walk->low < walk->high - walk->low ||
        address - (uintptr_t)walk < sizeof *walk - sizeof *word) {
        memcpy(word, (const void *)address, sizeof *word);
        return 0;
    }
    return sys_peek(address, word, sizeof *word) ? 0 : -1;
}

static void step_by_libunwind(struct unwind_check_walk *walk)
{
    /* unw_is_signal_frame reads memory, so it is called only on CPUs where the result makes a
     * difference. */
    const bool asks = ARCH_LIBUNWIND_PC != ARCH_LIBUNWIND_INTERRUPTED_PC;
    bool interrupted = false;
    uintptr_t pc, sp;
    do {
        int number = interrupted ? ARCH_LIBUNWIND_INTERRUPTED_PC : ARCH_LIBUNWIND_PC;
        if (libunwind.get(walk->cursor, number, &pc) < 0 ||
            libunwind.get(walk->cursor, ARCH_LIBUNWIND_SP, &sp) < 0 ||
            !record_reference_frame(walk, arch_strip(pc), sp))
            return;
        interrupted = asks && libunwind.is_signal_frame(walk->cursor) > 0;
    } while (libunwind.step(walk->cursor) > 0);
}

/* This function has no other variables, because the compiler assumes that getcontext may return
 * twice. */
static void walk_by_libunwind(void *walk)
{
    struct unwind_check_walk *here = walk;
    reading_for = here;
    if (getcontext(&here->context) == 0 && libunwind.init(here->cursor, &here->context) == 0)
        step_by_libunwind(here);
}

/* Prepares libunwind. Its first use opens a pipe, which gets the two lowest free descriptors. With
 * read_memory_for_libunwind it does not need the pipe, so the pipe is closed. */
static void init_libunwind(void)
{
    int number[2];
    struct stat was;
    for (int i = 0; i < 2; i++)
        number[i] = sys_open("/dev/null", O_RDONLY | O_CLOEXEC, 0);
    for (int i = 0; i < 2; i++)
        sys_close(number[i]);
    ((void **)libunwind.accessors(*libunwind.space))[ACCESS_MEMORY] =
        (void *)read_memory_for_libunwind;
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
        init_libunwind();
    return library != NULL;
}

/* ---- libgcc ---------------------------------------------------------------------------------- */

static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn note, void *argument);
    _Unwind_Ptr (*ip)(struct _Unwind_Context *context);
    _Unwind_Word (*cfa)(struct _Unwind_Context *context);
} libgcc;

static _Unwind_Reason_Code record_libgcc_frame(struct _Unwind_Context *context, void *walk)
{
    return record_reference_frame(walk, libgcc.ip(context), libgcc.cfa(context))
               ? _URC_NO_REASON
               : _URC_END_OF_STACK;
}

static void walk_by_libgcc(void *walk)
{
    libgcc.backtrace(record_libgcc_frame, walk);
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
    bool reads_blindly; /* the unwinder may fault on a stack at which libleak's unwinder stops */
} kinds[] = {
    [UNWIND_ORACLE_LIBUNWIND] = {"libunwind", "libunwind.so.8", "libunwind8", open_libunwind,
                                 walk_by_libunwind, false},
    [UNWIND_ORACLE_LIBGCC] = {"libgcc", "libgcc_s.so.1", "libgcc-s1", open_libgcc, walk_by_libgcc,
                              true},
};

void unwind_check_start(void)
{
    if (options_current.unwind_check && !options_current.site_stacks) {
        log_line("unwind_check is off: with site_stacks=off there are no stacks", NULL);
        options_current.unwind_check = 0;
        return;
    }
    if (options_current.unwind_check && !ARCH_CALL_ON_UNWINDS) {
        log_line("unwind_check is off: no unwinder gets back from another stack on this CPU", NULL);
        options_current.unwind_check = 0;
        return;
    }
    other.kind = &kinds[options_current.unwind_oracle];
    other.shows = options_current.verbosity > 0;
}

static void open_reference(void *done)
{
    *(bool *)done = other.kind->open();
    dlerror(); /* removes an error that the program did not cause */
}

/* Opens the reference unwinder once. Libleak's constructor must not do that: dlopen would run
 * libc's constructor first, which sets up argv and environ. It must not happen either while the
 * loader is changing its list of objects. */
static bool open_reference_once(struct guard *guard, struct unwind_check_walk *walk)
{
    bool done;
    unsigned closed = NOT_OPEN;
    if (likely(load_acquire(&other.state) == OPEN))
        return true;
    if (!environ || load_relaxed(&_r_debug.r_state) != RT_CONSISTENT ||
        !cas_acquire(&other.state, &closed, OPENING))
        return false;
    call_on_own_stack(guard, walk, open_reference, &done);
    if (done) {
        /* Pairs with load_acquire at the beginning of this function: a thread that sees OPEN also
         * sees what the opening has stored. */
        store_release(&other.state, OPEN);
        return true;
    }
    options_current.unwind_check = 0;
    log_line("unwind_check is off: no usable ", other.kind->file, " here (Debian package ",
             other.kind->package, ")", NULL);
    return false;
}

void unwind_check_fork_child(void)
{
    if (!other.walking)
        return;
    other.walking = 0;
    options_current.unwind_check = 0;
    if (other.shows)
        log_line("unwind_check is off in this child: another thread was being compared when it was "
                 "forked",
                 NULL);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

enum unwind_check_verdict unwind_check_compare(const struct unwind_check_stack *ours,
                                               const struct unwind_check_stack *theirs,
                                               unsigned *at)
{
    for (*at = 0; *at < ours->count; ++*at) {
        if (*at == theirs->count)
            return theirs->end == LEAK_ROOT_NO_RULE ? UNWIND_CHECK_SAME : UNWIND_CHECK_DIFFERENT;
        if (theirs->pc[*at] != ours->pc[*at])
            return UNWIND_CHECK_DIFFERENT;
    }
    if (theirs->count == ours->count || ours->end == LEAK_ROOT_DEPTH)
        return UNWIND_CHECK_SAME;
    return ours->end == LEAK_ROOT_COMPLETE ? UNWIND_CHECK_DIFFERENT : UNWIND_CHECK_STOPPED;
}

/* Reads the recorded stack. For a frame that a signal interrupted, the context tree contains the
 * interrupted pc plus 1. */
static void read_recorded_stack(struct guard *guard, uint32_t node, struct unwind_check_stack *ours)
{
    bool interrupted = false;
    struct leak_node frame;
    for (ours->count = 0; ours->count < UNWIND_DEPTH_MAX && context_tree_next(&node, &frame);) {
        ours->pc[ours->count++] = frame.pc - interrupted;
        interrupted = cfi_cache_find(guard, frame.pc).rule == CFI_SIGNAL;
    }
    ours->end = node;
}

static enum leak_root reference_end(struct guard *guard, const struct unwind_check_stack *theirs)
{
    struct module_view module;
    uintptr_t last = theirs->count ? theirs->pc[theirs->count - 1] - 1 : 0;
    /* If there is no frame, the reference unwinder did not even reach the caller of the hook. */
    if (!last)
        return LEAK_ROOT_COMPLETE;
    bool has_table = modules_find(guard, last, &module) &&
                     cfi_row_at(module.eh_frame_hdr, last).rule != CFI_NONE;
    return has_table ? LEAK_ROOT_COMPLETE : LEAK_ROOT_NO_RULE;
}

static void append_frame(struct strbuf *line, const char *whose,
                         const struct unwind_check_stack *stack, unsigned i)
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

/* Logs frames of both stacks around the first one that differs. */
static void log_mismatch(const struct unwind_check_walk *walk, unsigned at)
{
    char buffer[900];
    struct strbuf line = STRBUF_ON(buffer);
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
        append_frame(&line, " ours ", &walk->ours, i);
        append_frame(&line, " theirs ", &walk->theirs, i);
        log_line(buffer, NULL);
    }
}

static void count_verdict(struct guard *guard, struct unwind_check_walk *walk)
{
    unsigned at;
    if (walk->theirs.count < walk->ours.count)
        walk->theirs.end = reference_end(guard, &walk->theirs);
    enum unwind_check_verdict verdict = unwind_check_compare(&walk->ours, &walk->theirs, &at);
    add_relaxed(&store_header->unwind_checks, 1);
    if (verdict == UNWIND_CHECK_STOPPED)
        add_relaxed(&store_header->unwind_stops, 1);
    if (verdict == UNWIND_CHECK_DIFFERENT &&
        add_relaxed(&store_header->unwind_mismatches, 1) < LOGGED_MAX && other.shows)
        log_mismatch(walk, at);
}

/* Limits a reference unwinder that may fault: it must not continue beyond the end of the recorded
 * stack. A frame without CFI is left out if its code is not readable, because the reference
 * unwinder would read it. */
static void limit_blind_reference(struct unwind_check_walk *walk)
{
    uint64_t code[2];
    if (!sys_peek(walk->ours.pc[walk->ours.count - 1], code, sizeof code)) {
        walk->ours.count--;
        walk->ours.end = LEAK_ROOT_DEPTH;
    }
    walk->most = walk->ours.count;
}

void unwind_check_run(struct guard *guard, struct unwind_check *oracle,
                      const struct unwind_bounds *bounds, const struct frame *caller, uint32_t node)
{
    struct unwind_check_walk *walk = oracle->walk;
    if (!walk)
        walk = oracle->walk = arena_map(sizeof *walk);
    if (!walk || !open_reference_once(guard, walk))
        return;
    read_recorded_stack(guard, node, &walk->ours);
    walk->most = walk->ours.count + 1;
    if (other.kind->reads_blindly && walk->ours.end != LEAK_ROOT_COMPLETE)
        limit_blind_reference(walk);
    walk->start = *caller;
    walk->reached = false;
    walk->inner = walk->theirs.count = 0;
    walk->low = walk->high = 0;
    uintptr_t sp = arch_stack_pointer();
    if (sp - bounds->low < bounds->high - bounds->low) {
        walk->low = sp;
        walk->high = bounds->high - sizeof sp + 1;
    }
    call_on_own_stack(guard, walk, other.kind->walk, walk);
    count_verdict(guard, walk);
}
