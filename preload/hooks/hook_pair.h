/* hook_pair.h - the option pair=; see hook_pair.c. */
#ifndef PRELOAD_HOOKS_HOOK_PAIR_H
#define PRELOAD_HOOKS_HOOK_PAIR_H

/* After process_start: from here on every object's calls are led. */
void hook_pair_start(void);

#endif
