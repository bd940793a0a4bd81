/* fuzz_names.c - names from ELF files that somebody damaged.
 *
 * One input is one file with one to eight damages: in its headers, in a section that matters for
 * names, or anywhere. It is opened as a module of a recording, and asked for frames and variables at
 * addresses of its code and data, as leakreport asks. libdw may crash on it, in a process of its
 * own: that costs the names of the file, and is counted. The report's side must not crash, and no
 * input may take longer or more memory than the limits of name_server.c say.
 *
 *     fuzz_names RUNS SEED FILE...
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/term_text.h"
#include "common/names/binary.h"
#include "common/names/names.h"
#include "tests/fuzz/damage.h"

#define RANGES_MOST 64
#define ASKED 12 /* addresses of each kind */

struct seed {
    const char *path;
    uint8_t *data;
    size_t size;
    struct {
        size_t from, length;
    } range[RANGES_MOST];
    size_t range_count;
    uint64_t code, code_size, variables, variables_size;
};

static struct {
    unsigned long inputs, deaths, by_signal[65], by_status, named, frames, typed, fields, steps;
    double longest;
} sums;

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_names: %s: %s\n", what, strerror(errno));
    abort();
}

/* ---- Seeds ----------------------------------------------------------------------------------- */

static void add_range(struct seed *seed, size_t from, size_t length)
{
    if (length && from < seed->size && length <= seed->size - from &&
        seed->range_count < RANGES_MOST) {
        seed->range[seed->range_count].from = from;
        seed->range[seed->range_count++].length = length;
    }
}

static int holds_names(const char *section)
{
    static const char *const words[] = {".debug",  ".symtab", ".strtab",   ".dynsym",
                                        ".dynstr", ".note",   ".gnu_debug"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strncmp(section, words[i], strlen(words[i])) == 0)
            return 1;
    return 0;
}

/* The seed is whole: it was just built. */
static void find_ranges(struct seed *seed)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)seed->data;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(seed->data + header->e_shoff);
    const char *names = (const char *)seed->data + sections[header->e_shstrndx].sh_offset;

    add_range(seed, 0, seed->size);
    add_range(seed, 0, sizeof(*header));
    add_range(seed, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr));
    add_range(seed, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
    for (size_t i = 1; i < header->e_shnum; i++) {
        const char *name = names + sections[i].sh_name;

        if (holds_names(name) && sections[i].sh_type != SHT_NOBITS)
            add_range(seed, sections[i].sh_offset, sections[i].sh_size);
        if (strcmp(name, ".text") == 0) {
            seed->code = sections[i].sh_addr;
            seed->code_size = sections[i].sh_size;
        } else if (strcmp(name, ".data") == 0 || strcmp(name, ".bss") == 0) {
            seed->variables = sections[i].sh_addr;
            seed->variables_size = sections[i].sh_size;
        }
    }
    must(seed->code_size && seed->variables_size, "a seed has code and variables");
}

static struct seed read_seed(const char *path)
{
    struct seed seed = {.path = path};
    FILE *stream = fopen(path, "r");
    struct stat status;

    must(stream && fstat(fileno(stream), &status) == 0, path);
    seed.size = (size_t)status.st_size;
    seed.data = malloc(seed.size);
    must(fread(seed.data, 1, seed.size, stream) == seed.size, path);
    fclose(stream);
    find_ranges(&seed);
    return seed;
}

/* ---- One input ------------------------------------------------------------------------------- */

/* What leakreport does with a name. */
static void use_name(struct arena *mem, const char *name, const char *file)
{
    const char *whole = name ? demangle(mem, name) : NULL;

    if (whole) {
        demangle_bare_length(demangle_scope(whole));
        sums.named++;
    }
    classify_frame("/opt/app", whole, file);
}

/* The type of a block that a call there would allocate, and of the fields of that. */
static void ask_types(struct binary *binary, uint64_t pc)
{
    struct block_question question = {
        .address = pc, .sizes = {8 << next_random() % 6, 24}, .size_count = 1 + next_random() % 2};
    struct named_field fields[TYPE_FIELDS_MOST];
    struct block_type_found found;
    struct type_id id = {0, next_random() % 0x4000};

    question.single = next_random() % 2;
    question.cookie = next_random() % 4 == 0;
    question.by_pointer = next_random() % 4 == 0;
    if (binary_find_type(binary, &question, &found) && found.answer == BLOCK_FOUND) {
        sums.typed++;
        id = found.id;
    }
    sums.fields += binary_find_fields(binary, id, fields);
    binary_find_enumerator(binary, id, (int64_t)(next_random() % 4));
    binary_find_class(binary, "Shape", &question, &found);
}

/* What a chain of pointers from a variable leads to. */
static void ask_path(struct binary *binary, uint64_t pc, uint64_t cfa, uint64_t address)
{
    struct variable_location root = {next_random() % 3, {address}};
    struct type_step steps[8] = {{0}};
    struct type_step_found found[8];

    if (root.kind == VARIABLE_IN_FRAME)
        root = (struct variable_location){VARIABLE_IN_FRAME, {pc, cfa, cfa - next_random() % 128}};
    else if (root.kind == VARIABLE_IN_TLS)
        root = (struct variable_location){VARIABLE_IN_TLS, {EM_X86_64, -(next_random() % 64)}};
    for (int i = 0; i < 8; i++) {
        steps[i].offset = 8 * (next_random() % 6);
        steps[i].into = next_random() % 4 ? 0 : 8;
        steps[i].size = 8 << next_random() % 6;
        if (next_random() % 4 == 0)
            steps[i].known = (struct type_id){0, next_random() % 0x4000};
        steps[i].layout = next_random() % TYPE_LAYOUT_MAX;
    }
    sums.steps += binary_find_path(binary, &root, steps, 8, found);
}

static void ask(struct arena *mem, struct binary *binary, const struct seed *seed)
{
    struct dwarf_frame frames[DWARF_INLINE_MAX];
    struct binary_variable found;

    for (int i = 0; i < ASKED; i++) {
        uint64_t pc = seed->code + next_random() % seed->code_size;
        uint64_t cfa = 0x7ffc00001000,
                 address = seed->variables + next_random() % seed->variables_size;
        size_t count = binary_find_frames(binary, pc, frames);

        sums.frames += count;
        for (size_t k = 0; k < count; k++)
            use_name(mem, frames[k].name, frames[k].file);
        if (binary_find_data(binary, address, &found))
            use_name(mem, found.symbol, found.file);
        if (binary_find_local(binary, pc, cfa, cfa - next_random() % 128, &found))
            use_name(mem, found.function, found.file);
        if (binary_find_tls(binary, EM_X86_64, -(int64_t)(next_random() % 64), &found))
            use_name(mem, found.name, found.file);
        ask_types(binary, pc);
        ask_path(binary, pc, cfa, address);
    }
}

static void count_death(struct name_process *process, const struct seed *seed)
{
    if (!process->deaths)
        return;
    fprintf(stderr, "fuzz_names: input %lu, of %s: status %x\n", sums.inputs, seed->path,
            (unsigned)process->ending);
    sums.deaths++;
    if (WIFSIGNALED(process->ending))
        sums.by_signal[WTERMSIG(process->ending)]++;
    else
        sums.by_status++;
    process->deaths = 0; /* each input is a report of its own */
}

static void run_input(struct name_process *process, const struct seed *seed, const char *path)
{
    struct arena *mem = arena_begin();
    uint64_t began = time_now_ns();
    struct binary *binary = binary_open(mem, process, &(struct binary_name){.path = path});

    sums.inputs++;
    ask(mem, binary, seed);
    binary_close(binary);
    process->files = 0; /* the number is free again */
    count_death(process, seed);
    if ((double)(time_now_ns() - began) / 1e9 > sums.longest)
        sums.longest = (double)(time_now_ns() - began) / 1e9;
    arena_end(mem);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    must(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0, path);
}

static void run_damaged(struct name_process *process, const struct seed *seed, const char *path)
{
    uint8_t *copy = malloc(seed->size);
    size_t size = seed->size;

    memcpy(copy, seed->data, size);
    for (uint64_t damages = 1 + next_random() % 8; damages; damages--) {
        size_t which = next_random() % seed->range_count;

        damage_range(copy, size, seed->range[which].from, seed->range[which].length);
    }
    if (next_random() % 32 == 0)
        size = next_random() % size;
    write_file(path, copy, size);
    run_input(process, seed, path);
    free(copy);
}

static void write_sums(unsigned long runs)
{
    struct rusage children;

    getrusage(RUSAGE_CHILDREN, &children);
    printf("fuzz_names: %lu files, %lu frames, %lu names, %lu types, %lu fields, %lu steps; "
           "libdw's process "
           "died of "
           "%lu:",
           runs, sums.frames, sums.named, sums.typed, sums.fields, sums.steps, sums.deaths);
    for (int i = 1; i < 65; i++)
        if (sums.by_signal[i])
            printf(" %lu by %s,", sums.by_signal[i], strsignal(i));
    printf(" %lu by itself; the longest took %.2f s, the largest process %ld MB\n", sums.by_status,
           sums.longest, children.ru_maxrss >> 10);
}

int main(int argc, char **argv)
{
    struct binary_search_path search = {0};
    struct name_process process = name_process_begin(&search);
    unsigned long runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    unsigned long number = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    char path[] = "/tmp/libleak-fuzz-XXXXXX";
    int fd = mkstemp(path);

    must(argc > 3 && fd >= 0, "fuzz_names RUNS SEED FILE...");
    close(fd);
    damage_begin(number);
    for (int i = 3; i < argc; i++) {
        struct seed seed = read_seed(argv[i]);
        unsigned long named = sums.named;

        write_file(path, seed.data, seed.size);
        run_input(&process, &seed, path);
        must(sums.named > named, "a whole file has names");
        for (unsigned long k = 0; k < runs / (unsigned long)(argc - 3); k++)
            run_damaged(&process, &seed, path);
        free(seed.data);
    }
    name_process_end(&process);
    unlink(path);
    write_sums(runs);
    return 0;
}
