/* deferred_work.h - what somebody wants of this process, served where nothing of ours is under way.
 *
 * Wishes come by the signal that libleak keeps for itself: from outside (a look, a request of
 * leakctl), from timers of ours, and from hooks that may do nothing but leave a word. Any thread
 * may get the signal, anywhere; one that is inside of the runtime sets a timer and lets go.
 */
#ifndef PRELOAD_PROCESS_DEFERRED_WORK_H
#define PRELOAD_PROCESS_DEFERRED_WORK_H

/* At the start of the process, options read; before the first look. */
void asked_start(void);
void asked_fork_child(void);

#endif
