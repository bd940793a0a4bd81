/* libleak.h - calls that a program can make to libleak.
 *
 * Every function here is an inline call. Where libleak.so is loaded it calls the library; without it
 * the call does nothing and returns -1 (0 for libleak_moment), so a program builds, links and runs
 * the same with and without the library:
 *
 *     libleak_mark("loaded");          no test, no linking, no dlsym
 *     if (libleak_present()) ...       whether libleak.so is loaded
 *     LIBLEAK_DISABLED_SCOPE();        until the end of this { }; in C++ also the objects
 *     LIBLEAK_TAG_SCOPE("mesh");       libleak::disabled, libleak::tag and libleak::root
 *
 * With LIBLEAK_DISABLE defined before this header is included, all of it compiles to nothing.
 * C99 and C++11; position-independent or not, static or dynamic. Callable from any thread, and
 * from a signal handler only where it says so. Every function has an alias in capitals.
 */
#ifndef LIBLEAK_H
#define LIBLEAK_H

#include <stddef.h>

/* Totals. A realloc counts as one free and one allocation. Allocations that options leave out
 * (min_size and the like) are not counted; with sample= all numbers are estimates. */
struct libleak_counts {
    long long allocations, frees, allocated_bytes, freed_bytes;
    long long live_blocks, live_bytes; /* allocated - freed */
};

/* Result of a leak check. Lost: no pointer leads to the block, or only pointers in lost blocks. */
struct libleak_findings {
    long long lost_blocks, lost_bytes;
    long long possible_blocks, possible_bytes; /* only interior or encoded pointers lead there */
    long long reachable_blocks, reachable_bytes;
};

/* ---- How a call finds the library -------------------------------------------------------- */

#define LIBLEAK_INLINE static inline __attribute__((always_inline, unused))
#define LIBLEAK_METHOD inline __attribute__((always_inline))
#define LIBLEAK_NAME(before, line) LIBLEAK_NAME_(before, line)
#define LIBLEAK_NAME_(before, line) before##line

/* Sets a function pointer to the symbol, or to NULL where no loaded object has it. Why assembly: in
 * code that is not position-independent the linker would resolve a weak C symbol to NULL itself. */
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
/* A weak declaration: which register leads to the table of addresses depends on the options of the
 * compiler. */
#endif

/* LIBLEAK_FUNCTION(type, name, parameters, arguments, value without the library) and
 * LIBLEAK_PROCEDURE(name, parameters, arguments) make one inline function each. libleak.so itself
 * defines LIBLEAK_IMPLEMENTATION and gets plain declarations. */
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

/* Runs a leak check now and waits for it: the report then tells what was lost at this moment, unless
 * a later leak check follows. Returns how many blocks are lost; -1: no leak check was possible. */
LIBLEAK_FUNCTION(long, libleak_snapshot, (void), (), -1)

/* The same, and writes the heap as a graph into a file, for leakgraph: every block and every pointer
 * between blocks. %p in the name is the pid, %e the program, %n the first free number; an existing
 * file is replaced. Returns as libleak_snapshot; -1 also when the file cannot be written: then
 * standard error says why. */
LIBLEAK_FUNCTION(long, libleak_snapshot_graph, (const char *file), (file), -1)

/* Runs a leak check and has leakreport, in a process of its own, report what is lost; waits for it.
 * The report is appended to file (%p pid, %e program ...); NULL: to where the options report_to and
 * report_file say, else to standard error. Returns how many blocks are lost; -1: no leak check or no
 * report was possible. */
LIBLEAK_FUNCTION(long, libleak_report, (const char *file), (file), -1)
/* Works like libleak_report, but only for what the calling thread has allocated. */
LIBLEAK_FUNCTION(long, libleak_report_thread, (const char *file), (file), -1)

/* What the last leak check that this process waited for has found. Returns 0; -1: there was none, and
 * all is 0. */
LIBLEAK_FUNCTION(int, libleak_found, (struct libleak_findings * out), (out),
                 libleak_no_findings(out))

/* Sets a mark: leakreport --since=NAME then reports what was allocated after this moment and still
 * lives at the last leak check. Of equal names the newest counts; the newest 62 marks and leak
 * checks are kept. Returns 0; -1: libleak records nothing. From a signal handler: yes. */
LIBLEAK_FUNCTION(int, libleak_mark, (const char *name), (name), -1)

/* A moment for libleak_lost_since: a mark without a name, which takes no place. 0: libleak records
 * nothing. */
LIBLEAK_FUNCTION(unsigned long, libleak_moment, (void), (), 0)
/* Runs a leak check as libleak_snapshot does. Returns how many of the blocks allocated after that
 * moment are lost; -1: no leak check was possible, or the moment is 0. */
LIBLEAK_FUNCTION(long, libleak_lost_since, (unsigned long moment), (moment), -1)

/* Registers what libleak_expect_no_leaks (below) calls for lost blocks. By default, and with NULL,
 * it writes a line to standard error and calls abort. */
LIBLEAK_PROCEDURE(libleak_at_expect_failed,
                  (void (*callback)(const char *file, int line, long blocks)), (callback))
LIBLEAK_PROCEDURE(libleak_expect_failed, (const char *file, int line, long blocks),
                  (file, line, blocks))

/* Registers a function that the program calls once before the leak check at its exit, for example to
 * drop its caches. The last registered is called first, as with atexit. Returns 0; -1: no memory. */
LIBLEAK_FUNCTION(int, libleak_at_report, (void (*callback)(void)), (callback), -1)

/* The version of libleak.so, "1.2.3"; NULL: it is not loaded. From a signal handler: yes. */
LIBLEAK_FUNCTION(const char *, libleak_version, (void), (), NULL)

/* ---- What is no leak --------------------------------------------------------------------- */

/* What the calling thread allocates between disable and enable is recorded without a stack and never
 * reported as a leak. Calls nest. The _all forms concern every thread, later ones too, and do not
 * nest: with the option start=off, a program that calls libleak_enable_all() after its set-up gets a
 * report on what came later only. */
LIBLEAK_PROCEDURE(libleak_disable, (void), ())
LIBLEAK_PROCEDURE(libleak_enable, (void), ())
LIBLEAK_PROCEDURE(libleak_disable_all, (void), ())
LIBLEAK_PROCEDURE(libleak_enable_all, (void), ())

/* The block that contains p is no leak, nor is what it leads to. Returns 0; -1: no such block. */
LIBLEAK_FUNCTION(int, libleak_ignore, (const void *p), (p), -1)
/* Marks all live blocks as reported: later reports of this process leave them out (leakreport
 * --reported shows them), even when they are lost later. Returns 0; -1: libleak records nothing.
 * From a signal handler: yes. */
LIBLEAK_FUNCTION(int, libleak_mark_reported, (void), (), -1)

/* Memory outside the heap that holds pointers to blocks (a shared mapping, device memory): what it
 * points to is reachable. Removing takes the same start and size. */
LIBLEAK_PROCEDURE(libleak_add_root, (const void *start, size_t size), (start, size))
LIBLEAK_PROCEDURE(libleak_remove_root, (const void *start, size_t size), (start, size))

/* ---- Counting ---------------------------------------------------------------------------- */

/* What the process has allocated and freed so far, and what lives: exact while no other thread
 * allocates. Takes time for each call stack there is. Returns 0; -1: libleak records nothing, and all
 * counts are 0. */
LIBLEAK_FUNCTION(int, libleak_count, (struct libleak_counts * out), (out), libleak_no_counts(out))
/* What the calling thread has allocated and what it has freed, exactly; it may free what others
 * allocated, so live_* may be negative. -1 also in a thread that is ending. */
LIBLEAK_FUNCTION(int, libleak_count_thread, (struct libleak_counts * out), (out),
                 libleak_no_counts(out))
/* Works like libleak_count, for what was allocated under that tag, whichever thread frees it. -1
 * also when there is no such tag. */
LIBLEAK_FUNCTION(int, libleak_count_tag, (const char *name, struct libleak_counts *out),
                 (name, out), libleak_no_counts(out))

/* Names what the calling thread allocates and reallocates until the matching pop; reports add up by
 * tag (leakreport --by=tag). Tags nest up to 32 deep, the innermost counts. The name is copied, 59
 * bytes of it at most; a process may have 510 names. A new thread has no tag. Returns 0; -1: too
 * deep, no name, no room for another name, or libleak records nothing. The tag is then unchanged;
 * each push still needs its pop. */
LIBLEAK_FUNCTION(int, libleak_tag_push, (const char *name), (name), -1)
/* Returns 0; -1: there is nothing to pop, or libleak records nothing. */
LIBLEAK_FUNCTION(int, libleak_tag_pop, (void), (), -1)

/* ---- Options, messages, crashes ---------------------------------------------------------- */

/* Copies an option's value, as LIBLEAK_OPTIONS would give it, to buffer. Returns 0; -1: no such
 * option, no room, or libleak records nothing; buffer is then empty. */
LIBLEAK_FUNCTION(int, libleak_get_option, (const char *name, char *buffer, size_t size),
                 (name, buffer, size), libleak_no_text(buffer, size))
/* Changes one of these while the program runs: verbosity, report, report_file, on_error, depth (of
 * new stacks), exit_look, exit_budget, pause_budget, look_mem, content, roots, header_idiom,
 * unreadable, xor. Returns 0; -1: not one of these, or a bad value. Not from two threads at once. */
LIBLEAK_FUNCTION(int, libleak_set_option, (const char *name, const char *value), (name, value), -1)

/* Passes each line that libleak writes in this process, and each line of a report that the process
 * waits for (libleak_report, report=exit; not report_every), to hook first, without its newline. The
 * hook returns 0: the line is written as usual; 1: it is not; 2: it is, and SIGTRAP follows. It may be
 * called anywhere, also inside libleak: it must not call libleak, and what it allocates then is not
 * tracked. NULL removes the hook. */
LIBLEAK_PROCEDURE(libleak_set_report_hook,
                  (int (*hook)(const char *line, void *context), void *context), (hook, context))

/* Writes the call stack at a signal to fd, one line a frame, for a program's own handler of SIGSEGV
 * and the like. context: the third argument of a handler with SA_SIGINFO; NULL: the caller's stack.
 * From a signal handler: yes; it allocates nothing and takes no lock. */
LIBLEAK_PROCEDURE(libleak_backtrace_fd, (const void *context, int fd), (context, fd))

/* ---- A program's own allocators ---------------------------------------------------------- */

/* Blocks that a program suballocates from mapped memory or from a malloc block. Once libleak knows
 * them they have a stack, a size and a verdict as others have. While they live they are not part of
 * the memory they lie in: a word inside belongs to them, a pointer there means them, and containing
 * them does not keep them alive. Freeing or unmapping that memory ends them. A block begins at a
 * multiple of 8. With sample= none of this is recorded. From a signal handler: no. */

/* A block of that size begins at p; the block at p ends; the block at p has another size. A wrong p is
 * an error, as a wrong free is. */
LIBLEAK_PROCEDURE(libleak_block_new, (const void *p, size_t size), (p, size))
LIBLEAK_PROCEDURE(libleak_block_gone, (const void *p), (p))
LIBLEAK_PROCEDURE(libleak_block_resize, (const void *p, size_t size), (p, size))

/* A pool is named by any address, for example of the program's pool structure; name, for reports,
 * may be NULL and counts up to 55 characters. Destroying a pool frees its blocks, which is a leak
 * only with the option pool_destroy_leaks. Destroying an unknown pool does nothing; creating a known
 * one renames it. */
LIBLEAK_PROCEDURE(libleak_pool_create, (const void *pool, const char *name), (pool, name))
LIBLEAK_PROCEDURE(libleak_pool_destroy, (const void *pool), (pool))
/* Returns 1 or 0; -1: libleak records nothing. */
LIBLEAK_FUNCTION(int, libleak_pool_exists, (const void *pool), (pool), -1)
/* The pool has another address from now on. */
LIBLEAK_PROCEDURE(libleak_pool_move, (const void *pool, const void *to), (pool, to))
/* A block of the pool begins (an unknown pool is created), and ends. Freeing a block of another pool
 * is an error. */
LIBLEAK_PROCEDURE(libleak_pool_alloc, (const void *pool, const void *p, size_t size),
                  (pool, p, size))
LIBLEAK_PROCEDURE(libleak_pool_free, (const void *pool, const void *p), (pool, p))
/* The block at p has moved, or has another size. */
LIBLEAK_PROCEDURE(libleak_pool_change,
                  (const void *pool, const void *p, const void *now, size_t size),
                  (pool, p, now, size))
/* All blocks of the pool that do not begin in that memory end. */
LIBLEAK_PROCEDURE(libleak_pool_trim, (const void *pool, const void *start, size_t size),
                  (pool, start, size))

#ifdef __cplusplus
}
#endif

#if !defined(LIBLEAK_IMPLEMENTATION)

/* Whether libleak.so is loaded in this process. */
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

/* libleak_expect_no_leaks { ... }: fails (libleak_expect_failed) when something that was allocated
 * between the braces is lost behind them. A block that a variable of this very function still points
 * to is not lost, though its own braces are closed: let the block call a function. Leaving by break,
 * goto, return or an exception skips the check. */
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

/* ---- Until the end of this { } ----------------------------------------------------------- */

#ifdef __cplusplus
namespace libleak
{

/* libleak::disabled scope; what this thread allocates while the object lives is no leak. */
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

/* libleak::root shared(start, size); what that memory points to is reachable while it lives. */
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

/* libleak::tag meshes("mesh"); what this thread allocates while the object lives has this tag. */
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
