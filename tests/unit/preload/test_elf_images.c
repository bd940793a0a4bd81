/* test_elf_images.c - the objects of this process, read from memory alone, against the loader's
 * list.
 */
#include "tests/unit/preload/unit.h"
#include "preload/roots/elf_images.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

static struct procmaps maps;
static struct elf_images images;
static int in_data = 7, in_bss;
static const int in_constants = 7;
static __thread char in_tls[100];

static void setup(void)
{
    ck_assert(procmaps_read(&maps) && elf_images_find(&maps, &images));
}

static const struct elf_image *image_of(const void *pointer)
{
    return elf_images_at(&images, (uintptr_t)pointer);
}

static bool in_its_data(const struct elf_image *image, const void *pointer)
{
    for (unsigned i = 0; i < image->data_count; i++)
        if ((uintptr_t)pointer - image->data[i].start < image->data[i].end - image->data[i].start)
            return true;
    return false;
}

/* ---- Against the loader --------------------------------------------------------------------- */

static bool same_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * segment,
                          const struct elf_image *image)
{
    const char *note = (const char *)(info->dlpi_addr + segment->p_vaddr);
    const char *end = note + segment->p_memsz;
    for (const ElfW(Nhdr) * head; note < end;
         note += sizeof *head + (head->n_namesz + 3) / 4 * 4 + (head->n_descsz + 3) / 4 * 4) {
        head = (const void *)note;
        if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4)
            return image->build_id_length == head->n_descsz &&
                   memcmp(note + sizeof *head + 4, image->build_id, head->n_descsz) == 0;
    }
    return true; /* not in this segment */
}

static int compare(struct dl_phdr_info *info, size_t size UNUSED, void *count)
{
    const struct elf_image *image;
    unsigned writable = 0;
    uintptr_t vdso = (uintptr_t)info->dlpi_phdr;
    const struct mapping *there = procmaps_find(&maps, vdso);
    if (!there || !there->inode) /* the vDSO has no file */
        return 0;
    image = elf_images_at(&images, (uintptr_t)info->dlpi_phdr);
    ck_assert_msg(image != NULL, "not found: %s", info->dlpi_name);
    ck_assert_msg(image->bias == info->dlpi_addr, "%s: bias %#" PRIxPTR " not %#" PRIxPTR,
                  info->dlpi_name, image->bias, (uintptr_t)info->dlpi_addr);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W) {
            ck_assert_uint_lt(writable, image->data_count);
            ck_assert_uint_eq(image->data[writable].start, start);
            ck_assert_uint_eq(image->data[writable++].end, start + segment->p_memsz);
        }
        if (segment->p_type == PT_LOAD)
            ck_assert(image->start <= start && start + segment->p_memsz <= image->end);
        if (segment->p_type == PT_NOTE)
            ck_assert_msg(same_build_id(info, segment, image), "%s: build-id", info->dlpi_name);
    }
    ck_assert_uint_eq(writable, image->data_count);
    ++*(unsigned *)count;
    return 0;
}

START_TEST(what_is_found_is_what_the_loader_has)
{
    unsigned count = 0;
    dl_iterate_phdr(compare, &count);
    ck_assert_uint_ge(count, 3); /* the program, libc, ld.so */
    ck_assert_uint_eq(count, images.count);
}
END_TEST

/* ---- Segments -------------------------------------------------------------------------------- */

START_TEST(written_globals_are_data_and_constants_are_not)
{
    const struct elf_image *program = image_of(&in_data);
    char exe[600] = "", local;
    ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof exe - 1), 0);
    ck_assert(program && program == image_of(&in_bss) && program == image_of(&in_constants));
    ck_assert_str_eq(program->path, exe);
    ck_assert(in_its_data(program, &in_data) && in_its_data(program, &in_bss));
    ck_assert(!in_its_data(program, &in_constants) && !in_its_data(program, setup));
    ck_assert(!image_of(&local) && !image_of(in_tls) && !image_of(NULL));
}
END_TEST

START_TEST(the_c_library_is_distinguished_from_others)
{
    const struct elf_image *libc = image_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
    ck_assert(libc && elf_images_is_libc(libc) && libc->build_id_length && libc->data_count);
    ck_assert(!elf_images_is_libc(image_of(&in_data)));
}
END_TEST

static const struct {
    const char *path;
    bool libc;
} names[] = {
    {"/lib/x86_64-linux-gnu/libc.so.6", true},
    {"/usr/lib/libc-2.31.so", true},
    {"libc.so.6", true},
    {"/opt/libc.so.6/libother.so", false},
    {"/usr/lib/libcrypto.so.3", false},
    {"/usr/lib/libc++.so.1", false},
    {"/usr/bin/libc", false},
    {"", false},
};

START_TEST(it_is_the_file_name_that_says_so)
{
    struct elf_image image = {.path = names[_i].path};
    ck_assert_msg(elf_images_is_libc(&image) == names[_i].libc, "'%s'", names[_i].path);
}
END_TEST

/* ---- What is no object ----------------------------------------------------------------------- */

/* A file with an object's first bytes, mapped for reading: never a loaded object. */
static void map_bytes(const void *bytes, size_t size)
{
    int fd = memfd_create("object", 0);
    ck_assert(write(fd, bytes, size) == (ssize_t)size && ftruncate(fd, 8192) == 0);
    void *map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    close(fd);
    uint32_t before = images.count;
    setup();
    ck_assert_uint_eq(images.count, before);
    ck_assert_ptr_null(image_of(map));
    munmap(map, 8192);
}

START_TEST(a_file_that_is_only_read_is_no_object)
{
    struct {
        ElfW(Ehdr) head;
        ElfW(Phdr) segment[2];
    } file = {
        .head = {.e_ident = ELFMAG,
                 .e_phentsize = sizeof(ElfW(Phdr)),
                 .e_phoff = sizeof file.head,
                 .e_phnum = 2},
        .segment = {
            {.p_type = PT_LOAD, .p_flags = PF_R, .p_memsz = 4096},
            {.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 1 << 20, .p_memsz = 4096}}};
    map_bytes(&file, sizeof file);
    file.head.e_phnum = 0; /* only a header */
    map_bytes(&file, sizeof file);
    file.head.e_phnum = UINT16_MAX; /* more segments than fit */
    map_bytes(&file, sizeof file);
    file.head.e_phoff = UINT64_MAX - 8;
    map_bytes(&file, sizeof file);
    map_bytes(ELFMAG, 4);
}
END_TEST

START_TEST(an_object_that_goes_is_found_no_more)
{
    void *library = dlopen("libm.so.6", RTLD_NOW);
    if (!library)
        return UNIT_SKIP("no libm here");
    setup();
    const void *cosine = dlsym(library, "cos");
    const struct elf_image *image = image_of(cosine);
    ck_assert(image && strstr(image->path, "libm"));
    dlclose(library);
    setup();
    image = image_of(cosine);
    ck_assert(!image || strstr(image->path, "libm")); /* other code may keep it loaded */
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("elf_images");
    TCase *found = tcase_create("found");
    tcase_add_checked_fixture(found, setup, NULL);
    tcase_add_test(found, what_is_found_is_what_the_loader_has);
    tcase_add_test(found, written_globals_are_data_and_constants_are_not);
    tcase_add_test(found, the_c_library_is_distinguished_from_others);
    tcase_add_loop_test(found, it_is_the_file_name_that_says_so, 0, ARRAY_LENGTH(names));
    tcase_add_test(found, a_file_that_is_only_read_is_no_object);
    tcase_add_test(found, an_object_that_goes_is_found_no_more);
    suite_add_tcase(suite, found);
    return unit_main(argc, argv, suite);
}
