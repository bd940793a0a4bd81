/* The other file of weaknesses_are_found.cc. */
#include "weaknesses.h"

#define W(name, error, comes, goes)                                                                         \
    void name##_elsewhere(char *p, bool bad)                                                                \
    {                                                                                                       \
        goes;                                                                                               \
        __asm__("");                                                                                        \
    }
WEAKNESSES(W)
