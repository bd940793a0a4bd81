/* test_core_image.c - core files that the tests write: what is read from them, and what is refused. */
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leak_cpu.h"
#include "scan/image/core_image.h"
#include "tests/unit/suite.h"

#define DATA 0x1000
#define SEGMENTS 3

struct core {
    Elf64_Ehdr header;
    Elf64_Phdr segments[SEGMENTS];
};

static struct core core;
static struct image image;
static char path[] = "/tmp/test_core_image.XXXXXX";

static void setup(void)
{
    core = (struct core){.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                                    .e_type = ET_CORE,
                                    .e_machine = LEAK_CPU_MACHINE,
                                    .e_phoff = sizeof(Elf64_Ehdr),
                                    .e_phentsize = sizeof(Elf64_Phdr),
                                    .e_phnum = SEGMENTS}};
    for (int i = 0; i < SEGMENTS; i++)
        core.segments[i] = (Elf64_Phdr){.p_type = PT_LOAD,
                                        .p_flags = PF_R | PF_W,
                                        .p_offset = DATA * (Elf64_Off)(i + 1),
                                        .p_vaddr = 0x10000 * (Elf64_Addr)(i + 1),
                                        .p_filesz = DATA,
                                        .p_memsz = DATA};
    image_begin(&image, arena_begin());
}

static void teardown(void)
{
    struct arena *mem = image.mem;

    image_end(&image);
    arena_end(mem);
    unlink(path);
}

/* Each word of the data is its place in the file. */
static struct core_image *write_and_open(size_t size, const char **trouble)
{
    static uint64_t file[DATA * (SEGMENTS + 1) / 8];
    FILE *stream;

    for (size_t i = 0; i < sizeof(file) / 8; i++)
        file[i] = i * 8;
    memcpy(file, &core, sizeof(core));
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    stream = fdopen(mkstemp(path), "w");
    ck_assert_ptr_nonnull(stream);
    fwrite(file, 1, size < sizeof(file) ? size : sizeof(file), stream);
    fclose(stream);
    return core_image_open(&image, path, NULL, trouble);
}

static uint64_t word_at(uint64_t address)
{
    uint64_t word = 4711;

    return image_read_word(&image, address, &word) ? word : UINT64_MAX;
}

START_TEST(words_come_from_their_place_in_the_file_and_none_from_elsewhere)
{
    const char *trouble;
    struct core_image *opened = write_and_open(SIZE_MAX, &trouble);
    uint64_t words[4];

    ck_assert_msg(opened != NULL, "%s", trouble);
    ck_assert_uint_eq(word_at(0x10008), DATA + 8);
    ck_assert_uint_eq(word_at(0x30ff8), 3 * DATA + 0xff8);
    ck_assert_uint_eq(word_at(0x11000), UINT64_MAX);
    ck_assert_uint_eq(word_at(UINT64_MAX - 7), UINT64_MAX);
    ck_assert(!image_read(&image, 0x10ff0, words, sizeof(words))); /* the rest is zero */
    ck_assert_uint_eq(words[1], DATA + 0xff8);
    ck_assert_uint_eq(words[2], 0);
    ck_assert_uint_eq(core_image_truncated(opened), 0);
    core_image_close(opened);
}
END_TEST

START_TEST(what_a_truncated_file_lacks_is_counted)
{
    const char *trouble;
    struct core_image *opened = write_and_open(3 * DATA + 16, &trouble);

    ck_assert_msg(opened != NULL, "%s", trouble);
    ck_assert_uint_eq(core_image_truncated(opened), DATA - 16);
    ck_assert_uint_eq(word_at(0x30008), 3 * DATA + 8);
    ck_assert_uint_eq(word_at(0x30010), UINT64_MAX);
    core_image_close(opened);
}
END_TEST

START_TEST(segments_have_no_more_data_than_the_file)
{
    const char *trouble;
    struct core_image *opened;

    for (int i = 0; i < SEGMENTS; i++) {
        core.segments[i].p_vaddr = 0x100000000u * (Elf64_Addr)(i + 1);
        core.segments[i].p_offset = 0;
        core.segments[i].p_filesz = core.segments[i].p_memsz = 4 * DATA - 64;
    }
    opened = write_and_open(SIZE_MAX, &trouble);
    ck_assert_msg(opened != NULL, "%s", trouble);
    ck_assert_uint_eq(core_image_truncated(opened), 3 * (4 * DATA - 64) - 4 * DATA);
    core_image_close(opened);
}
END_TEST

/* The last segment is as large as the file will be; its second half is a hole. */
START_TEST(holes_of_the_file_are_not_read)
{
    static uint8_t bytes[8 * DATA];
    const char *trouble;
    struct core_image *opened;

    core.segments[SEGMENTS - 1].p_filesz = core.segments[SEGMENTS - 1].p_memsz = sizeof(bytes);
    opened = write_and_open(SIZE_MAX, &trouble);
    ck_assert_msg(opened != NULL, "%s", trouble);
    core_image_close(opened);
    ck_assert_int_eq(truncate(path, DATA * SEGMENTS + (off_t)sizeof(bytes)), 0);
    image_end(&image);
    image_begin(&image, image.mem);
    opened = core_image_open(&image, path, NULL, &trouble);
    ck_assert_msg(opened != NULL, "%s", trouble);
    ck_assert(image_read_pages(&image, 0x30000, bytes, DATA));
    ck_assert(!image_read_pages(&image, 0x30000 + 4 * DATA, bytes, 4 * DATA));
    ck_assert(image_read_pages(&image, 0x30000, bytes, sizeof(bytes)));
    ck_assert_mem_eq(bytes + DATA, bytes + 4 * DATA, DATA);
    ck_assert_uint_eq(word_at(0x30008), 3 * DATA + 8);
    core_image_close(opened);
}
END_TEST

START_TEST(a_copy_stays_as_it_was_and_covers_what_it_was_made_of)
{
    const char *trouble;
    struct core_image *opened = write_and_open(SIZE_MAX, &trouble);
    const uint8_t *bytes;
    uint64_t word;

    ck_assert_ptr_nonnull(image_keep(&image, 0x10010, 0x10020));
    bytes = image_keep(&image, 0x10000, 0x11000);
    ck_assert_ptr_nonnull(bytes);
    memcpy(&word, bytes + 0x18, sizeof(word));
    ck_assert_uint_eq(word, DATA + 0x18);
    ck_assert_uint_eq(image.copy_count, 1);
    ck_assert_ptr_eq(image_keep(&image, 0x10100, 0x10200), bytes + 0x100);
    ck_assert_ptr_null(image_keep(&image, 5, 5));
    ck_assert(image_check(&image));
    core_image_close(opened);
}
END_TEST

static const struct refused_row {
    size_t place;
    uint8_t byte;
    const char *words;
} refused_rows[] = {
    {0, 0, "not a core file"},
    {EI_CLASS, ELFCLASS32, "another kind of machine"}, /* x86-64's */
    {EI_DATA, ELFDATA2MSB, "another kind of machine"},
    {offsetof(Elf64_Ehdr, e_machine), 77, "another kind of machine"},
    {offsetof(Elf64_Ehdr, e_type), ET_EXEC, "not a core file"},
    {offsetof(Elf64_Ehdr, e_phentsize), 1, "program headers"},
    {offsetof(Elf64_Ehdr, e_phoff) + 6, 1, "program headers"},
    {offsetof(Elf64_Ehdr, e_phnum), 0, "program headers"},
    {offsetof(struct core, segments[1].p_vaddr) + 2, 1, "overlap"},
};

START_TEST(what_is_no_usable_core_is_refused_with_the_reason)
{
    const struct refused_row *row = &refused_rows[_i];
    const char *trouble = NULL;

    ((uint8_t *)&core)[row->place] = row->byte;
    ck_assert_ptr_null(write_and_open(SIZE_MAX, &trouble));
    ck_assert_msg(strstr(trouble, row->words) != NULL, "%s", trouble);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("core_image");
    TCase *tcase = tcase_create("core");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, words_come_from_their_place_in_the_file_and_none_from_elsewhere);
    tcase_add_test(tcase, what_a_truncated_file_lacks_is_counted);
    tcase_add_test(tcase, holes_of_the_file_are_not_read);
    tcase_add_test(tcase, segments_have_no_more_data_than_the_file);
    tcase_add_test(tcase, a_copy_stays_as_it_was_and_covers_what_it_was_made_of);
    tcase_add_loop_test(tcase, what_is_no_usable_core_is_refused_with_the_reason, 0,
                        ROWS(refused_rows));
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
