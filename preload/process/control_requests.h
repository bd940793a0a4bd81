/* control_requests.h - what leakctl asks of this process: the request in the store's header, and
 * its answer.
 *
 * The file's permissions make it the owner's alone. Whoever asks fills it and sends the reserved
 * signal (deferred_work.h); a request is taken and answered in one go, so that it can be taken back
 * until then. A look is answered when it has begun: its words reach the store by themselves, under
 * the milestone that the answer names.
 */
#ifndef PRELOAD_PROCESS_CONTROL_REQUESTS_H
#define PRELOAD_PROCESS_CONTROL_REQUESTS_H

#include "preload/roots/roots.h"

/* In a handler, outside of the runtime. False: not now, another look is at work. */
bool requests_serve(const struct roots_taker *taker);

#endif
