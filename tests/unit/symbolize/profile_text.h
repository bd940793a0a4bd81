/* profile_text.h - a gzipped profile.proto as lines, for tests: what each message says, in its
 * order, with strings in the place of their numbers. Knows nothing of the code that writes
 * profiles.
 */
#ifndef PROFILE_TEXT_H
#define PROFILE_TEXT_H

#include <stddef.h>

/* malloc'd; ends with a line "broken" where the profile is. */
char *profile_text(const void *bytes, size_t length);

#endif
