/* refusal.c - see refusal.h. */
#include "control/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/term_text.h"

static const char *const line[] = {
#define R(name, reason, next) reason ": " next,
    REFUSAL_TABLE(R)
#undef R
};

bool refuse(const char *who, enum refusal refusal, ...)
{
    char text[2 * SHOW_MAX];
    va_list arguments;

    va_start(arguments, refusal);
    vsnprintf(text, sizeof(text), line[refusal], arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "leakctl: %s: %s\n", show(who, strlen(who), 0).text,
            show(text, strlen(text), 0).text);
    return false;
}
