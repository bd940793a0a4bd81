/* values.h - the values of the runtime's options, looked at before the program runs. The runtime
 * would go on without a bad one and say so, once for each process of a tree. */
#ifndef LIVE_VALUES_H
#define LIVE_VALUES_H

/* What the option of this name takes, in words to be freed, when it does not take this value; NULL
 * when it does, or has no such name. Limits that are the runtime's alone are left to it. */
char *value_wanted(const char *name, const char *value);

#endif
