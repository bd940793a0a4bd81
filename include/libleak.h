/* libleak.h - what a program may ask of libleak, when libleak is there.
 *
 * A program that asks builds, links and runs the same without the library. Three ways to ask:
 *
 *     LIBLEAK_MARK("loaded");                               a call in capitals: without the library
 * it does nothing, and returns -1 where it returns anything if (libleak_mark)
 * libleak_mark("loaded");             the function, which is declared weak; only where code is
 * position-independent, as it mostly is LIBLEAK_DISABLED_SCOPE();                             until
 * the end of this { }; in C++ there are LIBLEAK_TAG_SCOPE("mesh"); objects, too: libleak::disabled,
 * libleak::tag
 *
 * With LIBLEAK_DISABLE defined before this header is included all of it compiles to nothing, and an
 * object file has no symbol of ours. Whether the arguments of a call that does nothing are
 * evaluated is not said. Callable from any thread, not from a signal handler unless it says so. C99
 * and C++11.
 */
#ifndef LIBLEAK_H
#define LIBLEAK_H

#include <stddef.h>

#define LIBLEAK_INLINE static inline __attribute__((always_inline, unused))
#define LIBLEAK_METHOD inline __attribute__((always_inline))
#define LIBLEAK_NAME(before, line) LIBLEAK_NAME_(before, line)
#define LIBLEAK_NAME_(before, line) before##line

/* Each realloc of a block is one free and one allocation. What options leave out (min_size and the
 * like) is not counted, with sample= all of it is estimated. */
struct libleak_counts {
    long long allocations, frees, allocated_bytes, freed_bytes;
    long long live_blocks, live_bytes; /* what was allocated less what was freed */
};

/* What a look says of the blocks there are: nothing leads to those that are lost, or only what is
 * lost. */
struct libleak_findings {
    long long lost_blocks, lost_bytes;
    long long possible_blocks, possible_bytes; /* only to their inside, or only in another form */
    long long reachable_blocks, reachable_bytes;
};

#ifndef LIBLEAK_DISABLE

#ifdef __cplusplus
extern "C" {
#endif

#define LIBLEAK_WEAK __attribute__((weak))

/* Takes a look at the heap now and waits for it: the report then tells what was lost at this
 * moment, unless a later look follows. How many blocks are lost; -1: no look could be made. */
LIBLEAK_WEAK long libleak_snapshot(void);

/* A look, and then a report of what is lost, made by leakreport in a process of its own; waits for
 * it. It is added to a file (%p pid, %e program ...), with NULL to where the options say: report_to
 * and report_file, or else standard error. How many blocks are lost; -1: no look or no report could
 * be made. */
LIBLEAK_WEAK long libleak_report(const char *file);
/* The same, and the report is only about what the calling thread has allocated. */
LIBLEAK_WEAK long libleak_report_thread(const char *file);

/* A mark: leakreport --since=NAME then tells what came after this moment and still lives, as of the
 * last look after it. Of equal names the newest one is meant; the newest 62 marks and looks are
 * kept. 0, or -1 when there is no account. From a signal handler: yes. */
LIBLEAK_WEAK int libleak_mark(const char *name);

/* A moment for libleak_lost_since, without a name and without a place to be kept. 0: no account. */
LIBLEAK_WEAK unsigned long libleak_moment(void);
/* Takes a look as libleak_snapshot does. How many of the blocks that came after that moment are
 * lost; -1: no look could be made, or the moment is 0. */
LIBLEAK_WEAK long libleak_lost_since(unsigned long moment);

/* What libleak_expect_no_leaks does about blocks that were lost: calls what was registered last, or
 * else writes a line to standard error and calls abort. With NULL that again. */
LIBLEAK_WEAK void libleak_at_expect_failed(void (*callback)(const char *file, int line,
                                                            long blocks));
LIBLEAK_WEAK void libleak_expect_failed(const char *file, int line, long blocks);

/* What the calling thread allocates from here on is known but none of your business: without a
 * stack, and never called a leak. Nests; enable undoes one disable. The _all ones are about every
 * thread, later ones too, and do not nest: with the option start=off, a program that says
 * libleak_enable_all() after its set-up is told of what came later only. */
LIBLEAK_WEAK void libleak_disable(void);
LIBLEAK_WEAK void libleak_enable(void);
LIBLEAK_WEAK void libleak_disable_all(void);
LIBLEAK_WEAK void libleak_enable_all(void);

/* The block that p points to, or into, is no leak, nor is what it leads to. 0, or -1: there is no
 * such block. */
LIBLEAK_WEAK int libleak_ignore(const void *p);
/* All that lives now is known: no later report of this process tells of it, unless it is asked for
 * (leakreport --reported), also when it is lost only later. 0, or -1 when there is no account. From
 * a signal handler: yes. */
LIBLEAK_WEAK int libleak_mark_reported(void);

/* Memory outside the heap that holds pointers to blocks (a mapping shared with others, memory of a
 * device): what it points to is reachable. Removing takes the same start and size. */
LIBLEAK_WEAK void libleak_add_root(const void *start, size_t size);
LIBLEAK_WEAK void libleak_remove_root(const void *start, size_t size);

/* Called in the program, once, before the look at its exit, so that it can drop its caches. Later
 * ones first, as with atexit. 0, or -1 when there is no memory. */
LIBLEAK_WEAK int libleak_at_report(void (*callback)(void));

/* What the process has allocated and freed so far, and what lives: exact when no other thread is at
 * it meanwhile. What came between two moments is the difference of two counts. It takes time for
 * each call stack there is. 0, or -1 when there is no account: then all counts are 0. */
LIBLEAK_WEAK int libleak_count(struct libleak_counts *out);
/* What the calling thread itself has allocated and freed, exactly, whoever frees the one and has
 * allocated the other: so live_* may be below 0. A thread at its end has no counts: -1. */
LIBLEAK_WEAK int libleak_count_thread(struct libleak_counts *out);

/* A name for what the calling thread allocates until the matching pop; what it reallocates, too.
 * The report adds up by tag (leakreport --by=tag). They nest up to 32 deep: the innermost one
 * counts. The name is copied; of one with more than 59 bytes the beginning counts. A process may
 * have 510 of them. A thread begins without, also when the one that made it has some. 0, or -1: too
 * deep, no name or no room for another, or no account. Then the tag stays what it was; pop all the
 * same, each push has its pop. */
LIBLEAK_WEAK int libleak_tag_push(const char *name);
/* 0, or -1: there is nothing to pop, or no account. */
LIBLEAK_WEAK int libleak_tag_pop(void);
/* As libleak_count, of what was allocated under that tag, whoever frees it. 0, or -1 when there is
 * no such tag or no account: then all counts are 0. */
LIBLEAK_WEAK int libleak_count_tag(const char *name, struct libleak_counts *out);

/* An option's value, as the environment would give it, into buffer. 0, or -1: no such option, no
 * room, or no account; then buffer is empty. */
LIBLEAK_WEAK int libleak_get_option(const char *name, char *buffer, size_t size);
/* Changes one while the program runs: verbosity, report, report_file, on_error, depth (of stacks
 * that are not known yet), exit_look, exit_budget, pause_budget, look_mem, content, roots, xor. 0,
 * or -1: it is none of these, or the value cannot be used. Not from two threads at once. */
LIBLEAK_WEAK int libleak_set_option(const char *name, const char *value);

/* Each line that libleak itself has to say in this process (live_errors=on, an expectation, what
 * went wrong), and each line of a report that the process waits for (libleak_report, report=exit;
 * not those of report_every), is shown to hook first, without its newline. What hook returns: 0 it
 * is written to where it was to go; 1 it is not; 2 it is, and SIGTRAP follows. hook may be called
 * anywhere, also while libleak is at work: it may not call libleak, and what it allocates then is
 * not tracked. NULL: no more. */
LIBLEAK_WEAK void libleak_set_report_hook(int (*hook)(const char *line, void *context),
                                          void *context);

/* For a handler of SIGSEGV and the like of the program's own: writes the call stack of where the
 * signal came from to fd, a line for each frame. context: the third argument of a handler with
 * SA_SIGINFO; NULL: the stack of the caller. From a signal handler: yes. Allocates nothing, takes
 * no lock. */
LIBLEAK_WEAK void libleak_backtrace_fd(const void *context, int fd);

/* ---- A program's own allocators
 * What it carves itself, from mapped memory or from a block of malloc's, libleak knows when it is
 * told: these blocks have a stack, a size and a verdict as others have. While they live they are
 * not part of what they lie in: a word of theirs is theirs, a pointer to them means them, and
 * memory holds nothing by merely containing them. When that memory is freed or unmapped they go,
 * too. A block has to begin at a multiple of 8. With sample= none of it is looked at. From a signal
 * handler: no. */

/* A block of the program's own is given out; one is given back, which began at p; and one has
 * another size now, where it is. A wrong p is an error as a wrong free is. */
LIBLEAK_WEAK void libleak_block_new(const void *p, size_t size);
LIBLEAK_WEAK void libleak_block_gone(const void *p);
LIBLEAK_WEAK void libleak_block_resize(const void *p, size_t size);

/* A pool is any address that names it, a structure of the program's say; name, at most 55
 * characters of it, is for reports, and may be NULL. Destroying it frees its blocks, which is no
 * leak unless the option pool_destroy_leaks is on. Destroying one that is unknown does nothing,
 * creating one that is there gives it the name. */
LIBLEAK_WEAK void libleak_pool_create(const void *pool, const char *name);
LIBLEAK_WEAK void libleak_pool_destroy(const void *pool);
/* 1, 0, or -1 when there is no account. */
LIBLEAK_WEAK int libleak_pool_exists(const void *pool);
/* It has another address from now on. */
LIBLEAK_WEAK void libleak_pool_move(const void *pool, const void *to);
/* A block of it is given out (a pool that is unknown is created), and given back. A block of
 * another pool is an error. */
LIBLEAK_WEAK void libleak_pool_alloc(const void *pool, const void *p, size_t size);
LIBLEAK_WEAK void libleak_pool_free(const void *pool, const void *p);
/* The block at p is at another address now, or has another size. */
LIBLEAK_WEAK void libleak_pool_change(const void *pool, const void *p, const void *now,
                                      size_t size);
/* All its blocks are given back that do not begin in that memory. */
LIBLEAK_WEAK void libleak_pool_trim(const void *pool, const void *start, size_t size);

/* What the last look that this process has waited for has found. 0, or -1 when there was none: then
 * all is 0. */
LIBLEAK_WEAK int libleak_found(struct libleak_findings *out);

#ifdef __cplusplus
}
#endif

#else /* LIBLEAK_DISABLE: "if (libleak_mark)" is never, and a call is nothing */

enum {
    libleak_snapshot = 0,
    libleak_report = 0,
    libleak_report_thread = 0,
    libleak_mark = 0,
    libleak_moment = 0,
    libleak_lost_since = 0,
    libleak_at_expect_failed = 0,
    libleak_expect_failed = 0,
    libleak_disable = 0,
    libleak_enable = 0,
    libleak_disable_all = 0,
    libleak_enable_all = 0,
    libleak_ignore = 0,
    libleak_mark_reported = 0,
    libleak_add_root = 0,
    libleak_remove_root = 0,
    libleak_at_report = 0,
    libleak_count = 0,
    libleak_count_thread = 0,
    libleak_tag_push = 0,
    libleak_tag_pop = 0,
    libleak_count_tag = 0,
    libleak_get_option = 0,
    libleak_set_option = 0,
    libleak_set_report_hook = 0,
    libleak_block_new = 0,
    libleak_block_gone = 0,
    libleak_block_resize = 0,
    libleak_pool_create = 0,
    libleak_pool_destroy = 0,
    libleak_pool_move = 0,
    libleak_pool_alloc = 0,
    libleak_pool_free = 0,
    libleak_pool_change = 0,
    libleak_pool_trim = 0,
    libleak_pool_exists = 0,
    libleak_found = 0,
    libleak_backtrace_fd = 0
};

#define libleak_snapshot() libleak_none_long()
#define libleak_report(file) ((void)(file), libleak_none_long())
#define libleak_report_thread(file) ((void)(file), libleak_none_long())
#define libleak_mark(name) ((void)(name), libleak_none())
#define libleak_moment() libleak_no_moment()
#define libleak_lost_since(moment) ((void)(moment), libleak_none_long())
#define libleak_at_expect_failed(callback) ((void)(callback))
#define libleak_expect_failed(file, line, blocks) ((void)(file), (void)(line), (void)(blocks))
#define libleak_disable() libleak_nothing()
#define libleak_enable() libleak_nothing()
#define libleak_disable_all() libleak_nothing()
#define libleak_enable_all() libleak_nothing()
#define libleak_ignore(p) ((void)(p), libleak_none())
#define libleak_mark_reported() libleak_none()
#define libleak_add_root(start, size) ((void)(start), (void)(size))
#define libleak_remove_root(start, size) ((void)(start), (void)(size))
#define libleak_at_report(callback) ((void)(callback), libleak_none())
#define libleak_count(out) libleak_no_counts(out)
#define libleak_count_thread(out) libleak_no_counts(out)
#define libleak_tag_push(name) ((void)(name), libleak_none())
#define libleak_tag_pop() libleak_none()
#define libleak_count_tag(name, out) ((void)(name), libleak_no_counts(out))
#define libleak_get_option(name, buffer, size) ((void)(name), libleak_no_text(buffer, size))
#define libleak_set_option(name, value) ((void)(name), (void)(value), libleak_none())
#define libleak_set_report_hook(hook, context) ((void)(hook), (void)(context))
#define libleak_backtrace_fd(context, fd) ((void)(context), (void)(fd))
#define libleak_block_new(p, size) ((void)(p), (void)(size))
#define libleak_block_gone(p) ((void)(p))
#define libleak_block_resize(p, size) ((void)(p), (void)(size))
#define libleak_pool_create(pool, name) ((void)(pool), (void)(name))
#define libleak_pool_destroy(pool) ((void)(pool))
#define libleak_pool_move(pool, to) ((void)(pool), (void)(to))
#define libleak_pool_alloc(pool, p, size) ((void)(pool), (void)(p), (void)(size))
#define libleak_pool_free(pool, p) ((void)(pool), (void)(p))
#define libleak_pool_change(pool, p, now, size) ((void)(pool), (void)(p), (void)(now), (void)(size))
#define libleak_pool_trim(pool, start, size) ((void)(pool), (void)(start), (void)(size))
#define libleak_pool_exists(pool) ((void)(pool), libleak_none())
#define libleak_found(out) libleak_none_found(out)

#endif

/* ---- Calls that need no question
 * ----------------------------------------------------------------- */

LIBLEAK_INLINE int libleak_none(void)
{
    return -1;
}

LIBLEAK_INLINE long libleak_none_long(void)
{
    return -1;
}

LIBLEAK_INLINE unsigned long libleak_no_moment(void)
{
    return 0;
}

LIBLEAK_INLINE void libleak_nothing(void)
{
}

LIBLEAK_INLINE int libleak_no_counts(struct libleak_counts *out)
{
    out->allocations = out->frees = out->allocated_bytes = out->freed_bytes = 0;
    out->live_blocks = out->live_bytes = 0;
    return -1;
}

LIBLEAK_INLINE int libleak_none_found(struct libleak_findings *out)
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

/* Where the function is, or NULL, as the loader found it: code that is not position-independent
 * would have the linker decide that there is none. */
#ifdef LIBLEAK_DISABLE
#define LIBLEAK_CALL(name, arguments, otherwise) (libleak_##name arguments)
#else
#if defined(__x86_64__) && defined(__LP64__)
#define LIBLEAK_FIND(name, found)                                                                  \
    __asm__(".weak " name "\n\tmov {" name "@GOTPCREL(%%rip), %0|%0, qword ptr " name              \
            "@GOTPCREL[rip]}"                                                                      \
            : "=r"(found))
#elif defined(__aarch64__)
#define LIBLEAK_FIND(name, found)                                                                  \
    __asm__(".weak " name "\n\tadrp %0, :got:" name "\n\tldr %0, [%0, :got_lo12:" name "]"         \
            : "=r"(found))
#endif
#ifdef LIBLEAK_FIND
#define LIBLEAK_CALL(name, arguments, otherwise)                                                   \
    __extension__({                                                                                \
        __typeof__(&libleak_##name) libleak_found_;                                                \
        LIBLEAK_FIND("libleak_" #name, libleak_found_);                                            \
        libleak_found_ ? libleak_found_ arguments : otherwise;                                     \
    })
#else
#define LIBLEAK_CALL(name, arguments, otherwise)                                                   \
    (libleak_##name ? libleak_##name arguments : otherwise)
#endif
#endif

#define LIBLEAK_SNAPSHOT() LIBLEAK_CALL(snapshot, (), libleak_none_long())
#define LIBLEAK_REPORT(file) LIBLEAK_CALL(report, (file), libleak_none_long())
#define LIBLEAK_REPORT_THREAD(file) LIBLEAK_CALL(report_thread, (file), libleak_none_long())
#define LIBLEAK_MARK(name) LIBLEAK_CALL(mark, (name), libleak_none())
#define LIBLEAK_MOMENT() LIBLEAK_CALL(moment, (), libleak_no_moment())
#define LIBLEAK_LOST_SINCE(moment) LIBLEAK_CALL(lost_since, (moment), libleak_none_long())
#define LIBLEAK_AT_EXPECT_FAILED(callback)                                                         \
    LIBLEAK_CALL(at_expect_failed, (callback), libleak_nothing())
#define LIBLEAK_EXPECT_FAILED(file, line, blocks)                                                  \
    LIBLEAK_CALL(expect_failed, (file, line, blocks), libleak_nothing())
#define LIBLEAK_DISABLE_THREAD() LIBLEAK_CALL(disable, (), libleak_nothing())
#define LIBLEAK_ENABLE_THREAD() LIBLEAK_CALL(enable, (), libleak_nothing())
#define LIBLEAK_DISABLE_ALL() LIBLEAK_CALL(disable_all, (), libleak_nothing())
#define LIBLEAK_ENABLE_ALL() LIBLEAK_CALL(enable_all, (), libleak_nothing())
#define LIBLEAK_IGNORE(p) LIBLEAK_CALL(ignore, (p), libleak_none())
#define LIBLEAK_MARK_REPORTED() LIBLEAK_CALL(mark_reported, (), libleak_none())
#define LIBLEAK_ADD_ROOT(start, size) LIBLEAK_CALL(add_root, (start, size), libleak_nothing())
#define LIBLEAK_REMOVE_ROOT(start, size) LIBLEAK_CALL(remove_root, (start, size), libleak_nothing())
#define LIBLEAK_AT_REPORT(callback) LIBLEAK_CALL(at_report, (callback), libleak_none())
#define LIBLEAK_COUNT(out) LIBLEAK_CALL(count, (out), libleak_no_counts(out))
#define LIBLEAK_COUNT_THREAD(out) LIBLEAK_CALL(count_thread, (out), libleak_no_counts(out))
#define LIBLEAK_TAG_PUSH(name) LIBLEAK_CALL(tag_push, (name), libleak_none())
#define LIBLEAK_TAG_POP() LIBLEAK_CALL(tag_pop, (), libleak_none())
#define LIBLEAK_COUNT_TAG(name, out) LIBLEAK_CALL(count_tag, (name, out), libleak_no_counts(out))
#define LIBLEAK_GET_OPTION(name, buffer, size)                                                     \
    LIBLEAK_CALL(get_option, (name, buffer, size), libleak_no_text(buffer, size))
#define LIBLEAK_SET_OPTION(name, value) LIBLEAK_CALL(set_option, (name, value), libleak_none())
#define LIBLEAK_SET_REPORT_HOOK(hook, context)                                                     \
    LIBLEAK_CALL(set_report_hook, (hook, context), libleak_nothing())
#define LIBLEAK_BACKTRACE_FD(context, fd)                                                          \
    LIBLEAK_CALL(backtrace_fd, (context, fd), libleak_nothing())
#define LIBLEAK_BLOCK_NEW(p, size) LIBLEAK_CALL(block_new, (p, size), libleak_nothing())
#define LIBLEAK_BLOCK_GONE(p) LIBLEAK_CALL(block_gone, (p), libleak_nothing())
#define LIBLEAK_BLOCK_RESIZE(p, size) LIBLEAK_CALL(block_resize, (p, size), libleak_nothing())
#define LIBLEAK_POOL_CREATE(pool, name) LIBLEAK_CALL(pool_create, (pool, name), libleak_nothing())
#define LIBLEAK_POOL_DESTROY(pool) LIBLEAK_CALL(pool_destroy, (pool), libleak_nothing())
#define LIBLEAK_POOL_MOVE(pool, to) LIBLEAK_CALL(pool_move, (pool, to), libleak_nothing())
#define LIBLEAK_POOL_ALLOC(pool, p, size)                                                          \
    LIBLEAK_CALL(pool_alloc, (pool, p, size), libleak_nothing())
#define LIBLEAK_POOL_FREE(pool, p) LIBLEAK_CALL(pool_free, (pool, p), libleak_nothing())
#define LIBLEAK_POOL_CHANGE(pool, p, now, size)                                                    \
    LIBLEAK_CALL(pool_change, (pool, p, now, size), libleak_nothing())
#define LIBLEAK_POOL_TRIM(pool, start, size)                                                       \
    LIBLEAK_CALL(pool_trim, (pool, start, size), libleak_nothing())
#define LIBLEAK_POOL_EXISTS(pool) LIBLEAK_CALL(pool_exists, (pool), libleak_none())
#define LIBLEAK_FOUND(out) LIBLEAK_CALL(found, (out), libleak_none_found(out))

/* ---- Tests
 * --------------------------------------------------------------------------------------- */

/* libleak_expect_no_leaks { ... }: what is allocated between the braces, and is lost behind them,
 * fails (libleak_expect_failed). What a variable of this very function still points to is not lost,
 * though its own braces are closed: let the block call a function. A block left by break, goto,
 * return or an exception is not looked at. */
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
    expectation.moment = LIBLEAK_MOMENT();
    expectation.file = file;
    expectation.line = line;
    expectation.done = 0;
    return expectation;
}

LIBLEAK_INLINE void libleak_expect_end(struct libleak_expectation *expectation)
{
    long lost = LIBLEAK_LOST_SINCE(expectation->moment);
    expectation->done = 1;
    if (lost > 0)
        LIBLEAK_EXPECT_FAILED(expectation->file, expectation->line, lost);
}

#define libleak_expect_no_leaks                                                                    \
    for (struct libleak_expectation LIBLEAK_NAME(libleak_expected_, __LINE__) =                    \
             libleak_expect_begin(__FILE__, __LINE__);                                             \
         !LIBLEAK_NAME(libleak_expected_, __LINE__).done;                                          \
         libleak_expect_end(&LIBLEAK_NAME(libleak_expected_, __LINE__)))
#endif

/* ---- Until the end of this { }
 * -------------------------------------------------------------------- */

#ifdef __cplusplus
namespace libleak
{

/* libleak::disabled quiet; What this thread allocates while it lives is known but nobody's leak. */
class disabled
{
  public:
    LIBLEAK_METHOD disabled()
    {
        LIBLEAK_DISABLE_THREAD();
    }
    LIBLEAK_METHOD ~disabled()
    {
        LIBLEAK_ENABLE_THREAD();
    }
    disabled(const disabled &) = delete;
    disabled &operator=(const disabled &) = delete;
};

/* libleak::root shared(start, size); That memory holds what it points to while it lives. */
class root
{
  public:
    LIBLEAK_METHOD root(const void *start, size_t size) : start_(start), size_(size)
    {
        LIBLEAK_ADD_ROOT(start_, size_);
    }
    LIBLEAK_METHOD ~root()
    {
        LIBLEAK_REMOVE_ROOT(start_, size_);
    }
    root(const root &) = delete;
    root &operator=(const root &) = delete;

  private:
    const void *start_;
    size_t size_;
};

/* libleak::tag meshes("mesh"); What this thread allocates while it lives has this name. */
class tag
{
  public:
    LIBLEAK_METHOD explicit tag(const char *name)
    {
        LIBLEAK_TAG_PUSH(name);
    }
    LIBLEAK_METHOD ~tag()
    {
        LIBLEAK_TAG_POP();
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
    LIBLEAK_DISABLE_THREAD();
    return 0;
}

LIBLEAK_INLINE void libleak_scope_end(char *scope)
{
    (void)scope;
    LIBLEAK_ENABLE_THREAD();
}

LIBLEAK_INLINE char libleak_tag_scope_begin(const char *name)
{
    LIBLEAK_TAG_PUSH(name);
    return 0;
}

LIBLEAK_INLINE void libleak_tag_scope_end(char *scope)
{
    (void)scope;
    LIBLEAK_TAG_POP();
}

#ifdef LIBLEAK_DISABLE
#define LIBLEAK_DISABLED_SCOPE() libleak_nothing()
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

#endif
