/* main.c - runs leakserve, which serves the live page. leaktop --listen executes it with the same
 * arguments. It is a separate program so that leaktop needs no HTTP library.
 *
 * The main thread reads the recordings at each interval; server.h and reports.h have the other
 * threads. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/term_text.h"
#include "serve/server.h"

enum { STATUS_GOOD = 0, STATUS_UNUSABLE = 2 };

#define SWEEP_SECONDS 1.0

/* Blocks the signals that end leakserve, before any thread begins, so that only the main thread
 * receives them. Returns these signals. */
static sigset_t block_signals(void)
{
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    return ends;
}

/* Waits for some seconds, or until a signal comes. True: a signal came. */
static bool wait_for_signal(const sigset_t *ends, double seconds)
{
    struct timespec span = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    return sigtimedwait(ends, NULL, &span) > 0;
}

static void run_until_signal(struct server *server, struct heaps *heaps, double interval,
                             const sigset_t *ends)
{
    double rest = interval;

    while (!wait_for_signal(ends, rest < SWEEP_SECONDS ? rest : SWEEP_SECONDS)) {
        server_sweep(server);
        rest -= SWEEP_SECONDS;
        if (rest > 0)
            continue;
        heaps_update(heaps);
        rest = interval;
    }
}

static void print_address(const struct listener *listener)
{
    char *text = listener_text(listener);

    printf("leaktop: %s\n", term_text(text, strlen(text), 0).text);
    if (listener->path)
        printf("leaktop: for example: curl --unix-socket %s http://localhost/metrics\n",
               term_shell_word(listener->path).text);
    fflush(stdout);
    free(text);
}

static int serve(struct listener *listener, const struct gate *gate, const struct options *options,
                 const sigset_t *ends)
{
    struct heaps heaps = heaps_begin(options->dir, options->process);
    struct answers answers = {&heaps, reports_begin(), options};
    struct server *server = NULL;

    if (answers.reports) {
        heaps_update(&heaps);
        server = server_begin(listener, gate, &answers);
    }
    if (server) {
        print_address(listener);
        run_until_signal(server, &heaps, options->interval, ends);
    }
    if (answers.reports) {
        reports_stop(answers.reports);
        if (server)
            server_end(server);
        reports_end(answers.reports);
    }
    heaps_end(&heaps);
    return server ? STATUS_GOOD : STATUS_UNUSABLE;
}

int main(int argc, char **argv)
{
    struct listener listener;
    struct options options;
    struct gate gate = {0};
    sigset_t ends;
    int status;

    if (!options_parse(argc, argv, &options))
        return STATUS_UNUSABLE;
    if (options.view != VIEW_PAGE) {
        fputs("leakserve: this is a part of leaktop: use leaktop --listen\n", stderr);
        return STATUS_UNUSABLE;
    }
    gate.hosts = &options.hosts;
    if ((options.token_file && !gate_read_token(&gate, options.token_file)) ||
        !listener_open(&listener, options.listen, *gate.token))
        return STATUS_UNUSABLE;
    ends = block_signals();
    status = serve(&listener, &gate, &options, &ends);
    listener_close(&listener);
    return status;
}
