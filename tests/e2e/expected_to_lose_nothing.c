// libleak_expect_no_leaks: what is allocated in the block and lost behind it fails, with file, line and how many
// blocks, and what they lead to counts; what was lost before, what is freed and what is held does not. A fork
// child's own counts in it, and not what it inherited.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t callback; echo "exit $?"
// RUN: %leak %t abort; echo "exit $?"
// RUN: %t abort; echo "alone $?"
// EXPECT: ^clean 0, leaky 2 at right line, nested 1 inside 1, again 0, since 1 3, child 1$
// EXPECT: ^exit 0$
// EXPECT: ^libleak: .*expected_to_lose_nothing.c:[0-9]+: 2 blocks were lost where none was to be$
// EXPECT: ^exit 134$
// EXPECT: ^alone 0$

#include "lib/verdicts.h"
#include <sys/wait.h>

static void *volatile held;
static long failed;
static int failed_line;

LOSE(lose, 40)
FAR static void lose_two(void)
{
    void **block = malloc(48);
    block[0] = malloc(56);
    sink = block;
    sink = NULL;
}
FAR static void be_tidy(void)
{
    sink = malloc(40);
    free(sink);
    sink = NULL;
    held = malloc(40);
}
static void note(const char *file, int line, long blocks)
{
    if (strstr(file, "expected_to_lose_nothing.c"))
        failed_line = line;
    failed += blocks;
}

static long failures(void)
{
    long before = failed;
    failed = 0;
    return before;
}

static void ask_with_callback(void)
{
    LIBLEAK_AT_EXPECT_FAILED(note);
    lose();
    libleak_expect_no_leaks be_tidy();
    long clean = failures();
    libleak_expect_no_leaks { lose_two(); } int line = __LINE__;
    printf("clean %ld, leaky %ld at %s line", clean, failures(), failed_line == line ? "right" : "wrong");
    libleak_expect_no_leaks
    {
        libleak_expect_no_leaks { lose(); }
        scrub();
        printf(", nested %ld", failures());
    }
    printf(" inside %ld", failures());
    libleak_expect_no_leaks { scrub(); }
    printf(", again %ld", failures());
    unsigned long first = LIBLEAK_MOMENT();
    lose_two();
    unsigned long second = LIBLEAK_MOMENT();
    lose();
    scrub();
    printf(", since %ld", LIBLEAK_LOST_SINCE(second));
    printf(" %ld", LIBLEAK_LOST_SINCE(first));
    fflush(stdout);
    if (fork() == 0) {
        libleak_expect_no_leaks { lose(); }
        printf(", child %ld\n", failures());
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
}

int main(int argc, char **argv)
{
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (argc > 1 && strcmp(argv[1], "callback") == 0)
        ask_with_callback();
    else
        libleak_expect_no_leaks { lose_two(); }
    return 0;
}
