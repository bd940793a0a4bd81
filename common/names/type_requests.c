/* type_requests.c - writes and reads the messages with questions about types, and answers them. */
#include "common/names/type_requests.h"

#include "common/typeinfo/result_flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct type_id take_id(struct message *message)
{
    struct type_id id = {.unit = message_number(message)};

    id.offset = message_number(message);
    return id;
}

/* ---- Writing and reading questions about types ----------------------------------------------- */

void type_requests_put_question(struct message *message, const struct block_question *question)
{
    message_put_number(message, question->address);
    message_put_number(message, question->size_count);
    for (size_t i = 0; i < question->size_count; i++)
        message_put_number(message, question->sizes[i]);
    message_put_number(message, question->into);
    message_put_number(message, question->single);
    message_put_number(message, question->cookie);
    message_put_number(message, question->by_pointer);
    message_put_number(message, question->by_template);
}

static bool take_question(struct message *message, struct block_question *question)
{
    *question = (struct block_question){.address = message_number(message)};
    question->size_count = message_number(message);
    if (question->size_count > BLOCK_SIZES_MOST)
        return false;
    for (size_t i = 0; i < question->size_count; i++)
        question->sizes[i] = message_number(message);
    question->into = message_number(message);
    question->single = message_number(message);
    question->cookie = message_number(message);
    question->by_pointer = message_number(message);
    question->by_template = message_number(message);
    return !message->bad;
}

/* ---- Writing and reading answers about types ------------------------------------------------- */

void type_requests_put_id(struct message *message, struct type_id id)
{
    message_put_number(message, id.unit);
    message_put_number(message, id.offset);
}

static void put_found(struct message *message, const struct block_type_found *found)
{
    message_put_number(message, found->answer);
    message_put_number(message, found->passed);
    message_put_number(message, found->weak);
    message_put_number(message, found->bytes);
    message_put_text(message, found->name);
    message_put_text(message, found->via);
    message_put_number(message, found->source);
    message_put_number(message, found->size);
    message_put_number(message, found->layout);
    message_put_number(message, found->at);
    message_put_number(message, found->polymorphic);
    type_requests_put_id(message, found->id);
}

/* Copies a text, cut to fit; NULL becomes "". */
static void copy_text(const char *text, char *to, size_t size)
{
    snprintf(to, size, "%s", text ? text : "");
}

bool type_requests_take_found(struct message *message, struct block_type_found *found)
{
    uint64_t answer = message_number(message), source, layout;

    *found = (struct block_type_found){.answer = BLOCK_UNKNOWN};
    found->passed = message_number(message);
    found->weak = message_number(message);
    found->bytes = message_number(message);
    copy_text(message_text(message), found->name, sizeof(found->name));
    copy_text(message_text(message), found->via, sizeof(found->via));
    source = message_number(message);
    found->size = message_number(message);
    layout = message_number(message);
    found->at = message_number(message);
    found->polymorphic = message_number(message);
    found->id = take_id(message);
    if (message->bad || answer >= BLOCK_ANSWER_MAX || source >= TYPE_SOURCE_MAX ||
        layout >= TYPE_LAYOUT_MAX ||
        (answer == BLOCK_FOUND &&
         (!*found->name || (!found->size && source != TYPE_BY_ALLOCATOR)))) {
        *found = (struct block_type_found){.answer = BLOCK_UNKNOWN};
        return false;
    }
    found->answer = (enum block_answer)answer;
    found->source = (enum type_source)source;
    found->layout = (enum type_layout)layout;
    return true;
}

static void put_field(struct message *message, Dwarf *dwarf, struct type_field *field)
{
    struct type_id to = {.offset = 0};
    char name[TYPE_NAME_SIZE];
    bool text = false;
    Dwarf_Die pointee, plain;

    if (field->form == FIELD_POINTER && type_pointee(&field->type, &pointee) &&
        type_make_plain(&pointee, &plain)) {
        text = type_is_bytes(&plain);
        to = type_id_of(dwarf, &pointee);
    }
    type_write_name(&field->type, name);
    message_put_text(message, field->name);
    message_put_text(message, name);
    message_put_number(message, field->offset);
    message_put_number(message, field->size);
    message_put_number(message, field->count);
    message_put_number(message, field->form);
    message_put_number(message, field->role);
    message_put_number(message, field->bit_offset);
    message_put_number(message, field->bit_size);
    message_put_number(message, text);
    type_requests_put_id(message, type_id_of(dwarf, &field->type));
    type_requests_put_id(message, to);
}

static void put_fields(const struct elf_binary_parts *parts, struct type_id id,
                       struct message *answer)
{
    struct type_field fields[TYPE_FIELDS_MOST];
    Dwarf_Die type;
    size_t count;

    if (!type_id_find(parts->dwarf, id, &type))
        return;
    count = type_fields(&type, fields);
    message_put_number(answer, count);
    for (size_t i = 0; i < count; i++)
        put_field(answer, parts->dwarf, &fields[i]);
}

static void take_field(struct message *message, struct named_field *field)
{
    uint64_t form, role;

    copy_text(message_text(message), field->name, sizeof(field->name));
    copy_text(message_text(message), field->type, sizeof(field->type));
    field->offset = message_number(message);
    field->size = message_number(message);
    field->count = message_number(message);
    form = message_number(message);
    field->form = form < FIELD_FORM_MAX ? (enum field_form)form : FIELD_BYTES;
    role = message_number(message);
    field->role = role < POINTER_ROLE_MAX ? (enum pointer_role)role : POINTER_PLAIN;
    field->bit_offset = (unsigned)message_number(message);
    field->bit_size = (unsigned)message_number(message);
    field->text = message_number(message);
    field->id = take_id(message);
    field->to = take_id(message);
}

size_t type_requests_take_fields(struct message *message,
                                 struct named_field fields[TYPE_FIELDS_MOST])
{
    uint64_t count = message_number(message);

    if (count > TYPE_FIELDS_MOST)
        return 0;
    for (uint64_t i = 0; i < count; i++)
        take_field(message, &fields[i]);
    return message->bad ? 0 : count;
}

/* ---- Questions and answers about paths of pointers ------------------------------------------- */

void type_requests_put_path(struct message *message, const struct variable_location *root,
                            const struct type_step *steps, size_t count)
{
    message_put_location(message, root);
    message_put_number(message, count);
    for (size_t i = 0; i < count; i++) {
        message_put_number(message, steps[i].offset);
        message_put_number(message, steps[i].into);
        message_put_number(message, steps[i].size);
        type_requests_put_id(message, steps[i].known);
        message_put_number(message, steps[i].layout);
    }
}

static bool take_steps(struct message *message, struct type_step steps[TYPE_STEPS_MOST],
                       size_t *count)
{
    *count = message_number(message);
    if (*count > TYPE_STEPS_MOST)
        return false;
    for (size_t i = 0; i < *count; i++) {
        steps[i] = (struct type_step){.offset = message_number(message)};
        steps[i].into = message_number(message);
        steps[i].size = message_number(message);
        steps[i].known = take_id(message);
        steps[i].layout = (enum type_layout)message_number(message);
    }
    return !message->bad;
}

static void put_step(struct message *message, const struct type_step_found *found)
{
    message_put_number(message, found->named);
    message_put_text(message, found->word);
    message_put_number(message, found->cast);
    message_put_text(message, found->link);
    message_put_number(message, found->pointed);
    put_found(message, &found->block);
}

static bool take_step(struct message *message, struct type_step_found *found)
{
    uint64_t cast;

    found->named = message_number(message);
    copy_text(message_text(message), found->word, sizeof(found->word));
    cast = message_number(message);
    copy_text(message_text(message), found->link, sizeof(found->link));
    found->pointed = message_number(message);
    found->cast = cast < CAST_MAX ? (enum type_cast)cast : CAST_NONE;
    return type_requests_take_found(message, &found->block) && cast < CAST_MAX;
}

size_t type_requests_take_path(struct message *message, size_t count, struct type_step_found *found)
{
    size_t taken = 0, sent = message_number(message);

    while (taken < count && taken < sent && take_step(message, &found[taken]))
        taken++;
    return taken;
}

static void answer_path(struct elf_binary *binary, const struct elf_binary_parts *parts,
                        struct type_index *types, struct message *request, struct message *answer)
{
    static struct type_step_found found[TYPE_STEPS_MOST];
    struct type_step steps[TYPE_STEPS_MOST];
    struct variable_location place;
    struct binary_variable root = {0};
    size_t count;

    message_take_location(request, &place);
    if (!elf_binary_find_variable(binary, &place, &root) || !root.has_die ||
        !take_steps(request, steps, &count) || !count)
        return;
    steps[0].offset = root.offset;
    type_path_find(parts, types, &root.die, steps, count, found);
    message_put_number(answer, count);
    for (size_t i = 0; i < count; i++)
        put_step(answer, &found[i]);
}

_Static_assert(FLOW_CALLS_MOST <= PASSING_CALLS_MOST, "a message has all calls of a flow");

/* ---- Calls that get a block ------------------------------------------------------------------ */

static int by_address(const void *left, const void *right)
{
    const struct flow_call *a = left, *b = right;

    return COMPARE(a->from, b->from);
}

/* Writes the name of the function that is called. */
static void put_called(struct elf_binary *binary, const struct program_code *code, uint64_t address,
                       struct message *answer)
{
    struct dwarf_frame frames[DWARF_INLINE_MAX];
    const char *name = program_code_import(code, address);
    size_t count = name ? 0 : elf_binary_find_frames(binary, address, frames);

    message_put_text(answer, count ? frames[count - 1].name : name);
    message_put_number(answer, name != NULL);
}

/* Says whether the function returns a pointer, by its debug information. */
static bool returns_pointer(const struct program_code *code)
{
    Dwarf_Die function = code->function, type, plain;

    return type_of_die(&function, &type) && type_make_plain(&type, &plain) &&
           type_is_pointer(&plain);
}

static void answer_calls(struct elf_binary *binary, const struct elf_binary_parts *parts,
                         struct message *request, struct message *answer)
{
    struct dwarf_frame frames[DWARF_INLINE_MAX];
    struct block_question question;
    struct program_code code;
    struct result_flow flow;
    struct result_call call = {.back = 0};

    if (!take_question(request, &question) || !program_code_begin(&code, parts, question.address))
        return;
    call.back = question.address + 1;
    call.by_pointer = question.by_pointer;
    result_flow_find(&code, &call, &flow);
    qsort(flow.calls, flow.call_count, sizeof(*flow.calls), by_address);
    message_put_number(answer, flow.returned && returns_pointer(&code));
    message_put_number(answer, flow.pointer);
    message_put_number(answer, flow.call_count);
    for (size_t i = 0; i < flow.call_count; i++) {
        put_called(binary, &code, flow.calls[i].function, answer);
        frames[0] = (struct dwarf_frame){.name = NULL};
        elf_binary_find_frames(binary, flow.calls[i].from, frames);
        message_put_text(answer, frames[0].file);
        message_put_number(answer, frames[0].line);
    }
    program_code_end(&code);
}

bool type_requests_take_calls(struct message *message, struct passing_calls *found)
{
    *found = (struct passing_calls){.returned = message_number(message)};
    found->pointer = message_number(message);
    found->count = message_number(message);
    if (found->count > PASSING_CALLS_MOST)
        message->bad = true;
    for (size_t i = 0; i < found->count && !message->bad; i++) {
        found->calls[i].function = message_text(message);
        found->calls[i].imported = message_number(message) != 0;
        found->calls[i].file = message_text(message);
        found->calls[i].line = (unsigned)message_number(message);
    }
    return !message->bad;
}

/* ---- Answering questions in the name process ------------------------------------------------- */

static void answer_type(const struct elf_binary_parts *parts, struct type_index *types,
                        enum type_request what, struct message *request, struct message *answer)
{
    struct type_id id = {.offset = 0};
    struct block_question question;
    struct block_type_found found;
    const char *name = what == TYPE_OF_NAME ? message_text(request) : NULL;
    Dwarf_Die type;

    if (what == TYPE_OF_ID)
        id = take_id(request);
    if (!take_question(request, &question))
        return;
    if (what == TYPE_OF_BLOCK)
        block_type_find(parts, types, &question, &found);
    else if (what == TYPE_OF_ID && type_id_find(parts->dwarf, id, &type))
        block_type_fit(parts, types, &question, &type, &found);
    else if (name)
        block_type_find_class(parts, types, &question, name, &found);
    else
        return;
    put_found(answer, &found);
}

void type_requests_answer(struct elf_binary *binary, struct type_index *types,
                          struct message *request, struct message *answer)
{
    enum type_request what = (enum type_request)message_number(request);
    struct elf_binary_parts parts;
    struct type_id id;
    Dwarf_Die type;

    if (!elf_binary_parts(binary, &parts))
        return;
    if (what == TYPE_OF_BLOCK || what == TYPE_OF_NAME || what == TYPE_OF_ID) {
        answer_type(&parts, types, what, request, answer);
        return;
    }
    if (what == TYPE_OF_PATH) {
        answer_path(binary, &parts, types, request, answer);
        return;
    }
    if (what == TYPE_CALLS) {
        answer_calls(binary, &parts, request, answer);
        return;
    }
    id = take_id(request);
    if (what == TYPE_FIELDS)
        put_fields(&parts, id, answer);
    else if (what == TYPE_ENUMERATOR && type_id_find(parts.dwarf, id, &type))
        message_put_text(answer, type_enumerator(&type, (int64_t)message_number(request)));
}
