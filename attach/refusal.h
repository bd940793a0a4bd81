/* refusal.h - the reasons why leakctl cannot attach to a process. Each is one line, "leakctl:
 * PROCESS: REASON: WHAT TO DO NEXT". They are in one table, so that each has one wording by
 * which scripts can recognize it. */
#ifndef ATTACH_REFUSAL_H
#define ATTACH_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

/* The reasons. R(NAME, reason, what to do next): both texts are formats for the arguments of
 * attach_refuse, in this order. */
#define ATTACH_REFUSAL_TABLE(R)                                                                    \
    R(NO_PROCESS, "no such process", "name the pid of one that runs")                              \
    R(NOT_FIRST, "a thread, not a process", "attach to its process: %d")                           \
    R(ZOMBIE, "it has ended", "its parent has not yet asked for its exit status")                  \
    R(KERNEL, "a thread of the kernel", "only programs allocate with malloc")                      \
    R(NO_RIGHT, "%s", "%s")                                                                        \
    R(STATIC, "a static program",                                                                  \
      "it has no loader that could load a library: link it to libc.so")                            \
    R(MUSL, "its libc is musl", "libleak needs glibc")                                             \
    R(NO_LIBC, "it does not use glibc", "there is no malloc that libleak knows")                   \
    R(OTHER_CPU, "a program of another kind of CPU", "only x86-64 programs can be attached to")    \
    R(SANITIZER, "built with a sanitizer", "it has a malloc of its own, and finds leaks itself")   \
    R(VALGRIND, "it runs under valgrind", "valgrind finds its leaks")                              \
    R(TRACED, "%s traces it", "end that debugger first")                                           \
    R(OTHERS, "another leakctl (pid %d) stops it just now", "try again")                           \
    R(STOPPED, "stopped", "kill -CONT %d continues it")                                            \
    R(SECCOMP, "a seccomp filter restricts it",                                                    \
      "it might be killed for a call that libleak makes: start it with leakrun")                   \
    R(FILTER, "its seccomp filter kills for calls that leakctl makes",                             \
      "nothing has changed: start it with leakrun")                                                \
    R(SHADOW_STACK, "it has a shadow stack", "no function can be called from outside: leakrun")    \
    R(VFORK, "a vfork child", "it has the memory of its parent: attach after its exec")            \
    R(OWN_MALLOC, "the program defines malloc itself",                                             \
      "start it with leakrun, which handles that")                                                 \
    R(HAS_LIBLEAK, "it runs under libleak already", "leakctl report %d reports it")                \
    R(NOT_ATTACHED, "nothing is attached", "leakctl attach %d attaches")                           \
    R(STARTED_WITH, "it was started with libleak", "that cannot be undone: leakctl disable %d")    \
    R(OLD_LIBRARY, "the libleak in it is of another version", "restart it")                        \
    R(NO_DLOPEN, "its libc has no dlopen", "start it with leakrun")                                \
    R(NO_CODE, "its libc has not the instructions that are needed", "start it with leakrun")       \
    R(NO_PLACE, "no thread came to a safe place within %s", "%s: try again, or --timeout=1m")      \
    R(VFORKS, "its only thread waits for one vfork child after the other",                         \
      "it cannot be stopped meanwhile: try again when it starts fewer programs, or use leakrun")   \
    R(NO_LIBRARY, "libleak.so: %s", "build it (make) or install it (make install)")                \
    R(NO_SYSCALL, "it cannot make the system call %s: %s", "a limit, or a filter")                 \
    R(BUSY, "%s waits for a lock of the program",                                                  \
      "the thread was put back, and nothing has changed: try again")                               \
    R(DLOPEN, "its loader refuses libleak.so: %s", "nothing has changed")                          \
    R(SLOW, "libleak has not started within a minute",                                             \
      "the thread goes on by itself when it has: leakctl report shows whether it did")             \
    R(FAULT, "signal %d while libleak was called", "the thread was put back: report this")         \
    R(GONE, "it ended meanwhile", "nothing is attached")                                           \
    R(SILENT, "libleak did not start in it", "leakctl attach --options=verbosity=1 says more")     \
    R(OPTION, "the option %s is not for attaching", "start the program with leakrun")

enum attach_refusal {
#define R(name, reason, next) ATTACH_##name,
    ATTACH_REFUSAL_TABLE(R)
#undef R
        ATTACH_REFUSAL_MAX
};

/* Prints the line for a reason. Returns false. */
bool attach_refuse(pid_t pid, enum attach_refusal refusal, ...);

/* Returns the name and pid of a process for messages, as "shelf (pid 42)". Valid until the next
 * call. */
const char *attach_process_name(pid_t pid);

#endif
