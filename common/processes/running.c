/* find.c - see find.h. */
#include "common/processes/running.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/processes/store_list.h"
#include "common/base/string_list.h"
#include "common/base/arena.h"
#include "common/store/store_dir.h"

struct finding {
    struct finds finds;
    size_t room;
    bool lives; /* those that run, or those that are dead */
};

void find_free(struct found *found)
{
    free(found->path);
    free(found->name);
}

/* After an exec there are two stores of one process: the later one is what it is now. */
static struct found *place_for(struct finding *finding, const struct store *store)
{
    struct finds *finds = &finding->finds;

    for (size_t i = 0; i < finds->count; i++)
        if (store_is_of(store, finds->at[i].pid, finds->at[i].start_time)) {
            if (store->started_ns < finds->at[i].started_ns)
                return NULL;
            find_free(&finds->at[i]);
            return &finds->at[i];
        }
    finds->at = mem_more(finds->at, &finding->room, finds->count + 1, sizeof(*finds->at));
    return &finds->at[finds->count++];
}

static void look_into(struct finding *finding, const char *dir)
{
    struct stores stores;

    stores_list(&stores, dir, 0, 0);
    for (size_t i = 0; i < stores.count; i++) {
        const struct store *store = &stores.at[i];
        bool wanted = store->readable && store->lives == finding->lives;
        struct found *found = wanted ? place_for(finding, store) : NULL;

        if (found)
            *found = (struct found){
                .path = words_print("%s", store->path),
                .name = words_print("%.*s", (int)where_name_length(store->name), store->name),
                .pid = store->pid,
                .start_time = store->start_time,
                .started_ns = store->started_ns};
    }
    stores_free(&stores);
}

static void look_into_sessions(struct finding *finding, const char *base)
{
    DIR *stream = opendir(base);

    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        size_t prefix = strlen(WHERE_SESSION_PREFIX);
        char *dir;

        if (strncmp(entry->d_name, WHERE_SESSION_PREFIX, prefix) != 0)
            continue;
        dir = words_print("%s/%s", base, entry->d_name);
        look_into(finding, dir);
        free(dir);
    }
    if (stream)
        closedir(stream);
}

static void look_into_places(struct finding *finding)
{
    const char *place[WHERE_PLACES];

    where_places(place, getenv("XDG_RUNTIME_DIR"));
    for (int i = 0; i < WHERE_PLACES; i++) {
        char *dir;

        if (!place[i])
            continue;
        dir = words_print("%s/" WHERE_USER_PREFIX "%u", place[i], (unsigned)geteuid());
        look_into(finding, dir);
        free(dir);
        look_into_sessions(finding, place[i]);
    }
}

static int by_start(const void *left, const void *right)
{
    const struct found *a = left, *b = right;

    if (a->started_ns != b->started_ns)
        return a->started_ns < b->started_ns ? -1 : 1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

char *find_directory(const char *told)
{
    struct mem *mem = mem_begin();
    const char *dir = told ? told : where_told(mem);
    char *copy = dir ? words_print("%s", dir) : NULL;

    mem_end(mem);
    return copy;
}

static struct finds find(const char *dir, bool lives)
{
    struct finding finding = {.lives = lives};

    if (dir) {
        look_into(&finding, dir);
        look_into_sessions(&finding, dir);
    } else {
        look_into_places(&finding);
    }
    if (finding.finds.count)
        qsort(finding.finds.at, finding.finds.count, sizeof(*finding.finds.at), by_start);
    return finding.finds;
}

struct finds find_running(const char *dir)
{
    return find(dir, true);
}

struct finds find_dead(const char *dir)
{
    return find(dir, false);
}

void find_end(struct finds *finds)
{
    for (size_t i = 0; i < finds->count; i++)
        find_free(&finds->at[i]);
    free(finds->at);
    *finds = (struct finds){0};
}

void find_select(struct finds *finds, const char *word)
{
    char *end;
    long pid = strtol(word, &end, 10);
    bool number = *word && !*end;
    size_t kept = 0;

    for (size_t i = 0; i < finds->count; i++) {
        struct found *found = &finds->at[i];

        if (number ? found->pid == pid : strcmp(found->name, word) == 0)
            finds->at[kept++] = *found;
        else
            find_free(found);
    }
    finds->count = kept;
}
