/* got_patch.h - redirects the calls of a loaded object to the hooks, if the loader does not.
 *
 * There are three cases:
 *
 * The object is opened with RTLD_DEEPBIND. Such an object resolves its names in its own libraries
 * first, so its calls of malloc reach libc's. Its constructors allocate before dlopen returns, so
 * it must be redirected before the loader fills in its GOT slots. The loader allocates between
 * mapping objects and binding them, in the thread that called dlopen. At that moment the imports of
 * the new objects that have the name of a hook become local symbols with the hook's address, in the
 * objects' own symbol tables: a local symbol is never looked up. So all slots lead to the hook,
 * those that the loader binds at once and those that the first call binds, and libleak writes no
 * slot.
 *
 * Functions that are no hooks are redirected (option pair=). The slots of all loaded objects are
 * written; objects that are loaded later are treated as in the first case.
 *
 * libleak is loaded into a running process (dlopen, ctypes, a library of a plugin; late_load.c).
 * The program's calls are already bound to libc, so the slots of all objects are written.
 *
 * In the first two cases an object is redirected only if each name has one definition outside of
 * libleak: with two definitions the loader's choice is not known here, and memory of one allocator
 * must not reach the free of another. Objects are examined inside of dl_iterate_phdr, which keeps
 * them mapped; its lock is taken while no lock of libleak is held.
 */
#ifndef PRELOAD_INTERPOSE_GOT_PATCH_H
#define PRELOAD_INTERPOSE_GOT_PATCH_H

#include "preload/elf/symbols.h"

#include <link.h>

/* Finds libleak's own symbols. The hooks are the exports of the object around the address "own". */
void got_patch_start(const void *own);

/* Announces that this thread is about to open an object in the main namespace. deep: redirect it to
 * the hooks, because of RTLD_DEEPBIND or because libleak was loaded late. */
void got_patch_expect_open(bool deep);

/* Redirects the objects that the loader is loading now. Called by a hook that the loader has called
 * while it loads. caller: return address of that call. */
COLD void got_patch_on_load(uintptr_t caller);

/* Redirects calls of functions that are no hooks, in all objects loaded now and later. function:
 * returns the replacement for a name, 0: none. */
void got_patch_redirect(uintptr_t (*function)(const char *name));

/* Returns the symbols of libleak; NULL: they cannot be read. Call it inside of dl_iterate_phdr. */
struct symbols;
const struct symbols *got_patch_own_symbols(void);

/* Writes GOT slots and other words of an object that the loader has bound. The pages around a word
 * are made writable, and get their protection back when a word of other pages is written or by
 * got_writer_end: so a row of slots needs few system calls. */
struct got_writer {
    const struct dl_phdr_info *object;
    struct symbols_pages pages; /* what is writable for now; size 0: nothing */
    int access;                 /* the pages' protection before they were made writable */
};
/* Writes one word. False: its pages cannot be made writable, and the word is unchanged. */
bool got_writer_write(struct got_writer *writer, uintptr_t *word, uintptr_t value);
void got_writer_end(struct got_writer *writer);

/* Redirects all objects of a process that ran before libleak was loaded; from here on the hooks are
 * called. Call it when the recording is ready. Two kinds of slots are redirected: slots with the
 * function that is the first definition of the name in the loader's order, and slots that are not
 * bound yet. A slot with another value is left alone, and so is every function that the program
 * itself defines. The loader calls the allocator through variables of its own, which are recognised
 * by their values. Once these are redirected, the loader's allocations announce new objects as in
 * any process, and new objects are redirected before they run.
 *
 * The table of live blocks does not have older blocks: their frees are forwarded and counted, and a
 * leak check takes them as roots (roots.c). */
void late_load_patch(void);

/* Undoes late_load_patch: slots, symbols and the loader's variables lead to the functions behind
 * the hooks again, also in objects that were loaded later. A thread inside of a hook stays there
 * until it returns. */
void late_load_restore(void);

#endif
