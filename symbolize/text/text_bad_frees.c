/* text_bad_frees.c - writes the bad frees; described in text.h. The text looks like this:
 *
 *     1. mismatched-free: 40 bytes of new[] released by free (100,000 times)
 *          where it was released, in frames
 *        allocated (new[]):
 *          where, in frames
 *        freed before (free) by T2:
 *          where, in frames
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"

#define PARTS_SHOWN 2   /* number of bad frees with one cause that are shown without -v */
#define BRIEF_CALLERS 2 /* callers that are shown in a shortened report that lists records, too */
#define CALL_COLUMNS 40 /* most columns of a function's name */

/* Guesses why the address is not the start of the block. In front of an array, new[] stores the
 * number of elements if the class has a destructor, so delete and delete[] expect addresses that
 * differ by the size of that number. NULL: it is another case. */
static const char *likely_cause(const struct bad_free *mistake)
{
    bool array =
        mistake->kind == LEAK_KIND_NEW_ARRAY || mistake->kind == LEAK_KIND_ALIGNED_NEW_ARRAY;

    if (mistake->form < LEAK_FORM_DELETE || mistake->form >= LEAK_FORM_BLOCK_GONE)
        return NULL;
    if (mistake->type == LEAK_EVENT_MISMATCHED_FREE && mistake->offset < 0)
        return "probably delete[] on a block of new";
    if (array && (mistake->offset == 8 || mistake->offset == 16))
        return "probably delete on a block of new[]";
    return NULL;
}

static void write_bad_free_block(const struct bad_free *mistake, FILE *stream)
{
    if (mistake->has_block)
        fprintf(stream, "%s of ", term_size(mistake->size).text);
    else
        fputs("a block of ", stream);
    fputs(kind_word[mistake->kind], stream);
    if (mistake->block_pool)
        fprintf(stream, " '%s'",
                term_text(mistake->block_pool, strlen(mistake->block_pool), 0).text);
}

static void write_pool(const char *name, const char *without, FILE *stream)
{
    if (name)
        fprintf(stream, "pool '%s'", term_text(name, strlen(name), 0).text);
    else
        fputs(without, stream);
}

/* Writes which allocator allocated the block, and which one released it; custom allocators and
 * pools have names of their own. */
static void write_heaps(const struct bad_free *mistake, FILE *stream)
{
    fprintf(stream, "%s allocated ", term_size(mistake->size).text);
    if (mistake->kind == LEAK_KIND_POOL) {
        fputs("from ", stream);
        write_pool(mistake->block_pool, "a pool", stream);
    } else {
        fprintf(stream, "by %s",
                mistake->kind == LEAK_KIND_CUSTOM ? "a custom allocator"
                                                  : kind_word[mistake->kind]);
    }
    fputs(", released ", stream);
    if (mistake->form == LEAK_FORM_POOL_FREE) {
        fputs("to ", stream);
        write_pool(mistake->call_pool, mistake->kind == LEAK_KIND_POOL ? "another pool" : "a pool",
                   stream);
    } else {
        fprintf(stream, "by %s", form_word[mistake->form]);
    }
}

static void write_wild(const struct bad_free *mistake, FILE *stream)
{
    fprintf(stream, "%s of an address %s", form_word[mistake->form],
            mistake->where ? mistake->where : "of no block");
    if (mistake->address)
        fprintf(stream, " (0x%" PRIx64 ")", mistake->address);
    if (mistake->call_pool) {
        fputs(" in ", stream);
        write_pool(mistake->call_pool, "", stream);
    }
}

static void write_alignment(const struct bad_free *mistake, FILE *stream)
{
    fprintf(stream, "%s says that ", form_word[mistake->form]);
    write_bad_free_block(mistake, stream);
    fprintf(stream, " are aligned to %s", term_number(mistake->said).text);
    if (mistake->right)
        fprintf(stream, ", not to %s", term_number(mistake->right).text);
    else
        fputs(", which they are not", stream);
}

void text_bad_free_words(const struct bad_free *mistake, FILE *stream)
{
    const char *form = form_word[mistake->form];

    switch (mistake->type) {
    case LEAK_EVENT_DOUBLE_FREE:
        write_bad_free_block(mistake, stream);
        fprintf(stream, " freed a second time, by %s", form);
        break;
    case LEAK_EVENT_INVALID_FREE:
        write_wild(mistake, stream);
        break;
    case LEAK_EVENT_INTERIOR_FREE:
        fprintf(stream, "%s at %s inside of ", form,
                term_count((uint64_t)mistake->offset, "byte").text);
        write_bad_free_block(mistake, stream);
        break;
    case LEAK_EVENT_SIZE_MISMATCH:
        fprintf(stream, "%s says %s of ", form, term_count(mistake->said, "byte").text);
        write_bad_free_block(mistake, stream);
        break;
    case LEAK_EVENT_ALIGNMENT_MISMATCH:
        write_alignment(mistake, stream);
        break;
    case LEAK_EVENT_POOL_LEAK:
        write_bad_free_block(mistake, stream);
        fputs(" alive when it was destroyed", stream);
        break;
    default:
        if (mistake->kind >= LEAK_KIND_CUSTOM || mistake->form >= LEAK_FORM_BLOCK_GONE) {
            write_heaps(mistake, stream);
            break;
        }
        write_bad_free_block(mistake, stream);
        fprintf(stream, " released by %s", form);
        if (mistake->offset < 0)
            fprintf(stream, ", %s before it",
                    term_count(0 - (uint64_t)mistake->offset, "byte").text);
    }
}

/* Says whether bad frees are shortened so that the records, which follow, are on the screen, too. */
static bool is_brief(const struct process *process, const struct view *view)
{
    return view->terse >= TEXT_ONE_SOURCE && !view->verbose && text_list_count(process, view);
}

static bool has_function(const struct stack *stack, const struct frame *frame)
{
    for (size_t i = 0; i < stack->count; i++)
        if (stack->frames[i]->name_hash == frame->name_hash && stack->frames[i]->role == FRAME_USER)
            return true;
    return false;
}

/* Writes the stack that allocated the block, up to the first caller that the stack of the release
 * has, too. */
static void write_allocated_briefly(const struct bad_free *mistake, const struct view *view,
                                    FILE *stream)
{
    const struct stack *stack = &mistake->allocated;
    struct view brief = *view;
    size_t callers = 0;

    for (size_t i = frame_first_user(stack->frames, stack->count) + 1; i < stack->count; i++) {
        if (stack->frames[i]->role != FRAME_USER)
            continue;
        callers++;
        if (!has_function(&mistake->released, stack->frames[i]))
            continue;
        brief.callers = callers;
        break;
    }
    text_stack(stack, &brief, stream);
}

void text_bad_free(const struct process *process, const struct bad_free *mistake, size_t number,
                   const struct view *view, FILE *stream)
{
    bool brief = is_brief(process, view);
    struct view released = *view;

    fprintf(stream, "%zu. ", number);
    text_style(view, stream, STYLE_BOLD);
    fputs(bad_free_word[mistake->type], stream);
    text_style(view, stream, STYLE_PLAIN);
    fputs(": ", stream);
    text_bad_free_words(mistake, stream);
    if (mistake->count > 1)
        fprintf(stream, " (%s times)", term_number(mistake->count).text);
    putc('\n', stream);
    if (likely_cause(mistake))
        fprintf(stream, "%*s%s\n", TEXT_INDENT, "", likely_cause(mistake));
    if (brief)
        released.callers = BRIEF_CALLERS;
    text_stack(&mistake->released, &released, stream);
    if (!brief && (mistake->thread.serial || mistake->time_ns)) {
        fprintf(stream, "%*sreleased", TEXT_INDENT, "");
        text_event(process, mistake->time_ns, &mistake->thread, stream);
        putc('\n', stream);
    }
    if (mistake->allocated.count) {
        fprintf(stream, "   allocated (%s)", kind_word[mistake->kind]);
        if (mistake->block_thread.serial)
            fprintf(stream, " as T%" PRIu32 "#%" PRIu32, mistake->block_thread.serial,
                    mistake->block_count);
        fputs(":\n", stream);
        if (brief)
            write_allocated_briefly(mistake, view, stream);
        else
            text_stack(&mistake->allocated, view, stream);
    }
    if (mistake->type != LEAK_EVENT_DOUBLE_FREE)
        return;
    fputs("   freed before", stream);
    if (form_word[mistake->first_form])
        fprintf(stream, " (%s)", form_word[mistake->first_form]);
    text_event(process, mistake->first_ns, &mistake->first_thread, stream);
    fputs(":\n", stream);
    text_free_stack(&mistake->first, mistake->first_whole, view, stream);
}

static void write_part_frame(const char *lead, const struct frame *frame, const struct view *view,
                             FILE *stream)
{
    struct term_text place = text_place(frame, view);

    fprintf(stream, "%s%s%s%s", lead, text_call(frame, view, CALL_COLUMNS).text,
            text_place_lead(frame, &place), place.text);
}

/* Describes a bad free by its difference from the first one with its cause (`lead`): "called by
 * comm_open at comm.cc:90, allocated by init at addr.cc:20". The caller frees the text; NULL = no
 * memory. */
static char *part_words(const struct bad_free *lead, const struct bad_free *part,
                        const struct view *view)
{
    const struct stack *stack = &part->released, *other = &lead->released;
    size_t i = 0, size, allocated = frame_first_user(part->allocated.frames, part->allocated.count);
    char *words = NULL;
    FILE *stream = open_memstream(&words, &size);

    if (!stream)
        return NULL;
    while (i < stack->count && i < other->count && stack->frames[i] == other->frames[i])
        i++;
    while (i < stack->count && stack->frames[i]->role != FRAME_USER)
        i++;
    if (i < stack->count)
        write_part_frame(i ? " called by " : " in ", stack->frames[i], view, stream);
    if (allocated < part->allocated.count)
        write_part_frame(i < stack->count ? ", allocated by " : " allocated by ",
                         part->allocated.frames[allocated], view, stream);
    fclose(stream);
    return words;
}

/* Bad frees with one cause whose descriptions are equal. */
struct part {
    char *words;
    uint64_t count;
};

struct parts {
    struct part *at;
    size_t count, capacity;
};

static void add_part(struct parts *parts, char *words, uint64_t count)
{
    for (size_t i = 0; words && i < parts->count; i++)
        if (strcmp(parts->at[i].words, words) == 0) {
            parts->at[i].count = add_saturating(parts->at[i].count, count);
            free(words);
            return;
        }
    if (!words)
        return;
    parts->at = array_grow(parts->at, &parts->capacity, parts->count + 1, sizeof(*parts->at));
    parts->at[parts->count++] = (struct part){words, count};
}

/* Writes the other bad frees with the cause of process->mistakes[lead]. */
static void write_bad_free_parts(const struct process *process, size_t lead,
                                 const struct view *view, FILE *stream)
{
    struct parts parts = {0};
    size_t shown = view->verbose ? SIZE_MAX : is_brief(process, view) ? 0 : PARTS_SHOWN;

    for (size_t i = lead + 1; i < process->mistake_count; i++) {
        const struct bad_free *part = &process->mistakes[i];

        if (part->lead == lead + 1)
            add_part(&parts, part_words(&process->mistakes[lead], part, view), part->count);
    }
    for (size_t i = 0; i < parts.count; i++) {
        if (i < shown)
            fprintf(stream, "%*sand %s%s\n", TEXT_INDENT, "",
                    term_count(parts.at[i].count, "time").text, parts.at[i].words);
        free(parts.at[i].words);
    }
    if (parts.count > shown)
        fprintf(stream, "%*sand in %s (-v lists them)\n", TEXT_INDENT, "",
                term_count(parts.count - shown, "more place").text);
    free(parts.at);
}

size_t text_count_causes(const struct process *process)
{
    size_t count = 0;

    for (size_t i = 0; i < process->mistake_count; i++)
        count += !process->mistakes[i].lead;
    return count;
}

static uint64_t count_times(const struct process *process)
{
    uint64_t times = 0;

    for (size_t i = 0; i < process->mistake_count; i++)
        times = add_saturating(times, process->mistakes[i].count);
    return times;
}

/* Writes " (1 cause, 24 times in all)" if errors have a cause in common. */
static void write_causes(const struct process *process, size_t causes, FILE *stream)
{
    uint64_t times = count_times(process);

    if (causes == process->mistake_count)
        return;
    fprintf(stream, " (%s", term_count(causes, "cause").text);
    if (times > process->mistake_count)
        fprintf(stream, ", %s in all", term_count(times, "time").text);
    putc(')', stream);
}

void text_bad_frees(const struct process *process, const struct view *view, FILE *stream)
{
    size_t count = process->mistake_count, causes = text_count_causes(process), number = 0;

    if (!count)
        return;
    putc('\n', stream);
    text_style(view, stream, STYLE_WARNING);
    fprintf(stream, "%s in freeing memory%s", term_count(count, "error").text,
            process->crash && !process->crash->answers ? ", besides the crash" : "");
    write_causes(process, causes, stream);
    fputs(":", stream);
    text_style(view, stream, STYLE_PLAIN);
    putc('\n', stream);
    for (size_t i = 0; i < count && (!view->top || number < view->top); i++) {
        if (process->mistakes[i].lead)
            continue;
        putc('\n', stream);
        text_bad_free(process, &process->mistakes[i], ++number, view, stream);
        write_bad_free_parts(process, i, view, stream);
    }
    if (number < causes)
        fprintf(stream, "\n... and %s (--top=0).\n",
                term_count(causes - number, "more error").text);
}
