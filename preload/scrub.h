/* scrub.h - the stack below is dead: nothing that was left there may look alive.
 *
 * What a look calls lays its frames upon those of functions that are over, and frames have gaps. Wiped
 * are up to 64 KiB, never past what is mapped.
 */
#ifndef PRELOAD_SCRUB_H
#define PRELOAD_SCRUB_H

void scrub_stack(void);

#endif
