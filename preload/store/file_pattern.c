#include "preload/store/file_pattern.h"
#include "preload/base/sys.h"

#include <limits.h>

void file_pattern_make_absolute(struct strbuf *out, const char *pattern)
{
    char here[PATH_MAX];
    if (pattern[0] != '/' && sys_getcwd(here, sizeof here) > 0) {
        for (const char *at = here; *at; at++)
            strbuf_add_bytes(out, *at == '%' ? "%%" : at, *at == '%' ? 2 : 1);
        strbuf_add(out, "/");
    }
    strbuf_add(out, pattern);
}

void file_pattern_expand(struct strbuf *out, const char *pattern, const char *program,
                         uint64_t number)
{
    for (const char *at = pattern; *at; at++) {
        if (at[0] != '%' || !at[1] || !strchr("pen%", at[1])) {
            strbuf_add_bytes(out, at, 1);
            continue;
        }
        at++;
        if (*at == 'p')
            strbuf_add_number(out, sys_getpid());
        else if (*at == 'e')
            strbuf_add(out, program);
        else if (*at == 'n')
            strbuf_add_number(out, number);
        else
            strbuf_add(out, "%");
    }
}
