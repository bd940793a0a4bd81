/* verbs.c - see verbs.h.
 *
 * What a verb asks, and what it says when it is answered. What a store tells is leakreport's to
 * say. */
#include "control/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/arguments.h"
#include "control/ask.h"
#include "control/refusal.h"
#include "control/target.h"
#include "common/base/proc.h"
#include "common/base/string_list.h"
#include "common/base/text.h"

enum { STATUS_GOOD = 0, STATUS_UNDONE = 1, STATUS_USAGE = 2 };

static const char *const answer_words[] = {"it has not answered",
#define A(name, words) words,
                                           LEAK_ANSWER_TABLE(A)
#undef A
};
static const char *const trouble_words[] = {"nobody knows why",
#define X(name, words) words,
                                            LEAK_TROUBLE_TABLE(X)
#undef X
};

/* ---- Asked and answered ---------------------------------------------------------------------- */

struct asking {
    struct arguments arguments;
    struct target target;
    struct mailbox_answer answer;
};

/* The process is found and has answered something: target_close is the caller's then. False:
 * refused. */
static bool ask_for(struct asking *asking, struct question question)
{
    question.timeout = asking->arguments.timeout;
    if (!target_open(&asking->target, asking->arguments.process, asking->arguments.dir))
        return false;
    if (ask(&asking->target, &question, &asking->answer))
        return true;
    target_close(&asking->target);
    return false;
}

/* False: refused, and closed. */
static bool is_done(struct asking *asking)
{
    enum leak_answer answer = asking->answer.answer;
    char *next;

    if (answer == LEAK_ANSWER_DONE)
        return true;
    next = string_format("leakreport %s", term_shell_word(asking->target.path).text);
    refuse(asking->target.who, REFUSAL_ANSWER,
           answer < LEAK_ANSWER_MAX ? answer_words[answer] : "an answer nobody knows", next);
    free(next);
    target_close(&asking->target);
    return false;
}

enum looked { REFUSED, NOT_MADE, LOOKED };

/* Unless it was REFUSED: what was found, or why there was no look, is in the store. */
static enum looked look(struct asking *asking, struct question question, struct account_look *found)
{
    uint64_t begun_ns = time_now_ns();

    *found = (struct account_look){0};
    if (!ask_for(asking, question))
        return REFUSED;
    if (asking->answer.answer == LEAK_ANSWER_NO_LOOK) {
        account_trouble_since(&asking->target.account, begun_ns, &found->head);
        return NOT_MADE;
    }
    if (!is_done(asking))
        return REFUSED;
    if (ask_for_look(&asking->target, asking->answer.milestone, asking->arguments.timeout, found))
        return found->head.rung == LEAK_RUNG_NONE ? NOT_MADE : LOOKED;
    target_close(&asking->target);
    return REFUSED;
}

/* For those who want nothing but the look. */
static bool must_look(struct asking *asking, struct question question, struct account_look *found)
{
    enum looked looked = look(asking, question, found);
    uint8_t trouble = found->head.trouble;

    if (looked == NOT_MADE) {
        refuse(asking->target.who, REFUSAL_ANSWER, "no look could be made",
               trouble_words[trouble < LEAK_TROUBLE_MAX ? trouble : LEAK_TROUBLE_NONE]);
        target_close(&asking->target);
    }
    return looked == LOOKED;
}

/* ---- Into leakreport ------------------------------------------------------------------------- */

/* It takes our place. */
static int report(const char *path, const char *option, const struct arguments *arguments)
{
    char *program = proc_find_tool(NULL, "leakreport");
    struct string_list command = {0};

    string_list_add(&command, "leakreport");
    if (option)
        string_list_add(&command, option);
    for (int i = 0; i < arguments->rest_count; i++)
        string_list_add(&command, arguments->rest[i]);
    string_list_add(&command, path);
    fflush(stdout);
    if (program)
        execv(program, command.at);
    fprintf(stderr, "leakctl: leakreport: %s: build it (make) or install it (make install)\n",
            strerror(errno));
    return STATUS_UNDONE;
}

/* ---- The verbs ------------------------------------------------------------------------------- */

static void say_look(const struct asking *asking, const struct account_look *look)
{
    const struct leak_snapshot *head = &look->head;

    printf("%s: held for %.1f ms, checked in %.1f ms; lost: %s, %s",
           term_text(asking->target.who, strlen(asking->target.who), 0).text,
           (double)head->pause_ns / 1e6, (double)head->check_ns / 1e6,
           term_count(look->lost_blocks, "block").text, term_count(look->lost_bytes, "byte").text);
    if (look->indirect_blocks)
        printf(" (and under them %s, %s)", term_count(look->indirect_blocks, "block").text,
               term_count(look->indirect_bytes, "byte").text);
    if (head->rung == LEAK_RUNG_UNSTOPPED)
        fputs("; its threads ran on meanwhile", stdout);
    printf("; leakreport %s\n", term_shell_word(asking->target.path).text);
}

int verbs_snapshot(const struct arguments *arguments)
{
    struct asking asking = {.arguments = *arguments};
    struct account_look found;

    if (!must_look(&asking, (struct question){.verb = LEAK_VERB_SNAPSHOT}, &found))
        return STATUS_UNDONE;
    say_look(&asking, &found);
    target_close(&asking.target);
    return STATUS_GOOD;
}

int verbs_mark(const struct arguments *arguments)
{
    struct asking asking = {.arguments = *arguments};
    char *option, *dir;

    if (!arguments_name(asking.arguments.operand)) {
        fprintf(stderr,
                "leakctl: a mark's name has 1 to %d bytes, no control characters, and begins with "
                "no #\n",
                LEAK_MILESTONE_NAME - 1);
        return STATUS_USAGE;
    }
    if (!ask_for(&asking,
                 (struct question){.verb = LEAK_VERB_MARK, .name = asking.arguments.operand}) ||
        !is_done(&asking))
        return STATUS_UNDONE;
    option = string_format("--since=%s", asking.arguments.operand);
    dir = string_format("%s%s", asking.arguments.dir ? " --dir=" : "",
                        asking.arguments.dir ? term_shell_word(asking.arguments.dir).text : "");
    printf("%s: marked; leakctl report%s %d %s tells what came later and is still there, or, after "
           "the "
           "next look, leakreport %s %s\n",
           term_text(asking.target.who, strlen(asking.target.who), 0).text, dir,
           (int)asking.target.pid, term_shell_word(option).text, term_shell_word(option).text,
           term_shell_word(asking.target.path).text);
    free(option);
    free(dir);
    target_close(&asking.target);
    return STATUS_GOOD;
}

static int turn(const struct arguments *arguments, enum leak_verb verb, const char *words)
{
    struct asking asking = {.arguments = *arguments};

    if (!ask_for(&asking, (struct question){.verb = verb}) || !is_done(&asking))
        return STATUS_UNDONE;
    printf("%s: %s\n", term_text(asking.target.who, strlen(asking.target.who), 0).text, words);
    target_close(&asking.target);
    return STATUS_GOOD;
}

int verbs_enable(const struct arguments *arguments)
{
    return turn(arguments, LEAK_VERB_ENABLE,
                "enabled: what is allocated from now on has its stack, and may be a leak");
}

int verbs_disable(const struct arguments *arguments)
{
    return turn(arguments, LEAK_VERB_DISABLE,
                "disabled: what is allocated from now on has no stack, and is no leak");
}

int verbs_report(const struct arguments *arguments)
{
    struct asking asking = {.arguments = *arguments};
    struct account_look found;

    if (asking.arguments.no_look
            ? !target_open(&asking.target, asking.arguments.process, asking.arguments.dir)
            : look(&asking, (struct question){.verb = LEAK_VERB_SNAPSHOT}, &found) == REFUSED)
        return STATUS_UNDONE;
    /* When no look could be made, the report says why. */
    return report(asking.target.path, NULL, &asking.arguments);
}

int verbs_who(const struct arguments *arguments)
{
    struct question question = {.verb = LEAK_VERB_WHO};
    struct asking asking = {.arguments = *arguments};
    struct account_look found;
    char *option;

    if (!arguments_address(asking.arguments.operand, &question.argument)) {
        fprintf(stderr, "leakctl: who takes an address in hex digits, not %s\n",
                term_text(asking.arguments.operand, strlen(asking.arguments.operand), 0).text);
        return STATUS_USAGE;
    }
    if (!must_look(&asking, question, &found))
        return STATUS_UNDONE;
    option = string_format("--who=0x%" PRIx64, question.argument);
    return report(asking.target.path, option, &asking.arguments);
}
