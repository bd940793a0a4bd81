/* got_patch.h - redirects the calls of a loaded object to the hooks where the loader does not.
 *
 * Three cases:
 *
 * RTLD_DEEPBIND. Such an object resolves its names in its own libraries first, so its calls of
 * malloc reach libc's. Its constructors allocate before dlopen returns: it must be redirected
 * before the loader fills in its GOT slots. The loader allocates between mapping objects and
 * binding them, in the thread that called dlopen. At that moment the imports of the new objects
 * that have the name of a hook become local symbols with the hook's address, in the objects' own
 * symbol tables: a local symbol is never looked up. So slots that are bound at once and those that
 * the first call binds lead to the hook alike, and no slot is written.
 *
 * Other functions than hooks (option pair=). The slots of all loaded objects are written, and
 * objects loaded later are treated as above.
 *
 * libleak is loaded into a running process (dlopen, ctypes, a library of a plugin; late_load.c).
 * The program's calls are already bound to libc, so the slots of all objects are written.
 *
 * In the first two cases an object is redirected only if each name has one definition outside of
 * libleak: with two the loader's choice is not known here, and memory of one allocator must not
 * reach the free of another. Objects are examined inside of dl_iterate_phdr, which keeps them
 * mapped; its lock is taken while no lock of libleak is held.
 */
#ifndef PRELOAD_INTERPOSE_GOT_PATCH_H
#define PRELOAD_INTERPOSE_GOT_PATCH_H

#include "preload/base/base.h"

#include <link.h>

/* The hooks are the exports of the object around that address. */
void got_patch_start(const void *own);

/* Announces that this thread is about to open an object in the main namespace. deep: with
 * RTLD_DEEPBIND. */
void got_patch_expect_open(bool deep);

/* The loader is active and has called a hook from caller: redirects the new objects. */
COLD void got_patch_on_load(uintptr_t caller);

/* Redirects calls of other functions than hooks, in all objects loaded now and later. function: the
 * replacement for a name, 0 = none. */
void got_patch_redirect(uintptr_t (*function)(const char *name));

/* The exports of libleak; NULL: not readable. Inside of dl_iterate_phdr. */
struct symbols;
const struct symbols *got_patch_own_symbols(void);
/* Writes one word of an object that the loader has bound, and restores the access of its page. */
bool got_patch_write_word(const struct dl_phdr_info *object, uintptr_t *word, uintptr_t value);

/* For a process that ran before libleak, when the recording is ready: from here on the hooks are
 * called. Redirected are slots whose value is the function that the name resolves to globally, and
 * slots not bound yet. A slot with another value is left alone, and so is every function that the
 * program itself defines. The loader calls the allocator through variables of its own, which are
 * recognised by their values; once they are redirected the loader's allocations announce new
 * objects as in any process, and these are redirected before they run.
 *
 * Nothing is known of blocks allocated before: their release is forwarded and counted, and they
 * keep reachable what they point to (roots.c). */
void late_load_patch(void);

/* Undoes it: slots, symbols and the loader's variables lead to the functions behind the hooks
 * again, also in objects loaded since. A thread inside of a hook stays there until it returns. */
void late_load_restore(void);

#endif
