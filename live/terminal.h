/* terminal.h - puts a pseudo-terminal between the user's terminal and leakwatch, as script(1) does,
 * and records what is typed (leakrun --when-lost; typed.h).
 *
 * leakwatch becomes three processes. The one that the shell has started stays with the user's
 * terminal, which it makes raw: it passes bytes in both directions, and new sizes of the window. It
 * stops when the program stops, and ends as the program ends. A second one is the leader of a session
 * on the pseudo-terminal; it only waits for the third one. The third one returns from
 * terminal_begin(), and is leakwatch as without a terminal. It is not the session leader, because the
 * kernel ignores Ctrl-Z in a process group whose parents are all outside the session.
 *
 * When the program stops or ends, the user's terminal gets the settings that the program gave to its
 * own, and what was typed and not read is given back to it, if the kernel allows that (TIOCSTI). */
#ifndef LIVE_TERMINAL_H
#define LIVE_TERMINAL_H

#include "live/typed.h"

/* Begins to record what is typed, and returns in another process. All signals must be blocked. Does
 * nothing, and sets typed->file to -1, unless standard input and output are one terminal, this
 * process is in its foreground, and nothing else has made it raw. */
void terminal_begin(struct typed *typed);

#endif
