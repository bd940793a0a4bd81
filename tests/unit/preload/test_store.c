/* test_store.c - the file: made, grown, full, inherited, and read back by nothing but the format. */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/memory/arena.h"
#include "preload/store/store.h"
#include "preload/base/strbuf.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

static char *no_environment[] = {NULL};

static void create(void)
{
    ck_assert_msg(store_create(unit_directory, "store", no_environment), "no store");
}

/* A new directory below ours. */
static const char *directory(const char *name)
{
    static char path[200];
    struct strbuf text = STRBUF_ON(path);
    strbuf_add(&text, unit_directory);
    strbuf_add(&text, "/");
    strbuf_add(&text, name);
    mkdir(path, 0700);
    return path;
}

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *stream = opendir(path);
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        count += entry->d_name[0] != '.';
    if (stream)
        closedir(stream);
    return count;
}

/* ---- The file ------------------------------------------------------------------------------- */

START_TEST(a_new_store_has_a_header_that_a_reader_accepts)
{
    create();
    struct stat info;
    ck_assert_int_eq(stat(store_path(), &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0600);
    ck_assert_uint_eq((uint64_t)info.st_size, store_header->file_size);
    ck_assert_uint_lt((uint64_t)info.st_blocks * 512, 64 * 1024);
    struct leak_header header;
    int fd = open(store_path(), O_RDONLY);
    ck_assert_int_eq(read(fd, &header, sizeof header), sizeof header);
    close(fd);
    ck_assert_uint_eq(header.magic, LEAK_STORE_MAGIC);
    ck_assert_uint_eq(header.version, LEAK_STORE_VERSION);
    ck_assert_uint_eq(header.header_size, sizeof header);
    ck_assert_uint_eq(header.used, LEAK_PAGE);
    ck_assert_int_eq(header.pid, getpid());
    ck_assert_int_eq(header.ppid, getppid());
    ck_assert_uint_eq(header.end_how, LEAK_END_NONE);
    ck_assert_uint_gt(header.start_time, 0);
    uint64_t now = (uint64_t)time(NULL) * 1000000000u;
    ck_assert(header.started_ns <= now + 2000000000u && header.started_ns + 10000000000u > now);
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    ck_assert_str_eq(header.host, host);
}
END_TEST

START_TEST(no_descriptor_stays_open)
{
    unsigned before = entries("/proc/self/fd");
    create();
    ck_assert_uint_eq(entries("/proc/self/fd"), before);
}
END_TEST

static const struct {
    const char *program, *file;
} names[] = {
    {"plain", "plain."},
    {"a.out-1_2+3", "a.out-1_2+3."},
    {"with space/slash", "with_space_slash."},
    {"\xc3\xa4\n;`", "_____."},
    {"", "program."},
    {"a-name-that-is-much-longer-than-thirty-two-bytes", "a-name-that-is-much-longer-than-."},
};

START_TEST(a_file_is_named_after_its_program)
{
    const char *home = directory("names");
    ck_assert(store_create(home, names[_i].program, no_environment));
    const char *name = strrchr(store_path(), '/') + 1;
    ck_assert_msg(starts_with(name, names[_i].file), "program \"%s\": wanted %s…, got %s",
                  names[_i].program, names[_i].file, name);
    ck_assert_ptr_nonnull(strstr(name, ".leak"));
}
END_TEST

START_TEST(a_chunk_is_written_again_only_as_what_it_was)
{
    create();
    char *made = store_new_chunk(LEAK_CHUNK_SNAPSHOT, 5000, 0);
    char *other = store_new_chunk(LEAK_CHUNK_NODES, 5000, 1);
    const struct leak_chunk *chunk = (const struct leak_chunk *)made - 1;
    store_publish(made, 5000);
    ck_assert_ptr_null(store_reuse_chunk(LEAK_CHUNK_SNAPSHOT, 0, 10));
    ck_assert_ptr_null(store_reuse_chunk(LEAK_CHUNK_SNAPSHOT, store_offset_of(other), 10));
    ck_assert_ptr_null(store_reuse_chunk(LEAK_CHUNK_SNAPSHOT, store_offset_of(made), 9000));
    ck_assert_uint_eq(chunk->length, 5000);
    ck_assert_ptr_eq(store_reuse_chunk(LEAK_CHUNK_SNAPSHOT, store_offset_of(made), 6000), made);
    ck_assert_uint_eq(chunk->length, 0);
}
END_TEST

START_TEST(a_second_store_of_the_same_process_takes_another_name)
{
    create();
    char first[700];
    strcpy(first, store_path());
    create();
    ck_assert_str_ne(first, store_path());
    ck_assert_int_eq(access(first, R_OK), 0);
}
END_TEST

/* ---- Where ---------------------------------------------------------------------------------- */

static void plain_file(const char *path)
{
    close(open(path, O_WRONLY | O_CREAT, 0600));
}

START_TEST(a_directory_that_is_missing_is_made)
{
    char path[300];
    strcpy(path, directory("made"));
    strcat(path, "/below");
    ck_assert(store_create(path, "x", no_environment));
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0700);
    ck_assert_uint_eq(entries(path), 1);
}
END_TEST

enum { NO_PARENT, A_FILE, TOO_LONG, PLACES };
static const char *const place_names[] = {"no parent", "a file", "too long"};

START_TEST(where_no_file_can_be_the_account_is_in_memory)
{
    char path[600] = "";
    switch (_i) {
    case NO_PARENT:
        strcpy(path, "/no/such/place");
        break;
    case A_FILE:
        strcpy(path, directory("file"));
        strcat(path, "/plain");
        plain_file(path);
        break;
    case TOO_LONG:
        memset(path, 'x', 599);
        path[0] = '/';
        break;
    }
    ck_assert_msg(store_create(path, "x", no_environment), "%s: no account at all",
                  place_names[_i]);
    ck_assert_str_eq(store_path(), "");
    ck_assert_uint_eq(store_header->magic, LEAK_STORE_MAGIC);
    uint64_t *payload = store_new_chunk(LEAK_CHUNK_SITES, 100000, 1);
    ck_assert_ptr_nonnull(payload);
    payload[100] = 1;
    uint64_t offset = 0;
    ck_assert_ptr_nonnull(view_chunk(store_header, LEAK_CHUNK_SITES, &offset));
}
END_TEST

START_TEST(the_default_place_is_private_and_below_the_runtime_directory)
{
    char runtime[300] = "XDG_RUNTIME_DIR=";
    strcat(runtime, directory("runtime"));
    char *environment[] = {runtime, NULL};
    ck_assert(store_create("", "x", environment));
    char path[300];
    strcpy(path, store_path());
    ck_assert(starts_with(path, runtime + strlen("XDG_RUNTIME_DIR=")));
    *strrchr(path, '/') = '\0';
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0700);
}
END_TEST

START_TEST(a_default_place_that_others_may_read_is_not_taken)
{
    char runtime[300] = "XDG_RUNTIME_DIR=";
    strcat(runtime, directory("open"));
    char *environment[] = {runtime, NULL};
    ck_assert(store_create("", "x", environment));
    char path[300];
    strcpy(path, store_path());
    unlink(path);
    *strrchr(path, '/') = '\0';
    ck_assert_int_eq(chmod(path, 0755), 0);
    ck_assert(store_create("", "x", environment));
    ck_assert_msg(!starts_with(store_path(), path), "%s is in an open directory", store_path());
    if (store_path()[0])
        unlink(store_path());
    /* A link in its place is not followed either. */
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(symlink(directory("elsewhere"), path), 0);
    ck_assert(store_create("", "x", environment));
    ck_assert_msg(!starts_with(store_path(), path), "%s is behind a link", store_path());
    if (store_path()[0])
        unlink(store_path());
}
END_TEST

/* ---- Chunks --------------------------------------------------------------------------------- */

START_TEST(a_reader_finds_published_chunks_and_their_published_bytes)
{
    create();
    uint8_t *array = store_new_chunk(LEAK_CHUNK_NODES, 10000, 8);
    for (int i = 0; i < 10000; i++)
        ck_assert_uint_eq(array[i], 0);
    char *packed = store_new_chunk(LEAK_CHUNK_MODULES, 5000, 0);
    memcpy(packed, "twelve bytes", 12);
    uint64_t offset = 0;
    const struct leak_chunk *chunk = view_chunk(store_header, 0, &offset);
    ck_assert_uint_eq(chunk->type, LEAK_CHUNK_NODES);
    ck_assert_uint_eq(chunk->first, 8);
    ck_assert_uint_ge(chunk->size, 10000 + sizeof *chunk);
    ck_assert_uint_eq(chunk->size % LEAK_PAGE, 0);
    chunk = view_chunk(store_header, 0, &offset);
    ck_assert_uint_eq(chunk->type, LEAK_CHUNK_MODULES);
    ck_assert_uint_eq(chunk->length, 0);
    store_publish(packed, 12);
    ck_assert_uint_eq(chunk->length, 12);
    store_write_chunk(LEAK_CHUNK_OPTIONS, "depth=5\n", 8);
    chunk = view_chunk(store_header, 0, &offset);
    ck_assert_uint_eq(chunk->type, LEAK_CHUNK_OPTIONS);
    ck_assert_uint_eq(chunk->length, 8);
    ck_assert(memcmp(chunk + 1, "depth=5\n", 8) == 0);
    ck_assert_ptr_null(view_chunk(store_header, 0, &offset));
    ck_assert_uint_eq(offset, store_header->used);
}
END_TEST

START_TEST(a_chunk_not_yet_published_is_stepped_over)
{
    create();
    char *first = store_new_chunk(LEAK_CHUNK_NODES, 10000, 8);
    store_new_chunk(LEAK_CHUNK_SITES, 100, 1);
    ((struct leak_chunk *)first - 1)->magic = 0; /* as if the writer had died before */
    uint64_t offset = 0;
    const struct leak_chunk *chunk = view_chunk(store_header, 0, &offset);
    ck_assert_ptr_nonnull(chunk);
    ck_assert_uint_eq(chunk->type, LEAK_CHUNK_SITES);
    ck_assert_ptr_null(view_chunk(store_header, 0, &offset));
}
END_TEST

START_TEST(chunks_of_every_size_are_whole_pages_side_by_side)
{
    static const uint64_t sizes[] = {0, 1, 4031, 4032, 4033, 8127, 8128, 8129, 1 << 20};
    create();
    uint64_t at = LEAK_PAGE;
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        uint8_t *payload = store_new_chunk(LEAK_CHUNK_HISTORY, sizes[i], i);
        struct leak_chunk *chunk = (struct leak_chunk *)payload - 1;
        ck_assert_uint_eq(chunk->offset, at);
        ck_assert_ptr_eq(chunk, (char *)store_header + at);
        ck_assert_uint_eq(chunk->size, round_up(sizes[i] + 64, 4096));
        memset(payload, 0xff, chunk->size - 64);
        at += chunk->size;
    }
    ck_assert_uint_eq(store_header->used, at);
    uint64_t offset = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        ck_assert_uint_eq(view_chunk(store_header, LEAK_CHUNK_HISTORY, &offset)->first, i);
}
END_TEST

START_TEST(what_cannot_be_tracked_is_counted)
{
    create();
    for (int why = 0; why < LEAK_UNTRACKED_MAX; why++) {
        ck_assert_uint_eq(store_header->untracked[why], 0);
        store_count_untracked(why, why + 1);
        store_count_untracked(why, 1);
        ck_assert_uint_eq(store_header->untracked[why], (uint64_t)why + 2);
    }
    store_set_flag(LEAK_FLAG_FILTERED);
    store_set_flag(LEAK_FLAG_FORKED);
    ck_assert_uint_eq(store_header->flags, LEAK_FLAG_FILTERED | LEAK_FLAG_FORKED);
}
END_TEST

#define THREADS 4

static void *make_chunks(void *argument)
{
    for (int n = 0; n < 300; n++) {
        uint64_t *payload = store_new_chunk(LEAK_CHUNK_HISTORY, 100 + n * 50, (uintptr_t)argument);
        payload[0] = (uintptr_t)argument * 1000 + n;
        store_publish(payload, 8);
    }
    return NULL;
}

START_TEST(threads_reserve_chunks_without_overlap)
{
    pthread_t threads[THREADS];
    create();
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, make_chunks, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    uint64_t offset = 0, next[THREADS] = {0};
    const struct leak_chunk *chunk;
    while ((chunk = view_chunk(store_header, LEAK_CHUNK_HISTORY, &offset))) {
        uint64_t want = chunk->first * 1000 + next[chunk->first]++;
        ck_assert_uint_eq(*(const uint64_t *)(chunk + 1), want);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_uint_eq(next[i], 300);
}
END_TEST

/* ---- No room -------------------------------------------------------------------------------- */

/* Takes and fills chunks until one is not in the file; how many were. */
static unsigned fill_up(uint64_t payload)
{
    unsigned in_file = 0;
    for (int n = 0; n < 100000; n++) {
        char *memory = store_new_chunk(LEAK_CHUNK_HISTORY, payload, n);
        ck_assert_ptr_nonnull(memory);
        memset(memory, 1, payload); /* a page without room behind it is SIGBUS */
        struct leak_chunk *chunk = (struct leak_chunk *)memory - 1;
        bool inside = (char *)chunk >= (char *)store_header &&
                      (char *)chunk < (char *)store_header + store_header->file_size;
        if (!inside)
            return in_file;
        in_file++;
    }
    return in_file;
}

static const struct {
    const char *name;
    uint64_t limit;
} limits[] = {{"1 MiB", 1 << 20}, {"8 MiB", 8 << 20}, {"256 KiB", 256 << 10}};

START_TEST(a_small_file_size_limit_ends_in_memory_and_kills_no_process)
{
    struct rlimit limit = {limits[_i].limit, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    create();
    ck_assert_msg(store_path()[0], "%s is enough for a file", limits[_i].name);
    ck_assert_uint_le(store_header->file_size, limits[_i].limit);
    unsigned in_file = fill_up(50000);
    ck_assert_msg(in_file == (limits[_i].limit - 4096) / 53248, "%s: %u chunks in the file",
                  limits[_i].name, in_file);
    ck_assert_uint_ne(store_header->flags & LEAK_FLAG_FULL, 0);
    uint64_t offset = 0;
    unsigned seen = 0;
    while (view_chunk(store_header, LEAK_CHUNK_HISTORY, &offset))
        seen++;
    ck_assert_uint_eq(seen, in_file);
    ck_assert_uint_gt(fill_up(100), 0); /* small ones still fit */
}
END_TEST

START_TEST(a_tiny_file_size_limit_means_no_file)
{
    struct rlimit limit = {100 << 10, RLIM_INFINITY};
    const char *home = directory("tiny");
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert(store_create(home, "x", no_environment));
    ck_assert_str_eq(store_path(), "");
    ck_assert_uint_eq(entries(home), 0);
    ck_assert_ptr_nonnull(store_new_chunk(LEAK_CHUNK_SITES, 1000, 1));
}
END_TEST

START_TEST(no_descriptor_left_means_no_file)
{
    const char *home = directory("descriptors");
    struct rlimit limit = {0, 0};
    setrlimit(RLIMIT_NOFILE, &limit);
    ck_assert(store_create(home, "x", no_environment));
    ck_assert_str_eq(store_path(), "");
}
END_TEST

/* A file system of our own, of a given size; NULL where that is not allowed. */
static const char *small_file_system(const char *options)
{
    static char path[200];
    strcpy(path, directory("mount"));
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", path, "tmpfs", 0, options) != 0)
        return NULL;
    return path;
}

static void fill_disk(const char *home, unsigned kilobytes)
{
    char path[300], block[1024] = {1};
    snprintf(path, sizeof path, "%s/ballast", home);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    while (kilobytes-- && write(fd, block, sizeof block) > 0)
        continue;
    close(fd);
}

static uint64_t left_on(const char *home)
{
    struct statvfs disk;
    ck_assert_int_eq(statvfs(home, &disk), 0);
    return disk.f_bavail * disk.f_frsize;
}

START_TEST(an_eighth_of_what_is_free_is_left_to_the_program)
{
    if (!unit_advice_is_followed())
        return UNIT_SKIP("madvise only pretends here (qemu-user)");
    const char *home = small_file_system(_i ? "size=8m" : "size=4m");
    if (!home)
        return UNIT_SKIP("mounting a tmpfs is not allowed here");
    uint64_t room = left_on(home);
    ck_assert(store_create(home, "x", no_environment));
    unsigned in_file = fill_up(50000);
    ck_assert_uint_gt(fill_up(100), 0);
    ck_assert_uint_ge(left_on(home), room / 8);
    ck_assert_uint_gt(in_file * 53248ull, room / 8 * 7 - 64 * 1024);
}
END_TEST

/* Others take half of it meanwhile. With a mapping of the disk's size, and with one that a small
 * limit made small. */
START_TEST(a_full_file_system_ends_in_memory_and_kills_no_process)
{
    if (!unit_advice_is_followed())
        return UNIT_SKIP("madvise only pretends here (qemu-user)");
    const char *home = small_file_system("size=2m");
    if (!home)
        return UNIT_SKIP("mounting a tmpfs is not allowed here");
    if (_i) {
        struct rlimit limit = {3 << 19, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ck_assert(store_create(home, "x", no_environment));
    ck_assert_msg(store_path()[0], "2 MiB are enough for a file");
    fill_disk(home, 1024);
    uint64_t room = left_on(home);
    unsigned in_file = fill_up(50000);
    ck_assert_msg(in_file > 10 && in_file < 20, "%u chunks in 1 MiB", in_file);
    ck_assert_msg(left_on(home) == room - in_file * 53248ull, "what did not fit is not given back");
    ck_assert_uint_ne(store_header->flags & LEAK_FLAG_FULL, 0);
    /* As a reader does it, by read(): where there was no room even looking through a mapping kills. */
    uint64_t offset = 0, size = store_header->used;
    unsigned seen = 0;
    struct leak_header *copy = calloc(1, size);
    int fd = open(store_path(), O_RDONLY);
    ck_assert_int_eq(read(fd, copy, size), (ssize_t)size);
    close(fd);
    while (view_chunk(copy, LEAK_CHUNK_HISTORY, &offset))
        seen++;
    free(copy);
    ck_assert_uint_eq(seen, in_file);
}
END_TEST

START_TEST(a_file_system_that_is_full_from_the_start_leaves_no_file)
{
    if (!unit_advice_is_followed())
        return UNIT_SKIP("madvise only pretends here (qemu-user)");
    const char *home = small_file_system("size=64k");
    if (!home)
        return UNIT_SKIP("mounting a tmpfs is not allowed here");
    fill_disk(home, 64);
    ck_assert(store_create(home, "x", no_environment));
    ck_assert_str_eq(store_path(), "");
    ck_assert_uint_eq(entries(home), 1);
}
END_TEST

START_TEST(a_read_only_file_system_means_no_file)
{
    const char *home = small_file_system("size=1m,ro");
    if (!home)
        return UNIT_SKIP("mounting a tmpfs is not allowed here");
    ck_assert(store_create(home, "x", no_environment));
    ck_assert_str_eq(store_path(), "");
    ck_assert_uint_eq(store_header->magic, LEAK_STORE_MAGIC);
}
END_TEST

START_TEST(a_chunk_above_the_memory_limit_is_refused_and_not_charged)
{
    create();
    uint64_t used = arena_used();
    arena_set_limit(used + 8192);
    ck_assert_ptr_null(store_new_chunk(LEAK_CHUNK_SITES, 100000, 1));
    ck_assert_uint_eq(arena_used(), used);
    ck_assert_ptr_nonnull(store_new_chunk(LEAK_CHUNK_SITES, 4000, 1));
    ck_assert_uint_eq(arena_used(), used + 4096);
}
END_TEST

/* ---- Fork ----------------------------------------------------------------------------------- */

static int in_child(bool (*body)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(body() ? 0 : 1);
    waitpid(pid, &status, 0);
    return status;
}

static char parents_path[700];

static bool child_takes_its_own(void)
{
    struct leak_header *parent, *before = store_header;
    uint64_t size;
    if (!store_create_child(&parent, &size) || parent != before || store_header == before ||
        strcmp(store_path(), parents_path) == 0 || store_header->pid != getpid() ||
        store_header->used != LEAK_PAGE || size != parent->file_size)
        return false;
    store_write_chunk(LEAK_CHUNK_OPTIONS, "child", 5);
    store_unmap_parent(parent, size);
    uint64_t offset = 0;
    return view_chunk(store_header, LEAK_CHUNK_OPTIONS, &offset) != NULL;
}

START_TEST(a_fork_child_takes_a_store_of_its_own_and_leaves_the_parents_alone)
{
    const char *home = directory("forks");
    ck_assert(store_create(home, "x", no_environment));
    strcpy(parents_path, store_path());
    ck_assert_int_eq(in_child(child_takes_its_own), 0);
    ck_assert_uint_eq(entries(home), 2);
    uint64_t offset = 0;
    ck_assert_ptr_null(view_chunk(store_header, LEAK_CHUNK_OPTIONS, &offset));
    ck_assert_uint_eq(store_header->used, LEAK_PAGE);
}
END_TEST

static bool child_stays_in_memory(void)
{
    struct leak_header *parent;
    uint64_t size;
    return store_create_child(&parent, &size) && !store_path()[0] && store_header != parent &&
           store_header->pid == getpid() && store_new_chunk(LEAK_CHUNK_SITES, 1000, 1);
}

START_TEST(a_fork_child_of_an_account_in_memory_stays_there)
{
    ck_assert(store_create("/no/such/place", "x", no_environment));
    ck_assert_int_eq(in_child(child_stays_in_memory), 0);
}
END_TEST

START_TEST(a_fork_child_whose_directory_is_gone_goes_on_in_memory)
{
    ck_assert(store_create(directory("gone"), "x", no_environment));
    unlink(store_path());
    ck_assert_int_eq(rmdir(directory("gone")), 0);
    ck_assert_int_eq(in_child(child_stays_in_memory), 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("store");
    TCase *file = tcase_create("file");
    tcase_add_test(file, a_new_store_has_a_header_that_a_reader_accepts);
    tcase_add_test(file, no_descriptor_stays_open);
    tcase_add_loop_test(file, a_file_is_named_after_its_program, 0, ARRAY_LENGTH(names));
    tcase_add_test(file, a_chunk_is_written_again_only_as_what_it_was);
    tcase_add_test(file, a_second_store_of_the_same_process_takes_another_name);
    tcase_add_test(file, a_directory_that_is_missing_is_made);
    tcase_add_loop_test(file, where_no_file_can_be_the_account_is_in_memory, 0, PLACES);
    tcase_add_test(file, the_default_place_is_private_and_below_the_runtime_directory);
    tcase_add_test(file, a_default_place_that_others_may_read_is_not_taken);
    suite_add_tcase(suite, file);
    TCase *chunks = tcase_create("chunks");
    tcase_add_test(chunks, a_reader_finds_published_chunks_and_their_published_bytes);
    tcase_add_test(chunks, a_chunk_not_yet_published_is_stepped_over);
    tcase_add_test(chunks, chunks_of_every_size_are_whole_pages_side_by_side);
    tcase_add_test(chunks, what_cannot_be_tracked_is_counted);
    tcase_add_test(chunks, threads_reserve_chunks_without_overlap);
    suite_add_tcase(suite, chunks);
    TCase *room = tcase_create("room");
    tcase_set_timeout(room, 30);
    tcase_add_loop_test(room, a_small_file_size_limit_ends_in_memory_and_kills_no_process, 0,
                        ARRAY_LENGTH(limits));
    tcase_add_test(room, a_tiny_file_size_limit_means_no_file);
    if (!UNIT_SANITIZED)
        tcase_add_test(room, no_descriptor_left_means_no_file);
    tcase_add_loop_test(room, an_eighth_of_what_is_free_is_left_to_the_program, 0, 2);
    tcase_add_loop_test(room, a_full_file_system_ends_in_memory_and_kills_no_process, 0, 2);
    tcase_add_test(room, a_file_system_that_is_full_from_the_start_leaves_no_file);
    tcase_add_test(room, a_read_only_file_system_means_no_file);
    tcase_add_test(room, a_chunk_above_the_memory_limit_is_refused_and_not_charged);
    suite_add_tcase(suite, room);
    TCase *forks = tcase_create("fork");
    tcase_add_test(forks, a_fork_child_takes_a_store_of_its_own_and_leaves_the_parents_alone);
    tcase_add_test(forks, a_fork_child_of_an_account_in_memory_stays_there);
    tcase_add_test(forks, a_fork_child_whose_directory_is_gone_goes_on_in_memory);
    suite_add_tcase(suite, forks);
    return unit_main(argc, argv, suite);
}
