/* leak_targets.h - where reports may go: the words of report_to= and of leakreport --to=, and how a
 * list of them is read. The runtime, leakrun and leakreport read them alike.
 *
 *   stderr,file:leaks.%p.txt,command:mail -s 'leaks, again' me
 *
 * A comma ends a target, but nothing ends a command: it is the rest of the list. Pure; allocates
 * nothing.
 */
#ifndef LEAK_TARGETS_H
#define LEAK_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* T(NAME, word, does ":ARGUMENT" follow?) */
#define LEAK_TARGET_TABLE(T)                                                                       \
    T(STDERR, "stderr", NEVER)                                                                     \
    T(STDOUT, "stdout", NEVER)                                                                     \
    T(FILE, "file", MAYBE)                                                                         \
    T(FD, "fd", ALWAYS)                                                                            \
    T(SYSLOG, "syslog", MAYBE)                                                                     \
    T(JOURNAL, "journal", MAYBE)                                                                   \
    T(SOCKET, "socket", ALWAYS)                                                                    \
    T(COMMAND, "command", ALWAYS)

/* For who is told that a list makes no sense. */
#define LEAK_TARGET_WORDS                                                                          \
    "stderr, stdout, file, file:PATTERN, fd:N, syslog, journal, socket:PATH, socket:HOST:PORT or " \
    "command:CMD, and with a comma between them several"

/* What "file" is where nothing else names one. */
#define LEAK_TARGET_FILE_NAME "libleak.%e.%p.%n.txt"

enum leak_target_kind {
#define T(name, word, argument) LEAK_TARGET_##name,
    LEAK_TARGET_TABLE(T)
#undef T
};

struct leak_target {
    enum leak_target_kind kind;
    const char *argument; /* in the list; not terminated */
    size_t length;        /* of the argument; 0: there is none */
};

enum leak_target_argument { LEAK_TARGET_NEVER, LEAK_TARGET_MAYBE, LEAK_TARGET_ALWAYS };

static inline const char *leak_target_word(enum leak_target_kind kind)
{
#define T(name, word, argument) word,
    static const char *const words[] = {LEAK_TARGET_TABLE(T)};
#undef T
    return words[kind];
}

static inline bool leak_target_fits(const struct leak_target *target, bool colon)
{
#define T(name, word, argument) LEAK_TARGET_##argument,
    static const unsigned char wants[] = {LEAK_TARGET_TABLE(T)};
#undef T
    if (colon ? wants[target->kind] == LEAK_TARGET_NEVER || !target->length
              : wants[target->kind] == LEAK_TARGET_ALWAYS)
        return false;
    if (target->kind != LEAK_TARGET_FD)
        return true;
    for (size_t i = 0; i < target->length; i++)
        if (target->argument[i] < '0' || target->argument[i] > '9')
            return false;
    return target->length <= 6;
}

/* Reads the target that *list begins with and moves behind it and its comma. False: there is none;
 * *list stays. */
static inline bool leak_target_read(const char **list, struct leak_target *target)
{
    size_t word = strcspn(*list, ":,"), whole = strcspn(*list, ",");
    const char *text = *list;
    bool colon = text[word] == ':', known = false;

#define T(name, letters, wants)                                                                    \
    if (word == sizeof(letters) - 1 && memcmp(text, letters, word) == 0) {                         \
        target->kind = LEAK_TARGET_##name;                                                         \
        known = true;                                                                              \
    }
    LEAK_TARGET_TABLE(T)
#undef T
    if (!known)
        return false;
    if (target->kind == LEAK_TARGET_COMMAND)
        whole = strlen(text);
    target->argument = text + word + colon;
    target->length = whole - word - colon;
    if (!leak_target_fits(target, colon) || (text[whole] && !text[whole + 1]))
        return false;
    *list = text + whole + (text[whole] == ',');
    return true;
}

/* Is every target of the list one? An empty list has none, and is good. */
static inline bool leak_targets_good(const char *list)
{
    struct leak_target target;
    bool good = true;

    while (*list && good)
        good = leak_target_read(&list, &target);
    return good;
}

static inline bool leak_targets_have(const char *list, enum leak_target_kind kind)
{
    struct leak_target target;

    while (*list && leak_target_read(&list, &target))
        if (target.kind == kind)
            return true;
    return false;
}

#endif
