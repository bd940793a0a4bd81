/* unit.h - what the tests of the runtime share.
 *
 * Each program tests one module, linked with the runtime but without its hooks: malloc here is
 * libc's. libcheck runs every test in a fork, so a module's static state is always fresh.
 * Includes check.h first: base.h poisons what the runtime may not call.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNIT_SANITIZED 1
#else
#define UNIT_SANITIZED 0
#endif

/* The token: most functions only want to see that there is one. */
static struct guard unit_guard __attribute__((unused)) = {.sp = 1};

/* An empty directory of this program's own, removed at the end. */
static char unit_directory[64] __attribute__((unused));

/* Says why, counts, and leaves the test: `return UNIT_SKIP("no root");` The runner adds the lines up. */
#define UNIT_SKIP(why) ((void)dprintf(1, "skip: %s: %s\n", __func__, (why)))

/* For loops: libcheck's own note in a file where they are, each time. */
#define UNIT_WANT_MSG(condition, ...)                                                              \
    do {                                                                                           \
        if (unlikely(!(condition)))                                                                \
            ck_abort_msg(__VA_ARGS__);                                                             \
    } while (0)
#define UNIT_WANT(condition) UNIT_WANT_MSG(condition, "not so: %s", #condition)

/* What room there is depends on MADV_POPULATE_WRITE. qemu-user says yes to every advice, also to one
 * that does not exist, and follows hardly any. */
static inline bool unit_advice_is_followed(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool lies = madvise(page, 4096, 12345) == 0;
    munmap(page, 4096);
    return !lies;
}

/* qemu-user has threads of its own in the process, copies none, and has its own idea of memory. */
static inline bool unit_is_emulated(void)
{
    return !unit_advice_is_followed();
}
#define UNIT_EMULATED "the process is not its own here (qemu-user)"

/* A child that stops for a tracer which there cannot be stops for ever: qemu-user has no ptrace. */
static inline bool unit_can_trace(void)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, 0, 0) != 0);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}
#define UNIT_NO_TRACE "there is no ptrace here (qemu-user)"

/* Waits for the child pid, which must end with success. */
static inline void unit_await_success(pid_t pid)
{
    int status = -1;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        ck_abort_msg("the child ends with %x", status);
}

/* A seed of its own for each run; SEED=n repeats one. Put unit_seed into every message. */
static uint64_t unit_seed __attribute__((unused));

static inline uint64_t unit_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Bytes that end where the address space has a hole: one read too many is a fault. */
static inline uint8_t *unit_at_page_end(const void *bytes, size_t size)
{
    size_t room = (size + 8191) / 4096 * 4096;
    uint8_t *map = mmap(NULL, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + room, 4096, PROT_NONE) != 0)
        ck_abort_msg("no memory for a guard page");
    if (bytes && size)
        memcpy(map + room - size, bytes, size);
    return map + room - size;
}

static inline void unit_drop_at_page_end(uint8_t *bytes, size_t size)
{
    size_t room = (size + 8191) / 4096 * 4096;
    munmap(bytes + size - room, room + 4096);
}

static inline int unit_main(int argc, char **argv, Suite *suite)
{
    static const char *const bases[] = {"/dev/shm", "/tmp"};
    struct timespec now;
    (void)argc;
    clock_gettime(CLOCK_REALTIME, &now);
    unit_seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0)
                               : (uint64_t)now.tv_nsec * 1000003 + (uint64_t)getpid();
    for (size_t i = 0; i < ARRAY_LENGTH(bases) && !unit_directory[0]; i++) {
        char name[64];
        strcpy(name, bases[i]);
        strcat(name, "/libleak-unit-XXXXXX");
        if (mkdtemp(name))
            strcpy(unit_directory, name);
    }
    if (!unit_directory[0]) {
        dprintf(2, "no place for a temporary directory\n");
        return 1;
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (failed)
        dprintf(1, "alone: SEED=%" PRIu64 " CK_RUN_CASE=CASE %s   (CASE: the word after F: or E: above)\n",
                unit_seed, argv[0]);
    char *command[] = {(char *)"rm", (char *)"-rf", unit_directory, NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execvp(command[0], command);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
    return failed ? 1 : 0;
}

#endif
