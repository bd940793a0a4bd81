/* fleet.c - see fleet.h. */
#include "top/fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/text.h"

/* ---- Programs -------------------------------------------------------------------------------- */

static struct program *program_join(struct fleet *fleet, const char *name)
{
    struct program *program = fleet->programs;

    while (program && strcmp(program->name, name) != 0)
        program = program->next;
    if (!program) {
        struct arena *mem = arena_begin();

        program = arena_alloc(mem, sizeof(*program));
        *program = (struct program){.name = arena_copy(mem, name, strlen(name)),
                                    .mem = mem,
                                    .resolver = names_resolver(mem),
                                    .next = fleet->programs};
        fleet->programs = program;
    }
    program->members++;
    return program;
}

static void program_leave(struct fleet *fleet, struct program *program)
{
    struct program **at = &fleet->programs;

    if (--program->members)
        return;
    while (*at != program)
        at = &(*at)->next;
    *at = program->next;
    resolve_end(program->resolver);
    arena_end(program->mem);
}

/* ---- Members --------------------------------------------------------------------------------- */

static void member_end(struct fleet *fleet, struct member *member)
{
    glance_end(member->glance);
    glances_end(&member->glances);
    program_leave(fleet, member->program);
    listed_process_free(&member->found);
}

/* A program that became another one by exec has another store, and other names. */
static struct member *known(struct fleet *fleet, const struct listed_process *found)
{
    for (size_t i = 0; i < fleet->count; i++) {
        const struct listed_process *at = &fleet->at[i].found;

        if (at->pid == found->pid && at->start_time == found->start_time &&
            at->started_ns == found->started_ns && strcmp(at->path, found->path) == 0)
            return &fleet->at[i];
    }
    return NULL;
}

static void take_in(struct fleet *fleet, struct listed_process *found)
{
    struct member *member = known(fleet, found);

    if (member) {
        listed_process_free(found);
    } else {
        fleet->at = array_grow(fleet->at, &fleet->room, fleet->count + 1, sizeof(*fleet->at));
        member = &fleet->at[fleet->count++];
        *member = (struct member){.found = *found, .program = program_join(fleet, found->name)};
        member->glances = glances_begin(found->path, member->program->resolver);
    }
    *found = (struct listed_process){0};
    member->found_again = true;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* False: it has ended since it was found. */
static bool look(struct member *member)
{
    struct read_error trouble;

    glance_end(member->glance);
    member->glance = glance_take(&member->glances, &trouble);
    if (!member->glance)
        return trouble.os != ENOENT;
    member->allocs = most(member->allocs, member->glance->total.allocs);
    member->frees = most(member->frees, member->glance->total.frees);
    return member->glance->how == END_RUNNING;
}

void fleet_look(struct fleet *fleet, struct process_list *finds)
{
    size_t kept = 0;

    for (size_t i = 0; i < finds->count; i++)
        take_in(fleet, &finds->at[i]);
    finds->count = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        struct member *member = &fleet->at[i];
        bool stays = member->found_again && look(member);

        member->found_again = false;
        if (stays)
            fleet->at[kept++] = *member;
        else
            member_end(fleet, member);
    }
    fleet->count = kept;
    fleet->time_ns = time_now_ns();
}

void fleet_end(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
        member_end(fleet, &fleet->at[i]);
    free(fleet->at);
    *fleet = (struct fleet){0};
}
