/* frame_holes.h - keeps leak checks from taking old words in stack frames for pointers.
 *
 * A frame contains words that its function never writes: padding, and in the register save area of
 * a variadic function the places of registers that hold no pointer. What earlier calls left there
 * would hold lost blocks for as long as the function has not returned, and one that calls exit
 * never does. frame_code.h finds these words in the code of the function.
 *
 * The words are cleared, so that the passes of the leak check need no special case. That happens
 * only in the process copy in which the leak check runs. */
#ifndef PRELOAD_ROOTS_FRAME_HOLES_H
#define PRELOAD_ROOTS_FRAME_HOLES_H

#include "preload/roots/roots.h"

/* Clears these words in the frames of the thread that requests the check. Frames in a signal
 * handler's stack and below it are left alone, and those further out than one without call frame
 * information. Called before reach_mark. */
void frame_holes_clear(const struct roots_caller *caller, const struct procmaps *maps);

#endif
