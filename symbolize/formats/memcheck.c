/* memcheck.c - translates errors and records to the terms of Memcheck; described in memcheck.h. */
#include "symbolize/formats/memcheck.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "symbolize/view/view.h"
#include "common/base/term_text.h"
#include "symbolize/text/text.h"

static const struct {
    const char *kind, *words, *remark;
} leaks[VERDICT_MAX] = {
    [VERDICT_LOST] = {"Leak_DefinitelyLost", "definitely lost", NULL},
    [VERDICT_INDIRECT] = {"Leak_IndirectlyLost", "indirectly lost", NULL},
    [VERDICT_POSSIBLE] = {"Leak_PossiblyLost", "possibly lost", NULL},
    [VERDICT_HIDDEN] = {"Leak_PossiblyLost", "possibly lost", "These are held by a hidden pointer"},
    [VERDICT_REACHABLE] = {"Leak_StillReachable", "still reachable", NULL},
    [VERDICT_RUNTIME] = {"Leak_StillReachable", "still reachable",
                         "These are kept by the C and C++ runtime"},
    [VERDICT_UNFREED] = {"Leak_PossiblyLost", "possibly lost",
                         "These are unfreed: no leak check classified them"},
};

static struct memcheck_part *add_part(struct memcheck_error *error, const char *words, ...)
    __attribute__((format(printf, 2, 3)));

static struct memcheck_part *add_part(struct memcheck_error *error, const char *words, ...)
{
    struct memcheck_part *part = &error->parts[error->part_count++];
    va_list args;

    *part = (struct memcheck_part){.name = NULL};
    va_start(args, words);
    vsnprintf(part->words, sizeof(part->words), words, args);
    va_end(args);
    return part;
}

static void add_stack(struct memcheck_part *part, const struct stack *stack, const char *callee)
{
    part->stack = *stack;
    if (!stack->count || stack->frames[0]->role != FRAME_ALLOCATOR)
        part->callee = callee;
}

/* ---- Translating a leak ---------------------------------------------------------------------- */

/* Adds the sentence about a leak: "48 (16 direct, 32 indirect) bytes in 1 blocks are definitely
 * lost in loss record 3 of 4". */
static void add_loss(const struct process *process, size_t i, struct memcheck_error *error)
{
    const struct record *record = &process->records[i];
    struct stack stack = {record->frames, record->frame_count, record->ending};
    struct memcheck_part *part;
    char parts[128] = "";

    if (error->bytes > record->bytes)
        snprintf(parts, sizeof(parts), " (%.27s direct, %.27s indirect)",
                 term_number(record->bytes).text, term_number(error->bytes - record->bytes).text);
    part = add_part(error, "%s%s bytes in %s blocks are %s in loss record %s of %s",
                    term_number(error->bytes).text, parts, term_number(record->blocks).text,
                    leaks[record->verdict].words, term_number(process->record_count - i).text,
                    term_number(process->record_count).text);
    add_stack(part, &stack, allocator_name(record->kind));
}

void memcheck_leak(const struct process *process, size_t i, struct memcheck_error *error)
{
    const struct record *record = &process->records[i];

    *error = (struct memcheck_error){.kind = leaks[record->verdict].kind,
                                     .count = 1,
                                     .leak = true,
                                     .bytes = record->bytes,
                                     .blocks = record->blocks};
    if (record->thread_count)
        error->thread = record->threads[0];
    if (record->verdict == VERDICT_LOST && record->retained.bytes > record->bytes)
        error->bytes = record->retained.bytes;
    add_loss(process, i, error);
    if (text_stack_end(record->ending))
        add_part(error, "The stack ends here: %s", text_stack_end(record->ending));
    if (leaks[record->verdict].remark)
        add_part(error, "%s", leaks[record->verdict].remark);
    if (record->cycle)
        add_part(error, "One block of each reference cycle");
    if (record->suppressed_by)
        add_part(error, "Suppressed by ")->name = record->suppressed_by->text;
}

struct memcheck_sums memcheck_sums(const struct process *process)
{
    struct memcheck_sums sums = {{0}, {0}, {0}, {0}};
    struct verdict_total *const places[VERDICT_MAX] = {
        [VERDICT_LOST] = &sums.definite,     [VERDICT_INDIRECT] = &sums.indirect,
        [VERDICT_POSSIBLE] = &sums.possible, [VERDICT_HIDDEN] = &sums.possible,
        [VERDICT_UNFREED] = &sums.possible,  [VERDICT_REACHABLE] = &sums.reachable,
        [VERDICT_RUNTIME] = &sums.reachable,
    };

    for (int v = 0; v < VERDICT_MAX; v++) {
        places[v]->bytes = add_saturating(places[v]->bytes, process->totals.of[v].bytes);
        places[v]->blocks = add_saturating(places[v]->blocks, process->totals.of[v].blocks);
        places[v]->records = add_saturating(places[v]->records, process->totals.of[v].records);
    }
    return sums;
}

/* ---- Translating a bad free ------------------------------------------------------------------ */

static struct memcheck_part *add_address(const struct bad_free *mistake, const char *what,
                                         struct memcheck_error *error)
{
    char address[32] = "The address", size[64] = "unknown size", offset[64] = "0 bytes inside";

    if (mistake->address)
        snprintf(address, sizeof(address), "Address 0x%" PRIx64, mistake->address);
    if (mistake->has_block)
        snprintf(size, sizeof(size), "size %.27s", term_number(mistake->size).text);
    if (mistake->has_block && mistake->offset < 0)
        snprintf(offset, sizeof(offset), "%.27s bytes before",
                 term_number(0 - (uint64_t)mistake->offset).text);
    else if (mistake->has_block)
        snprintf(offset, sizeof(offset), "%.27s bytes inside",
                 term_number((uint64_t)mistake->offset).text);
    return add_part(error, "%s is %s a block of %s %s", address, offset, size, what);
}

static void add_wild(const struct bad_free *mistake, struct memcheck_error *error)
{
    char address[32] = "The address";

    if (mistake->address)
        snprintf(address, sizeof(address), "Address 0x%" PRIx64, mistake->address);
    if (mistake->where)
        add_part(error, "%s is %s", address, mistake->where);
    else
        add_part(error, "%s is not stack'd, malloc'd or (recently) free'd", address);
}

/* Adds a remark that Memcheck does not have, in libleak's words: "40 bytes of new[] released by
 * free (100,000 times)". */
static void add_own_words(const struct bad_free *mistake, struct memcheck_error *error)
{
    struct memcheck_part *part = add_part(error, "%s: ", bad_free_word[mistake->type]);
    size_t used = strlen(part->words);
    FILE *stream = fmemopen(part->words + used, sizeof(part->words) - used, "w");

    if (!stream)
        return;
    text_bad_free_words(mistake, stream);
    if (mistake->count > 1)
        fprintf(stream, " (%s times)", term_number(mistake->count).text);
    fclose(stream);
    part->words[sizeof(part->words) - 1] = 0;
}

void memcheck_bad_free(const struct bad_free *mistake, struct memcheck_error *error)
{
    bool wild = mistake->type == LEAK_EVENT_DOUBLE_FREE ||
                mistake->type == LEAK_EVENT_INVALID_FREE ||
                mistake->type == LEAK_EVENT_INTERIOR_FREE;
    struct memcheck_part *part;

    *error = (struct memcheck_error){.kind = wild ? "InvalidFree" : "MismatchedFree",
                                     .thread = mistake->thread,
                                     .count = mistake->count};
    part = add_part(error, wild ? "Invalid free() / delete / delete[] / realloc()"
                                : "Mismatched free() / delete / delete []");
    add_stack(part, &mistake->released, deallocator_name(mistake->form));
    if (mistake->type == LEAK_EVENT_INVALID_FREE) {
        add_wild(mistake, error);
    } else if (mistake->type == LEAK_EVENT_DOUBLE_FREE) {
        part = add_address(mistake, "free'd", error);
        add_stack(part, &mistake->first, deallocator_name(mistake->first_form));
        if (mistake->allocated.count)
            part = add_part(error, "Block was alloc'd at");
    } else {
        part = add_address(mistake, "alloc'd", error);
    }
    if (mistake->allocated.count)
        add_stack(part, &mistake->allocated, allocator_name(mistake->kind));
    add_own_words(mistake, error);
}

/* ---- The depth of stacks, and Memcheck's sums ------------------------------------------------ */

size_t memcheck_depth(const struct stack *stack, const struct view *view)
{
    size_t depth = stack->count;

    while (depth && stack->frames[depth - 1]->role == FRAME_RUNTIME)
        depth--;
    return depth && !view->all_frames ? depth : stack->count;
}
