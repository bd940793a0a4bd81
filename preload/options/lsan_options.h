/* lsan_options.h - LeakSanitizer's options that have an equivalent in libleak, from LSAN_OPTIONS or
 * among libleak's own.
 *
 * Items name=value, separated by ':', ',' or white space; a value may be in quotes of either kind.
 * Options of LeakSanitizer without an equivalent are ignored silently. A value is not replaced by
 * one from a source with lower precedence; LIBLEAK_OPTIONS has the highest. Pure functions,
 * callable anywhere. */
#ifndef PRELOAD_OPTIONS_LSAN_OPTIONS_H
#define PRELOAD_OPTIONS_LSAN_OPTIONS_H

#include "preload/options/options.h"

#define LSAN_OPTION_TEXT_MAX 1024
#define LSAN_OPTION_EXIT_CODE 23 /* LeakSanitizer's default for exitcode */

/* One row O(name, type, root) an option. type: BOOL, NUMBER or TEXT. root: the word of libleak's
 * option roots that a BOOL switches, or NULL. */
#define LSAN_OPTION_TABLE(O)                                                                       \
    O(detect_leaks, BOOL, NULL)                                                                    \
    O(leak_check_at_exit, BOOL, NULL)                                                              \
    O(exitcode, NUMBER, NULL)                                                                      \
    O(suppressions, TEXT, NULL)                                                                    \
    O(use_globals, BOOL, "globals")                                                                \
    O(use_stacks, BOOL, "stacks")                                                                  \
    O(use_registers, BOOL, "registers")                                                            \
    O(use_tls, BOOL, "tls")                                                                        \
    O(use_root_regions, BOOL, "user")

enum lsan_option {
#define O(name, type, root) LSAN_OPTION_##name,
    LSAN_OPTION_TABLE(O)
#undef O
        LSAN_OPTION_MAX
};

/* The values of LeakSanitizer's options; all zero: none was set. */
struct lsan_options {
    uint8_t source[LSAN_OPTION_MAX]; /* enum option_source; SOURCE_BUILT_IN: not set */
    uint64_t value[LSAN_OPTION_MAX];
    /* The name of the suppression file, as the user wrote it. */
    char suppressions[LSAN_OPTION_TEXT_MAX];
};

/* Sets one option. Returns false when LSAN_OPTION_TABLE has no such name. */
bool lsan_options_set(struct lsan_options *lsan, const char *name, size_t name_length,
                      const char *value, size_t value_length, enum option_source source,
                      options_complain *complain);
void lsan_options_parse(struct lsan_options *lsan, const char *string, size_t length,
                        enum option_source source, options_complain *complain);
/* Sets libleak's options exit_look and roots to what LeakSanitizer's options ask for, unless
 * LIBLEAK_OPTIONS set them. Returns true when one of the two has changed. */
bool lsan_options_apply(const struct lsan_options *lsan, struct options *options);

/* Says whether LeakSanitizer's options allow leak checks, at exit or on request of the program. */
bool lsan_options_detect_leaks(const struct lsan_options *lsan);
/* Returns the exit code with which __lsan_do_leak_check ends a program that has leaks; 0: the
 * program continues. */
int lsan_options_exit_code(const struct lsan_options *lsan);

#endif
