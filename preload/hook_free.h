/* hook_free.h - the one way a block goes: free and every operator delete end here. */
#ifndef PRELOAD_HOOK_FREE_H
#define PRELOAD_HOOK_FREE_H

void hook_free(void *block);

#endif
