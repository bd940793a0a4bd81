// A large block full of pointers is freed, and a buffer of libc's is cut from it: that of stdout, of a stream, of a
// directory, of a wide stream, of a character set, of a regular expression, of the users of the system.
// The old words in it hold nothing: everything they point to is lost, and the buffer itself is no leak.
// RUN: for what in stdout stream directory wide convert regex users; do %leak %t $what; done
// JSON: len(procs) == 7 and all(verdict("old", one) == {"lost": (8000, 8000 * 72)} for one in procs)
// JSON: all(set(verdict("use", one)) <= {"reachable", "runtime"} for one in procs)

#include "lib/verdicts.h"
#include <dirent.h>
#include <iconv.h>
#include <locale.h>
#include <pwd.h>
#include <regex.h>
#include <wchar.h>

#define OLD 8000

FAR static void *old(void) { return opaque(malloc(72)); }
static void *volatile handle, *volatile apart;

FAR static void recycle(void)
{
    void **all = opaque(malloc(OLD * sizeof *all));

    for (int i = 0; i < OLD; i++)
        all[i] = old();
    apart = malloc(64); /* the freed block does not join the top of the heap */
    free(all);
}

FAR static void use(const char *what)
{
    static regex_t expression;
    char in[] = "x", out[16], *from = in, *to = out;
    size_t left = 1, room = sizeof out;

    if (!strcmp(what, "stdout"))
        puts("x");
    if (!strcmp(what, "stream"))
        handle = fopen("/dev/null", "w"), fputs("x", handle);
    if (!strcmp(what, "directory"))
        handle = opendir("/"), readdir(handle);
    if (!strcmp(what, "wide"))
        handle = fopen("/dev/null", "w"), fputwc(L'x', handle);
    if (!strcmp(what, "convert"))
        handle = iconv_open("UTF-16", "ISO-8859-15"), iconv(handle, &from, &left, &to, &room);
    if (!strcmp(what, "regex"))
        regcomp(&expression, "a(b|c)*[0-9]+x{3,9}", REG_EXTENDED), regexec(&expression, "abc", 0, NULL, 0);
    if (!strcmp(what, "users"))
        getpwnam("root");
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "C.UTF-8");
    recycle();
    use(argv[1]);
    scrub();
    return 0;
}
