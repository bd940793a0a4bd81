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

#define RECORDS_MOST 3       /* most entries of the list that have runs of their own */
#define MORE_MOST 4          /* most entries behind them that share one run */
#define RECORD_BLOCKS_MOST 3 /* most blocks of one entry that a run follows */
#define BLOCKS_MOST 4        /* most blocks that a run follows; LEAK_FOLLOWED_MOST, watchpoints */
#define RETRIED_RUNS 5       /* after so many runs, a run without results is not repeated */
#define RETRIED_FIRST 2      /* the same if its blocks are those of the first thread */

/* ---- Reading the recordings of further runs -------------------------------------------------- */

/* Adds the results of one recording file to the report. run: the number of the run, from 1. Returns
 * how many of the blocks that the run followed belong to records of the report. */
static size_t read_followed_store(struct arena *mem, struct resolver *resolver, const char *path,
                                  uint32_t run, struct report *report)
{
    struct arena *own = arena_begin();
    struct store store;
    struct read_error trouble;
    size_t found = 0;

    if (reader_open(own, path, &store, &trouble)) {
        foreign_file_add_reader(store.owner);
        for (size_t i = 0; i < report->process_count; i++)
            found += when_lost_fill(mem, resolver, &store, run, &report->processes[i]);
        store_end(&store);
    }
    arena_end(own);
    return found;
}

static size_t read_followed_dir(struct arena *mem, struct resolver *resolver, const char *dir,
                                uint32_t run, struct report *report)
{
    struct store_list stores;
    size_t found = 0;

    store_list_read(&stores, dir, 0, 0);
    for (size_t i = 0; i < stores.count; i++)
        if (stores.at[i].readable)
            found += read_followed_store(mem, resolver, stores.at[i].path, run, report);
    store_list_free(&stores);
    return found;
}

static bool has_lost_records(const struct process *process)
{
    for (size_t i = 0; i < process->record_count; i++)
        if (process->records[i].verdict == VERDICT_LOST)
            return true;
    return false;
}

/* Adds a note that the runs have found nothing to the first process that has lost blocks. */
static void note_unknown(struct arena *mem, struct report *report)
{
    struct process *process = report->processes;

    for (size_t i = report->process_count; i-- > 0;)
        if (has_lost_records(&report->processes[i]))
            process = &report->processes[i];
    report_notes_append(
        mem, process,
        process->forked
            ? "when lost: unknown, since no later run forked this process again with the followed "
              "blocks and the same call stacks: the runs took another path"
            : "when lost: unknown, since no later run allocated the followed blocks "
              "with the same call stacks: it took another path");
}

void followed_read(struct arena *mem, struct resolver *resolver, const struct options *options,
                   struct report *report)
{
    size_t found = 0;

    for (size_t i = 0; i < options->followed.count; i++)
        found += read_followed_dir(mem, resolver, options->followed.text[i], i + 1, report);
    report->followed = options->followed.count > 0;
    if (report->followed && !found && report->process_count)
        note_unknown(mem, report);
}

/* ---- Choosing the blocks to follow ----------------------------------------------------------- */

/* Prints why there are no blocks to follow, in the words of the option that the user gave. */
static bool fail(const char *record, const char *why)
{
    fprintf(stderr, "leakrun: --when-lost%s%s: %s\n", *record ? "=" : "", record, why);
    return false;
}

/* The lost blocks of one entry of the list, and the runs that have followed one of them alone. */
struct lost_entry {
    const struct process *process;                    /* all blocks are of this one */
    const struct record *records[RECORD_BLOCKS_MOST]; /* for each block, its record */
    size_t blocks[RECORD_BLOCKS_MOST];                /* for each block, its index in samples[] */
    size_t count;
    bool alone, way; /* the run has ended; in vain, or with results */
};

/* The runs that find out where blocks were lost. The first one follows blocks of the first entries.
 * Then, for each of them in turn, one run follows one of its blocks alone, and another one follows
 * the block through the functions of the program. Behind those of the first entry, one run follows
 * one block of each of the entries behind the first ones. */
struct plan {
    struct lost_entry entries[RECORDS_MOST + MORE_MOST];
    size_t count;     /* number of entries that have runs of their own */
    size_t more;      /* number of entries behind them */
    size_t runs;      /* number of runs so far */
    bool shared;      /* the first of these runs has ended; in vain, or with results */
    bool more_shared; /* the run of the entries behind them has ended */
};

struct run {
    enum { RUN_NONE, RUN_SHARED, RUN_ALONE, RUN_WAY, RUN_MORE } kind;
    struct lost_entry *entry;
};

static void add_blocks(struct lost_entry *entry, const struct record *record)
{
    for (size_t i = 0; i < record->sample_count && entry->count < RECORD_BLOCKS_MOST; i++) {
        entry->records[entry->count] = record;
        entry->blocks[entry->count++] = i;
    }
}

/* Adds the entry of this number in the list of a process. False: there is none. lost_only: leaves
 * out an entry that is not lost. */
static bool add_entry(struct plan *plan, const struct options *options,
                      const struct process *process, size_t number, bool lost_only)
{
    struct lost_entry *entry = &plan->entries[plan->count + plan->more];
    size_t single, count = 0;
    const size_t *records = text_list_records(process, &options->view, number, &single, &count);

    if (!records)
        return false;
    if (lost_only && process->records[records[0]].verdict != VERDICT_LOST)
        return true;
    entry->process = process;
    for (size_t k = 0; k < count; k++)
        if (process->records[records[k]].verdict == VERDICT_LOST)
            add_blocks(entry, &process->records[records[k]]);
    *(plan->count < RECORDS_MOST ? &plan->count : &plan->more) += entry->count > 0;
    return true;
}

/* Adds the first lost entries of the first process that has any. False: none was lost. */
static bool add_first(struct plan *plan, const struct options *options, const struct report *report)
{
    for (size_t i = 0; i < report->process_count && !plan->count; i++)
        for (size_t number = 1; plan->more < MORE_MOST; number++)
            if (!add_entry(plan, options, &report->processes[i], number, true))
                break;
    return plan->count > 0;
}

/* Adds the entry of this number; takes the first process whose list has the number. False: no list
 * has it. */
static bool add_numbered(struct plan *plan, const struct options *options,
                         const struct report *report, size_t number)
{
    for (size_t i = 0; i < report->process_count; i++)
        if (add_entry(plan, options, &report->processes[i], number, false))
            return true;
    return false;
}

static bool add_signature(struct plan *plan, const struct report *report, uint64_t signature)
{
    struct lost_entry *entry = &plan->entries[0];
    bool found = false;

    for (size_t i = 0; i < report->process_count && !entry->count; i++)
        for (size_t k = 0; k < report->processes[i].record_count; k++) {
            const struct record *record = &report->processes[i].records[k];

            if (record->signature != signature)
                continue;
            found = true;
            if (record->verdict == VERDICT_LOST) {
                entry->process = &report->processes[i];
                add_blocks(entry, record);
            }
        }
    plan->count = entry->count > 0;
    return found;
}

static bool find_entries(struct plan *plan, const struct options *options,
                         const struct report *report)
{
    const char *text = options->to_follow;
    size_t length = strlen(text);
    char *end;

    if (!length)
        return add_first(plan, options, report) || fail(text, "nothing was lost");
    if (length == 16 && strspn(text, "0123456789abcdef") == 16)
        return add_signature(plan, report, strtoull(text, NULL, 16)) ||
               fail(text, "no record has this signature");
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end)
        return fail(text, "it takes the number of a record or its signature");
    return add_numbered(plan, options, report, number) ||
           fail(text, "the report has no record of this number");
}

/* ---- Planning the next run ------------------------------------------------------------------- */

/* Returns for how many blocks of the entry the shared run has room: each entry has one block, the
 * remaining room is for further blocks of the first entries. */
static size_t shared_blocks(const struct plan *plan, const struct lost_entry *entry)
{
    size_t room = BLOCKS_MOST - plan->count;

    for (const struct lost_entry *it = plan->entries;; it++) {
        size_t more = it->count - 1 < room ? it->count - 1 : room;

        if (it == entry)
            return 1 + more;
        room -= more;
    }
}

/* Returns the first record of an entry of which a run has followed a block until it was lost; NULL:
 * there is none. */
static const struct record *first_lost_record(const struct lost_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++) {
        const struct when_lost *when = entry->records[i]->when_lost;

        if (when && when->lost)
            return entry->records[i];
    }
    return NULL;
}

static const struct when_lost *first_lost(const struct lost_entry *entry)
{
    const struct record *record = first_lost_record(entry);

    return record ? record->when_lost : NULL;
}

/* Says whether the shared run has followed a single block, and knows the instruction that lost the
 * pointer. Then a run that follows the block alone finds nothing new. */
static bool shared_run_is_enough(const struct plan *plan, const struct when_lost *when)
{
    return plan->count == 1 && shared_blocks(plan, plan->entries) == 1 && when->place.at.count;
}

static struct run next_run(struct plan *plan)
{
    if (!plan->shared)
        return (struct run){RUN_SHARED, plan->entries};
    for (size_t i = 0; i < plan->count; i++) {
        struct lost_entry *entry = &plan->entries[i];
        const struct when_lost *when = first_lost(entry);

        if (when && !entry->alone && !shared_run_is_enough(plan, when))
            return (struct run){RUN_ALONE, entry};
        if (when && !entry->way && !when->has_way)
            return (struct run){RUN_WAY, entry};
        if (plan->more && !plan->more_shared)
            return (struct run){RUN_MORE, plan->entries + plan->count};
    }
    return (struct run){RUN_NONE, NULL};
}

/* Says whether a run without results may have results when it is repeated. Blocks to follow are
 * named by process, thread and number. The numbers differ a little from run to run in a program
 * that depends on the time or on addresses, and fork children, and threads other than the first, may
 * share their work differently in each run. So every second run names them by their call stacks. */
static bool is_worth_a_retry(const struct plan *plan, const struct run *run)
{
    const struct lost_entry *entry = run->entry;

    if (run->kind == RUN_MORE || plan->runs >= RETRIED_RUNS)
        return false;
    if ((run->kind == RUN_SHARED && plan->runs < RETRIED_FIRST) || entry->process->forked)
        return true;
    for (size_t i = 0; i < entry->count; i++)
        if (entry->records[i]->samples[entry->blocks[i]].thread.serial > 1)
            return true;
    return false;
}

/* Notes that a run has ended. found: it has results for the blocks of its entry. */
static void end_run(struct plan *plan, const struct run *run, bool found)
{
    struct lost_entry *entry = run->entry;

    plan->runs++;
    if (run->kind == RUN_NONE || (!found && is_worth_a_retry(plan, run)))
        return;
    plan->shared = true;
    entry->alone |= run->kind == RUN_ALONE;
    entry->way |= run->kind == RUN_WAY;
    plan->more_shared |= run->kind == RUN_MORE;
}

static void read_runs(struct arena *mem, struct resolver *resolver, const struct options *options,
                      struct plan *plan, struct report *report)
{
    for (size_t i = 0; i < options->followed.count; i++) {
        struct run run = next_run(plan);
        size_t found = read_followed_dir(mem, resolver, options->followed.text[i], i + 1, report);

        end_run(plan, &run, run.kind == RUN_SHARED ? first_lost(run.entry) != NULL : found > 0);
    }
}

/* ---- Printing the values of follow_blocks= for the next runs ----------------------------------- */

/* Returns the hash of the record's stack, as libleak makes it. */
static uint64_t hash_stack(const struct record *record)
{
    uint64_t hash = 0;

    for (size_t i = 0, count = 0; i < record->frame_count && count < LEAK_FOLLOWED_STACK; i++) {
        const struct frame *frame = record->frames[i];

        if (frame->inlined || frame->python)
            continue;
        hash = leak_followed_hash(hash, frame->offset);
        count++;
    }
    return hash;
}

/* Prints the name of a block of a record. */
static void print_name(const struct lost_entry *entry, const struct record *record,
                       const struct lost_block *block, FILE *stream)
{
    fprintf(stream, "%sT%" PRIu32 "#%" PRIu32, entry->process->fork_chain, block->thread,
            block->count);
    if (block->by_stack)
        fprintf(stream, "~%016" PRIx64, hash_stack(record));
}

static void print_block(const struct plan *plan, const struct lost_entry *entry, size_t i,
                        FILE *stream)
{
    const struct record *record = entry->records[i];
    const struct sample *block = &record->samples[entry->blocks[i]];

    const struct lost_block name = {.thread = block->thread.serial,
                                    .count = block->count,
                                    .by_stack = !plan->shared && plan->runs % 2};

    print_name(entry, record, &name, stream);
}

/* Prints blocks of the first entries. */
static void print_shared_run(const struct plan *plan, FILE *stream)
{
    for (size_t i = 0; i < plan->count; i++)
        for (size_t k = 0; k < shared_blocks(plan, &plan->entries[i]); k++) {
            fputs(i || k ? "," : "", stream);
            print_block(plan, &plan->entries[i], k, stream);
        }
    putc('\n', stream);
}

/* Prints one block of each of the entries behind the first ones. */
static void print_more_run(const struct plan *plan, FILE *stream)
{
    for (size_t i = 0; i < plan->more; i++) {
        fputs(i ? "," : "", stream);
        print_block(plan, &plan->entries[plan->count + i], 0, stream);
    }
    putc('\n', stream);
}

/* Prints a single block. The run executes code step by step to find the instruction that lost the
 * pointer, if the shared run did not find it, and finds the last use of the block; or it records
 * the functions that the block went through. */
static void print_single_run(const struct run *run, FILE *stream)
{
    const struct record *record = first_lost_record(run->entry);
    const struct when_lost *when = record->when_lost;
    const struct lost_block *block = &when->blocks[when->chosen];

    print_name(run->entry, record, block, stream);
    if (run->kind == RUN_WAY)
        fputs("@way", stream);
    else if (!when->place.at.count)
        fprintf(stream, "@%" PRIu32, block->step_at);
    putc('\n', stream);
}

/* Prints the next runs, up to one whose results decide what follows. */
static void print_runs(struct plan *plan, FILE *stream)
{
    for (;;) {
        struct run run = next_run(plan);
        bool decides = run.kind == RUN_SHARED || (run.entry && is_worth_a_retry(plan, &run));

        if (run.kind == RUN_NONE)
            return;
        if (run.entry > plan->entries)
            putc('+', stream);
        if (run.kind == RUN_SHARED)
            print_shared_run(plan, stream);
        else if (run.kind == RUN_MORE)
            print_more_run(plan, stream);
        else
            print_single_run(&run, stream);
        if (decides) {
            fputs("again\n", stream);
            return;
        }
        end_run(plan, &run, true);
    }
}

bool followed_print_plan(struct arena *mem, struct resolver *resolver,
                         const struct options *options, struct report *report, FILE *stream)
{
    struct plan plan = {.count = 0};

    if (!find_entries(&plan, options, report))
        return false;
    if (!plan.count)
        return fail(options->to_follow, "the record is not lost, or none of its blocks is known");
    if (!plan.entries[0].process->fork_chain)
        return fail(options->to_follow, "lost in a process behind more than 8 forks, which cannot "
                                        "be recognized in another run");
    read_runs(mem, resolver, options, &plan, report);
    print_runs(&plan, stream);
    return true;
}
