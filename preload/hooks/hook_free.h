/* hook_free.h - the one way a block of new's goes: every operator delete ends here. */
#ifndef PRELOAD_HOOKS_HOOK_FREE_H
#define PRELOAD_HOOKS_HOOK_FREE_H

#include "preload/heap/free_form.h"

/* how: the form, and what it promises (free_form.h). */
void hook_free(void *block, uint32_t how);
/* It says the size or the alignment. */
void hook_free_said(void *block, uint32_t how, size_t size, size_t alignment);

#endif
