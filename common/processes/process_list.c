/* process_list.c - finds the processes under libleak by their recording files. */
#include "common/processes/process_list.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/processes/store_list.h"
#include "common/base/string_list.h"
#include "common/base/arena.h"
#include "common/base/proc.h"
#include "common/store/store_dir.h"

struct process_search {
    struct process_list finds;
    size_t room;
    bool lives; /* true: search running processes; false: ended ones */
};

void listed_process_free(struct listed_process *found)
{
    free(found->path);
    free(found->name);
    free(found->program);
}

/* Finds or adds the list entry for the process of a recording file. After an exec, one process has
 * two files, and the later file describes its current program. NULL: the list already has a later
 * file than `store`. */
static struct listed_process *find_place(struct process_search *search,
                                         const struct store_entry *store)
{
    struct process_list *finds = &search->finds;

    for (size_t i = 0; i < finds->count; i++)
        if (store_entry_is_of(store, finds->at[i].pid, finds->at[i].start_time)) {
            if (store->started_ns < finds->at[i].started_ns)
                return NULL;
            listed_process_free(&finds->at[i]);
            return &finds->at[i];
        }
    finds->at = array_grow(finds->at, &search->room, finds->count + 1, sizeof(*finds->at));
    return &finds->at[finds->count++];
}

/* The name of a process for messages: the name of its program's file, or the name that ps shows if
 * that is another one, because the program was started through a link or renamed itself. ps shows
 * at most 15 bytes; a file name that begins with them counts as the same name. The caller frees
 * it. */
static char *name_process(const struct store_entry *store, const char *program)
{
    char name[PROC_NAME_SIZE];
    bool is_its_own = store->lives &&
                      proc_runs_program(store->pid, program) && /* false after an exec: the name in
                                                                 * ps is that of another program */
                      proc_read_name(store->pid, name);

    return strdup(is_its_own && strncmp(program, name, strlen(name)) != 0 ? name : program);
}

static void search_directory(struct process_search *search, const char *dir)
{
    struct store_list stores;

    store_list_read(&stores, dir, 0, 0);
    for (size_t i = 0; i < stores.count; i++) {
        const struct store_entry *store = &stores.at[i];
        bool wanted = store->readable && store->lives == search->lives;
        struct listed_process *found = wanted ? find_place(search, store) : NULL;

        search->finds.newer += store->newer;
        if (found) {
            *found = (struct listed_process){
                .path = string_format("%s", store->path),
                .program =
                    string_format("%.*s", (int)store_name_program_length(store->name), store->name),
                .pid = store->pid,
                .start_time = store->start_time,
                .started_ns = store->started_ns};
            found->name = name_process(store, found->program);
        }
    }
    store_list_free(&stores);
}

static void search_sessions(struct process_search *search, const char *base)
{
    DIR *stream = opendir(base);

    for (struct dirent *entry; stream && (entry = readdir(stream)) != NULL;) {
        size_t prefix = strlen(STORE_DIR_SESSION_PREFIX);
        char *dir;

        if (strncmp(entry->d_name, STORE_DIR_SESSION_PREFIX, prefix) != 0)
            continue;
        dir = string_format("%s/%s", base, entry->d_name);
        search_directory(search, dir);
        free(dir);
    }
    if (stream)
        closedir(stream);
}

static void search_default_places(struct process_search *search)
{
    const char *place[STORE_DIR_PLACES];

    store_dir_places(place, getenv("XDG_RUNTIME_DIR"));
    for (int i = 0; i < STORE_DIR_PLACES; i++) {
        char *dir;

        if (!place[i])
            continue;
        dir = string_format("%s/" STORE_DIR_USER_PREFIX "%u", place[i], (unsigned)geteuid());
        search_directory(search, dir);
        free(dir);
        search_sessions(search, place[i]);
    }
}

static int by_start(const void *left, const void *right)
{
    const struct listed_process *a = left, *b = right;

    return COMPARE(a->started_ns, b->started_ns) ?: COMPARE(a->pid, b->pid);
}

char *process_list_directory(const char *given)
{
    struct arena *mem = arena_begin();
    const char *dir = given ? given : store_dir_configured(mem);
    char *copy = dir ? string_format("%s", dir) : NULL;

    arena_end(mem);
    return copy;
}

static struct process_list search_processes(const char *dir, bool lives)
{
    struct process_search search = {.lives = lives};

    if (dir) {
        search_directory(&search, dir);
        search_sessions(&search, dir);
    } else {
        search_default_places(&search);
    }
    if (search.finds.count)
        qsort(search.finds.at, search.finds.count, sizeof(*search.finds.at), by_start);
    return search.finds;
}

struct process_list process_list_running(const char *dir)
{
    return search_processes(dir, true);
}

struct process_list process_list_dead(const char *dir)
{
    return search_processes(dir, false);
}

void process_list_end(struct process_list *finds)
{
    for (size_t i = 0; i < finds->count; i++)
        listed_process_free(&finds->at[i]);
    free(finds->at);
    *finds = (struct process_list){0};
}

void process_list_select(struct process_list *finds, const char *word)
{
    char *end;
    long pid = strtol(word, &end, 10);
    bool number = *word && !*end;
    size_t kept = 0;

    for (size_t i = 0; i < finds->count; i++) {
        struct listed_process *found = &finds->at[i];

        if (number ? found->pid == pid
                   : strcmp(found->name, word) == 0 || strcmp(found->program, word) == 0)
            finds->at[kept++] = *found;
        else
            listed_process_free(found);
    }
    finds->count = kept;
}
