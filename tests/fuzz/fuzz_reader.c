/* fuzz_reader.c - leakreport against stores that somebody damaged.
 *
 * One input is one store file. It goes the whole way (reader, grouping, text, JSON), except that no
 * file it names is opened. Built with AddressSanitizer and UBSan; a libFuzzer build takes the same
 * function. The main() here replays a folder of stores, cuts a store off at every byte, and
 * damages stores at random:   fuzz_reader [RUNS [SEED [STORE...]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbolize/build/build.h"
#include "common/store/reader.h"
#include "common/view/format_api.h"
#include "tests/fuzz/damage.h"
#include "tests/unit/common/store_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_reader: %s\n", what);
    abort();
}

static FILE *nowhere(void)
{
    static FILE *stream;

    if (!stream)
        stream = fopen("/dev/null", "w");
    return stream;
}

/* The first two of every store, of the others one in turn: each has its damages, in a fraction of the
 * time. */
static void write_formats(const struct report *report, const struct view *view)
{
    static size_t turn = 2;

    format_at(0)->write(report, view, nowhere());
    format_at(1)->write(report, view, nowhere());
    if (!format_at(turn))
        turn = 2;
    format_at(turn++)->write(report, view, nowhere());
}

/* As leakreport does it: the recording and its arena end before the report is written. */
static void report_on(struct arena *raw, struct store *store)
{
    struct arena *mem = arena_begin();
    struct binary_search_path search = {.never_open = true};
    struct suppressions *suppressions = suppress_begin();
    struct build_options options = {.group = {.inherited = true, .suppressions = suppressions},
                                    .recent = {.all = true},
                                    .who = {.wanted = true}};
    struct resolver *resolver = resolve_begin(mem, &search);
    struct process process[2];
    struct report report = {.processes = process, .process_count = 2};
    struct view view = {
        .top = 20, .verbose = true, .all_frames = true, .colour = true, .links = true};

    memset(view.show, 1, sizeof(view.show));
    if (store->look)
        options.who.address = store->look->head.asked.address;
    build_process(mem, resolver, store, &options, &process[0]);
    build_process(mem, resolver, store, &options, &process[1]);
    store_end(store);
    arena_end(raw);
    build_finish(&report, &options);
    write_formats(&report, &view);
    view.freed = true;
    format_at(0)->write(&report, &view, nowhere());
    view.freed = false;
    view.who = true;
    format_at(0)->write(&report, &view, nowhere());
    view.who = false;
    view.owners = true;
    format_at(0)->write(&report, &view, nowhere());
    view.owners = false;
    view.by = BY_TAG;
    format_at(0)->write(&report, &view, nowhere());
    resolve_end(resolver);
    suppress_end(suppressions);
    arena_end(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *mem = arena_begin();
    struct extent extent;
    struct store_image image = store_image_borrow(data, size, &extent);
    struct store store;
    struct read_error trouble;
    const char *broken;
    char words[256];

    if (reader_parse(mem, &image, &store, &trouble)) {
        must(store_check(&store, &broken), broken);
        report_on(mem, &store);
        return 0;
    }
    read_error_text(&trouble, words, sizeof(words));
    must(trouble.code != ERROR_NONE, "refused for no reason");
    arena_end(mem);
    return 0;
}

#ifndef LIBFUZZER

/* A copy in memory of its own size, so that the sanitizer sees one byte too many. */
static void run_copy(const uint8_t *data, size_t size, unsigned damages)
{
    uint8_t *copy = malloc(size ? size : 1);

    memcpy(copy, data, size);
    while (size && damages--)
        damage_once(copy, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static uint8_t *read_whole(const char *path, size_t *size)
{
    FILE *stream = fopen(path, "r");
    uint8_t *data = malloc((size_t)4 << 20);

    must(stream != NULL, path);
    *size = fread(data, 1, (size_t)4 << 20, stream);
    fclose(stream);
    return data;
}

static void run_all(const uint8_t *data, size_t size, unsigned long runs)
{
    run_copy(data, size, 0);
    for (unsigned long i = 0; i < runs; i++)
        run_copy(data, size, 1 + (unsigned)(next_random() % 8));
}

int main(int argc, char **argv)
{
    unsigned long runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : (unsigned long)time(NULL);
    static const struct leak_resource opened[] = {
        {.state = LEAK_RESOURCE_OPEN, .type = LEAK_RESOURCE_FD, .name_length = 16, .name = "\2",
         .name_form = LEAK_NAME_PEER, .opened = {LEAK_NODE_FIRST, 1, 1}},
        {.state = LEAK_RESOURCE_OPEN, .type = LEAK_RESOURCE_FD, .name_length = 40, .name = "\1\0/s",
         .name_form = LEAK_NAME_LOCAL, .opened = {LEAK_NODE_FIRST + 1, 1, 1}},
        {.state = LEAK_RESOURCE_OPEN, .type = LEAK_RESOURCE_THREAD, .bytes = 2, .id = 9,
         .opened = {LEAK_NODE_FIRST, 1, 1}},
        {.state = LEAK_RESOURCE_OPEN, .type = LEAK_RESOURCE_FILE, .sort = LEAK_SORT_POPEN, .fd = 7,
         .name_length = 4, .name = "true", .opened = {LEAK_NODE_FIRST, 1, 1}},
        {.state = LEAK_RESOURCE_BAD_CLOSE, .type = LEAK_RESOURCE_FD, .id = 5, .count = 3,
         .opened = {LEAK_NODE_FIRST, 1, 1}, .closed = {LEAK_NODE_FIRST + 1, 2, 2},
         .again = {LEAK_NODE_FIRST, 1, 3}},
        {.state = LEAK_RESOURCE_TOTALS},
    };
    struct store_builder example = builder_looked();
    static struct leak_crash crash = {.state = LEAK_CRASH_FATAL,
                                      .signal = 11,
                                      .code = 1,
                                      .flags = LEAK_CRASH_HAS_ADDRESS,
                                      .address = 0xa008,
                                      .register_count = 16,
                                      .frame_count = 2,
                                      .outer_count = 2,
                                      .frames = {{0x1500, 0, 0}, {0x1200, 2, 1000}},
                                      .outer = {0x1100, 0x1100}};

    printf("fuzz_reader: %lu damages, seed %lu (again: %s %lu %lu)\n", runs, seed, argv[0], runs,
           seed);
    fflush(stdout);
    damage_begin(seed);
    builder_header(&example)->sample = 4096;
    builder_crash(&example, &crash, "/opt/app", 0x1000, 0x9000);
    builder_resources(&example, opened, sizeof(opened) / sizeof(*opened));
    builder_history(&example, 2, LEAK_ROWS_A_CHUNK, 1 << 20);
    builder_suppressions(&example, "its own", "leak:known\n{\nx\nMemcheck:Leak\n...\nobj:*\n}\n");
    for (size_t size = 0; size <= example.size; size++)
        run_copy(example.data, size, 0);
    run_all(example.data, example.size, runs);
    for (int i = 3; i < argc; i++) {
        size_t size;
        uint8_t *data = read_whole(argv[i], &size);

        run_all(data, size, runs / 10);
        free(data);
    }
    builder_end(&example);
    return 0;
}

#endif
