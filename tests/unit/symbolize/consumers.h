/* consumers.h - what reads each format besides its golden file: independent programs, or
 * checks written from the format's own description (tests/formats).
 */
#ifndef CONSUMERS_H
#define CONSUMERS_H

#include <stdbool.h>

/* Under sanitizers the reports are written, to see that; the same bytes are read in the plain build. */
#ifdef __SANITIZE_ADDRESS__
#define CONSUMERS_READ false
#else
#define CONSUMERS_READ true
#endif

/* Give the text of a format to all that read it, with the files of names behind their command
 * lines. A failing one has said why; one that is not installed is a skip, said once. */
/* Does anything read that format here? */
bool consumers_know(const char *format);

void consumers_read(const char *format, const char *text, const char *names);

#endif
