/* lsan_options.h - LeakSanitizer's names for what libleak has as well, in LSAN_OPTIONS or among
 * libleak's own.
 *
 * Items name=value, with ':', ',' or white space between them; a value may stand in quotes of
 * either kind. LeakSanitizer has many options that mean nothing here: those are passed over
 * silently. One of a weaker source does not change what a stronger one said; LIBLEAK_OPTIONS are
 * the strongest. Pure functions: callable anywhere.
 */
#ifndef PRELOAD_OPTIONS_LSAN_OPTIONS_H
#define PRELOAD_OPTIONS_LSAN_OPTIONS_H

#include "preload/options/options.h"

#define ALIAS_TEXT_MAX 1024
#define ALIAS_EXIT_CODE 23 /* LeakSanitizer's own */

/* A(name, what it is): BOOL, NUMBER or TEXT; a ROOT is a BOOL about a word of the option roots. */
#define ALIAS_TABLE(A)                                                                             \
    A(detect_leaks, BOOL, NULL)                                                                    \
    A(leak_check_at_exit, BOOL, NULL)                                                              \
    A(exitcode, NUMBER, NULL)                                                                      \
    A(suppressions, TEXT, NULL)                                                                    \
    A(use_globals, BOOL, "globals")                                                                \
    A(use_stacks, BOOL, "stacks")                                                                  \
    A(use_registers, BOOL, "registers")                                                            \
    A(use_tls, BOOL, "tls")                                                                        \
    A(use_root_regions, BOOL, "user")

enum alias {
#define A(name, type, root) ALIAS_##name,
    ALIAS_TABLE(A)
#undef A
        ALIAS_MAX
};

/* All zero: nothing was said. */
struct aliases {
    uint8_t source[ALIAS_MAX]; /* enum option_source; SOURCE_BUILT_IN: not said */
    uint64_t value[ALIAS_MAX];
    char suppressions[ALIAS_TEXT_MAX]; /* a file, as it was said */
};

/* One word. False: it is none of those above. */
bool aliases_take(struct aliases *aliases, const char *name, size_t name_length, const char *value,
                  size_t value_length, enum option_source source, options_complain *complain);
void aliases_parse(struct aliases *aliases, const char *string, size_t length,
                   enum option_source source, options_complain *complain);
/* exit_look and roots as they say, unless LIBLEAK_OPTIONS said so. True: something was changed. */
bool aliases_apply(const struct aliases *aliases, struct options *options);

/* Are checks wanted, at the end or when the program asks for one? */
bool aliases_detect(const struct aliases *aliases);
/* What __lsan_do_leak_check ends the program with; 0: it goes on. */
int aliases_exit_code(const struct aliases *aliases);

#endif
