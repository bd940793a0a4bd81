/* commands.c - implements the commands of leakctl that send a request; described in commands.h.
 * leakreport shows what is in the recording.
 */
#include "control/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/request.h"
#include "control/target.h"
#include "common/base/proc.h"
#include "common/base/string_list.h"
#include "common/base/term_text.h"

enum { STATUS_GOOD = 0, STATUS_UNDONE = 1, STATUS_USAGE = 2 };

static const char *const answer_words[] = {"it has not answered",
#define A(name, words) words,
                                           LEAK_ANSWER_TABLE(A)
#undef A
};
static const char *const trouble_words[] = {"the reason is unknown",
#define X(name, words) words,
                                            LEAK_TROUBLE_TABLE(X)
#undef X
};

/* ---- Sending requests and checking answers --------------------------------------------------- */

struct command_run {
    struct arguments arguments;
    struct target target;
    struct mailbox_answer answer;
};

/* Sends a request to the process. True: the process has answered, and the caller must call
 * target_close(). False: the request failed. */
static bool send_request(struct command_run *run, struct request request)
{
    request.timeout = run->arguments.timeout;
    if (!target_open(&run->target, run->arguments.process, run->arguments.dir))
        return false;
    if (request_perform(&run->target, &request, &run->answer))
        return true;
    target_close(&run->target);
    return false;
}

/* Checks the answer of the process. False: the process refused the request, and the target is
 * closed. */
static bool check_answer(struct command_run *run)
{
    enum leak_answer answer = run->answer.answer;
    char *next;

    if (answer == LEAK_ANSWER_DONE)
        return true;
    next = string_format("leakreport %s", term_shell_word(run->target.path).text);
    refuse_request(run->target.who, REFUSAL_ANSWER,
                   answer < LEAK_ANSWER_MAX ? answer_words[answer] : "unknown answer", next);
    free(next);
    target_close(&run->target);
    return false;
}

enum leak_check_status { CHECK_REFUSED, CHECK_FAILED, CHECK_DONE };

/* Makes the process check for leaks. Unless the result is CHECK_REFUSED, the recording file has the
 * result of the leak check, or the reason why none was made. */
static enum leak_check_status run_leak_check(struct command_run *run, struct request request,
                                             struct leak_check_totals *found)
{
    uint64_t begun_ns = time_now_ns();

    *found = (struct leak_check_totals){0};
    if (!send_request(run, request))
        return CHECK_REFUSED;
    if (run->answer.answer == LEAK_ANSWER_NO_LOOK) {
        recording_find_failed_check(&run->target.recording, begun_ns, &found->head);
        return CHECK_FAILED;
    }
    if (!check_answer(run))
        return CHECK_REFUSED;
    if (request_wait_leak_check(&run->target, run->answer.milestone, run->arguments.timeout, found))
        return found->head.rung == LEAK_RUNG_NONE ? CHECK_FAILED : CHECK_DONE;
    target_close(&run->target);
    return CHECK_REFUSED;
}

/* Makes the process check for leaks. False: no leak check was made, a message has the reason, and
 * the target is closed. */
static bool require_leak_check(struct command_run *run, struct request request,
                               struct leak_check_totals *found)
{
    enum leak_check_status status = run_leak_check(run, request, found);
    uint8_t trouble = found->head.trouble;

    if (status == CHECK_FAILED) {
        refuse_request(run->target.who, REFUSAL_ANSWER, "no leak check was possible",
                       trouble_words[trouble < LEAK_TROUBLE_MAX ? trouble : LEAK_TROUBLE_NONE]);
        target_close(&run->target);
    }
    return status == CHECK_DONE;
}

/* ---- Executing leakreport -------------------------------------------------------------------- */

int commands_exec_leakreport(pid_t pid, const char *path, const char *option,
                             const struct arguments *arguments)
{
    char *program = proc_find_tool(NULL, "leakreport");
    char *root = pid ? target_other_root(pid) : NULL;
    struct string_list command = {0};

    string_list_add(&command, "leakreport");
    if (root)
        string_list_addf(&command, "--sysroot=%s", root);
    if (option)
        string_list_add(&command, option);
    for (int i = 0; i < arguments->rest_count; i++)
        string_list_add(&command, arguments->rest[i]);
    string_list_add(&command, path);
    fflush(stdout);
    setenv(LEAK_HELPER_VARIABLE, "1", 1);
    if (program)
        execv(program, command.at);
    fprintf(stderr, "leakctl: leakreport: %s: build it (make) or install it (make install)\n",
            strerror(errno));
    return STATUS_UNDONE;
}

/* ---- The functions of the commands ----------------------------------------------------------- */

static void print_leak_check(const struct command_run *run, const struct leak_check_totals *totals)
{
    const struct leak_snapshot *head = &totals->head;

    printf("%s: paused %.1f ms, analysed in %.1f ms; lost: %s, %s",
           term_text(run->target.who, strlen(run->target.who), 0).text,
           (double)head->pause_ns / 1e6, (double)head->check_ns / 1e6,
           term_count(totals->lost_blocks, "block").text,
           term_count(totals->lost_bytes, "byte").text);
    if (totals->indirect_blocks)
        printf(" (plus %s, %s indirectly lost)", term_count(totals->indirect_blocks, "block").text,
               term_count(totals->indirect_bytes, "byte").text);
    if (head->rung == LEAK_RUNG_UNSTOPPED)
        fputs("; its threads were not stopped", stdout);
    printf("; leakreport %s\n", term_shell_word(run->target.path).text);
}

/* Makes the file name of --graph absolute, because the process may have another working directory.
 * NULL: the working directory is unknown. */
static char *graph_file_name(const char *given)
{
    char here[PATH_MAX], *path;

    if (*given == '/')
        return string_format("%s", given);
    if (!getcwd(here, sizeof(here)))
        return NULL;
    path = string_format("%s/%s", here, given);
    return path;
}

/* Returns the path of the graph file: that of --graph, else NAME.PID.leakgraph, for which the
 * process must be found. */
static char *graph_file_of(const struct arguments *arguments)
{
    struct target target;
    char *name, *path;

    if (*arguments->graph)
        return graph_file_name(arguments->graph);
    if (!target_open(&target, arguments->process, arguments->dir))
        return NULL;
    name = string_format("%.*s.%d.leakgraph", (int)strcspn(target.who, " /"), target.who,
                         (int)target.pid);
    target_close(&target);
    path = graph_file_name(name);
    free(name);
    return path;
}

static int print_graph_file(const struct command_run *run, const char *path)
{
    int error = recording_graph_error(&run->target.recording, run->answer.milestone);

    if (error) {
        refuse_request(run->target.who, REFUSAL_ANSWER, "no heap graph was written",
                       string_format("%s: %s", path, strerror(-error)));
        return STATUS_UNDONE;
    }
    printf("heap graph: leakgraph %s\n", term_shell_word(path).text);
    return STATUS_GOOD;
}

int command_snapshot(const struct arguments *arguments)
{
    struct command_run run = {.arguments = *arguments};
    struct request request = {.verb = LEAK_VERB_SNAPSHOT};
    struct leak_check_totals found;
    char *graph = arguments->graph ? graph_file_of(arguments) : NULL;
    int status = STATUS_GOOD;

    if (arguments->graph && !graph)
        return STATUS_UNDONE;
    if (graph && strlen(graph) >= RECORDING_GRAPH_FILE) {
        fprintf(stderr, "leakctl: the name of the graph file is too long: %s\n", graph);
        free(graph);
        return STATUS_USAGE;
    }
    request.graph_file = graph;
    request.argument = graph ? LEAK_REQUEST_GRAPH : 0;
    if (require_leak_check(&run, request, &found)) {
        print_leak_check(&run, &found);
        if (graph)
            status = print_graph_file(&run, graph);
        target_close(&run.target);
    } else {
        status = STATUS_UNDONE;
    }
    free(graph);
    return status;
}

int command_mark(const struct arguments *arguments)
{
    struct command_run run = {.arguments = *arguments};
    char *option, *dir;

    if (!arguments_name(run.arguments.operand)) {
        fprintf(
            stderr,
            "leakctl: a mark has 1 to %d bytes, no control characters, and does not begin with #\n",
            LEAK_MILESTONE_NAME - 1);
        return STATUS_USAGE;
    }
    if (!send_request(&run,
                      (struct request){.verb = LEAK_VERB_MARK, .name = run.arguments.operand}) ||
        !check_answer(&run))
        return STATUS_UNDONE;
    option = string_format("--since=%s", run.arguments.operand);
    dir = string_format("%s%s", run.arguments.dir ? " --dir=" : "",
                        run.arguments.dir ? term_shell_word(run.arguments.dir).text : "");
    printf("%s: marked; leakctl report%s %d %s shows what was allocated later and still lives, or, "
           "after the next leak check, leakreport %s %s\n",
           term_text(run.target.who, strlen(run.target.who), 0).text, dir, (int)run.target.pid,
           term_shell_word(option).text, term_shell_word(option).text,
           term_shell_word(run.target.path).text);
    free(option);
    free(dir);
    target_close(&run.target);
    return STATUS_GOOD;
}

static int switch_recording(const struct arguments *arguments, enum leak_verb verb,
                            const char *words)
{
    struct command_run run = {.arguments = *arguments};

    if (!send_request(&run, (struct request){.verb = verb}) || !check_answer(&run))
        return STATUS_UNDONE;
    printf("%s: %s\n", term_text(run.target.who, strlen(run.target.who), 0).text, words);
    target_close(&run.target);
    return STATUS_GOOD;
}

int command_enable(const struct arguments *arguments)
{
    return switch_recording(arguments, LEAK_VERB_ENABLE,
                            "enabled: new allocations get stacks, and may be leaks");
}

int command_disable(const struct arguments *arguments)
{
    return switch_recording(arguments, LEAK_VERB_DISABLE,
                            "disabled: new allocations get no stacks, and are no leaks");
}

int command_report(const struct arguments *arguments)
{
    struct command_run run = {.arguments = *arguments};
    struct leak_check_totals found;

    if (run.arguments.no_look ? !target_open(&run.target, run.arguments.process, run.arguments.dir)
                              : run_leak_check(&run, (struct request){.verb = LEAK_VERB_SNAPSHOT},
                                               &found) == CHECK_REFUSED)
        return STATUS_UNDONE;
    /* If there is no leak check, the report says why. */
    return commands_exec_leakreport(run.target.pid, run.target.path, NULL, &run.arguments);
}

int command_who(const struct arguments *arguments)
{
    struct request request = {.verb = LEAK_VERB_WHO};
    struct command_run run = {.arguments = *arguments};
    struct leak_check_totals found;
    char *option;

    if (!arguments_address(run.arguments.operand, &request.argument)) {
        fprintf(stderr, "leakctl: who takes an address in hex digits, not %s\n",
                term_text(run.arguments.operand, strlen(run.arguments.operand), 0).text);
        return STATUS_USAGE;
    }
    if (!require_leak_check(&run, request, &found))
        return STATUS_UNDONE;
    option = string_format("--who=0x%" PRIx64, request.argument);
    return commands_exec_leakreport(run.target.pid, run.target.path, option, &run.arguments);
}
