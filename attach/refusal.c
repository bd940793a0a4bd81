/* refusal.c - prints why leakctl cannot attach to a process. */
#include "attach/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/proc.h"
#include "common/base/term_text.h"

static const struct {
    const char *reason, *next;
} refusals[] = {
#define R(name, reason, next) {reason, next},
    ATTACH_REFUSAL_TABLE(R)
#undef R
};

const char *attach_process_name(pid_t pid)
{
    static char name[TERM_TEXT_MAX + 32];
    char comm[PROC_NAME_SIZE];

    proc_read_name(pid, comm);
    snprintf(name, sizeof(name), "%s%s%d%s", *comm ? term_text(comm, strlen(comm), 0).text : "",
             *comm ? " (pid " : "pid ", (int)pid, *comm ? ")" : "");
    return name;
}

bool attach_refuse(pid_t pid, enum attach_refusal refusal, ...)
{
    char format[512], text[1024];
    va_list arguments;

    snprintf(format, sizeof(format), "%s: %s", refusals[refusal].reason, refusals[refusal].next);
    va_start(arguments, refusal);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "leakctl: %s: %s\n", attach_process_name(pid),
            term_text(text, strlen(text), 0).text);
    return false;
}
