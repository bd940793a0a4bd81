/* test_python.c - records of Python code, made from objects as Python 3.11 has them; frames of such objects. */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/python/python.h"
#include "preload/python/python_layout.h"
#include "preload/store/store.h"

static char code_type, string_type, bytes_type;

/* Heads as python_layout.h says; content behind them. */
struct string {
    uintptr_t count, type, length, hash;
    uint32_t state;
    char content[200];
};
struct code {
    uintptr_t count, type;
    char bytes[200];
};
struct lines {
    uintptr_t count, type, length, hash;
    char content[64];
};

/* Zeroed, and kept: records name objects by their address. */
static void *new_object(size_t size)
{
    static char objects[2 << 20] __attribute__((aligned(16)));
    static size_t used;
    void *object = objects + used;
    used += (size + 15) & ~(size_t)15;
    ck_assert_uint_le(used, sizeof objects);
    return object;
}

static struct code *new_code(struct string *file, struct string *name, uint32_t line,
                             struct lines *lines)
{
    const struct python_layout *layout = python_find_layout(0x30b);
    char *code = new_object(sizeof(struct code) + 64);
    memcpy(code + PYTHON_TYPE, &(char *){&code_type}, 8);
    memcpy(code + layout->code.file, &file, 8);
    memcpy(code + layout->code.name, &name, 8);
    memcpy(code + layout->code.lines, &lines, 8);
    memcpy(code + layout->code.first_line, &line, 4);
    return (struct code *)code;
}

static struct string *ascii(const char *text)
{
    struct string *string = new_object(sizeof *string);
    *string = (struct string){1, (uintptr_t)&string_type, strlen(text), 0, 0x60 | 1 << 2, ""};
    memcpy((char *)string + 48, text, strlen(text));
    return string;
}

/* Characters of so many bytes. */
static struct string *wide_string(const void *characters, unsigned width, size_t length)
{
    struct string *string = new_object(sizeof *string);
    *string = (struct string){1, (uintptr_t)&string_type, length, 0, 0x20 | width << 2, ""};
    memcpy((char *)string + 72, characters, length * width);
    return string;
}

static struct lines *table(const char *bytes, size_t length)
{
    struct lines *lines = new_object(sizeof *lines);
    *lines = (struct lines){1, (uintptr_t)&bytes_type, length, 0, ""};
    memcpy((char *)lines + 32, bytes, length);
    return lines;
}

static uint32_t id_of(const struct code *code)
{
    return python_code_id((uintptr_t)code);
}

static void setup(void)
{
    ck_assert_msg(store_create(unit_directory, "python", environ), "no store");
    python_runtime = (struct python_runtime){.state = PYTHON_VERIFIED,
                                             .layout = python_find_layout(0x30b),
                                             .code_type = (uintptr_t)&code_type,
                                             .string_type = (uintptr_t)&string_type,
                                             .bytes_type = (uintptr_t)&bytes_type};
}

static const struct leak_code *record_of(struct leak_header *header, uint32_t id)
{
    const struct leak_chunk *chunk;
    for (uint64_t at = 0; (chunk = view_chunk(header, LEAK_CHUNK_CODES, &at));) {
        const struct leak_code *record = (const void *)(chunk + 1);
        const char *end = (const char *)record + chunk->length;
        for (; (const char *)record < end;
             record = (const void *)((const char *)record + record->length))
            if (record->id == id)
                return record;
    }
    ck_abort_msg("no record of %u", id);
}

START_TEST(fields_of_code_lie_in_what_is_read_of_it)
{
    for (size_t i = 0; i < ARRAY_LENGTH(python_layouts); i++) {
        const struct python_layout *layout = &python_layouts[i];
        ck_assert_uint_le(layout->code.file + 8, PYTHON_CODE_FIELDS);
        ck_assert_uint_le(layout->code.name + 8, PYTHON_CODE_FIELDS);
        ck_assert_uint_le(layout->code.lines + 8, PYTHON_CODE_FIELDS);
        ck_assert_uint_le(layout->code.first_line + 4, PYTHON_CODE_FIELDS);
    }
}
END_TEST

START_TEST(equal_content_is_one_record_and_other_content_another)
{
    const char bytes[] = "\x80\0\xd8\1";
    struct lines *lines = table(bytes, 4);
    uint32_t id = id_of(new_code(ascii("app.py"), ascii("load"), 7, lines));
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_eq(id_of(new_code(ascii("app.py"), ascii("load"), 7, table(bytes, 4))), id);
    ck_assert_uint_ne(id_of(new_code(ascii("app.pz"), ascii("load"), 7, lines)), id);
    ck_assert_uint_ne(id_of(new_code(ascii("app.py"), ascii("loae"), 7, lines)), id);
    ck_assert_uint_ne(id_of(new_code(ascii("app.py"), ascii("load"), 8, lines)), id);
    ck_assert_uint_ne(id_of(new_code(ascii("app.py"), ascii("load"), 7, table(bytes, 3))), id);
    ck_assert(python_codes_check());

    const struct leak_code *record = record_of(store_header, id);
    ck_assert_str_eq(record->text, "app.py");
    ck_assert_str_eq(record->text + 7, "load");
    ck_assert_int_eq(memcmp(record->text + 12, bytes, 4), 0);
    ck_assert_uint_eq(record->first_line, 7);
    ck_assert_uint_eq(record->line_table, LEAK_LINE_TABLE_3_11);
}
END_TEST

static uintptr_t freed;
static void free_code(void *code)
{
    freed = (uintptr_t)code;
}

START_TEST(an_object_that_is_freed_is_forgotten)
{
    uintptr_t type[8] = {0};
    type[PYTHON_TYPE_FREE / 8] = (uintptr_t)free_code;
    python_codes_watch((uintptr_t)type);
    python_codes_watch((uintptr_t)type); /* once */
    struct code *code = new_code(ascii("app.py"), ascii("load"), 7, table("", 0));
    uint32_t id = id_of(code), generation = python_codes.generation;
    memcpy((char *)code + python_runtime.layout->code.first_line, &(uint32_t){9}, 4);
    ck_assert_uint_eq(id_of(code), id); /* as long as it was not freed */
    ((void (*)(void *))type[PYTHON_TYPE_FREE / 8])(code);
    ck_assert_uint_eq(freed, (uintptr_t)code);
    ck_assert_uint_ne(python_codes.generation, generation);
    uint32_t other = id_of(code);
    ck_assert_uint_ne(other, id);
    ck_assert_uint_eq(record_of(store_header, other)->first_line, 9);
}
END_TEST

START_TEST(names_are_written_in_utf8)
{
    const uint16_t two[] = {0xe9, 0x4e2d};
    const uint32_t four[] = {'x', 0x1f600};
    struct string *latin = wide_string("d\xe9", 1, 2);
    uint32_t id = id_of(new_code(latin, wide_string(two, 2, 2), 1, table("", 0)));
    ck_assert_str_eq(record_of(store_header, id)->text, "d\xc3\xa9");
    ck_assert_str_eq(record_of(store_header, id)->text + 4, "\xc3\xa9\xe4\xb8\xad");
    id = id_of(new_code(wide_string(four, 4, 2), ascii("f"), 1, table("", 0)));
    ck_assert_str_eq(record_of(store_header, id)->text, "x\xf0\x9f\x98\x80");
}
END_TEST

START_TEST(what_is_no_code_has_no_id)
{
    struct string *name = ascii("f"), *other = ascii("g");
    struct lines *lines = table("", 0);
    other->type = (uintptr_t)&bytes_type;
    ck_assert_uint_eq(id_of(new_code(other, name, 1, lines)), 0);
    ck_assert_uint_eq(id_of(new_code((void *)16, name, 1, lines)), 0);
    ck_assert_uint_eq(id_of(new_code(name, name, 1, (void *)16)), 0);
    ck_assert_uint_eq(id_of((void *)4096), 0);
    ck_assert(python_codes_check());
}
END_TEST

START_TEST(thousands_have_records_which_a_fork_child_has_too)
{
    struct lines *lines = table("", 0);
    struct string *file = ascii("app.py"), *name = ascii("f");
    uint32_t first = id_of(new_code(file, name, 0, lines)), last = first;
    for (uint32_t i = 1; i < 3000; i++)
        last = id_of(new_code(file, name, i, lines));
    ck_assert_uint_eq(last - first, 2999);
    ck_assert(python_codes_check());

    struct leak_header *parent;
    uint64_t size;
    ck_assert(store_create_child(&parent, &size));
    ck_assert(python_codes_fork_child());
    store_unmap_parent(parent, size);
    ck_assert(python_codes_check());
    ck_assert_uint_eq(id_of(new_code(file, name, 2999, lines)), last);
    ck_assert_uint_eq(id_of(new_code(file, name, 3000, lines)), last + 1);
    ck_assert_str_eq(record_of(store_header, first)->text, "app.py");
}
END_TEST

/* ---- Chains of frames ------------------------------------------------------------------------ */

/* A thread that calls and returns at random, as Python 3.11 keeps its frames: those of calls that
 * return leave their memory to the next ones. */
#define DEPTH_MOST 40
#define CODES 12

static struct {
    uintptr_t state[40], cframe[4];
    char frame[DEPTH_MOST][80] __attribute__((aligned(16)));
    struct code *code[CODES];
    uint32_t depth;
} machine;

static void *machine_state(void)
{
    return machine.state;
}

static void set_word(void *object, unsigned offset, uintptr_t word)
{
    memcpy((char *)object + offset, &word, sizeof word);
}

static void set_instruction(uint32_t frame, uint32_t at)
{
    const struct python_layout *layout = python_runtime.layout;
    uintptr_t code = python_word((uintptr_t)machine.frame[frame], layout->frame.code);
    set_word(machine.frame[frame], layout->frame.instruction,
             code + layout->code.instructions + at);
}

static void set_innermost(void)
{
    uintptr_t frame = machine.depth ? (uintptr_t)machine.frame[machine.depth - 1] : 0;
    set_word(machine.cframe, python_runtime.layout->cframe.frame, frame);
}

static void call_function(const struct code *code, bool from_c, uint32_t at)
{
    const struct python_layout *layout = python_runtime.layout;
    char *frame = machine.frame[machine.depth];
    set_word(frame, layout->frame.code, (uintptr_t)code);
    set_word(frame, layout->frame.previous,
             machine.depth ? (uintptr_t)machine.frame[machine.depth - 1] : 0);
    frame[layout->frame.owner] = from_c;
    set_instruction(machine.depth++, at);
    set_innermost();
}

/* Frees a code object that no frame executes, and makes another function at its address. */
static void replace_code(uint32_t number, uint32_t line, void (*free_object)(void *))
{
    const struct python_layout *layout = python_runtime.layout;
    for (uint32_t i = 0; i < machine.depth; i++)
        if (python_word((uintptr_t)machine.frame[i], layout->frame.code) ==
            (uintptr_t)machine.code[number])
            return;
    free_object(machine.code[number]);
    memcpy((char *)machine.code[number] + layout->code.first_line, &line, 4);
}

/* Reads the frames of the machine and returns them as a call stack below no C frame. */
static const struct unwind_trace *read_machine(struct python_thread *python)
{
    static const struct unwind_bounds bounds = {1, 1};
    static struct unwind_trace none;
    ck_assert(python_read_frames(python, &bounds, 1, UNWIND_DEPTH_MAX));
    return python_merge(python, &bounds, &none);
}

static uint32_t sum_of(const struct unwind_trace *trace)
{
    uint64_t sum = trace->depth;
    for (unsigned i = 0; i < trace->depth; i++)
        sum = hash_u64(sum + trace->step[i].pc + ((uint64_t)trace->step[i].retired << 32));
    return (uint32_t)sum | 1;
}

static void step_machine(void (*free_object)(void *))
{
    uint32_t at = (uint32_t)rand() % 3 * 2;
    switch (rand() % 8) {
    case 0:
    case 1:
    case 2:
        if (machine.depth < DEPTH_MOST)
            call_function(machine.code[rand() % CODES], rand() % 4 == 0, at);
        break;
    case 3:
    case 4:
    case 5:
        machine.depth -= machine.depth > 1;
        set_innermost();
        set_instruction(machine.depth - 1, at);
        break;
    case 6:
        set_instruction(machine.depth - 1, at);
        break;
    default:
        if (rand() % 4 == 0)
            replace_code((uint32_t)rand() % CODES, (uint32_t)rand() % 1000, free_object);
    }
}

START_TEST(a_chain_is_read_as_if_no_earlier_one_had_been_read)
{
    uintptr_t type[8] = {0};
    type[PYTHON_TYPE_FREE / 8] = (uintptr_t)free_code;
    python_codes_watch((uintptr_t)type);
    python_runtime.own_state = machine_state;
    set_word(machine.state, python_runtime.layout->state.cframe, (uintptr_t)machine.cframe);
    for (uint32_t i = 0; i < CODES; i++)
        machine.code[i] = new_code(ascii("app.py"), ascii("f"), i, table("", 0));
    call_function(machine.code[0], true, 0);

    struct python_thread *keeping = NULL, *forgetting = NULL;
    python_thread_of(&keeping);
    python_thread_of(&forgetting);
    uint32_t found = 0;
    for (uint32_t turn = 0; turn < 20000; turn++) {
        step_machine((void (*)(void *))type[PYTHON_TYPE_FREE / 8]);
        python_thread_clear(forgetting);
        const struct unwind_trace *right = read_machine(forgetting), *kept = read_machine(keeping);
        ck_assert_uint_eq(kept->depth, machine.depth);
        ck_assert_uint_eq(right->depth, machine.depth);
        for (unsigned i = 0; i < right->depth; i++) {
            ck_assert_uint_eq(kept->step[i].pc, right->step[i].pc);
            ck_assert_uint_eq(kept->step[i].retired, right->step[i].retired);
        }
        uint32_t number = python_find_number(keeping, 7, 1);
        ck_assert_msg(!number || number == sum_of(right), "turn %u: another stack", turn);
        found += number != 0;
        python_remember(keeping, 7, 1, sum_of(right));
    }
    ck_assert_uint_gt(found, 1000);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("python");
    TCase *cases = tcase_create("codes");
    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, fields_of_code_lie_in_what_is_read_of_it);
    tcase_add_test(cases, equal_content_is_one_record_and_other_content_another);
    tcase_add_test(cases, an_object_that_is_freed_is_forgotten);
    tcase_add_test(cases, names_are_written_in_utf8);
    tcase_add_test(cases, what_is_no_code_has_no_id);
    tcase_add_test(cases, thousands_have_records_which_a_fork_child_has_too);
    tcase_add_test(cases, a_chain_is_read_as_if_no_earlier_one_had_been_read);
    suite_add_tcase(suite, cases);
    return unit_main(argc, argv, suite);
}
