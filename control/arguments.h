/* arguments.h - the words behind a verb. */
#ifndef CONTROL_ARGUMENTS_H
#define CONTROL_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* What a verb takes besides the options of all that ask. */
struct shape {
    const char *verb, *usage; /* usage: what stands behind the verb */
    bool operand;             /* a word behind the process */
    bool rest;                /* leakreport's options behind that */
    bool may_not_look;        /* --no-look */
};

struct arguments {
    const char *dir;  /* NULL = the default places */
    uint64_t timeout; /* ms */
    bool no_look;
    const char *process, *operand;
    char **rest; /* points into argv, so many */
    int rest_count;
};

/* argv[0] is the verb. Moves what is the rest to the front of argv. False: said what is wrong. */
bool arguments_parse(const struct shape *shape, int argc, char **argv, struct arguments *arguments);

/* "--name=value" or "--name value", then *i moves on; NULL: it is another word. */
const char *arguments_value(const char *name, int argc, char **argv, int *i);

/* "1d", "12h", "30m", "10s", "200ms"; a bare number is seconds. */
bool arguments_time(const char *text, uint64_t *milliseconds);

/* As debuggers and %p print it; not 0. */
bool arguments_address(const char *text, uint64_t *address);

/* What a mark may be called: it must fit the store, and a line of text. #3 is milestone 3. */
bool arguments_name(const char *text);

#endif
