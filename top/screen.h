/* screen.h - the live view in a terminal. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <stdbool.h>

#include "top/lines.h"

/* Until the user leaves. False: said why there is no screen. */
bool screen_run(const char *path, double interval, const struct listing_options *options);

#endif
