// libleak_report: any number of reports while the program runs, each added to its file, or to where that of the
// end goes; libleak_report_thread: what another thread lost is no part of it. What cannot be written there is on stderr.
// CFLAGS: -O1 -g -fno-builtin
// ENV: LIBLEAK_OPTIONS=report=exit:report_file=asked
// RUN: %leak %t
// RUN: for of in all thread asked; do echo "$of:" $(grep -o '^ *by_[a-z_]*\|[0-9,]* bytes in [0-9]* blocks\? lost ([mr]' $of); done
// RUN: grep -c '^libleak: pid=' asked
// EXPECT: ^lost 1 2 2 3 2 3$
// EXPECT: ^all: 100 bytes in 1 block lost \(m by_main 100 bytes in 1 block lost \(m by_main 40 bytes in 1 block lost \(m by_thread$
// EXPECT: ^thread: 40 bytes in 1 block lost \(m by_thread$
// EXPECT: ^asked: 100 bytes in 1 block lost \(m by_main 40 bytes in 1 block lost \(m by_thread 100 bytes in 1 block lost \(m by_main 70 bytes in 1 block lost \(m by_end 40 bytes in 1 block lost \(m by_thread 100 bytes
// EXPECT: no/such/folder/file.*No such file
// EXPECT: ^3$
// REFUSE: CHLD

#include "lib/verdicts.h"
#include <pthread.h>
#include <signal.h>

LOSE(by_main, 100)
LOSE(by_thread, 40)
LOSE(by_end, 70)

static long of_thread;

static void on_child(int number)
{
    (void)number;
    write(2, "CHLD\n", 5);
}

static void *run(void *none)
{
    by_thread();
    of_thread = libleak_report_thread("thread");
    return none;
}

int main(void)
{
    pthread_t thread;
    long one, two, asked, again;
    signal(SIGCHLD, on_child);
    by_main();
    one = libleak_report("all");
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    two = libleak_report("all");
    asked = libleak_report(NULL);
    by_end();
    again = libleak_report(NULL);
    printf("lost %ld %ld %ld %ld %ld %ld\n", one, of_thread, two, again, asked,
           libleak_report("no/such/folder/file"));
    return 0;
}
