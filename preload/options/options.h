/* options.h - the user's options, from the one table include/leak_options.def.
 *
 * Sources in order, later ones win: built-in, /etc/libleak.conf, $XDG_CONFIG_HOME/libleak/config,
 * ./vld.ini (Visual Leak Detector's names, vld_options.h), ./.libleakrc, LeakSanitizer's names
 * (lsan_options.h), LIBLEAK_OPTIONS. The names of Visual Leak Detector and LeakSanitizer are also
 * accepted in all sources. An unknown name or a bad value is reported in one line, and the earlier
 * value stays. Files contain one name=value a line; # starts a comment. A file that another user
 * could have written is ignored (leak_option_files.h). The options are read once at the start and
 * constant from main on, except for those that the program itself may change (process.h). */
#ifndef PRELOAD_OPTIONS_OPTIONS_H
#define PRELOAD_OPTIONS_OPTIONS_H

#include "preload/base/base.h"

#define OPTION_TEXT_MAX 256
#define OPTION_SIGNAL_LEAST 34 /* the C library uses the real-time signals below this one */
#define OPTION_SIGNAL_MOST 64
/* The largest value of the option sample, in bytes: sums of its square must fit into the 64 bits of
 * leak_variance(). */
#define OPTION_SAMPLE_MOST (64ull << 20)

typedef bool option_BOOL;
typedef uint64_t option_SIZE;
typedef uint64_t option_NUMBER;
typedef uint64_t option_TIME;  /* a time in nanoseconds */
typedef uint64_t option_SHARE; /* a share in percent, 0 to 100 */
typedef char option_TEXT[OPTION_TEXT_MAX];
typedef unsigned option_CHOICE_report, option_CHOICE_follow, option_CHOICE_free_stacks,
    option_CHOICE_unwind, option_CHOICE_unwind_oracle, option_CHOICE_crash, option_CHOICE_log,
    option_CHOICE_log_format, option_CHOICE_modules_match, option_CHOICE_linked_malloc,
    option_CHOICE_python;

/* The values of options of type CHOICE, in the order of the words in leak_options.def. */
enum { REPORT_NONE, REPORT_EXIT };
enum { UNWIND_AUTO, UNWIND_CFI, UNWIND_FP };
enum { UNWIND_ORACLE_LIBUNWIND, UNWIND_ORACLE_LIBGCC };
enum { FOLLOW_INHERIT, FOLLOW_FORCE, FOLLOW_NONE };
enum { FREE_STACKS_OFF, FREE_STACKS_SAMPLE, FREE_STACKS_ALL };
enum { CRASH_OFF, CRASH_ON, CRASH_ONLY };
enum { LINKED_MALLOC_OFF, LINKED_MALLOC_AUTO };
enum { LOG_FORMAT_TEXT, LOG_FORMAT_MTRACE };
enum { PYTHON_AUTO, PYTHON_OFF };

enum option_source {
    SOURCE_BUILT_IN,
    SOURCE_SYSTEM,
    SOURCE_USER,
    SOURCE_VLD, /* the file vld.ini (vld_options.h) */
    SOURCE_DIRECTORY,
    SOURCE_PROGRAM, /* the program's function __lsan_default_options (lsan_options.h) */
    SOURCE_LSAN,    /* the environment variable LSAN_OPTIONS */
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
    uint8_t source[OPTION_MAX]; /* where each value came from (enum option_source) */
};

extern struct options options_current HIDDEN; /* the options of this process */

struct strbuf;

/* The type of a function that is called for each item that cannot be used, with "unknown option",
 * the item and its source. */
typedef void options_complain(const char *what, const char *item, const char *where);
/* The type of a function that is called for each item with an unknown name. It returns false when
 * it does not know the name either. options_set_foreign_parser must be called before
 * options_load. */
typedef bool options_foreign_parser(const char *name, size_t name_length, const char *value,
                                    size_t value_length, enum option_source source,
                                    options_complain *complain);
void options_set_foreign_parser(options_foreign_parser *parser);

/* The option fill: a byte for fresh blocks and one for freed blocks, or one of the two values of
 * this enum. options_get_fill returns false when the option's text is none of these. */
enum { FILL_OFF = -1, FILL_AUTO = -2 };
struct fill_bytes {
    int fresh, freed;
};
bool options_get_fill(const struct options *options, struct fill_bytes *out);

void options_defaults(struct options *options);
/* Parses a string of items name=value. They are separated by ':', which may stand between two ' as
 * part of a value, or by newlines when lines is set. */
void options_parse(struct options *options, const char *string, size_t length, bool lines,
                   enum option_source source, options_complain *complain);
/* Reads all sources; the environment is envp. envp is NULL for a setuid program, which uses only
 * the built-in values and /etc/libleak.conf: the user who started the program cannot have written
 * that file. */
void options_load(struct options *options, char **envp, options_complain *complain);
/* Writes a line "name=value (source)" for each option that is not built-in. */
void options_describe(const struct options *options, struct strbuf *out);
/* Writes the value of an option. Returns false when there is no such option. */
bool options_get_value(const struct options *options, const char *name, struct strbuf *out);
/* Changes an option at the program's request. Returns false, and changes nothing, when there is no
 * such option or value, or the option is constant while the program runs. */
bool options_change(struct options *options, const char *name, const char *value);
/* Calls print for each line of the output of help=1; each line describes one option. */
void options_help(void (*print)(const char *line));
/* A configuration file that is one of the sources. options_get_file returns NULL when the source is
 * no file, or the file does not exist. */
struct options_file {
    char path[512];
    /* Why the file is ignored, and what the user can do; NULL: the file is used. */
    const char *refusal;
};
const struct options_file *options_get_file(enum option_source source);
/* Returns the settings in a source that have no equivalent in libleak, under their names in Visual
 * Leak Detector: "Name=value, ...". */
const char *options_unsupported(enum option_source source);
const char *options_source_name(enum option_source source);
/* Says whether some source contains help=1. */
bool options_help_wanted(void);

const char *options_getenv(char **envp, const char *name);

#endif
