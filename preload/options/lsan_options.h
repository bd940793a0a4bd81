/* lsan_options.h - LeakSanitizer's options that have an equivalent in libleak, from LSAN_OPTIONS or
 * among libleak's own.
 *
 * Items name=value, separated by ':', ',' or white space; a value may be in quotes of either kind.
 * Options of LeakSanitizer without an equivalent are ignored silently. A weaker source does not
 * change what a stronger one said; LIBLEAK_OPTIONS is the strongest. Pure functions, callable
 * anywhere.
 */
#ifndef PRELOAD_OPTIONS_LSAN_OPTIONS_H
#define PRELOAD_OPTIONS_LSAN_OPTIONS_H

#include "preload/options/options.h"

#define LSAN_OPTION_TEXT_MAX 1024
#define LSAN_OPTION_EXIT_CODE 23 /* LeakSanitizer's default */

/* O(name, type, root): BOOL, NUMBER or TEXT; a BOOL may switch a word of libleak's option roots. */
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

/* All zero: nothing was set. */
struct lsan_options {
    uint8_t source[LSAN_OPTION_MAX]; /* enum option_source; SOURCE_BUILT_IN: not set */
    uint64_t value[LSAN_OPTION_MAX];
    char suppressions[LSAN_OPTION_TEXT_MAX]; /* a file name, as it was given */
};

/* Sets one item. False: the name is none of those above. */
bool lsan_options_set(struct lsan_options *lsan, const char *name, size_t name_length,
                      const char *value, size_t value_length, enum option_source source,
                      options_complain *complain);
void lsan_options_parse(struct lsan_options *lsan, const char *string, size_t length,
                        enum option_source source, options_complain *complain);
/* Sets exit_look and roots accordingly, unless LIBLEAK_OPTIONS set them. True: something changed.
 */
bool lsan_options_apply(const struct lsan_options *lsan, struct options *options);

/* Says whether leak checks are wanted, at the end or when the program requests one. */
bool lsan_options_detect_leaks(const struct lsan_options *lsan);
/* The exit code with which __lsan_do_leak_check ends the program; 0: it goes on. */
int lsan_options_exit_code(const struct lsan_options *lsan);

#endif
