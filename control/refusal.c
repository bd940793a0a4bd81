/* refusal.c - see refusal.h. */
#include "control/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/text.h"

static const char *const line[] = {
#define R(name, reason, next) reason ": " next,
    REFUSAL_TABLE(R)
#undef R
};

bool refuse(const char *who, enum refusal refusal, ...)
{
    char text[2 * TERM_TEXT_MAX];
    va_list arguments;

    va_start(arguments, refusal);
    vsnprintf(text, sizeof(text), line[refusal], arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "leakctl: %s: %s\n", term_text(who, strlen(who), 0).text,
            term_text(text, strlen(text), 0).text);
    return false;
}
