/* process_info.h - what the store says of the process itself: program, arguments, directory,
 * options.
 *
 * All of it at the start and in a fork child. Where something stands more than once the last word
 * counts.
 */
#ifndef PRELOAD_STORE_PROCESS_INFO_H
#define PRELOAD_STORE_PROCESS_INFO_H

#include "preload/base/base.h"

void about_put(void);
/* One of them has changed. */
void about_put_options(void);

/* The program's file name, without its folders; buffer holds it. */
const char *about_name(char *buffer, size_t size);

#endif
