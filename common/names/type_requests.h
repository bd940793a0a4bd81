/* type_requests.h - questions about types that the report sends to the name process
 * (name_server.h), and the answers: how both sides write and read these messages. */
#ifndef COMMON_NAMES_TYPE_REQUESTS_H
#define COMMON_NAMES_TYPE_REQUESTS_H

#include "common/names/message.h"
#include "common/typeinfo/type_path.h"

enum type_request {
    TYPE_OF_BLOCK,
    TYPE_OF_NAME,
    TYPE_OF_ID,
    TYPE_OF_PATH,
    TYPE_FIELDS,
    TYPE_ENUMERATOR,
    TYPE_CALLS
};

/* ---- The function that the name process calls ------------------------------------------------ */

/* Answers a question about types; appends nothing to the answer if the debug information does not
 * tell. */
void type_requests_answer(struct elf_binary *binary, struct type_index *types,
                          struct message *request, struct message *answer);

/* ---- Functions that the report calls --------------------------------------------------------- */

void type_requests_put_id(struct message *message, struct type_id id);
void type_requests_put_question(struct message *message, const struct block_question *question);
/* Reads the answer to a question about a block's type. False: no type was found. */
bool type_requests_take_found(struct message *message, struct block_type_found *found);

void type_requests_put_path(struct message *message, const struct variable_location *root,
                            const struct type_step *steps, size_t count);
/* Reads the answer to a question about a path. Returns how many entries of found[] it filled in,
 * at most `count`. */
size_t type_requests_take_path(struct message *message, size_t count,
                               struct type_step_found *found);

/* A call that gets the block as an argument, in the code behind the call that allocated it. Texts
 * belong to the message. */
struct passing_call {
    const char *function; /* name of the called function, mangled; NULL = unknown */
    bool imported;        /* the function belongs to another module */
    const char *file;     /* place of the call, NULL = unknown */
    unsigned line;
};

#define PASSING_CALLS_MOST 16

struct passing_calls {
    struct passing_call calls[PASSING_CALLS_MOST]; /* as they follow in the code */
    size_t count;
    bool returned; /* the function, which returns a pointer, returns the block to its caller on some
                    * path */
    bool pointer;  /* the called function returns a pointer, by its debug information */
};

/* Reads the answer to the question which calls get the block. False: it is damaged. */
bool type_requests_take_calls(struct message *message, struct passing_calls *found);

/* A field of a structure as the report knows it: like struct type_field, with names in place of
 * DIEs. */
struct named_field {
    char name[TYPE_FIELD_NAME_SIZE];
    char type[TYPE_FIELD_NAME_SIZE]; /* type of the field, of an array that of an element, cut to
                                      * fit */
    uint64_t offset, size, count;
    enum field_form form;
    enum pointer_role role;
    unsigned bit_offset, bit_size;
    bool text;         /* the field points to characters */
    struct type_id id; /* type of the field, of an array that of an element */
    struct type_id to; /* type that a pointer points to */
};

size_t type_requests_take_fields(struct message *message,
                                 struct named_field fields[TYPE_FIELDS_MOST]);

#endif
