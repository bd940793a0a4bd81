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

int main(int argc, char **argv)
{
    Suite *suite = suite_create("python");
    TCase *cases = tcase_create("codes");
    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, equal_content_is_one_record_and_other_content_another);
    tcase_add_test(cases, an_object_that_is_freed_is_forgotten);
    tcase_add_test(cases, names_are_written_in_utf8);
    tcase_add_test(cases, what_is_no_code_has_no_id);
    tcase_add_test(cases, thousands_have_records_which_a_fork_child_has_too);
    suite_add_tcase(suite, cases);
    return unit_main(argc, argv, suite);
}
