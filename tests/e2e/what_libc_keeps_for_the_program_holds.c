// Memory of libc's that holds a pointer which the program has given it: lists of exit handlers, values of
// thread keys, environ, nodes of a tree, a hash table, buffers and cookies of streams, slots of glob, timers,
// an obstack, a field of fts. All of these blocks are reachable, each by what the
// program gave to libc alone.
// The thread of a timer cannot be stopped, so the timer has a process of its own.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; %leak %t timer
// JSON: all(verdict(name, procs[0]) == {"reachable": (1, 40)} for name in ("on_exit_argument", "key_value", "environment", "tree_key", "table_data", "cookie", "glob_slot", "in_obstack", "fts_field"))
// JSON: verdict("stream_buffer", procs[0]) == {"reachable": (1, 4000)}
// JSON: verdict("timer_value", procs[1]) == {"reachable": (1, 40)}
// JSON: all(verdict("dropped", one) == {"lost": (1, 56)} for one in procs)

#include "lib/verdicts.h"
#include <fts.h>
#include <glob.h>
#include <obstack.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <time.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

TAKE(on_exit_argument, 40)
TAKE(key_value, 40)
TAKE(environment, 40)
TAKE(tree_key, 40)
TAKE(table_data, 40)
TAKE(stream_buffer, 4000)
TAKE(cookie, 40)
TAKE(glob_slot, 40)
TAKE(timer_value, 40)
TAKE(in_obstack, 40)
TAKE(fts_field, 40)
LOSE(dropped, 56)

void *tree;
glob_t found = {.gl_offs = 1};
struct obstack stack;
FTS *walk;

static void at_exit(int status, void *argument) {}
static int compare(const void *a, const void *b) { return a < b ? -1 : a > b; }
static ssize_t read_nothing(void *c, char *buffer, size_t size) { return 0; }
static void on_timer(union sigval value) {}

FAR static void keys(void)
{
    pthread_key_t key[40];

    for (int i = 0; i < 40; i++)
        pthread_key_create(&key[i], NULL);
    pthread_setspecific(key[39], key_value());
}

FAR static void strings(void)
{
    char *setting = environment();

    strcpy(setting, "LIBC_KEEPS=this");
    putenv(setting);
}

FAR static void searches(void)
{
    tsearch(tree_key(), &tree, compare);
    hcreate(10);
    hsearch((ENTRY){.key = "key", .data = table_data()}, ENTER);
}

FAR static void streams(void)
{
    setvbuf(fopen("/dev/null", "w"), stream_buffer(), _IOFBF, 4000);
    fopencookie(cookie(), "r", (cookie_io_functions_t){.read = read_nothing});
}

FAR static void others(void)
{
    char *path[] = {"/dev/null", NULL};

    glob("/dev/nul*", GLOB_DOOFFS, NULL, &found);
    found.gl_pathv[0] = glob_slot();
    obstack_init(&stack);
    obstack_ptr_grow(&stack, in_obstack());
    walk = fts_open(path, FTS_PHYSICAL, NULL);
    fts_read(walk)->fts_pointer = fts_field();
}

FAR static void timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer};
    timer_t timer;

    event.sigev_value.sival_ptr = timer_value();
    timer_create(CLOCK_MONOTONIC, &event, &timer);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        timer();
    } else {
        on_exit(at_exit, on_exit_argument());
        keys();
        strings();
        searches();
        streams();
        others();
    }
    dropped();
    scrub();
    return 0;
}
