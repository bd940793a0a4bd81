/* ptrace_right.h - why the kernel does not let this process trace another one. The kernel
 * answers EPERM for each reason; /proc shows which one it is. */
#ifndef COMMON_PROCESSES_PTRACE_RIGHT_H
#define COMMON_PROCESSES_PTRACE_RIGHT_H

#include <stdbool.h>
#include <sys/types.h>

/* The reasons. R(NAME, reason in a message, what the user can do) */
#define PTRACE_REFUSAL_TABLE(R)                                                                    \
    R(NO_PROC, "/proc is not mounted", "mount -t proc proc /proc")                                 \
    R(OTHER_PROC, "/proc shows another pid namespace",                                             \
      "mount -t proc proc /proc in this one, or run leakctl in the other one")                     \
    R(NO_CAPABILITY, "this root lacks CAP_SYS_PTRACE",                                             \
      "run leakctl outside of the container, or give it that capability (--cap-add=SYS_PTRACE)")   \
    R(OTHER_USER, "it belongs to another user", "run leakctl as that user, or as root")            \
    R(MIXED_USER, "it has the rights of another user",                                             \
      "a set-user-ID program, or one that changed its user: run leakctl as root")                  \
    R(MORE_RIGHTS, "it has capabilities that leakctl lacks", "run leakctl as root")                \
    R(SCOPE_1, "ptrace_scope is 1",                                                                \
      "this machine lets only root and the parent of a process attach: sysctl "                    \
      "kernel.yama.ptrace_scope")                                                                  \
    R(SCOPE_2, "ptrace_scope is 2",                                                                \
      "this machine lets only root attach: sysctl kernel.yama.ptrace_scope")                       \
    R(SCOPE_3, "ptrace_scope is 3", "this machine lets nobody attach until it starts anew")        \
    R(NOT_DUMPABLE, "it forbids ptrace (PR_SET_DUMPABLE)", "run leakctl as root")                  \
    R(NAMESPACE, "it is in another user namespace",                                                \
      "run leakctl outside of the container, as root or as the user who made it")                  \
    R(UNKNOWN, "the kernel refuses ptrace",                                                        \
      "a program that leakctl must not read, or a filter or security module of the container")

enum ptrace_refusal {
    PTRACE_POSSIBLE,
#define R(name, reason, next) PTRACE_##name,
    PTRACE_REFUSAL_TABLE(R)
#undef R
        PTRACE_REFUSAL_MAX
};

struct ptrace_facts {
    int scope;       /* kernel.yama.ptrace_scope */
    bool root;       /* this process runs as root */
    bool capable;    /* this process has CAP_SYS_PTRACE in its user namespace */
    bool own_user;   /* the other process has this process's user as its effective user */
    bool own_ids;    /* all user and group ids of the other process are those of this one */
    bool more;       /* the other process has capabilities that this one lacks */
    bool hidden;     /* the other process's files in /proc belong to root: it is not dumpable */
    bool other_maps; /* the other process is in another user namespace */
};

/* The reason of a refusal that has happened, from given facts. */
enum ptrace_refusal ptrace_right_judge(const struct ptrace_facts *facts);
/* The reason why this process may not trace another one, from facts that /proc shows. */
enum ptrace_refusal ptrace_right_explain(pid_t pid);
/* Checks whether pids in /proc are those of this process's pid namespace. PTRACE_POSSIBLE: they
 * are. */
enum ptrace_refusal ptrace_right_check_proc(void);

const char *ptrace_refusal_reason(enum ptrace_refusal refusal);
const char *ptrace_refusal_next(enum ptrace_refusal refusal);

#endif
