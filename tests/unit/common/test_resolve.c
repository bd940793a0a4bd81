/* test_resolve.c - frames of this very program, asked for directly and through --serve-fd's door.
 */
#include <check.h>
#include <link.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/names/resolve.h"
#include "common/names/symbolizer.h"
#include "leak_cpu.h"
#include "tests/unit/suite.h"

static uint64_t asked; /* a return address in known_function() */

static inline __attribute__((always_inline)) void inlined_function(void)
{
    asked = (uint64_t)(uintptr_t)({
        __label__ here;
    here:
        &&here;
    });
    __asm__ volatile("");
}

__attribute__((noinline)) static void known_function(void)
{
    inlined_function();
}

static int first_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

static uint64_t own_offset(void)
{
    uint64_t bias = 0;

    known_function();
    dl_iterate_phdr(first_bias, &bias);
    return asked - bias;
}

static const char *own_path(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[length > 0 ? length : 0] = 0;
    return path;
}

START_TEST(inlined_frames_come_first)
{
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct resolved_module *module =
        resolve_module(resolver, &(struct binary_name){.path = own_path()}, false);
    const struct resolved_place *place = resolve_place(resolver, module, own_offset());

    ck_assert_int_eq(binary_state(module->binary), BINARY_COMPLETE);
    ck_assert_uint_eq(place->count, 2);
    ck_assert_str_eq(place->frames[0].function, "inlined_function");
    ck_assert(place->frames[0].inlined);
    ck_assert_str_eq(place->frames[1].function, "known_function");
    ck_assert_str_eq(base_name(place->frames[1].file), "test_resolve.c");
    ck_assert_ptr_eq(place, resolve_place(resolver, module, own_offset()));
    resolve_end(resolver);
    arena_end(mem);
}
END_TEST

/* ---- Variables ------------------------------------------------------------------------------ */

static struct {
    long before;
    void *words[8];
} known_table = {.before = 1};
void *known_global = &known_table;
static __thread void *known_tls[2] = {&known_global};

static uint64_t own_bias(void)
{
    uint64_t bias = 0;

    dl_iterate_phdr(first_bias, &bias);
    return bias;
}

/* The address of a static local. */
__attribute__((noinline)) static uint64_t known_counter(void)
{
    static void *counter[3];

    __asm__ volatile("" ::"r"(counter) : "memory");
    return (uint64_t)(uintptr_t)&counter[1];
}

static const struct {
    const char *name, *function;
    uint64_t offset;
} variables[] = {
    {"known_global", NULL, 0}, {"known_table", NULL, 24}, {"counter", "known_counter", 8}};

static uint64_t address_of(int i)
{
    return i == 0   ? (uint64_t)(uintptr_t)&known_global
           : i == 1 ? (uint64_t)(uintptr_t)&known_table.words[2]
                    : known_counter();
}

START_TEST(variables_are_named_with_their_function_and_line)
{
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    struct name_process process = name_process_begin(&search);
    struct binary *binary = binary_open(mem, &process, &(struct binary_name){.path = own_path()});
    struct binary_variable found;

    ck_assert(binary_find_data(binary, address_of(_i) - own_bias(), &found));
    ck_assert_str_eq(found.name, variables[_i].name);
    ck_assert_uint_eq(found.offset, variables[_i].offset);
    ck_assert_str_eq(base_name(found.file), "test_resolve.c");
    ck_assert_uint_gt(found.line, 0);
    ck_assert((found.function != NULL) == (variables[_i].function != NULL));
    if (found.function)
        ck_assert_str_eq(found.function, variables[_i].function);
    ck_assert(!binary_find_data(binary, 8, &found));            /* the ELF header */
    ck_assert(!binary_find_data(binary, own_offset(), &found)); /* code */
    binary_close(binary);
    name_process_end(&process);
    arena_end(mem);
}
END_TEST

START_TEST(thread_local_variables_are_named_by_their_place_beside_the_thread_pointer)
{
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    struct name_process process = name_process_begin(&search);
    struct binary *binary = binary_open(mem, &process, &(struct binary_name){.path = own_path()});
    int64_t offset = (char *)&known_tls[1] - (char *)__builtin_thread_pointer();
    struct binary_variable found;

    ck_assert(binary_find_tls(binary, LEAK_CPU_MACHINE, offset, &found));
    ck_assert_str_eq(found.symbol, "known_tls");
    ck_assert_uint_eq(found.offset, sizeof(void *));
    if (LEAK_CPU_MACHINE == EM_X86_64) { /* elsewhere gcc writes no place of such a variable */
        ck_assert_str_eq(found.name, "known_tls");
        ck_assert_str_eq(base_name(found.file), "test_resolve.c");
    }
    ck_assert(!binary_find_tls(binary, LEAK_CPU_MACHINE, offset - (1 << 20), &found));
    ck_assert(!binary_find_tls(binary, LEAK_CPU_MACHINE, offset + (1 << 20), &found));
    ck_assert(!binary_find_tls(binary, EM_SPARC, offset, &found));
    binary_close(binary);
    name_process_end(&process);
    arena_end(mem);
}
END_TEST

static uint64_t frame_pc, frame_cfa, frame_word;

/* Leaves a pointer in its own frame, and says where. The sanitizer would move it elsewhere. */
__attribute__((noinline, no_sanitize("address"))) static void known_frame(void)
{
    void *volatile held[4] = {&known_global};

    frame_pc = (uint64_t)(uintptr_t)({
        __label__ here;
    here:
        &&here;
    });
    frame_cfa = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
    frame_word = (uint64_t)(uintptr_t)&held[2];
    __asm__ volatile("" ::"r"(held) : "memory");
}

START_TEST(variables_on_a_stack_are_named_by_frame)
{
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    struct name_process process = name_process_begin(&search);
    struct binary *binary = binary_open(mem, &process, &(struct binary_name){.path = own_path()});
    struct binary_variable found;

    known_frame();
    frame_pc -= own_bias();
    ck_assert(binary_find_local(binary, frame_pc, frame_cfa, frame_word, &found));
    ck_assert_str_eq(found.name, "held");
    ck_assert_str_eq(found.function, "known_frame");
    ck_assert_uint_eq(found.offset, 16);
    ck_assert(!binary_find_local(binary, frame_pc, frame_cfa, frame_cfa + 64, &found));
    ck_assert(!binary_find_local(binary, own_offset(), frame_cfa, frame_word, &found));
    binary_close(binary);
    name_process_end(&process);
    arena_end(mem);
}
END_TEST

START_TEST(a_file_with_another_build_id_is_never_asked)
{
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct resolved_module *module = resolve_module(
        resolver,
        &(struct binary_name){
            .path = own_path(), .build_id = (const uint8_t *)"\1\2\3\4", .build_id_length = 4},
        false);
    const struct resolved_place *place = resolve_place(resolver, module, own_offset());

    ck_assert_int_eq(binary_state(module->binary), BINARY_REPLACED);
    ck_assert_uint_eq(place->count, 1);
    ck_assert_ptr_null(place->frames[0].function);
    ck_assert_str_eq(module->build_id, "01020304");
    resolve_end(resolver);
    arena_end(mem);
}
END_TEST

/* The build-id of the program itself, from the note that the linker wrote. */
static int copy_build_id(struct dl_phdr_info *info, size_t size, void *context)
{
    struct binary_name *name = context;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + header->p_vaddr);
        const char *end = at + header->p_memsz;

        while (header->p_type == PT_NOTE && at < end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *text = at + sizeof(*note) + ((note->n_namesz + 3) & ~3u);

            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4) {
                name->build_id = (const uint8_t *)text;
                name->build_id_length = note->n_descsz;
                return 1;
            }
            at = text + ((note->n_descsz + 3) & ~3u);
        }
    }
    return 1;
}

START_TEST(a_file_with_two_paths_is_opened_once)
{
    char link[] = "/tmp/test_resolve-XXXXXX";
    struct binary_name name = {.path = own_path()};
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct resolved_module *first, *second, *third;

    dl_iterate_phdr(copy_build_id, &name);
    ck_assert_uint_gt(name.build_id_length, 0);
    ck_assert_int_ge(close(mkstemp(link)), 0);
    ck_assert_int_eq(unlink(link), 0);
    first = resolve_module(resolver, &name, false);
    ck_assert_int_eq(symlink(name.path, link), 0);
    name.path = link;
    second = resolve_module(resolver, &name, false);
    name.build_id_length = 0;
    third = resolve_module(resolver, &name, false); /* any build-id: another question */
    ck_assert_int_eq(unlink(link), 0);
    ck_assert_int_eq(binary_state(first->binary), BINARY_COMPLETE);
    ck_assert_ptr_eq(first->binary, second->binary);
    ck_assert_ptr_ne(first->binary, third->binary);
    ck_assert_str_eq(second->path, link);
    ck_assert_str_eq(resolve_place(resolver, second, own_offset())->frames[1].function,
                     "known_function");
    resolve_end(resolver);
    arena_end(mem);
}
END_TEST

/* A file that kills its reader costs its own names: those of other files are still found. */
START_TEST(death_of_the_reader_costs_one_file)
{
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    struct name_process process = name_process_begin(&search);
    const struct binary_name name = {.path = own_path()};
    struct binary *first = binary_open(mem, &process, &name);
    struct binary *second = binary_open(mem, &process, &name);
    struct dwarf_frame frames[DWARF_INLINE_MAX];

    ck_assert_uint_gt(binary_find_frames(first, own_offset(), frames), 0);
    kill(process.pid, SIGKILL); /* no handler of a sanitizer sees it */
    ck_assert_uint_eq(binary_find_frames(first, own_offset(), frames), 0);
    ck_assert_int_eq(binary_state(first), BINARY_BROKEN);
    ck_assert_int_eq(process.pid, 0);
    ck_assert(WIFSIGNALED(process.ending) && WTERMSIG(process.ending) == SIGKILL);
    ck_assert_uint_gt(binary_find_frames(second, own_offset(), frames), 0);
    ck_assert_int_eq(binary_state(second), BINARY_COMPLETE);
    ck_assert_uint_eq(binary_find_frames(first, own_offset(), frames), 0); /* not asked again */
    ck_assert_uint_eq(process.deaths, 1);
    name_process_end(&process);
    arena_end(mem);
}
END_TEST

/* The other way round: nobody is asked about files for ever. */
START_TEST(readers_that_all_die_are_given_up)
{
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    struct name_process process = name_process_begin(&search);
    unsigned tried = 0;

    for (; tried < 100 && name_process_start(&process); tried++) {
        kill(process.pid, SIGKILL);
        message_clear(&process.message);
        ck_assert(!name_process_ask(&process));
    }
    ck_assert_uint_lt(tried, 20);
    ck_assert_int_eq(
        binary_state(binary_open(mem, &process, &(struct binary_name){.path = own_path()})),
        BINARY_BROKEN);
    name_process_end(&process);
    arena_end(mem);
}
END_TEST

/* An answer that is cut off, too long or in another order is noticed before it is used. */
START_TEST(damaged_messages_are_bad)
{
    struct message message = {0};

    message_put_number(&message, 7);
    message_put_text(&message, "text");
    message_put_text(&message, NULL);
    ck_assert_uint_eq(message_number(&message), 7);
    ck_assert_str_eq(message_text(&message), "text");
    ck_assert_ptr_null(message_text(&message));
    ck_assert(!message.bad);
    ck_assert_uint_eq(message_number(&message), 0);
    ck_assert(message.bad);
    message_clear(&message);
    message_put_number(&message, UINT64_MAX); /* as the length of a text */
    ck_assert_ptr_null(message_text(&message));
    ck_assert(message.bad);
    message_clear(&message);
    message_put_bytes(&message, "a\0b", 4); /* a NUL inside */
    ck_assert_ptr_null(message_text(&message));
    ck_assert(message.bad);
    message_end(&message);
}
END_TEST

static const struct {
    const char *path;
    enum binary_state state;
} unusable[] = {
    {"/nowhere/at/all.so", BINARY_MISSING},
    {"/etc/passwd", BINARY_NOT_ELF},
    {"/tmp", BINARY_NOT_ELF},
    {"/dev/zero", BINARY_NOT_ELF},
    {"linux-vdso.so.1", BINARY_NOT_ELF},
    {"", BINARY_NOT_ELF},
};

START_TEST(what_is_no_binary_says_so)
{
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    struct name_process process = name_process_begin(&search);
    struct binary *binary =
        binary_open(mem, &process, &(struct binary_name){.path = unusable[_i].path});

    ck_assert_msg(binary_state(binary) == unusable[_i].state, "%s: %d", unusable[_i].path,
                  binary_state(binary));
    binary_close(binary);
    name_process_end(&process);
    arena_end(mem);
}
END_TEST

START_TEST(serving_answers_each_line_and_ends_each_answer_with_an_empty_one)
{
    struct binary_search_path search = {0};
    struct arena *mem = arena_begin();
    char *requests, *answers, *at;
    size_t size;
    FILE *in = open_memstream(&requests, &size), *out;

    fprintf(in, "- %llx %s\n", (unsigned long long)own_offset(), own_path());
    fputs("nonsense\n0102 55 /nowhere\n- zz\n\n- 5 \\\\odd\\n path\n- 5 last", in);
    fclose(in);
    in = fmemopen(requests, size, "r");
    out = open_memstream(&answers, &size);
    symbolizer_serve(mem, &search, in, out);
    fclose(out);
    fclose(in);
    ck_assert_msg(strncmp(answers, "inlined_function\t", 17) == 0, "got %s", answers);
    at = strchr(answers, '\n') + 1;
    ck_assert_msg(strncmp(at, "known_function\t", 15) == 0, "got %s", at);
    ck_assert_str_eq(strchr(at, '\n') + 1, "\n\n\n\n\n\n\n");
    free(answers);
    free(requests);
    arena_end(mem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resolve");
    TCase *all = tcase_create("resolve");

    tcase_set_timeout(all, 60);
    tcase_add_test(all, inlined_frames_come_first);
    tcase_add_loop_test(all, variables_are_named_with_their_function_and_line, 0, 3);
    tcase_add_test(all, thread_local_variables_are_named_by_their_place_beside_the_thread_pointer);
    tcase_add_test(all, variables_on_a_stack_are_named_by_frame);
    tcase_add_test(all, a_file_with_another_build_id_is_never_asked);
    tcase_add_test(all, a_file_with_two_paths_is_opened_once);
    tcase_add_loop_test(all, what_is_no_binary_says_so, 0, ROWS(unusable));
    tcase_add_test(all, death_of_the_reader_costs_one_file);
    tcase_add_test(all, readers_that_all_die_are_given_up);
    tcase_add_test(all, damaged_messages_are_bad);
    tcase_add_test(all, serving_answers_each_line_and_ends_each_answer_with_an_empty_one);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
