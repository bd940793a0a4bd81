/* text_fit.c - shortens the report of a process to fit a screen; described in text.h.
 *
 * The function to fix is mostly a caller of the function that allocates, so callers are worth more
 * than other lines. If there are only a few records, lines of less use are left out, level by level
 * (TEXT_ONE_SOURCE to TEXT_TERSEST), until each record has enough callers. Then more callers fill
 * the free lines of the screen, first those of the first record.
 */
#include "symbolize/text/text.h"

#include <stdlib.h>
#include <string.h>

#define FEW TEXT_FEW
#define SCREEN 25 /* lines of a screen, if the terminal is not known to have more */
#define PLENTY 11 /* most callers of a record, because more are rarely read */

/* Numbers of callers, of the first record and of the others, that are tried in this order. */
static const struct {
    size_t first, others;
    unsigned from, to;   /* the levels of shortening (view->terse) that are tried with these numbers
                        * of callers */
    unsigned first_most; /* the highest level for the first record, which is mostly the one that is
                          * fixed: its lines are left out last */
} wanted[] = {{PLENTY, 7, TEXT_WHOLE, TEXT_BRIEF, TEXT_TERSEST},
              {7, 4, TEXT_WHOLE, TEXT_BRIEF, TEXT_TERSEST},
              {4, 2, TEXT_BRIEF, TEXT_BRIEF, TEXT_TERSEST},
              {4, 1, TEXT_BRIEF, TEXT_BRIEF, TEXT_TERSEST},
              {2, 1, TEXT_TIGHT, TEXT_TERSEST, TEXT_BRIEF},
              {1, 1, TEXT_BRIEF, TEXT_TERSEST, TEXT_TERSEST}};

struct fitting {
    const struct text_draft *draft;
    struct view view;
    size_t callers[FEW], count, lines;
    bool when_told;
};

/* Counts the lines of a screen that a text takes. Only the command that is suggested may be wider
 * than a line. */
static size_t count_lines(const char *text)
{
    size_t lines = 1; /* 1 for the summary line, which follows */

    while (*text) {
        size_t length = strcspn(text, "\n");

        lines += strncmp(text, "Next: ", 6) == 0 && length > TEXT_COLUMNS
                     ? (length + TEXT_COLUMNS - 1) / TEXT_COLUMNS
                     : text[length] == '\n';
        text += length + (text[length] == '\n');
    }
    return lines;
}

/* Writes the draft to memory, with the level and the numbers of callers that `fitting` has now.
 * Returns NULL if the draft has too many lines. The caller frees the text. */
static char *try_draft(struct fitting *fitting)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    fitting->draft->write(fitting->draft->processes, fitting->draft->nth, &fitting->view, stream);
    fclose(stream);
    if (fitting->view.written + count_lines(text) <= fitting->lines)
        return text;
    free(text);
    return NULL;
}

static char *try_level(struct fitting *fitting, unsigned level, unsigned first_most)
{
    fitting->view.terse = level;
    fitting->view.terse_first = level < first_most ? level : first_most;
    fitting->view.when_told = fitting->when_told && level < TEXT_BRIEF;
    fitting->view.no_next = level >= TEXT_BRIEF;
    return try_draft(fitting);
}

static void set_callers(struct fitting *fitting, size_t first, size_t others)
{
    for (size_t i = 0; i < fitting->count; i++)
        fitting->callers[i] = i ? others : first;
}

static char *try_levels(struct fitting *fitting)
{
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        set_callers(fitting, wanted[i].first, wanted[i].others);
        for (unsigned level = wanted[i].from; level <= wanted[i].to; level++) {
            char *text = try_level(fitting, level, wanted[i].first_most);

            if (text)
                return text;
        }
    }
    return NULL;
}

/* Adds callers to one record as long as that changes the text and the text fits the screen. Returns
 * the text. */
static char *add_callers(struct fitting *fitting, size_t record, size_t most, char *text)
{
    while (fitting->callers[record] < most) {
        char *longer;

        fitting->callers[record]++;
        longer = try_draft(fitting);
        if (!longer || strcmp(longer, text) == 0) {
            fitting->callers[record]--;
            free(longer);
            break;
        }
        free(text);
        text = longer;
    }
    return text;
}

static char *fill_screen(struct fitting *fitting, char *text)
{
    static const size_t goals[] = {2, 4, 7, PLENTY};

    for (size_t i = 0; i < sizeof(goals) / sizeof(*goals); i++)
        for (size_t record = 0; record < fitting->count; record++)
            text = add_callers(fitting, record, goals[i], text);
    return text;
}

/* Adds lines that were left out, if they fit the screen after all. left_out: the field of the view
 * that leaves them out. Returns the text. */
static char *add_lines(struct fitting *fitting, bool *left_out, char *text)
{
    char *longer;

    if (!*left_out)
        return text;
    *left_out = false;
    longer = try_draft(fitting);
    if (!longer) {
        *left_out = true;
        return text;
    }
    free(text);
    return longer;
}

/* Says whether bad frees stand before the records and take a part of the first screen. */
static bool has_bad_frees(const struct text_draft *draft)
{
    const struct text_processes *processes = draft->processes;

    return processes->report->processes[processes->full[draft->nth]].mistake_count != 0;
}

size_t text_fit(const struct text_draft *draft, size_t count, const struct view *view, FILE *stream)
{
    struct fitting fitting = {.draft = draft, .view = *view, .count = count};
    char *text = NULL;
    size_t lines;

    /* one line is kept for the prompt */
    fitting.lines = view->rows > SCREEN ? view->rows - 1 : SCREEN;
    fitting.when_told = view->when_told;
    fitting.view.fit = fitting.callers;
    fitting.view.no_handover = true; /* its lines may cost no caller and no source line */
    if (count <= FEW)
        text = try_levels(&fitting);
    if (text) {
        text = fill_screen(&fitting, text);
        text = add_lines(&fitting, &fitting.view.no_handover, text);
        text = add_lines(&fitting, &fitting.view.no_next, text);
        fputs(text, stream);
        lines = count_lines(text);
        free(text);
        return lines;
    }
    fitting.view = *view;
    if (count <= FEW) {
        set_callers(&fitting, has_bad_frees(draft) ? 2 : 4, 2);
        fitting.view.fit = fitting.callers;
        fitting.view.terse = fitting.view.terse_first = TEXT_ONE_SOURCE;
    }
    draft->write(draft->processes, draft->nth, &fitting.view, stream);
    return 0;
}
