// A crash that is not libc's answer to a wrong free, though there was one before: abort() of the program, an exception that
// nobody catches, a null pointer. Each begins the report with its stack, the wrong free is an error of its own, and both
// count: two in the text and in the last line.
// CFLAGS: -O0 -g -fno-builtin -w
// RUN: for what in abort throw null; do %leak %t $what; done; %report store/*.leak
// EXPECT: ^CRASH: SIGABRT, abort: raised by the program itself,$
// EXPECT: ^CRASH: SIGSEGV, .*$
// EXPECT: ^1 error in freeing memory, besides the crash:$
// EXPECT: errors=2 
// REFUSE: ended the process for error
// EXPECT: errors=6 
// REFUSE: errors=[134578]
// JSON: [sorted(e.type for e in q.errors) for q in procs] == [["crash", "mismatched-free"]] * 3
// JSON: not any(e.crash.answers_wrong_free for q in procs for e in q.errors if e.type == "crash")

#include <stdlib.h>
#include <string.h>

int main(int, char **argv)
{
    char *volatile p = (char *)malloc(100);

    delete p;
    if (!strcmp(argv[1], "abort"))
        abort();
    if (!strcmp(argv[1], "throw"))
        throw 1;
    *(char *volatile *)NULL = p;
}
