/* listing.h - writes the output of a command, as text or as one JSON document: facts and tables.
 * The last column of a table may be a text.
 */
#ifndef GRAPH_LISTING_H
#define GRAPH_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/encode/json_writer.h"

enum cell_kind {
    CELL_TEXT,
    CELL_NUMBER,
    CELL_SIGNED,       /* a number with its sign: "+1,234" */
    CELL_BYTES,        /* a size: "3.1 MB" */
    CELL_SIGNED_BYTES, /* a size with its sign: "-3.1 MB" */
    CELL_SHARE,        /* a share from 0 to 1, written as "87.0 %" */
    CELL_ADDRESS,
    CELL_TYPE,    /* a text about types; the column is left out when types are unknown */
    CELL_OFFSET,  /* an offset: "+0x10"; LISTING_NO_OFFSET is written as "", and as null in JSON */
    CELL_CONTENT, /* a text that may be cut */
};

#define LISTING_NO_OFFSET UINT64_MAX

struct column {
    const char *key, *title; /* the key in JSON, and the heading of the column in text */
    enum cell_kind kind;
};

union cell {
    uint64_t number;
    int64_t change;
    double share;
    const char *text; /* NULL is written as "", and as null in JSON */
};

struct listing {
    FILE *stream;
    bool is_json, no_types;
    struct json_writer json;
    const struct column *columns; /* columns of the table that is being written */
    size_t count;
};

/* Begins the output. file: name of the graph file. */
void listing_begin(struct listing *listing, FILE *stream, bool is_json, const char *verb,
                   const char *file);
void listing_end(struct listing *listing);

/* Writes a fact: "Title: value" in text, "key": value in JSON. */
void listing_fact(struct listing *listing, const char *key, const char *title, enum cell_kind kind,
                  union cell value);
/* Writes a sentence, in JSON as the value of `key`; with NULL as key, JSON has no such member. */
void listing_sentence(struct listing *listing, const char *key, const char *text);

/* Begins a table. heading: a line above the table in text; NULL: none. A table without rows is an
 * empty array in JSON. */
void listing_open_table(struct listing *listing, const char *key, const char *heading,
                        const struct column *columns, size_t count);
void listing_row(struct listing *listing, const union cell *cells);
/* Ends a table. more: the number of rows that were left out. */
void listing_close_table(struct listing *listing, uint64_t more);

#endif
