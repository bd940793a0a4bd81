/* refusal.h - why something is not done: one line, "leakctl: WHO: REASON: WHAT TO DO NEXT".
 *
 * The reasons are one table, so that no two say the same in other words, and scripts can tell them
 * apart. */
#ifndef CONTROL_REFUSAL_H
#define CONTROL_REFUSAL_H

#include <stdbool.h>

/* R(NAME, reason, what to do next: a format) */
#define REFUSAL_TABLE(R)                                                                           \
    R(NO_PROCESS, "no such process under libleak",                                                 \
      "leaktop lists those that run; leakreport --last %s tells of one that is dead")              \
    R(SEVERAL, "several processes are called that", "give the pid of one:%s")                      \
    R(DEAD, "it has ended", "leakreport %s tells what it left, as leakreport --last does")         \
    R(NOT_YOURS, "only the owner may ask", "it belongs to %s")                                     \
    R(NO_LIBLEAK, "not under libleak", "start it with leakrun, or with LD_PRELOAD")                \
    R(NO_STORE, "it has no store",                                                                 \
      "its account is in memory only, or there is none (enabled=0): start it with a dir= that "    \
      "has room")                                                                                  \
    R(ELSEWHERE, "its store is in another directory", "give --dir=%s")                             \
    R(REMOVED, "its store was removed", "%s: without it nobody can ask")                           \
    R(UNUSABLE, "its store cannot be used", "%s: %s")                                              \
    R(OTHER_VERSION, "another version of libleak", "start it again, with the one of this leakctl") \
    R(EXEC, "it has become another program",                                                       \
      "that is not under libleak; leakreport %s tells what it was before")                         \
    R(STOPPED, "stopped", "kill -CONT %d lets it go on; leakreport %s needs no answer")            \
    R(TRACED, "held by a debugger", "let it go on there; leakreport %s needs no answer")           \
    R(CRASH_ONLY, "it tracks no blocks (crash=only)", "start it without that option")              \
    R(NO_HANDLER, "libleak does not listen there",                                                 \
      "it tracks nothing, as it said itself, or the program has taken signal %d from it: start "   \
      "it with another snapshot_signal=")                                                          \
    R(BLOCKED, "it blocks signal %d",                                                              \
      "all its threads do, by a bare system call: start it with another snapshot_signal=")         \
    R(NOT_SENT, "the signal could not be sent", "%s")                                              \
    R(OTHERS, "somebody else is asking", "that is pid %d: try again, or --timeout=1m")             \
    R(BEFORE, "at work for somebody who asked before", "try again, or --timeout=1m")               \
    R(WAITING, "it waits in the kernel", "no signal comes through: try again, or --timeout=1m")    \
    R(SILENT, "no answer within %s",                                                               \
      "it did not come out of libleak, or of a handler: try again, or --timeout=1m")               \
    R(UNDONE, "it has begun, and is not done within %s", "leakreport %s will have it")             \
    R(NO_ROOM, "its store is full",                                                                \
      "a look has no room there: start it with a dir= that has more")                              \
    R(ANSWER, "%s", "%s")

enum refusal {
#define R(name, reason, next) REFUSAL_##name,
    REFUSAL_TABLE(R)
#undef R
        REFUSAL_MAX
};

/* who: foreign text. The rest is for the formats of reason and next, in this order. Always false.
 */
bool refuse(const char *who, enum refusal refusal, ...);

#endif
