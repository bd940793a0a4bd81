/* leak_targets.h - the targets of reports: the words of report_to= and of leakreport --to=, and
 * the parser of such lists, which the runtime, leakrun and leakreport share.
 *
 *   stderr,file:leaks.%p.txt,command:mail -s 'leaks, again' me
 *
 * A comma ends a target, but a command is the whole rest of the list. The functions here have no
 * state and allocate nothing.
 */
#ifndef LEAK_TARGETS_H
#define LEAK_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The kinds of targets: T(NAME, word, whether ":ARGUMENT" follows) */
#define LEAK_TARGET_TABLE(T)                                                                       \
    T(STDERR, "stderr", NEVER)                                                                     \
    T(STDOUT, "stdout", NEVER)                                                                     \
    T(FILE, "file", MAYBE)                                                                         \
    T(FD, "fd", ALWAYS)                                                                            \
    T(SYSLOG, "syslog", MAYBE)                                                                     \
    T(JOURNAL, "journal", MAYBE)                                                                   \
    T(SOCKET, "socket", ALWAYS)                                                                    \
    T(COMMAND, "command", ALWAYS)

/* The list of valid targets, for error messages. */
#define LEAK_TARGET_WORDS                                                                          \
    "stderr, stdout, file, file:PATTERN, fd:N, syslog, journal, socket:PATH, socket:HOST:PORT or " \
    "command:CMD, or several separated by commas"

/* The pattern of the file name for the target "file", if no option gives one. */
#define LEAK_TARGET_FILE_NAME "libleak.%e.%p.%n.txt"

enum leak_target_kind {
#define T(name, word, argument) LEAK_TARGET_##name,
    LEAK_TARGET_TABLE(T)
#undef T
};

struct leak_target {
    enum leak_target_kind kind;
    const char *argument; /* points into the list; not NUL-terminated */
    size_t length;        /* length of the argument; 0: there is none */
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

/* Parses the first target of *list, and advances *list past it and its comma. Returns false, and
 * leaves *list unchanged, if the list does not begin with a valid target. */
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

/* Says whether all targets of the list are valid. An empty list is valid. */
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
