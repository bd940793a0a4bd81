/* callgrind.c - writes a profile for callgrind_annotate and KCachegrind; described in formats.h.
 *
 * Every weight is two events, bytes and blocks. A function has costs of its own in the lines that
 * allocate, and for each line that calls another function the inclusive costs of that call. A call
 * of a function by itself is left out: readers would count its inclusive costs twice.
 */
#include "symbolize/formats/formats.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/encode/encode.h"
#include "symbolize/profile/profile.h"

/* The first weight in the profile. The weight "listed" is left out, because it depends on the
 * options of the report. */
#define FIRST WEIGHT_LEAKED

/* A line of a function, with the amounts that it allocated itself, or that the function called in
 * this line allocated. */
struct cost {
    uint32_t line;
    /* callee: the called function, as index + 1; 0 = the line itself allocates */
    uint32_t callee, callee_line;
    uint32_t next; /* the next cost of the function, as index + 1; 0 = none */
    /* the last stack that was added to this cost, as index + 1: a stack counts once */
    size_t last;
    struct amount of[WEIGHT_MAX];
};

struct function {
    const struct frame *frame; /* NULL = the function has only a label */
    const char *label;
    uint32_t costs; /* the first cost of the function, as index + 1 */
};

struct writing {
    struct heap_profile profile;
    FILE *stream;
    struct function *functions;
    size_t function_count, function_capacity;
    struct cost *costs;
    size_t cost_count, cost_capacity;
    /* hash of a name -> function, and hash of a function and line -> cost; both as index + 1 */
    struct hashmap by_name, by_line;
    /* hash of a path -> number that stands for the path in the file */
    struct hashmap files, modules;
};

/* ---- Adding up the costs of functions -------------------------------------------------------- */

static uint32_t function_of(struct writing *writing, const struct frame *frame, const char *label)
{
    char buffer[FRAME_NAME_SIZE];
    const char *name = label ? label : frame_name(frame, buffer);
    const char *file = frame && frame->file ? frame->file : "";
    uint64_t key = hash_text(hash_text(5, name, strlen(name)), file, strlen(file));
    uint64_t *slot = hashmap_put(&writing->by_name, key, NULL);

    if (!*slot) {
        writing->functions = array_grow(writing->functions, &writing->function_capacity,
                                        writing->function_count + 1, sizeof(*writing->functions));
        writing->functions[writing->function_count++] = (struct function){frame, label, 0};
        *slot = writing->function_count;
    }
    return (uint32_t)*slot;
}

static void add_cost(struct writing *writing, size_t stack, uint32_t function, struct cost made)
{
    uint64_t key = hash_mix(hash_mix(function, made.line), made.callee);
    uint64_t *slot = hashmap_put(&writing->by_line, key, NULL);
    struct cost *cost;

    if (!*slot) {
        writing->costs = array_grow(writing->costs, &writing->cost_capacity,
                                    writing->cost_count + 1, sizeof(*writing->costs));
        made.next = writing->functions[function - 1].costs;
        writing->costs[writing->cost_count++] = made;
        *slot = writing->functions[function - 1].costs = (uint32_t)writing->cost_count;
    }
    cost = &writing->costs[*slot - 1];
    if (cost->last == stack + 1)
        return;
    cost->last = stack + 1;
    for (enum weight weight = FIRST; weight < WEIGHT_MAX; weight++)
        amount_add(&cost->of[weight], writing->profile.stacks[stack].of[weight]);
}

static void add_stack(struct writing *writing, size_t index)
{
    const struct profile_stack *stack = &writing->profile.stacks[index];
    uint32_t callee = 0, callee_line = 0;

    if (stack->label)
        add_cost(writing, index, function_of(writing, NULL, stack->label), (struct cost){0});
    for (size_t i = 0; i < stack->count; i++) {
        const struct frame *frame = stack->frames[i];
        uint32_t function = function_of(writing, frame, NULL);

        if (function != callee)
            add_cost(
                writing, index, function,
                (struct cost){.line = frame->line, .callee = callee, .callee_line = callee_line});
        callee = function;
        callee_line = frame->line;
    }
}

/* ---- Writing the file ------------------------------------------------------------------------ */

/* Writes the name of a function or file, as the rest of a line. The first time it is "(12) NAME",
 * later only "(12)"; readers take "(12)" at the start for the number of the name. */
static void write_callgrind_name(struct hashmap *known, const char *field, const char *name,
                                 uint64_t key, FILE *stream)
{
    bool fresh;
    uint64_t *number = hashmap_put(known, key, &fresh);

    if (fresh)
        *number = known->used;
    fprintf(stream, "%s=(%" PRIu64 ")", field, *number);
    if (fresh) {
        putc(' ', stream);
        escape_line(stream, name);
    }
    putc('\n', stream);
}

static void write_callgrind_path(struct hashmap *known, const char *field, const char *path,
                                 FILE *stream)
{
    path = path ? path : "???";
    write_callgrind_name(known, field, path, hash_text(6, path, strlen(path)), stream);
}

/* Writes the name of a function with its module and file. file: the file of the function before; a
 * callee in this file is written without a file, because readers shorten only the paths of
 * functions. */
static void write_function_name(struct writing *writing, struct hashmap *known, const char *prefix,
                                uint32_t number, const char *file)
{
    const struct function *function = &writing->functions[number - 1];
    const struct frame *frame = function->frame;
    char buffer[FRAME_NAME_SIZE], field[8];

    snprintf(field, sizeof(field), "%sob", prefix);
    write_callgrind_path(&writing->modules, field, frame ? frame->module : NULL, writing->stream);
    if (!file || !frame || !frame->file || strcmp(frame->file, file) != 0) {
        snprintf(field, sizeof(field), *prefix ? "%sfi" : "fl", prefix);
        write_callgrind_path(&writing->files, field, frame ? frame->file : NULL, writing->stream);
    }
    snprintf(field, sizeof(field), "%sfn", prefix);
    write_callgrind_name(known, field, frame ? frame_name(frame, buffer) : function->label, number,
                         writing->stream);
}

/* Returns a number of calls for the file. The true number is unknown; the number of blocks that the
 * call allocated is used instead. */
static uint64_t calls_of(const struct cost *cost)
{
    uint64_t most = 1;

    for (enum weight weight = FIRST; weight < WEIGHT_MAX; weight++)
        most = cost->of[weight].blocks > most ? cost->of[weight].blocks : most;
    return most;
}

static void write_amounts(const struct amount of[WEIGHT_MAX], FILE *stream)
{
    for (enum weight weight = FIRST; weight < WEIGHT_MAX; weight++)
        fprintf(stream, " %" PRIu64 " %" PRIu64, of[weight].bytes, of[weight].blocks);
    putc('\n', stream);
}

static void write_functions(struct writing *writing)
{
    struct hashmap names = {0};

    for (size_t i = 0; i < writing->function_count; i++) {
        const struct frame *frame = writing->functions[i].frame;
        const char *file = frame && frame->file ? frame->file : "???";

        putc('\n', writing->stream);
        write_function_name(writing, &names, "", (uint32_t)i + 1, NULL);
        for (uint32_t at = writing->functions[i].costs; at; at = writing->costs[at - 1].next) {
            const struct cost *cost = &writing->costs[at - 1];

            if (cost->callee) {
                write_function_name(writing, &names, "c", cost->callee, file);
                fprintf(writing->stream, "calls=%" PRIu64 " %" PRIu32 "\n", calls_of(cost),
                        cost->callee_line);
            }
            fprintf(writing->stream, "%" PRIu32, cost->line);
            write_amounts(cost->of, writing->stream);
        }
    }
    hashmap_end(&names);
}

/* Writes the events and their names, like "LeakedBytes". */
static void write_events(FILE *stream)
{
    static const char *const units[] = {"Bytes", "Blocks"};

    for (enum weight weight = FIRST; weight < WEIGHT_MAX; weight++)
        for (int unit = 0; unit < 2; unit++)
            fprintf(stream, "event: %c%s%s : %s %s\n", toupper(*weight_word[weight]),
                    weight_word[weight] + 1, units[unit], unit ? "blocks" : "bytes",
                    weight_words[weight]);
    fputs("events:", stream);
    for (enum weight weight = FIRST; weight < WEIGHT_MAX; weight++)
        for (int unit = 0; unit < 2; unit++)
            fprintf(stream, " %c%s%s", toupper(*weight_word[weight]), weight_word[weight] + 1,
                    units[unit]);
    putc('\n', stream);
}

static void write_callgrind_head(const struct report *report, FILE *stream)
{
    const struct process *process = report->process_count ? &report->processes[0] : NULL;

    fputs("# callgrind format\nversion: 1\ncreator: libleak " LEAK_VERSION "\n", stream);
    if (process && process->pid)
        fprintf(stream, "pid: %" PRId32 "\n", process->pid);
    if (process)
        fputs("cmd: ", stream);
    for (size_t i = 0; process && i < process->argc; i++) {
        fputs(i ? " " : "", stream);
        escape_line(stream, process->argv[i]);
    }
    fputs(process ? "\npositions: line\n" : "positions: line\n", stream);
    write_events(stream);
}

void callgrind_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.profile = heap_profile_begin(report, view, true), .stream = stream};

    for (size_t i = 0; i < writing.profile.count; i++)
        add_stack(&writing, i);
    write_callgrind_head(report, stream);
    write_functions(&writing);
    fputs("\ntotals:", stream);
    write_amounts(writing.profile.total, stream);
    hashmap_end(&writing.by_name);
    hashmap_end(&writing.by_line);
    hashmap_end(&writing.files);
    hashmap_end(&writing.modules);
    free(writing.functions);
    free(writing.costs);
    heap_profile_end(&writing.profile);
}
