/* libleak_valgrind.h - the client requests of Valgrind, implemented for libleak: a program that
 * annotates its allocators for Valgrind annotates them for libleak by the same macros.
 *
 * Build such a program with -include libleak_valgrind.h, or include this header instead of
 * <valgrind/valgrind.h> and <valgrind/memcheck.h>. If those were included before, this header redefines their
 * macros; if they are included later, they are skipped. In a process without libleak.so each macro does nothing
 * and returns 0, as outside of Valgrind. With LIBLEAK_DISABLE all of them compile to nothing.
 *
 * All names but RUNNING_ON_VALGRIND have the prefix VALGRIND_:
 *
 *     annotations       MALLOCLIKE_BLOCK FREELIKE_BLOCK RESIZEINPLACE_BLOCK, and for pools CREATE_MEMPOOL(_EXT)
 *                       DESTROY_MEMPOOL MEMPOOL_ALLOC MEMPOOL_FREE MEMPOOL_CHANGE MEMPOOL_TRIM MOVE_MEMPOOL
 *                       MEMPOOL_EXISTS
 *     leak checks       DO_LEAK_CHECK, DO_ADDED_, DO_CHANGED_, DO_NEW_ and DO_QUICK_LEAK_CHECK, with a report of all
 *                       lost blocks (QUICK: without a report)
 *     counts            COUNT_LEAKS (bytes), COUNT_LEAK_BLOCKS: as of the last leak check that the program made
 *     no effect         and 0 as result: RUNNING_ON_VALGRIND, and the requests for readable bytes
 *                       (MAKE_MEM_DEFINED, CHECK_MEM_IS_DEFINED …), stacks (STACK_REGISTER …), errors, and
 *                       Valgrind itself
 *
 * The number of suppressed leaks is always 0. Pools have no names. libleak ignores red zones and whether memory
 * is zeroed. If a block of malloc that contains such blocks is lost itself, libleak reports it; Valgrind does not.
 */
#ifndef LIBLEAK_VALGRIND_H
#define LIBLEAK_VALGRIND_H

#include <libleak.h>

/* Makes the compiler skip Valgrind's headers that are included later. */
#ifndef __VALGRIND_H
#define __VALGRIND_H
#endif
#ifndef __MEMCHECK_H
#define __MEMCHECK_H
#endif

/* Returns the result of the last leak check that the program made. */
LIBLEAK_INLINE struct libleak_findings libleak_valgrind_found(void)
{
    struct libleak_findings found;
    LIBLEAK_FOUND(&found);
    return found;
}

LIBLEAK_INLINE unsigned libleak_valgrind_none(void)
{
    return 0;
}

LIBLEAK_INLINE int libleak_valgrind_say_nothing(const char *format, ...)
{
    (void)format;
    return 0;
}

/* Converts an address, because programs may also pass addresses as integers to these macros. */
#define LIBLEAK_VALGRIND_AT(address) ((const void *)(address))

/* ---- Blocks and pools ---------------------------------------------------------------------------- */

#undef VALGRIND_MALLOCLIKE_BLOCK
#define VALGRIND_MALLOCLIKE_BLOCK(addr, size, redzone, zeroed)                                     \
    ((void)(redzone), (void)(zeroed), LIBLEAK_BLOCK_NEW(LIBLEAK_VALGRIND_AT(addr), size))
#undef VALGRIND_FREELIKE_BLOCK
#define VALGRIND_FREELIKE_BLOCK(addr, redzone)                                                     \
    ((void)(redzone), LIBLEAK_BLOCK_GONE(LIBLEAK_VALGRIND_AT(addr)))
#undef VALGRIND_RESIZEINPLACE_BLOCK
#define VALGRIND_RESIZEINPLACE_BLOCK(addr, old_size, size, redzone)                                \
    ((void)(old_size), (void)(redzone), LIBLEAK_BLOCK_RESIZE(LIBLEAK_VALGRIND_AT(addr), size))
#undef VALGRIND_CREATE_MEMPOOL
#define VALGRIND_CREATE_MEMPOOL(pool, redzone, zeroed)                                             \
    ((void)(redzone), (void)(zeroed), LIBLEAK_POOL_CREATE(LIBLEAK_VALGRIND_AT(pool), NULL))
#undef VALGRIND_CREATE_MEMPOOL_EXT
#define VALGRIND_CREATE_MEMPOOL_EXT(pool, redzone, zeroed, flags)                                  \
    ((void)(redzone), (void)(zeroed), (void)(flags),                                               \
     LIBLEAK_POOL_CREATE(LIBLEAK_VALGRIND_AT(pool), NULL))
#undef VALGRIND_DESTROY_MEMPOOL
#define VALGRIND_DESTROY_MEMPOOL(pool) LIBLEAK_POOL_DESTROY(LIBLEAK_VALGRIND_AT(pool))
#undef VALGRIND_MEMPOOL_ALLOC
#define VALGRIND_MEMPOOL_ALLOC(pool, addr, size)                                                   \
    LIBLEAK_POOL_ALLOC(LIBLEAK_VALGRIND_AT(pool), LIBLEAK_VALGRIND_AT(addr), size)
#undef VALGRIND_MEMPOOL_FREE
#define VALGRIND_MEMPOOL_FREE(pool, addr)                                                          \
    LIBLEAK_POOL_FREE(LIBLEAK_VALGRIND_AT(pool), LIBLEAK_VALGRIND_AT(addr))
#undef VALGRIND_MEMPOOL_TRIM
#define VALGRIND_MEMPOOL_TRIM(pool, addr, size)                                                    \
    LIBLEAK_POOL_TRIM(LIBLEAK_VALGRIND_AT(pool), LIBLEAK_VALGRIND_AT(addr), size)
#undef VALGRIND_MOVE_MEMPOOL
#define VALGRIND_MOVE_MEMPOOL(from, to)                                                            \
    LIBLEAK_POOL_MOVE(LIBLEAK_VALGRIND_AT(from), LIBLEAK_VALGRIND_AT(to))
#undef VALGRIND_MEMPOOL_CHANGE
#define VALGRIND_MEMPOOL_CHANGE(pool, from, to, size)                                              \
    LIBLEAK_POOL_CHANGE(LIBLEAK_VALGRIND_AT(pool), LIBLEAK_VALGRIND_AT(from),                      \
                        LIBLEAK_VALGRIND_AT(to), size)
#undef VALGRIND_MEMPOOL_EXISTS
#define VALGRIND_MEMPOOL_EXISTS(pool) (LIBLEAK_POOL_EXISTS(LIBLEAK_VALGRIND_AT(pool)) == 1)
#undef VALGRIND_MEMPOOL_AUTO_FREE
#define VALGRIND_MEMPOOL_AUTO_FREE 1
#undef VALGRIND_MEMPOOL_METAPOOL
#define VALGRIND_MEMPOOL_METAPOOL 2

/* ---- Leak checks --------------------------------------------------------------------------------- */

#undef VALGRIND_DO_LEAK_CHECK
#define VALGRIND_DO_LEAK_CHECK ((void)LIBLEAK_REPORT(NULL))
#undef VALGRIND_DO_ADDED_LEAK_CHECK
#define VALGRIND_DO_ADDED_LEAK_CHECK ((void)LIBLEAK_REPORT(NULL))
#undef VALGRIND_DO_CHANGED_LEAK_CHECK
#define VALGRIND_DO_CHANGED_LEAK_CHECK ((void)LIBLEAK_REPORT(NULL))
#undef VALGRIND_DO_NEW_LEAK_CHECK
#define VALGRIND_DO_NEW_LEAK_CHECK ((void)LIBLEAK_REPORT(NULL))
#undef VALGRIND_DO_QUICK_LEAK_CHECK
#define VALGRIND_DO_QUICK_LEAK_CHECK ((void)LIBLEAK_SNAPSHOT())
#undef VALGRIND_COUNT_LEAKS
#define VALGRIND_COUNT_LEAKS(leaked, dubious, reachable, suppressed)                               \
    do {                                                                                           \
        struct libleak_findings found_ = libleak_valgrind_found();                                 \
        (leaked) = (unsigned long)found_.lost_bytes;                                               \
        (dubious) = (unsigned long)found_.possible_bytes;                                          \
        (reachable) = (unsigned long)found_.reachable_bytes;                                       \
        (suppressed) = 0;                                                                          \
    } while (0)
#undef VALGRIND_COUNT_LEAK_BLOCKS
#define VALGRIND_COUNT_LEAK_BLOCKS(leaked, dubious, reachable, suppressed)                         \
    do {                                                                                           \
        struct libleak_findings found_ = libleak_valgrind_found();                                 \
        (leaked) = (unsigned long)found_.lost_blocks;                                              \
        (dubious) = (unsigned long)found_.possible_blocks;                                         \
        (reachable) = (unsigned long)found_.reachable_blocks;                                      \
        (suppressed) = 0;                                                                          \
    } while (0)

/* ---- Requests without an effect -------------------------------------------------------------- */

#undef RUNNING_ON_VALGRIND
#define RUNNING_ON_VALGRIND libleak_valgrind_none()
#undef VALGRIND_COUNT_ERRORS
#define VALGRIND_COUNT_ERRORS libleak_valgrind_none()
#undef VALGRIND_DISABLE_ERROR_REPORTING
#define VALGRIND_DISABLE_ERROR_REPORTING libleak_valgrind_none()
#undef VALGRIND_ENABLE_ERROR_REPORTING
#define VALGRIND_ENABLE_ERROR_REPORTING libleak_valgrind_none()
#undef VALGRIND_DISCARD_TRANSLATIONS
#define VALGRIND_DISCARD_TRANSLATIONS(addr, size)                                                  \
    ((void)(addr), (void)(size), libleak_valgrind_none())
#undef VALGRIND_INNER_THREADS
#define VALGRIND_INNER_THREADS(addr) ((void)(addr), libleak_valgrind_none())
#undef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(start, end) ((void)(start), (void)(end), libleak_valgrind_none())
#undef VALGRIND_STACK_DEREGISTER
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id), libleak_valgrind_none())
#undef VALGRIND_STACK_CHANGE
#define VALGRIND_STACK_CHANGE(id, start, end)                                                      \
    ((void)(id), (void)(start), (void)(end), libleak_valgrind_none())
#undef VALGRIND_LOAD_PDB_DEBUGINFO
#define VALGRIND_LOAD_PDB_DEBUGINFO(fd, addr, size, delta)                                         \
    ((void)(fd), (void)(addr), (void)(size), (void)(delta), libleak_valgrind_none())
#undef VALGRIND_MAP_IP_TO_SRCLOC
#define VALGRIND_MAP_IP_TO_SRCLOC(addr, buffer)                                                    \
    ((void)(addr), (void)(buffer), libleak_valgrind_none())
#undef VALGRIND_MONITOR_COMMAND
#define VALGRIND_MONITOR_COMMAND(command) ((void)(command), libleak_valgrind_none())
#undef VALGRIND_CLO_CHANGE
#define VALGRIND_CLO_CHANGE(option) ((void)(option), libleak_valgrind_none())
#undef VALGRIND_MAKE_MEM_NOACCESS
#define VALGRIND_MAKE_MEM_NOACCESS(addr, size) ((void)(addr), (void)(size), libleak_valgrind_none())
#undef VALGRIND_MAKE_MEM_UNDEFINED
#define VALGRIND_MAKE_MEM_UNDEFINED(addr, size)                                                    \
    ((void)(addr), (void)(size), libleak_valgrind_none())
#undef VALGRIND_MAKE_MEM_DEFINED
#define VALGRIND_MAKE_MEM_DEFINED(addr, size) ((void)(addr), (void)(size), libleak_valgrind_none())
#undef VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE
#define VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE(addr, size)                                       \
    ((void)(addr), (void)(size), libleak_valgrind_none())
#undef VALGRIND_CREATE_BLOCK
#define VALGRIND_CREATE_BLOCK(addr, size, words)                                                   \
    ((void)(addr), (void)(size), (void)(words), libleak_valgrind_none())
#undef VALGRIND_DISCARD
#define VALGRIND_DISCARD(block) ((void)(block), libleak_valgrind_none())
#undef VALGRIND_CHECK_MEM_IS_ADDRESSABLE
#define VALGRIND_CHECK_MEM_IS_ADDRESSABLE(addr, size)                                              \
    ((void)(addr), (void)(size), libleak_valgrind_none())
#undef VALGRIND_CHECK_MEM_IS_DEFINED
#define VALGRIND_CHECK_MEM_IS_DEFINED(addr, size)                                                  \
    ((void)(addr), (void)(size), libleak_valgrind_none())
#undef VALGRIND_GET_VBITS
#define VALGRIND_GET_VBITS(addr, bits, size)                                                       \
    ((void)(addr), (void)(bits), (void)(size), libleak_valgrind_none())
#undef VALGRIND_SET_VBITS
#define VALGRIND_SET_VBITS(addr, bits, size)                                                       \
    ((void)(addr), (void)(bits), (void)(size), libleak_valgrind_none())
#undef VALGRIND_DISABLE_ADDR_ERROR_REPORTING_IN_RANGE
#define VALGRIND_DISABLE_ADDR_ERROR_REPORTING_IN_RANGE(addr, size)                                 \
    ((void)(addr), (void)(size), libleak_valgrind_none())
#undef VALGRIND_ENABLE_ADDR_ERROR_REPORTING_IN_RANGE
#define VALGRIND_ENABLE_ADDR_ERROR_REPORTING_IN_RANGE(addr, size)                                  \
    ((void)(addr), (void)(size), libleak_valgrind_none())
#undef VALGRIND_CHECK_VALUE_IS_DEFINED
#define VALGRIND_CHECK_VALUE_IS_DEFINED(lvalue) ((void)&(lvalue), libleak_valgrind_none())
#undef VALGRIND_PRINTF
#define VALGRIND_PRINTF libleak_valgrind_say_nothing
#undef VALGRIND_PRINTF_BACKTRACE
#define VALGRIND_PRINTF_BACKTRACE libleak_valgrind_say_nothing

#endif
