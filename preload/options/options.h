/* options.h - what the user asked for, from the one table include/leak_options.def.
 *
 * Sources in order, later wins: built-in, /etc/libleak.conf, $XDG_CONFIG_HOME/libleak/config,
 * ./vld.ini (Visual Leak Detector's words for the same, vld_options.h), ./.libleakrc,
 * LeakSanitizer's words for the same (lsan_options.h), LIBLEAK_OPTIONS. Their words stand for ours
 * in all of these. An unknown name or bad value is one clear line, and the value from before stays.
 * Files hold one name=value a line, # starts a comment. Read once at start, constant from main on,
 * but for those that the program itself may change (runtime_options.h).
 */
#ifndef PRELOAD_OPTIONS_OPTIONS_H
#define PRELOAD_OPTIONS_OPTIONS_H

#include "preload/base/base.h"

#define OPTION_TEXT_MAX 256
#define OPTION_SIGNAL_LEAST 34 /* libc keeps the real-time signals below */
#define OPTION_SIGNAL_MOST 64
#define OPTION_SAMPLE_MOST (64ull << 20) /* its square must leave room for sums (leak_variance) */

typedef bool option_BOOL;
typedef uint64_t option_SIZE;
typedef uint64_t option_NUMBER;
typedef uint64_t option_TIME;  /* nanoseconds */
typedef uint64_t option_SHARE; /* percent, to 100 */
typedef char option_TEXT[OPTION_TEXT_MAX];
typedef unsigned option_CHOICE_report, option_CHOICE_follow, option_CHOICE_free_stacks,
    option_CHOICE_unwind, option_CHOICE_unwind_oracle, option_CHOICE_crash, option_CHOICE_log,
    option_CHOICE_log_format, option_CHOICE_modules_match, option_CHOICE_linked_malloc;

/* The words of the CHOICE lines, in their order. */
enum { REPORT_NONE, REPORT_EXIT };
enum { UNWIND_AUTO, UNWIND_CFI, UNWIND_FP };
enum { UNWIND_ORACLE_LIBUNWIND, UNWIND_ORACLE_LIBGCC };
enum { FOLLOW_INHERIT, FOLLOW_FORCE, FOLLOW_NONE };
enum { FREE_STACKS_OFF, FREE_STACKS_SAMPLE, FREE_STACKS_ALL };
enum { CRASH_OFF, CRASH_ON, CRASH_ONLY };
enum { LINKED_MALLOC_OFF, LINKED_MALLOC_AUTO };
enum { LOG_FORMAT_TEXT, LOG_FORMAT_MTRACE };

enum option_source {
    SOURCE_BUILT_IN,
    SOURCE_SYSTEM,
    SOURCE_USER,
    SOURCE_VLD, /* in Visual Leak Detector's words: see vld_options.h */
    SOURCE_DIRECTORY,
    SOURCE_PROGRAM, /* in LeakSanitizer's words, as the next: see lsan_options.h */
    SOURCE_LSAN,
    SOURCE_ENVIRONMENT,
    SOURCE_CALL,
    SOURCE_MAX
};

enum option {
#define OPTION(name, type, value, help) OPTION_##name,
#include "leak_options.def"
    OPTION_MAX
};

struct options {
#define OPTION(name, type, value, help) option_##type name;
#include "leak_options.def"
    uint8_t source[OPTION_MAX]; /* enum option_source of the value in force */
};

extern struct options track_options HIDDEN; /* of this process */

struct text;

/* Called for each item that cannot be used: "unknown option 'x'", … */
typedef void options_complain(const char *what, const char *item, const char *where);
/* Asked for each item whose name is none of ours; false: nor is it theirs. Set once, before
 * options_load. */
typedef bool options_other_words(const char *name, size_t name_length, const char *value,
                                 size_t value_length, enum option_source source,
                                 options_complain *complain);
void options_hear_others(options_other_words *others);

void options_defaults(struct options *options);
/* Items separated by ':' ('…' protects one), or by newlines when lines is set. */
void options_parse(struct options *options, const char *string, size_t length, bool lines,
                   enum option_source source, options_complain *complain);
/* All sources; environment entries are looked up in envp. Without one (a setuid program) nothing
 * that its caller could have written is read: built-in and /etc only. */
void options_load(struct options *options, char **envp, options_complain *complain);
/* "name=value (source)\n" for each option that is not built-in. */
void options_describe(const struct options *options, struct text *out);
/* The value of one; false: there is no such option. */
bool options_tell(const struct options *options, const char *name, struct text *out);
/* By the program itself. False, and nothing has changed: no such option, none to be changed while
 * the program runs, or no such value. */
bool options_change(struct options *options, const char *name, const char *value);
/* The lines of help=1, one option each, given to say. */
void options_help(void (*say)(const char *line));
/* What that source asks for in VLD's words and libleak has no form of: "Name=value, ..."; empty:
 * nothing. */
const char *options_passed_over(enum option_source source);
const char *options_source_name(enum option_source source);
/* True when help=1 was among the items. */
bool options_help_wanted(void);

/* 0 and 1, off and on, no and yes, false and true; false: anything else. */
bool options_read_bool(const char *value, size_t length, bool *out);

const char *environment_get(char **envp, const char *name);

#endif
