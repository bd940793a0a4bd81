/* target.h - finds the process that a request is for: it must belong to this user, run, and have a
 * recording file. Otherwise prints why the request is refused.
 */
#ifndef CONTROL_TARGET_H
#define CONTROL_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/recording.h"

struct target {
    pid_t pid;
    /* refers to this process even if its pid is reused, so that no signal reaches another
     * process */
    int pidfd;
    char *who;  /* name of the process in messages: "shelf (pid 42)" */
    char *path; /* path of its recording file */
    int signal;
    struct recording recording;
};

/* Opens a process for requests. word: a pid, or the name of the program as in the name of its
 * recording file. dir: NULL = the default directories. False: the request is refused, and a message
 * has the reason. */
bool target_open(struct target *target, const char *word, const char *dir);
void target_close(struct target *target);

/* Returns the root directory of a process if it has another one than leakctl, in which the files of
 * the process are then ("/proc/42/root"); the caller frees it. NULL: it has the same root, or it
 * has ended. */
char *target_other_root(pid_t pid);

/* Says whether the process still runs the program of the recording file, and not another one after
 * exec. */
bool target_runs_same_program(const struct target *target);

/* ---- Messages about refused requests --------------------------------------------------------- */

/* The message about a refused request is one line: "leakctl: WHO: REASON: WHAT TO DO NEXT". All
 * reasons are in this table, so that each has one wording, and scripts can recognise it.
 *
 * R(NAME, reason, what to do next: a format) */
#define REFUSAL_TABLE(R)                                                                           \
    R(NO_PROCESS, "no such process uses libleak",                                                  \
      "leaktop lists those that run; leakreport --last %s shows one that has ended")               \
    R(SEVERAL, "several processes have this name", "give the pid of one:%s")                       \
    R(DEAD, "it has ended", "leakreport %s shows its recording, as leakreport --last does")        \
    R(NOT_YOURS, "only the owner may send requests", "it belongs to %s")                           \
    R(NO_LIBLEAK, "it does not use libleak", "start it with leakrun, or with LD_PRELOAD")          \
    R(NO_STORE, "it has no recording file",                                                        \
      "its recording is in memory only, or there is none (enabled=0): start it, or attach again, " \
      "with a dir= that can be written")                                                           \
    R(ELSEWHERE, "its recording file is in another directory", "give --dir=%s")                    \
    R(REMOVED, "its recording file was removed", "%s: no request is possible without it")          \
    R(UNUSABLE, "its recording file cannot be used", "%s: %s")                                     \
    R(OTHER_VERSION, "another version of libleak", "restart it with the version of this leakctl")  \
    R(EXEC, "it called exec",                                                                      \
      "the new program does not use libleak; leakreport %s shows the recording before that")       \
    R(STOPPED, "stopped", "kill -CONT %d continues it; leakreport %s needs no answer")             \
    R(TRACED, "stopped by a debugger", "continue it there; leakreport %s needs no answer")         \
    R(CRASH_ONLY, "it tracks no blocks (crash=only)", "start it without that option")              \
    R(DETACHED, "libleak is detached", "leakctl attach %d; leakreport %s shows what it recorded")  \
    R(NO_HANDLER, "libleak has no signal handler there",                                           \
      "tracking has ended with a message, or the program uses signal %d itself: start it with "    \
      "another snapshot_signal=")                                                                  \
    R(BLOCKED, "it blocks signal %d",                                                              \
      "all its threads do, by a direct system call: start it with another snapshot_signal=")       \
    R(NOT_SENT, "the signal could not be sent", "%s")                                              \
    R(OTHERS, "another leakctl waits for it", "that is pid %d: try again, or --timeout=1m")        \
    R(BEFORE, "busy with an earlier request", "try again, or --timeout=1m")                        \
    R(WAITING, "it waits in the kernel", "no signal interrupts that: try again, or --timeout=1m")  \
    R(SILENT, "no answer within %s",                                                               \
      "a thread is in libleak or in a signal handler: try again, or --timeout=1m")                 \
    R(UNDONE, "started, and not done within %s", "leakreport %s will show the result")             \
    R(NO_ROOM, "its recording file is full",                                                       \
      "no space for a leak check: start it with a dir= that has more")                             \
    R(ANSWER, "%s", "%s")

enum refusal {
#define R(name, reason, next) REFUSAL_##name,
    REFUSAL_TABLE(R)
#undef R
        REFUSAL_MAX
};

/* Writes the message about a refused request on stderr. who: untrusted text. The further arguments
 * are for the formats of reason and next, in this order. Always returns false. */
bool refuse_request(const char *who, enum refusal refusal, ...);

#endif
