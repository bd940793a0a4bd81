/* heaps.c - keeps all processes that the page shows; described in heaps.h. */
#include "serve/heaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

struct heaps heaps_begin(const char *dir, const char *process)
{
    return (struct heaps){
        .dir = process_list_directory(dir), .process = process, .lock = PTHREAD_MUTEX_INITIALIZER};
}

void heaps_lock(struct heaps *heaps)
{
    pthread_mutex_lock(&heaps->lock);
}

void heaps_unlock(struct heaps *heaps)
{
    pthread_mutex_unlock(&heaps->lock);
}

static struct heap_process *find_process(struct heaps *heaps, const char *path)
{
    for (size_t i = 0; i < heaps->count; i++)
        if (strcmp(heaps->at[i].path, path) == 0)
            return &heaps->at[i];
    return NULL;
}

static void update_process(struct heaps *heaps, const struct fleet_member *member)
{
    struct heap_process *process = find_process(heaps, member->found.path);
    const struct heap_snapshot *snapshot = member->snapshot;

    if (!process) {
        heaps->at = array_grow(heaps->at, &heaps->room, heaps->count + 1, sizeof(*heaps->at));
        process = &heaps->at[heaps->count++];
        *process = (struct heap_process){.path = strdup(member->found.path)};
    }
    process->is_running = true;
    if (snapshot)
        marks_update(&process->marks, snapshot->time, snapshot->total, snapshot->counts,
                     snapshot->count);
}

static void free_process(struct heap_process *process)
{
    marks_end(&process->marks);
    free(process->path);
}

static void forget_ended(struct heaps *heaps)
{
    size_t kept = 0;

    for (size_t i = 0; i < heaps->count; i++) {
        struct heap_process process = heaps->at[i];

        if (process.is_running)
            heaps->at[kept++] = process;
        else
            free_process(&process);
    }
    heaps->count = kept;
}

void heaps_update(struct heaps *heaps)
{
    struct process_list finds;

    heaps_lock(heaps); /* only one thread at a time may read recordings */
    finds = process_list_running(heaps->dir);
    if (heaps->process)
        process_list_select(&finds, heaps->process);
    fleet_update(&heaps->fleet, &finds);
    for (size_t i = 0; i < heaps->count; i++)
        heaps->at[i].is_running = false;
    for (size_t i = 0; i < heaps->fleet.count; i++)
        update_process(heaps, &heaps->fleet.at[i]);
    forget_ended(heaps);
    heaps_unlock(heaps);
    process_list_end(&finds);
}

void heaps_end(struct heaps *heaps)
{
    fleet_end(&heaps->fleet);
    for (size_t i = 0; i < heaps->count; i++)
        free_process(&heaps->at[i]);
    free(heaps->at);
    free(heaps->dir);
    pthread_mutex_destroy(&heaps->lock);
}

const struct fleet_member *heaps_find(const struct heaps *heaps, pid_t pid)
{
    for (size_t i = 0; i < heaps->fleet.count; i++)
        if (heaps->fleet.at[i].found.pid == pid && heaps->fleet.at[i].snapshot)
            return &heaps->fleet.at[i];
    return NULL;
}

struct heap_process *heaps_notes(struct heaps *heaps, const struct fleet_member *member)
{
    return find_process(heaps, member->found.path);
}

void heaps_note_action(struct heaps *heaps, const char *path, const char *text)
{
    struct heap_process *process;

    heaps_lock(heaps);
    process = find_process(heaps, path);
    if (process)
        snprintf(process->action, sizeof(process->action), "%s", text);
    heaps_unlock(heaps);
}
