/* options.h - the user's options, from the one table include/leak_options.def.
 *
 * Sources in order, later ones win: built-in, /etc/libleak.conf, $XDG_CONFIG_HOME/libleak/config,
 * ./vld.ini (Visual Leak Detector's names, vld_options.h), ./.libleakrc, LeakSanitizer's names
 * (lsan_options.h), LIBLEAK_OPTIONS. The names of both other tools are also accepted in all
 * sources. An unknown name or a bad value is reported in one line, and the earlier value stays.
 * Files contain one name=value a line; # starts a comment. A file that others could have written is not obeyed
 * (leak_option_files.h). The options are read once at the start
 * and constant from main on, except for those that the program itself may change
 * (process.h). */
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
    option_CHOICE_log_format, option_CHOICE_modules_match, option_CHOICE_linked_malloc,
    option_CHOICE_python;

/* The words of the CHOICE lines, in their order. */
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
    SOURCE_VLD, /* vld.ini: see vld_options.h */
    SOURCE_DIRECTORY,
    SOURCE_PROGRAM, /* __lsan_default_options: see lsan_options.h */
    SOURCE_LSAN,    /* LSAN_OPTIONS */
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

extern struct options options_current HIDDEN; /* of this process */

struct strbuf;

/* Called for each item that cannot be used: "unknown option 'x'", … */
typedef void options_complain(const char *what, const char *item, const char *where);
/* Called for each item with an unknown name; false: the parser does not know it either. Set once,
 * before options_load. */
typedef bool options_foreign_parser(const char *name, size_t name_length, const char *value,
                                    size_t value_length, enum option_source source,
                                    options_complain *complain);
void options_set_foreign_parser(options_foreign_parser *parser);

/* The option fill: a byte, or one of these. False: it is neither. */
enum { FILL_OFF = -1, FILL_AUTO = -2 };
struct fill_bytes {
    int fresh, freed;
};
bool options_get_fill(const struct options *options, struct fill_bytes *out);

void options_defaults(struct options *options);
/* Items separated by ':' ('…' protects one), or by newlines when lines is set. */
void options_parse(struct options *options, const char *string, size_t length, bool lines,
                   enum option_source source, options_complain *complain);
/* Reads all sources; the environment is envp. NULL (a setuid program): only the built-in values and
 * /etc, which the caller of the program cannot have written. */
void options_load(struct options *options, char **envp, options_complain *complain);
/* "name=value (source)\n" for each option that is not built-in. */
void options_describe(const struct options *options, struct strbuf *out);
/* The value of one option; false: there is no such option. */
bool options_get_value(const struct options *options, const char *name, struct strbuf *out);
/* Changes an option on behalf of the program. False, and nothing has changed: there is no such
 * option or value, or the option is constant while the program runs. */
bool options_change(struct options *options, const char *name, const char *value);
/* Passes the lines of help=1 to print, one option each. */
void options_help(void (*print)(const char *line));
/* A file among the sources; NULL: the source is none, or there is no such file. */
struct options_file {
    char path[512];
    const char *refusal; /* why it is not obeyed, and what to do; NULL: it is */
};
const struct options_file *options_get_file(enum option_source source);
/* The settings of a source that no option of libleak can do, in the names of Visual Leak Detector:
 * "Name=value, ...". */
const char *options_unsupported(enum option_source source);
const char *options_source_name(enum option_source source);
/* Says whether help=1 was among the options. */
bool options_help_wanted(void);

const char *options_getenv(char **envp, const char *name);

#endif
