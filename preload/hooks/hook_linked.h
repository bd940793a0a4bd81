/* hook_linked.h - an allocator that is linked into the program comes to us, or it is said why not.
 */
#ifndef PRELOAD_HOOKS_HOOK_LINKED_H
#define PRELOAD_HOOKS_HOOK_LINKED_H

/* When the account is ready, and before the program runs: linked_malloc=. */
void hook_linked_start(void);

#endif
