/* store_list.c - lists the recording files of a directory, marks how a process ended, and copies
 * files. */
#include "common/processes/store_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leak_store.h"
#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/base/string_list.h"
#include "common/base/proc.h"
#include "common/base/term_text.h"
#include "common/store/store_dir.h"

/* Reads PID and N of a file name EXE.PID.N.leak. It begins at the end of the name, because EXE may
 * contain dots. False: another form. */
static bool parse_name(const char *name, pid_t *pid, unsigned *number)
{
    size_t length = strlen(name);
    if (length < 10 || strcmp(name + length - 5, ".leak") != 0)
        return false;
    const char *at = name + length - 5;
    while (at > name && at[-1] != '.')
        at--;
    *number = (unsigned)strtoul(at, NULL, 10);
    if (at == name)
        return false;
    at--;
    while (at > name && at[-1] != '.')
        at--;
    *pid = (pid_t)strtol(at, NULL, 10);
    return *pid > 0;
}

static void read_entry_header(struct store_entry *store, int directory)
{
    struct leak_header header = {0};
    struct stat status = {0};
    bool valid = store_header_read(directory, store->name, &header, &status);

    if (S_ISREG(status.st_mode))
        store->written = status.st_mtime;
    store->newer = header.magic == LEAK_STORE_MAGIC && header.version > LEAK_STORE_VERSION;
    if (!valid || header.pid <= 0)
        return;
    store->readable = true;
    store->pid = header.pid;
    store->start_time = header.start_time;
    store->started_ns = header.started_ns;
    store->used = header.used < (uint64_t)status.st_size ? header.used : (uint64_t)status.st_size;
    store->tracked = header.sites > 0 || !header.untracked[LEAK_UNTRACKED_OWN_ALLOCATOR] ||
                     (header.flags & (LEAK_FLAG_ASKED | LEAK_FLAG_CRASH_ONLY));
    store->flags = header.flags;
    store->end_how = !header.end_how && header.exec_at ? LEAK_END_EXEC : header.end_how;
}

bool store_entry_is_of(const struct store_entry *store, pid_t pid, uint64_t start_time)
{
    return store->readable && store->pid == pid && store->start_time == start_time;
}

struct order {
    pid_t pid;
    uint64_t start_time;
};

static int compare_entries(const void *a, const void *b, void *context)
{
    const struct store_entry *x = a, *y = b;
    const struct order *main_process = context;
    int first_x = store_entry_is_of(x, main_process->pid, main_process->start_time);
    int first_y = store_entry_is_of(y, main_process->pid, main_process->start_time);
    return COMPARE(first_y, first_x)
               ?: COMPARE(x->started_ns, y->started_ns)
               ?: COMPARE(x->number, y->number) ?: strcmp(x->name, y->name);
}

void store_list_read(struct store_list *list, const char *dir, pid_t pid, uint64_t start_time)
{
    *list = (struct store_list){0};
    DIR *stream = opendir(dir);
    if (!stream)
        return;
    size_t room = 0;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        struct store_entry store = {0};
        if (!parse_name(entry->d_name, &store.pid, &store.number))
            continue;
        if (list->count == room) {
            room = room ? 2 * room : 16;
            list->at = reallocarray(list->at, room, sizeof *list->at);
            if (!list->at)
                fatal_exit(STATUS_INTERNAL_ERROR, "out of memory");
        }
        store.path = string_format("%s/%s", dir, entry->d_name);
        store.name = store.path + strlen(dir) + 1;
        read_entry_header(&store, dirfd(stream));
        store.lives = store.readable ? proc_is_alive(store.pid, store.start_time)
                                     : kill(store.pid, 0) == 0 || errno == EPERM;
        list->at[list->count++] = store;
    }
    closedir(stream);
    struct order order = {pid, start_time};
    if (list->count)
        qsort_r(list->at, list->count, sizeof *list->at, compare_entries, &order);
}

void store_list_free(struct store_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].path);
        free(list->at[i].kept);
    }
    free(list->at);
    *list = (struct store_list){0};
}

static bool write_field(int fd, size_t offset, const void *value, size_t size)
{
    return pwrite(fd, value, size, (off_t)offset) == (ssize_t)size;
}
#define WRITE_FIELD(fd, field, value)                                                              \
    write_field(fd, offsetof(struct leak_header, field), &(value), sizeof(value))

void store_list_mark_end(struct store_list *list, pid_t pid, uint64_t start_time, int wait_status,
                         bool out_of_memory)
{
    struct store_entry *last = NULL;
    for (size_t i = 0; i < list->count; i++)
        if (store_entry_is_of(&list->at[i], pid, start_time))
            last = &list->at[i];
    if (!last)
        return;
    /* If the recording ended with an exec, the wait status is that of the next program, which left
     * no recording file. An exit status that the process recorded itself stays, unless a signal
     * killed it afterwards. */
    bool killed = WIFSIGNALED(wait_status);
    if (last->end_how == LEAK_END_EXEC || (last->end_how == LEAK_END_EXIT && !killed))
        return;
    uint32_t how = killed ? LEAK_END_SIGNAL : LEAK_END_EXIT;
    int32_t value = killed ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    uint64_t ended = time_now_ns();

    int fd = open(last->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    uint32_t flags = last->flags | (out_of_memory ? LEAK_FLAG_OUT_OF_MEMORY : 0u);
    if (WRITE_FIELD(fd, flags, flags) && WRITE_FIELD(fd, end_value, value) &&
        WRITE_FIELD(fd, ended_ns, ended) && WRITE_FIELD(fd, end_how, how))
        last->end_how = how;
    close(fd);
}

static bool is_zero(const char *page, size_t size)
{
    return page[0] == 0 && memcmp(page, page + 1, size - 1) == 0;
}

bool store_entry_copy(const struct store_entry *store, const char *to, bool force)
{
    bool good = false;
    int in = open(store->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0600);
    if (in >= 0 && out >= 0) {
        static char page[1 << 16];
        uint64_t at = 0;
        good = true;
        while (good && at < store->used) {
            size_t want = store->used - at < sizeof page ? (size_t)(store->used - at) : sizeof page;
            ssize_t n = pread(in, page, want, (off_t)at);
            if (n <= 0)
                break;
            if (!is_zero(page, (size_t)n))
                good = pwrite(out, page, (size_t)n, (off_t)at) == n;
            at += (uint64_t)n;
        }
        if (ftruncate(out, (off_t)at) != 0)
            good = false;
    }
    if (!good)
        print_notice("cannot keep %s as %s: %m%s", store->name, to,
                     out < 0 && errno == EEXIST ? " (--force overwrites)" : "");
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return good;
}
