/* other_cpu.c - the functions of library.h on CPUs other than x86-64: they refuse to attach. */
#include "attach/library.h"
#include "attach/refusal.h"

bool library_attach(pid_t pid, const char *options, uint64_t timeout, struct attachment *attachment)
{
    (void)options, (void)timeout, (void)attachment;
    return attach_refuse(pid, ATTACH_OTHER_CPU);
}

bool library_detach(pid_t pid, uint64_t timeout, struct attachment *attachment)
{
    (void)timeout, (void)attachment;
    return attach_refuse(pid, ATTACH_OTHER_CPU);
}
