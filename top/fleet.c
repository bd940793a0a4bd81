/* fleet.c - reads all running processes; described in fleet.h. */
#include "top/fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/term_text.h"

/* ---- Programs of the processes --------------------------------------------------------------- */

static struct fleet_program *join_program(struct fleet *fleet, const char *name)
{
    struct fleet_program *program = fleet->programs;

    while (program && strcmp(program->name, name) != 0)
        program = program->next;
    if (!program) {
        struct arena *mem = arena_begin();

        program = arena_alloc(mem, sizeof(*program));
        *program = (struct fleet_program){.name = arena_copy(mem, name, strlen(name)),
                                          .mem = mem,
                                          .resolver = site_names_resolver(mem),
                                          .next = fleet->programs};
        fleet->programs = program;
    }
    program->members++;
    return program;
}

static void leave_program(struct fleet *fleet, struct fleet_program *program)
{
    struct fleet_program **at = &fleet->programs;

    if (--program->members)
        return;
    while (*at != program)
        at = &(*at)->next;
    *at = program->next;
    resolve_end(program->resolver);
    arena_end(program->mem);
}

/* ---- Members: the processes ------------------------------------------------------------------ */

static void free_member(struct fleet *fleet, struct fleet_member *member)
{
    heap_snapshot_free(member->snapshot);
    snapshot_reader_end(&member->reader);
    leave_program(fleet, member->program);
    listed_process_free(&member->found);
}

/* Finds the member for a process. After exec the process has another recording file, so it counts
 * as another member. NULL: there is none. */
static struct fleet_member *find_member(struct fleet *fleet, const struct listed_process *found)
{
    for (size_t i = 0; i < fleet->count; i++) {
        const struct listed_process *at = &fleet->at[i].found;

        if (at->pid == found->pid && at->start_time == found->start_time &&
            at->started_ns == found->started_ns && strcmp(at->path, found->path) == 0)
            return &fleet->at[i];
    }
    return NULL;
}

static void add_process(struct fleet *fleet, struct listed_process *found)
{
    struct fleet_member *member = find_member(fleet, found);

    if (member) {
        listed_process_free(found);
    } else {
        fleet->at = array_grow(fleet->at, &fleet->room, fleet->count + 1, sizeof(*fleet->at));
        member = &fleet->at[fleet->count++];
        *member =
            (struct fleet_member){.found = *found, .program = join_program(fleet, found->name)};
        member->reader = snapshot_reader_begin(found->path, member->program->resolver);
    }
    *found = (struct listed_process){0};
    member->is_running = true;
}

static uint64_t larger_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct fleet_rate rate_between(const struct heap_snapshot *before,
                                      const struct heap_snapshot *now)
{
    if (!before || !now || now->time <= before->time)
        return (struct fleet_rate){0};
    return (struct fleet_rate){true, ((double)now->total.bytes - (double)before->total.bytes) /
                                         (now->time - before->time)};
}

/* Takes a new snapshot of a member. False: the process has ended since it was found. */
static bool update_member(struct fleet_member *member)
{
    struct heap_snapshot *before = member->snapshot;
    struct read_error trouble;

    member->snapshot = heap_snapshot_take(&member->reader, &trouble);
    member->rate = rate_between(before, member->snapshot);
    heap_snapshot_free(before);
    if (!member->snapshot)
        return trouble.os != ENOENT;
    member->allocs = larger_of(member->allocs, member->snapshot->total.allocs);
    member->frees = larger_of(member->frees, member->snapshot->total.frees);
    return member->snapshot->how == END_RUNNING;
}

void fleet_update(struct fleet *fleet, struct process_list *finds)
{
    size_t kept = 0;

    for (size_t i = 0; i < finds->count; i++)
        add_process(fleet, &finds->at[i]);
    finds->count = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        struct fleet_member *member = &fleet->at[i];
        bool stays = member->is_running && update_member(member);

        member->is_running = false;
        if (stays)
            fleet->at[kept++] = *member;
        else
            free_member(fleet, member);
    }
    fleet->count = kept;
    fleet->time_ns = time_now_ns();
}

void fleet_end(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
        free_member(fleet, &fleet->at[i]);
    free(fleet->at);
    *fleet = (struct fleet){0};
}

/* ---- Making the rows of the list of all processes -------------------------------------------- */

static struct fleet_row make_row(const struct fleet_member *member)
{
    const struct heap_snapshot *snapshot = member->snapshot;
    struct fleet_row row = {.pid = member->found.pid,
                            .name = strdup(member->found.name),
                            .path = strdup(member->found.path),
                            .started_ns = member->found.started_ns,
                            .rate = member->rate};

    if (!snapshot)
        return row;
    row.readable = true;
    row.sampled = snapshot->sampled;
    row.bytes = snapshot->total.bytes;
    row.peak = snapshot->peak.bytes;
    row.lost_bytes = add_saturating(snapshot->lost.bytes, snapshot->lost.indirect_bytes);
    row.lost_blocks = add_saturating(snapshot->lost.blocks, snapshot->lost.indirect_blocks);
    row.leak_check_ns = snapshot->leak_check_ns;
    row.growing = snapshot->growing;
    return row;
}

static int compare_fleet_rows(const void *left, const void *right)
{
    const struct fleet_row *a = left, *b = right;
    int by = COMPARE(b->growing > 0, a->growing > 0);

    by = by ? by : COMPARE(b->bytes, a->bytes);
    return by ? by : COMPARE(a->pid, b->pid);
}

struct fleet_rows *fleet_rows_make(const struct fleet *fleet)
{
    struct fleet_rows *rows = array_grow(NULL, &(size_t){0}, 1, sizeof(*rows));

    *rows = (struct fleet_rows){.time_ns = fleet->time_ns};
    rows->at = array_grow(NULL, &(size_t){0}, fleet->count + 1, sizeof(*rows->at));
    while (rows->count < fleet->count) {
        rows->at[rows->count] = make_row(&fleet->at[rows->count]);
        rows->count++;
    }
    qsort(rows->at, rows->count, sizeof(*rows->at), compare_fleet_rows);
    return rows;
}

void fleet_rows_free(struct fleet_rows *rows)
{
    if (!rows)
        return;
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->at[i].name);
        free(rows->at[i].path);
    }
    free(rows->at);
    free(rows);
}
