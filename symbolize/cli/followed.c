/* followed.c - chooses the blocks that a further run follows, for leakrun --when-lost; described in
 * followed.h.
 */
#include "symbolize/cli/followed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/processes/store_list.h"
#include "common/store/reader.h"
#include "symbolize/build/build.h"
#include "symbolize/heap/heap.h"
#include "symbolize/text/text.h"

#define BLOCKS_MOST 3 /* most blocks of one record that a run follows */

/* ---- Reading the recordings of further runs -------------------------------------------------- */

/* Adds the results of one recording file to the report. Returns how many of the blocks that the run
 * followed belong to records of the report. */
static size_t read_followed_store(struct arena *mem, struct resolver *resolver, const char *path,
                                  bool refine, struct report *report)
{
    struct arena *own = arena_begin();
    struct store store;
    struct read_error trouble;
    size_t found = 0;

    if (reader_open(own, path, &store, &trouble)) {
        foreign_file_add_reader(store.owner);
        for (size_t i = 0; i < report->process_count; i++)
            found += when_lost_fill(mem, resolver, &store, refine, &report->processes[i]);
        store_end(&store);
    }
    arena_end(own);
    return found;
}

static size_t read_followed_dir(struct arena *mem, struct resolver *resolver, const char *dir,
                                bool refine, struct report *report)
{
    struct store_list stores;
    size_t found = 0;

    store_list_read(&stores, dir, 0, 0);
    for (size_t i = 0; i < stores.count; i++)
        if (stores.at[i].readable)
            found += read_followed_store(mem, resolver, stores.at[i].path, refine, report);
    store_list_free(&stores);
    return found;
}

size_t followed_read(struct arena *mem, struct resolver *resolver, const struct options *options,
                     struct report *report)
{
    size_t agreed = 0;

    for (size_t i = 0; i < options->followed.count; i++)
        agreed +=
            read_followed_dir(mem, resolver, options->followed.text[i], agreed > 0, report) > 0;
    report->followed = options->followed.count > 0;
    if (report->followed && !agreed && report->process_count)
        report_notes_append(
            mem, &report->processes[0],
            "when lost: unknown, since the second run did not allocate the followed blocks "
            "with the same call stacks: it took another path");
    return agreed;
}

/* ---- Choosing the blocks to follow ----------------------------------------------------------- */

static bool fail(const char *record, const char *why)
{
    fprintf(stderr, "leakreport: --blocks-to-follow=%s: %s\n", record, why);
    return false;
}

struct plan {
    const struct record *records[BLOCKS_MOST]; /* for each block, its record */
    size_t blocks[BLOCKS_MOST];                /* for each block, its index in record->samples */
    size_t count;
};

static void add_blocks(struct plan *plan, const struct record *record)
{
    for (size_t i = 0; i < record->sample_count && plan->count < BLOCKS_MOST; i++) {
        plan->records[plan->count] = record;
        plan->blocks[plan->count++] = i;
    }
}

/* Adds to the plan (the blocks that the next run follows) the blocks of the record with this number
 * in the list; takes the first process whose list has the number. lost_only: skips processes in
 * which the record is not lost. False: no list has the number. */
static bool add_numbered(struct plan *plan, const struct options *options,
                         const struct report *report, size_t number, bool lost_only)
{
    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];
        size_t single, count = 0;
        const size_t *records = text_list_records(process, &options->view, number, &single, &count);

        if (!records || (lost_only && process->records[records[0]].verdict != VERDICT_LOST))
            continue;
        for (size_t k = 0; k < count; k++)
            if (process->records[records[k]].verdict == VERDICT_LOST)
                add_blocks(plan, &process->records[records[k]]);
        return true;
    }
    return false;
}

static bool add_signature(struct plan *plan, const struct report *report, uint64_t signature)
{
    bool found = false;

    for (size_t i = 0; i < report->process_count; i++)
        for (size_t k = 0; k < report->processes[i].record_count; k++) {
            const struct record *record = &report->processes[i].records[k];

            if (record->signature != signature)
                continue;
            found = true;
            if (record->verdict == VERDICT_LOST)
                add_blocks(plan, record);
        }
    return found;
}

static bool find_blocks(struct plan *plan, const struct options *options,
                        const struct report *report)
{
    const char *text = options->to_follow;
    size_t length = strlen(text);
    char *end;

    if (!length)
        return add_numbered(plan, options, report, 1, true) || fail(text, "nothing was lost");
    if (length == 16 && strspn(text, "0123456789abcdef") == 16)
        return add_signature(plan, report, strtoull(text, NULL, 16)) ||
               fail(text, "no record has this signature");
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end)
        return fail(text, "it takes the number of a record or its signature");
    return add_numbered(plan, options, report, number, false) ||
           fail(text, "the report has no record of this number");
}

/* ---- Printing the value of follow_blocks= for the next run ----------------------------------- */

static const struct when_lost *first_lost(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct when_lost *when = plan->records[i]->when_lost;

        if (when && when->lost)
            return when;
    }
    return NULL;
}

/* Prints the value of follow_blocks= for the third run. That run follows a single block: it
 * executes code step by step to find the instruction that lost the pointer, if the second run did
 * not find it, and finds the last use of the block. False: the second run found all that. */
static bool print_third_run(const struct plan *plan, FILE *stream)
{
    const struct when_lost *when = first_lost(plan);
    const struct lost_block *block;

    if (!when || (when->place.at.count && when->followed == 1))
        return false;
    block = &when->blocks[when->chosen];
    fprintf(stream, "T%" PRIu32 "#%" PRIu32, block->thread, block->count);
    if (!when->place.at.count)
        fprintf(stream, "@%" PRIu32, block->step_at);
    putc('\n', stream);
    return true;
}

/* Prints the value of follow_blocks= for the fourth run, which records the functions that the block
 * went through. */
static void print_fourth_run(const struct plan *plan, FILE *stream)
{
    const struct when_lost *when = first_lost(plan);
    const struct lost_block *block;

    if (!when || when->has_way)
        return;
    block = &when->blocks[when->chosen];
    fprintf(stream, "T%" PRIu32 "#%" PRIu32 "@way\n", block->thread, block->count);
}

static void print_second_run(const struct plan *plan, FILE *stream)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct sample *block = &plan->records[i]->samples[plan->blocks[i]];

        fprintf(stream, "%sT%" PRIu32 "#%" PRIu32, i ? "," : "", block->thread.serial,
                block->count);
    }
    putc('\n', stream);
}

/* Says whether a run without results may have results when it is repeated. Blocks to follow are
 * named by thread and number. Threads other than the first may share their work differently in each
 * run, so these numbers may fit in the next run although they did not in the last. */
static bool is_worth_a_retry(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->records[i]->samples[plan->blocks[i]].thread.serial > 1)
            return true;
    return false;
}

bool followed_print_plan(const struct options *options, size_t agreed, const struct report *report,
                         FILE *stream)
{
    struct plan plan = {.count = 0};
    size_t runs = options->followed.count;

    if (!find_blocks(&plan, options, report))
        return false;
    if (!plan.count)
        return fail(options->to_follow, "the record is not lost, or none of its blocks is known");
    if (runs > agreed && !is_worth_a_retry(&plan))
        return true;
    if (!agreed)
        print_second_run(&plan, stream);
    else if (agreed > 1 || !print_third_run(&plan, stream))
        print_fourth_run(&plan, stream);
    return true;
}
