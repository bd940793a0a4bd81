/* libleak.h - calls that a program can make to libleak.
 *
 * Every function here is inline. If libleak.so is loaded, it calls the library. Otherwise it does
 * nothing and returns -1 (0 for libleak_moment), so a program builds, links and runs the same with
 * and without the library:
 *
 *     libleak_mark("loaded");          needs no test, no linking, no dlsym
 *     if (libleak_present()) ...       whether libleak.so is loaded
 *     LIBLEAK_DISABLED_SCOPE();        until the end of this { }; in C++ also the objects
 *     LIBLEAK_TAG_SCOPE("mesh");       libleak::disabled, libleak::tag and libleak::root
 *
 * If LIBLEAK_DISABLE is defined before this header is included, all of it compiles to nothing. It
 * works in C99 and C++11, in position-independent code or not, static or dynamic. The functions may
 * be called from any thread, and from a signal handler only if their comment says so. Every
 * function has an alias in capitals.
 */
#ifndef LIBLEAK_H
#define LIBLEAK_H

#include <stddef.h>

/* Numbers of allocations and frees. A realloc counts as one free and one allocation. Allocations
 * that options leave out (min_size and the like) are not counted; with sample= all numbers are
 * estimates. */
struct libleak_counts {
    long long allocations, frees, allocated_bytes, freed_bytes;
    long long live_blocks, live_bytes; /* number allocated minus number freed */
};

/* The result of a leak check. A lost block is one to which no pointer leads, or only pointers in
 * other lost blocks. */
struct libleak_findings {
    long long lost_blocks, lost_bytes;
    /* Only interior or encoded pointers lead to these blocks. */
    long long possible_blocks, possible_bytes;
    long long reachable_blocks, reachable_bytes;
};

/* ---- How a call finds the library -------------------------------------------------------- */

#define LIBLEAK_INLINE static inline __attribute__((always_inline, unused))
#define LIBLEAK_METHOD inline __attribute__((always_inline))
#define LIBLEAK_NAME(before, line) LIBLEAK_NAME_(before, line)
#define LIBLEAK_NAME_(before, line) before##line

/* Sets a function pointer to the address of a symbol, or to NULL if no loaded object has it. It
 * uses assembly, because in code that is not position-independent the linker would resolve a weak C
 * symbol to NULL itself. */
#if defined(LIBLEAK_IMPLEMENTATION) || defined(LIBLEAK_DISABLE)
#elif defined(__x86_64__) && defined(__LP64__)
#define LIBLEAK_FIND(name, found)                                                                  \
    __asm__(".weak " name "\n\tmov {" name "@GOTPCREL(%%rip), %0|%0, qword ptr " name              \
            "@GOTPCREL[rip]}"                                                                      \
            : "=r"(found))
#elif defined(__aarch64__)
#define LIBLEAK_FIND(name, found)                                                                  \
    __asm__(".weak " name "\n\tadrp %0, :got:" name "\n\tldr %0, [%0, :got_lo12:" name "]"         \
            : "=r"(found))
#elif defined(__riscv) && __riscv_xlen == 64
#define LIBLEAK_FIND(name, found)                                                                  \
    __asm__(".weak " name "\n\t.option push\n\t.option pic\n\tla %0, " name "\n\t.option pop"      \
            : "=r"(found))
#elif defined(__i386__)
/* On i386 LIBLEAK_FIND is not defined, and a weak declaration is used: which register leads to the
 * global offset table depends on the options of the compiler. */
#endif

/* LIBLEAK_FUNCTION(type, name, parameters, arguments, value without the library) and
 * LIBLEAK_PROCEDURE(name, parameters, arguments) define one inline function each. libleak.so itself
 * defines LIBLEAK_IMPLEMENTATION, so for it they are plain declarations. */
#if defined(LIBLEAK_IMPLEMENTATION)
#define LIBLEAK_FUNCTION(type, name, parameters, arguments, otherwise) type name parameters;
#define LIBLEAK_PROCEDURE(name, parameters, arguments) void name parameters;
#elif defined(LIBLEAK_DISABLE)
#define LIBLEAK_FUNCTION(type, name, parameters, arguments, otherwise)                             \
    LIBLEAK_INLINE type name parameters                                                            \
    {                                                                                              \
        return otherwise;                                                                          \
    }
#define LIBLEAK_PROCEDURE(name, parameters, arguments)                                             \
    LIBLEAK_INLINE void name parameters                                                            \
    {                                                                                              \
    }
#else
#ifdef LIBLEAK_FIND
#define LIBLEAK_DECLARE(type, name, parameters)
#define LIBLEAK_LOOK_UP(type, name, parameters)                                                    \
    type(*libleak_found_) parameters;                                                              \
    LIBLEAK_FIND(#name, libleak_found_)
#else
#define LIBLEAK_DECLARE(type, name, parameters)                                                    \
    extern type LIBLEAK_NAME(weak_, name)                                                          \
    parameters __asm__(#name) __attribute__((weak));
#define LIBLEAK_LOOK_UP(type, name, parameters)                                                    \
    type(*libleak_found_) parameters = LIBLEAK_NAME(weak_, name)
#endif
#define LIBLEAK_FUNCTION(type, name, parameters, arguments, otherwise)                             \
    LIBLEAK_DECLARE(type, name, parameters)                                                        \
    LIBLEAK_INLINE type name parameters                                                            \
    {                                                                                              \
        LIBLEAK_LOOK_UP(type, name, parameters);                                                   \
        if (libleak_found_)                                                                        \
            return libleak_found_ arguments;                                                       \
        return otherwise;                                                                          \
    }
#define LIBLEAK_PROCEDURE(name, parameters, arguments)                                             \
    LIBLEAK_DECLARE(void, name, parameters)                                                        \
    LIBLEAK_INLINE void name parameters                                                            \
    {                                                                                              \
        LIBLEAK_LOOK_UP(void, name, parameters);                                                   \
        if (libleak_found_)                                                                        \
            libleak_found_ arguments;                                                              \
    }
#endif

LIBLEAK_INLINE int libleak_no_counts(struct libleak_counts *out)
{
    out->allocations = out->frees = out->allocated_bytes = out->freed_bytes = 0;
    out->live_blocks = out->live_bytes = 0;
    return -1;
}

LIBLEAK_INLINE int libleak_no_findings(struct libleak_findings *out)
{
    out->lost_blocks = out->lost_bytes = out->possible_blocks = out->possible_bytes = 0;
    out->reachable_blocks = out->reachable_bytes = 0;
    return -1;
}

LIBLEAK_INLINE int libleak_no_text(char *buffer, size_t size)
{
    if (size)
        buffer[0] = '\0';
    return -1;
}

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- Leak checks, reports and marks ------------------------------------------------------ */

/* Runs a leak check now and waits for it. A report that is made later shows what was lost at
 * this moment, unless another leak check has followed. Returns the number of lost blocks; -1: no
 * leak check was possible. */
LIBLEAK_FUNCTION(long, libleak_snapshot, (void), (), -1)

/* Runs a leak check as libleak_snapshot does, and writes the heap as a graph into a file, for
 * leakgraph: every block and every pointer between blocks. In the name %p is the pid, %e the
 * program, %n the first free number; an existing file is replaced. Returns the number of lost
 * blocks; -1: no leak check was possible, or the file cannot be written and a line on standard
 * error says why. */
LIBLEAK_FUNCTION(long, libleak_snapshot_graph, (const char *file), (file), -1)

/* Runs a leak check, lets leakreport report in a process of its own what is lost, and waits for it.
 * The report is appended to "file" (%p pid, %e program ...); NULL: to the targets of the options
 * report_to and report_file, else to standard error. Returns the number of lost blocks; -1: no leak
 * check or no report was possible. */
LIBLEAK_FUNCTION(long, libleak_report, (const char *file), (file), -1)
/* Works like libleak_report, but reports only blocks that the calling thread has allocated. */
LIBLEAK_FUNCTION(long, libleak_report_thread, (const char *file), (file), -1)

/* Gets the result of the last leak check that this process waited for. Returns 0; -1: there was
 * none, and all numbers are 0. */
LIBLEAK_FUNCTION(int, libleak_found, (struct libleak_findings * out), (out),
                 libleak_no_findings(out))

/* Sets a mark: leakreport --since=NAME then reports blocks that were allocated after this moment
 * and are still live at the last leak check. If several marks have the same name, the newest
 * counts. The newest 62 marks and leak checks are kept. Returns 0; -1: libleak records nothing. May
 * be called from a signal handler. */
LIBLEAK_FUNCTION(int, libleak_mark, (const char *name), (name), -1)

/* Returns a moment for libleak_lost_since: like a mark without a name, but not one of the 62. 0:
 * libleak records nothing. */
LIBLEAK_FUNCTION(unsigned long, libleak_moment, (void), (), 0)
/* Runs a leak check as libleak_snapshot does. Returns how many of the blocks that were allocated
 * after the moment are lost; -1: no leak check was possible, or the moment is 0. */
LIBLEAK_FUNCTION(long, libleak_lost_since, (unsigned long moment), (moment), -1)

/* Registers the function that libleak_expect_no_leaks (below) calls when blocks are lost. Without
 * one, or with NULL, it writes a line to standard error and calls abort. */
LIBLEAK_PROCEDURE(libleak_at_expect_failed,
                  (void (*callback)(const char *file, int line, long blocks)), (callback))
LIBLEAK_PROCEDURE(libleak_expect_failed, (const char *file, int line, long blocks),
                  (file, line, blocks))

/* Registers a function that the program calls once before the leak check at its exit, for example
 * to drop its caches. The function that was registered last is called first, as with atexit.
 * Returns 0; -1: no memory. */
LIBLEAK_FUNCTION(int, libleak_at_report, (void (*callback)(void)), (callback), -1)

/* Returns the version of libleak.so, such as "1.2.3"; NULL: it is not loaded. May be called from a
 * signal handler. */
LIBLEAK_FUNCTION(const char *, libleak_version, (void), (), NULL)

/* ---- Blocks that are not leaks --------------------------------------------------------------- */

/* Disable and enable reports of blocks: what the calling thread allocates between disable and
 * enable is recorded without a stack, and never reported as a leak. Calls nest. The _all functions
 * apply to all threads, later ones too, and do not nest: with the option start=off, a program that
 * calls libleak_enable_all() after its set-up gets a report only on what came later. */
LIBLEAK_PROCEDURE(libleak_disable, (void), ())
LIBLEAK_PROCEDURE(libleak_enable, (void), ())
LIBLEAK_PROCEDURE(libleak_disable_all, (void), ())
LIBLEAK_PROCEDURE(libleak_enable_all, (void), ())

/* Declares that the block that contains p is no leak, nor are the blocks that it leads to. Returns
 * 0; -1: p is in no block. */
LIBLEAK_FUNCTION(int, libleak_ignore, (const void *p), (p), -1)
/* Marks all live blocks as reported: later reports of this process leave them out (leakreport
 * --reported shows them), even if they are lost later. Returns 0; -1: libleak records nothing. May
 * be called from a signal handler. */
LIBLEAK_FUNCTION(int, libleak_mark_reported, (void), (), -1)

/* Declare memory outside of the heap that contains pointers to blocks (a shared mapping, device
 * memory) to be a root: blocks that it points to are reachable. libleak_remove_root takes the same
 * start and size. */
LIBLEAK_PROCEDURE(libleak_add_root, (const void *start, size_t size), (start, size))
LIBLEAK_PROCEDURE(libleak_remove_root, (const void *start, size_t size), (start, size))

/* ---- Counting ---------------------------------------------------------------------------- */

/* Gets the numbers of allocations, frees and live blocks of the process so far. They are exact
 * while no other thread allocates. The call takes the longer, the more call stacks libleak has
 * recorded. Returns 0; -1: libleak records nothing, and all numbers are 0. */
LIBLEAK_FUNCTION(int, libleak_count, (struct libleak_counts * out), (out), libleak_no_counts(out))
/* Gets the exact numbers of allocations and frees of the calling thread. The thread may free
 * blocks that other threads have allocated, so live_* may be negative. Returns 0; -1: libleak
 * records nothing, or the thread is ending, and all numbers are 0. */
LIBLEAK_FUNCTION(int, libleak_count_thread, (struct libleak_counts * out), (out),
                 libleak_no_counts(out))
/* Works like libleak_count, for blocks that were allocated with that tag, whichever thread frees
 * them. -1 also if there is no such tag. */
LIBLEAK_FUNCTION(int, libleak_count_tag, (const char *name, struct libleak_counts *out),
                 (name, out), libleak_no_counts(out))

/* Gives a tag (a name) to what the calling thread allocates and reallocates until the matching pop;
 * reports add up by tag (leakreport --by=tag). Tags nest up to 32 deep, and the innermost one
 * counts. The name is copied, at most 59 bytes of it; a process may have 510 names. A new thread
 * has no tag. Returns 0; -1: the tags are nested too deep, the name is empty, there is no room for
 * another name, or libleak records nothing. The tag is then unchanged, but the push still needs its
 * pop. */
LIBLEAK_FUNCTION(int, libleak_tag_push, (const char *name), (name), -1)
/* Ends the newest tag of the calling thread. Returns 0; -1: there is none, or libleak records
 * nothing. */
LIBLEAK_FUNCTION(int, libleak_tag_pop, (void), (), -1)

/* ---- Options, messages, crashes ---------------------------------------------------------- */

/* Copies the value of an option to buffer, as it would be written in LIBLEAK_OPTIONS. Returns 0;
 * -1: there is no such option, the buffer is too small, or libleak records nothing; then the buffer
 * is empty. */
LIBLEAK_FUNCTION(int, libleak_get_option, (const char *name, char *buffer, size_t size),
                 (name, buffer, size), libleak_no_text(buffer, size))
/* Changes one of these options while the program runs: verbosity, report, report_file, on_error,
 * depth (of new stacks), exit_look, exit_budget, pause_budget, look_mem, content, roots,
 * header_idiom, unreadable, xor. Returns 0; -1: it is not one of these options, or the value is
 * bad. Two threads must not call it at the same time. */
LIBLEAK_FUNCTION(int, libleak_set_option, (const char *name, const char *value), (name, value), -1)

/* Sets a hook: a function that gets each line that libleak writes in this process, and each line
 * of a report that the process waits for (libleak_report, report=exit; not report_every), without
 * its newline, before it is written. The hook returns 0: the line is written as usual; 1: it is not
 * written; 2: it is written, and then SIGTRAP is raised. The hook may run inside libleak, so it
 * must not call libleak, and blocks that it allocates there are not tracked. NULL: no hook. */
LIBLEAK_PROCEDURE(libleak_set_report_hook,
                  (int (*hook)(const char *line, void *context), void *context), (hook, context))

/* Writes a call stack to the descriptor fd, one line for each frame, for a program's own handler of
 * SIGSEGV and the like. context: the third argument of a handler with SA_SIGINFO; NULL: the stack
 * of the caller. May be called from a signal handler: it allocates nothing and takes no lock. */
LIBLEAK_PROCEDURE(libleak_backtrace_fd, (const void *context, int fd), (context, fd))

/* ---- The program's own allocators ------------------------------------------------------------ */

/* The following functions announce blocks that a program suballocates from mapped memory or from a
 * block of malloc. Announced blocks have a stack, a size and a verdict as other blocks have. While
 * they are live they are not part of the memory that contains them: a word inside of one belongs to
 * it, a pointer into one points to it, and a pointer to the memory around them does not keep them
 * alive. Freeing or unmapping that memory ends them. A block must begin at a multiple of 8. With
 * sample= such blocks are not recorded. These functions must not be called from a signal handler. */

/* Announce that a block of that size begins at p, that the block at p ends, or that it now has
 * another size. A wrong p is reported as an error, as a wrong free is. */
LIBLEAK_PROCEDURE(libleak_block_new, (const void *p, size_t size), (p, size))
LIBLEAK_PROCEDURE(libleak_block_gone, (const void *p), (p))
LIBLEAK_PROCEDURE(libleak_block_resize, (const void *p, size_t size), (p, size))

/* Announce that a pool begins or ends: a group of blocks. Any address identifies it, for example
 * that of the program's pool structure. name is for reports; it may be NULL, and is cut after 55
 * characters. Destroying a pool frees its blocks, which is a leak only with the option
 * pool_destroy_leaks. Destroying an unknown pool does nothing; creating a known one renames it. */
LIBLEAK_PROCEDURE(libleak_pool_create, (const void *pool, const char *name), (pool, name))
LIBLEAK_PROCEDURE(libleak_pool_destroy, (const void *pool), (pool))
/* Says whether a pool exists. Returns 1 or 0; -1: libleak records nothing. */
LIBLEAK_FUNCTION(int, libleak_pool_exists, (const void *pool), (pool), -1)
/* Announces that another address identifies the pool from now on. */
LIBLEAK_PROCEDURE(libleak_pool_move, (const void *pool, const void *to), (pool, to))
/* Announce that a block of the pool begins (an unknown pool is created), or that it ends. Freeing a
 * block of another pool is an error. */
LIBLEAK_PROCEDURE(libleak_pool_alloc, (const void *pool, const void *p, size_t size),
                  (pool, p, size))
LIBLEAK_PROCEDURE(libleak_pool_free, (const void *pool, const void *p), (pool, p))
/* Announces that the block at p has moved to "now", or has another size. */
LIBLEAK_PROCEDURE(libleak_pool_change,
                  (const void *pool, const void *p, const void *now, size_t size),
                  (pool, p, now, size))
/* Announces that all blocks of the pool end that do not begin in the given memory. */
LIBLEAK_PROCEDURE(libleak_pool_trim, (const void *pool, const void *start, size_t size),
                  (pool, start, size))

#ifdef __cplusplus
}
#endif

#if !defined(LIBLEAK_IMPLEMENTATION)

/* Says whether libleak.so is loaded in this process. */
LIBLEAK_INLINE int libleak_present(void)
{
#ifdef LIBLEAK_DISABLE
    return 0;
#else
    LIBLEAK_LOOK_UP(int, libleak_mark, (const char *));
    return libleak_found_ != NULL;
#endif
}

/* ---- Aliases ----------------------------------------------------------------------------- */

#define LIBLEAK_SNAPSHOT() libleak_snapshot()
#define LIBLEAK_SNAPSHOT_GRAPH(file) libleak_snapshot_graph(file)
#define LIBLEAK_VERSION() libleak_version()
#define LIBLEAK_REPORT(file) libleak_report(file)
#define LIBLEAK_REPORT_THREAD(file) libleak_report_thread(file)
#define LIBLEAK_FOUND(out) libleak_found(out)
#define LIBLEAK_MARK(name) libleak_mark(name)
#define LIBLEAK_MOMENT() libleak_moment()
#define LIBLEAK_LOST_SINCE(moment) libleak_lost_since(moment)
#define LIBLEAK_AT_EXPECT_FAILED(callback) libleak_at_expect_failed(callback)
#define LIBLEAK_EXPECT_FAILED(file, line, blocks) libleak_expect_failed(file, line, blocks)
#define LIBLEAK_AT_REPORT(callback) libleak_at_report(callback)
#define LIBLEAK_DISABLE_THREAD() libleak_disable()
#define LIBLEAK_ENABLE_THREAD() libleak_enable()
#define LIBLEAK_DISABLE_ALL() libleak_disable_all()
#define LIBLEAK_ENABLE_ALL() libleak_enable_all()
#define LIBLEAK_IGNORE(p) libleak_ignore(p)
#define LIBLEAK_MARK_REPORTED() libleak_mark_reported()
#define LIBLEAK_ADD_ROOT(start, size) libleak_add_root(start, size)
#define LIBLEAK_REMOVE_ROOT(start, size) libleak_remove_root(start, size)
#define LIBLEAK_COUNT(out) libleak_count(out)
#define LIBLEAK_COUNT_THREAD(out) libleak_count_thread(out)
#define LIBLEAK_COUNT_TAG(name, out) libleak_count_tag(name, out)
#define LIBLEAK_TAG_PUSH(name) libleak_tag_push(name)
#define LIBLEAK_TAG_POP() libleak_tag_pop()
#define LIBLEAK_GET_OPTION(name, buffer, size) libleak_get_option(name, buffer, size)
#define LIBLEAK_SET_OPTION(name, value) libleak_set_option(name, value)
#define LIBLEAK_SET_REPORT_HOOK(hook, context) libleak_set_report_hook(hook, context)
#define LIBLEAK_BACKTRACE_FD(context, fd) libleak_backtrace_fd(context, fd)
#define LIBLEAK_BLOCK_NEW(p, size) libleak_block_new(p, size)
#define LIBLEAK_BLOCK_GONE(p) libleak_block_gone(p)
#define LIBLEAK_BLOCK_RESIZE(p, size) libleak_block_resize(p, size)
#define LIBLEAK_POOL_CREATE(pool, name) libleak_pool_create(pool, name)
#define LIBLEAK_POOL_DESTROY(pool) libleak_pool_destroy(pool)
#define LIBLEAK_POOL_EXISTS(pool) libleak_pool_exists(pool)
#define LIBLEAK_POOL_MOVE(pool, to) libleak_pool_move(pool, to)
#define LIBLEAK_POOL_ALLOC(pool, p, size) libleak_pool_alloc(pool, p, size)
#define LIBLEAK_POOL_FREE(pool, p) libleak_pool_free(pool, p)
#define LIBLEAK_POOL_CHANGE(pool, p, now, size) libleak_pool_change(pool, p, now, size)
#define LIBLEAK_POOL_TRIM(pool, start, size) libleak_pool_trim(pool, start, size)

/* ---- Tests ------------------------------------------------------------------------------- */

/* libleak_expect_no_leaks { ... }: calls libleak_expect_failed if something that was allocated
 * between the braces is lost when they are closed. A block to which a variable of the same function
 * still points is not lost, even if that variable's own braces are closed: so let the code between
 * the braces call a function. Leaving by break, goto, return or an exception skips the check. */
#ifdef LIBLEAK_DISABLE
#define libleak_expect_no_leaks
#else
struct libleak_expectation {
    unsigned long moment;
    const char *file;
    int line, done;
};

LIBLEAK_INLINE struct libleak_expectation libleak_expect_begin(const char *file, int line)
{
    struct libleak_expectation expectation;
    expectation.moment = libleak_moment();
    expectation.file = file;
    expectation.line = line;
    expectation.done = 0;
    return expectation;
}

LIBLEAK_INLINE void libleak_expect_end(struct libleak_expectation *expectation)
{
    long lost = libleak_lost_since(expectation->moment);
    expectation->done = 1;
    if (lost > 0)
        libleak_expect_failed(expectation->file, expectation->line, lost);
}

#define libleak_expect_no_leaks                                                                    \
    for (struct libleak_expectation LIBLEAK_NAME(libleak_expected_, __LINE__) =                    \
             libleak_expect_begin(__FILE__, __LINE__);                                             \
         !LIBLEAK_NAME(libleak_expected_, __LINE__).done;                                          \
         libleak_expect_end(&LIBLEAK_NAME(libleak_expected_, __LINE__)))
#endif

/* ---- Disabling and tagging until the end of a scope ------------------------------------------ */

#ifdef __cplusplus
namespace libleak
{

/* While an object "libleak::disabled scope;" exists, what this thread allocates is no leak. */
class disabled
{
  public:
    LIBLEAK_METHOD disabled()
    {
        libleak_disable();
    }
    LIBLEAK_METHOD ~disabled()
    {
        libleak_enable();
    }
    disabled(const disabled &) = delete;
    disabled &operator=(const disabled &) = delete;
};

/* While an object "libleak::root shared(start, size);" exists, what that memory points to is
 * reachable. */
class root
{
  public:
    LIBLEAK_METHOD root(const void *start, size_t size) : start_(start), size_(size)
    {
        libleak_add_root(start_, size_);
    }
    LIBLEAK_METHOD ~root()
    {
        libleak_remove_root(start_, size_);
    }
    root(const root &) = delete;
    root &operator=(const root &) = delete;

  private:
    const void *start_;
    size_t size_;
};

/* While an object "libleak::tag meshes("mesh");" exists, what this thread allocates has this tag. */
class tag
{
  public:
    LIBLEAK_METHOD explicit tag(const char *name)
    {
        libleak_tag_push(name);
    }
    LIBLEAK_METHOD ~tag()
    {
        libleak_tag_pop();
    }
    tag(const tag &) = delete;
    tag &operator=(const tag &) = delete;
};

} /* namespace libleak */

#define LIBLEAK_DISABLED_SCOPE() libleak::disabled LIBLEAK_NAME(libleak_scope_, __LINE__)
#define LIBLEAK_TAG_SCOPE(name) libleak::tag LIBLEAK_NAME(libleak_tag_scope_, __LINE__)(name)
#else
LIBLEAK_INLINE char libleak_scope_begin(void)
{
    libleak_disable();
    return 0;
}

LIBLEAK_INLINE void libleak_scope_end(char *scope)
{
    (void)scope;
    libleak_enable();
}

LIBLEAK_INLINE char libleak_tag_scope_begin(const char *name)
{
    libleak_tag_push(name);
    return 0;
}

LIBLEAK_INLINE void libleak_tag_scope_end(char *scope)
{
    (void)scope;
    libleak_tag_pop();
}

#ifdef LIBLEAK_DISABLE
#define LIBLEAK_DISABLED_SCOPE() ((void)0)
#define LIBLEAK_TAG_SCOPE(name) ((void)(name))
#else
#define LIBLEAK_DISABLED_SCOPE()                                                                   \
    __attribute__((cleanup(libleak_scope_end), unused)) char LIBLEAK_NAME(                         \
        libleak_scope_, __LINE__) = libleak_scope_begin()
#define LIBLEAK_TAG_SCOPE(name)                                                                    \
    __attribute__((cleanup(libleak_tag_scope_end), unused)) char LIBLEAK_NAME(                     \
        libleak_tag_scope_, __LINE__) = libleak_tag_scope_begin(name)
#endif
#endif

#endif /* LIBLEAK_IMPLEMENTATION */
#pragma GCC diagnostic pop

#endif
