/* got_patch.h - leads the calls of an object to our hooks where the loader would not.
 *
 * An object that is opened with RTLD_DEEPBIND looks up its names in its own libraries first, so its
 * calls of malloc find libc's. Its constructors allocate before dlopen comes back: it must be led
 * before the loader fills in its slots. The loader allocates between mapping objects and that, in
 * the thread that called dlopen; then the new objects' wishes for our names are answered in their
 * own symbol tables: a local symbol is looked up nowhere. So slots that are bound at once and those
 * that are bound by the first call lead to us alike, and no slot is written.
 *
 * got_lead does the same to an object that is in use already: it writes slots.
 *
 * An object is led only where a name has one definition besides ours: with two nobody knows here
 * which one it would get, and memory of one allocator must not go to another's free. Objects are
 * looked at inside of dl_iterate_phdr, which keeps them where they are; its lock is waited for with
 * none of ours held.
 */
#ifndef PRELOAD_INTERPOSE_GOT_PATCH_H
#define PRELOAD_INTERPOSE_GOT_PATCH_H

#include "preload/base/base.h"

#include <link.h>

/* The hooks are what the object around that address exports. */
void got_start(const void *own);

/* This thread is about to open an object in the main namespace; deep: with RTLD_DEEPBIND. */
void got_expect(bool deep);

/* The loader is at work, and has called a hook from caller: new objects are led. */
COLD void got_loading(uintptr_t caller);

/* Other functions than hooks: which one stands in for a name, 0 = none. Led to them are all objects
 * that there are, and whatever comes. */
void got_also(uintptr_t (*function)(const char *name));

/* True: every call of a hooked function that goes through the object's slots comes to us.
 * Idempotent. Inside of dl_iterate_phdr. */
bool got_lead(const struct dl_phdr_info *object);

#endif
