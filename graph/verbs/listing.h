/* listing.h - what a verb has to say, as text for people or as one JSON document: facts, and tables
 * whose last column may be a text. */
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
    CELL_SIGNED,       /* "+1,234" */
    CELL_BYTES,        /* "3.1 MB" */
    CELL_SIGNED_BYTES, /* "-3.1 MB" */
    CELL_SHARE,        /* of 1: "87.0 %" */
    CELL_ADDRESS,
    CELL_TYPE,    /* a text about types: the column is left out when these are not known */
    CELL_OFFSET,  /* "+0x10"; LISTING_NO_OFFSET: "" and null */
    CELL_CONTENT, /* a text, of which a part is shown */
};

#define LISTING_NO_OFFSET UINT64_MAX

struct column {
    const char *key, *title; /* of JSON, and of the heading */
    enum cell_kind kind;
};

union cell {
    uint64_t number;
    int64_t change;
    double share;
    const char *text; /* NULL: "" and null */
};

struct listing {
    FILE *stream;
    bool is_json, no_types;
    struct json_writer json;
    const struct column *columns; /* of the open table */
    size_t count;
};

/* Begins the document. file: the graph's. */
void listing_begin(struct listing *listing, FILE *stream, bool is_json, const char *verb,
                   const char *file);
void listing_end(struct listing *listing);

/* "Title: value", and "key": value. */
void listing_fact(struct listing *listing, const char *key, const char *title, enum cell_kind kind,
                  union cell value);
/* A sentence; in JSON the value of the key, NULL: left out. */
void listing_sentence(struct listing *listing, const char *key, const char *text);

/* Begins a table. heading: a line above the table in text; NULL: none. A table without rows is an
 * empty array in JSON, and `empty` in text. */
void listing_open_table(struct listing *listing, const char *key, const char *heading,
                        const struct column *columns, size_t count);
void listing_row(struct listing *listing, const union cell *cells);
/* Ends a table. more: the number of rows that are not shown. */
void listing_close_table(struct listing *listing, uint64_t more);

#endif
