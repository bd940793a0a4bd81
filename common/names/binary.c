/* binary.c - asks the process that reads ELF files (name_process.h) about one file. */
#include "common/names/binary.h"

#include <string.h>

struct binary {
    struct name_process *process;
    struct file_owner reader;
    struct binary_name name;
    uint64_t number;
    unsigned generation; /* value of process->generation when the file was opened; another value
                          * now: a new name process runs, which does not have the file open */
    enum binary_state state;
    bool no_types; /* the name process died of a question about types of this file, so none is asked
                    * any more */
};

static struct message *begin_request(struct binary *binary, enum name_request what)
{
    struct message *message = &binary->process->message;

    message_clear(message);
    message_put_number(message, what);
    message_put_number(message, binary->number);
    return message;
}

/* Sends the pending request and receives the answer. False: the name process died of the request,
 * and the file is given up. */
static bool ask(struct binary *binary)
{
    bool answered = name_process_ask(binary->process);

    if (!answered)
        binary->state = BINARY_BROKEN;
    return answered;
}

/* Opens the file in the name process that runs now, unless it is open there. False: the file cannot
 * be used. */
static bool open_in_process(struct binary *binary)
{
    struct message *message;
    uint64_t state;

    if (binary->state == BINARY_BROKEN)
        return false;
    name_process_set_reader(binary->process, binary->reader);
    if (!name_process_start(binary->process)) {
        binary->state = BINARY_BROKEN;
        return false;
    }
    if (binary->generation == binary->process->generation)
        return true;
    message = begin_request(binary, NAME_OPEN);
    message_put_text(message, binary->name.path);
    message_put_bytes(message, binary->name.build_id, binary->name.build_id_length);
    message_put_number(message, binary->name.seen_ns);
    if (!ask(binary))
        return false;
    state = message_number(message);
    binary->state =
        state <= BINARY_NOT_ELF && !message->bad ? (enum binary_state)state : BINARY_BROKEN;
    binary->generation = binary->process->generation;
    return binary->state != BINARY_BROKEN;
}

static bool has_names(struct binary *binary)
{
    return (binary->state == BINARY_COMPLETE || binary->state == BINARY_NO_LINES) &&
           open_in_process(binary);
}

struct binary *binary_open(struct arena *mem, struct name_process *process,
                           const struct binary_name *name)
{
    struct binary *binary = arena_alloc(mem, sizeof(*binary));

    *binary = (struct binary){
        .process = process, .reader = process->reader, .name = *name, .state = BINARY_NOT_ELF};
    if (name->path[0] != '/' || process->search->never_open)
        return binary;
    binary->name.path = arena_copy(mem, name->path, strlen(name->path));
    if (name->build_id_length)
        binary->name.build_id =
            (uint8_t *)arena_copy(mem, (const char *)name->build_id, name->build_id_length);
    binary->number = process->files++;
    open_in_process(binary);
    return binary;
}

void binary_close(struct binary *binary)
{
    if (binary->generation && binary->generation == binary->process->generation &&
        binary->process->pid) {
        begin_request(binary, NAME_CLOSE);
        ask(binary);
    }
    binary->generation = 0;
    binary->state = BINARY_NOT_ELF;
}

enum binary_state binary_state(const struct binary *binary)
{
    return binary->state;
}

size_t binary_find_frames(struct binary *binary, uint64_t offset,
                          struct dwarf_frame frames[DWARF_INLINE_MAX])
{
    struct message *message = &binary->process->message;
    uint64_t count;

    if (!has_names(binary))
        return 0;
    message_put_number(begin_request(binary, NAME_FRAMES), offset);
    if (!ask(binary))
        return 0;
    count = message_number(message);
    for (uint64_t i = 0; i < count && i < DWARF_INLINE_MAX; i++) {
        frames[i].name = message_text(message);
        frames[i].file = message_text(message);
        frames[i].line = (unsigned)message_number(message);
        frames[i].column = (unsigned)message_number(message);
        frames[i].inlined = message_number(message) != 0;
        frames[i].scope = message_text(message);
        frames[i].in_lambda = message_number(message) != 0;
    }
    return message->bad || count > DWARF_INLINE_MAX ? 0 : count;
}

bool binary_find_counterpart(struct binary *binary, uint64_t offset, const char *maker,
                             struct dwarf_frame *found)
{
    struct message *message = &binary->process->message;

    if (binary->state != BINARY_COMPLETE || !has_names(binary))
        return false;
    message_put_number(begin_request(binary, NAME_COUNTERPART), offset);
    message_put_text(message, maker);
    if (!ask(binary) || !message->length)
        return false;
    *found = (struct dwarf_frame){.name = message_text(message)};
    found->file = message_text(message);
    found->line = (unsigned)message_number(message);
    return !message->bad && found->name;
}

static bool find_variable(struct binary *binary, const struct variable_location *place,
                          struct binary_variable *found)
{
    struct message *message = &binary->process->message;

    if (!has_names(binary))
        return false;
    begin_request(binary, NAME_VARIABLE);
    message_put_location(message, place);
    if (!ask(binary) || !message->length)
        return false;
    found->symbol = message_text(message);
    found->name = message_text(message);
    found->function = message_text(message);
    found->file = message_text(message);
    found->line = (unsigned)message_number(message);
    found->offset = message_number(message);
    return !message->bad;
}

bool binary_find_data(struct binary *binary, uint64_t address, struct binary_variable *found)
{
    return find_variable(binary, &(struct variable_location){VARIABLE_IN_DATA, {address}}, found);
}

bool binary_find_tls(struct binary *binary, unsigned machine, int64_t offset,
                     struct binary_variable *found)
{
    return find_variable(
        binary, &(struct variable_location){VARIABLE_IN_TLS, {machine, (uint64_t)offset}}, found);
}

bool binary_find_local(struct binary *binary, uint64_t pc, uint64_t cfa, uint64_t address,
                       struct binary_variable *found)
{
    return find_variable(binary, &(struct variable_location){VARIABLE_IN_FRAME, {pc, cfa, address}},
                         found);
}

/* ---- Types of blocks ------------------------------------------------------------------------- */

/* After so many deaths of the name process no more types are asked for; names still are. */
#define DEATHS_FOR_TYPES 4

static struct message *begin_type_request(struct binary *binary, enum type_request what)
{
    struct message *message;

    if (binary->no_types || binary->state != BINARY_COMPLETE ||
        binary->process->deaths >= DEATHS_FOR_TYPES || !open_in_process(binary))
        return NULL;
    message = begin_request(binary, NAME_TYPE);
    message_put_number(message, what);
    return message;
}

/* Sends the pending question about types to the name process. False: the process died, or knows
 * nothing. */
static bool ask_for_type(struct binary *binary)
{
    binary->no_types = !name_process_ask(binary->process);
    return !binary->no_types && binary->process->message.length;
}

bool binary_find_type(struct binary *binary, const struct block_question *question,
                      struct block_type_found *found)
{
    struct message *message = begin_type_request(binary, TYPE_OF_BLOCK);

    if (!message)
        return false;
    type_requests_put_question(message, question);
    return ask_for_type(binary) && type_requests_take_found(message, found);
}

bool binary_find_class(struct binary *binary, const char *name,
                       const struct block_question *question, struct block_type_found *found)
{
    struct message *message = begin_type_request(binary, TYPE_OF_NAME);

    if (!message)
        return false;
    message_put_text(message, name);
    type_requests_put_question(message, question);
    return ask_for_type(binary) && type_requests_take_found(message, found);
}

bool binary_fit_type(struct binary *binary, struct type_id id,
                     const struct block_question *question, struct block_type_found *found)
{
    struct message *message = begin_type_request(binary, TYPE_OF_ID);

    if (!message)
        return false;
    type_requests_put_id(message, id);
    type_requests_put_question(message, question);
    return ask_for_type(binary) && type_requests_take_found(message, found);
}

size_t binary_find_path(struct binary *binary, const struct variable_location *root,
                        const struct type_step *steps, size_t count, struct type_step_found *found)
{
    struct message *message = begin_type_request(binary, TYPE_OF_PATH);

    if (!message)
        return 0;
    type_requests_put_path(message, root, steps, count);
    return ask_for_type(binary) ? type_requests_take_path(&binary->process->message, count, found)
                                : 0;
}

bool binary_find_calls(struct binary *binary, const struct block_question *question,
                       struct passing_calls *found)
{
    struct message *message = begin_type_request(binary, TYPE_CALLS);

    if (!message)
        return false;
    type_requests_put_question(message, question);
    return ask_for_type(binary) && type_requests_take_calls(message, found);
}

static bool ask_about_id(struct binary *binary, enum type_request what, struct type_id id,
                         int64_t value)
{
    struct message *message = begin_type_request(binary, what);

    if (!message)
        return false;
    message_put_number(message, id.unit);
    message_put_number(message, id.offset);
    message_put_number(message, (uint64_t)value);
    return ask_for_type(binary);
}

size_t binary_find_fields(struct binary *binary, struct type_id id,
                          struct named_field fields[TYPE_FIELDS_MOST])
{
    return ask_about_id(binary, TYPE_FIELDS, id, 0)
               ? type_requests_take_fields(&binary->process->message, fields)
               : 0;
}

const char *binary_find_enumerator(struct binary *binary, struct type_id id, int64_t value)
{
    return ask_about_id(binary, TYPE_ENUMERATOR, id, value)
               ? message_text(&binary->process->message)
               : NULL;
}
