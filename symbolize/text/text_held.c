/* text_held.c - writes which memory was kept by a process that lost nothing; described in text.h.
 * It looks like this:
 *
 *     98 % of all blocks ever allocated were alive at once: create_node,
 *       freed only at exit in free_list.
 *     Largest owner, 11 MB in 12,000 blocks: g_cache (cache.c:12) -> 1,008 B
 *       from open_session()
 *          others are freed in close_session at cache.c:40 (95 % of 12,041)
 */
#include "symbolize/text/text.h"

#include <string.h>

#include "symbolize/records/sampling_error.h"

/* least bytes of all reachable blocks; with fewer no owner is reported */
#define REACHABLE_LEAST (256 << 10)
/* least share (0 to 1) of the reachable bytes that an owner must keep to be reported */
#define OWNER_SHARE 0.25
/* least share (0 to 1) of the owner's bytes that the record at the end of its path must have;
 * otherwise the path is not typical, and is not shown */
#define RECORD_SHARE 0.5
/* least share (0 to 1) of all blocks of the process that must have been alive at one time for a
 * sentence about all blocks; otherwise the sentence is about the function's blocks */
#define OVERALL_LEAST 0.5

/* ---- Blocks that were alive at one time ------------------------------------------------------ */

struct sentence {
    FILE *stream;
    size_t used; /* columns of the last line that are used */
};

/* Writes a part of the sentence; on a new line, after a space, if it does not fit. */
static void put_part(struct sentence *sentence, const char *text)
{
    size_t columns = term_text(text, strlen(text), 0).columns;

    if (sentence->used && sentence->used + columns > TEXT_COLUMNS) {
        fputs("\n ", sentence->stream);
        sentence->used = 1;
    }
    fputs(text, sentence->stream);
    sentence->used += columns;
}

/* Writes "All" or "98 % of all"; if the part is less than the whole, never 100 %. */
static void put_share(struct sentence *sentence, uint64_t part, uint64_t whole, const char *rest)
{
    char text[96];

    if (part >= whole)
        snprintf(text, sizeof(text), "All %s", rest);
    else
        snprintf(text, sizeof(text), "%u %% of all %s",
                 (unsigned)(100 * (double)part / (double)whole), rest);
    put_part(sentence, text);
}

static void put_until(struct sentence *sentence, const struct held_at_once *held,
                      const struct view *view)
{
    char text[TERM_TEXT_MAX + 32];
    const char *when = held->until == HELD_TO_EXIT ? " freed only at exit" : " freed";

    if (held->until == HELD_FOR_GOOD)
        put_part(sentence, " never freed");
    else if (held->freed_in) {
        snprintf(text, sizeof(text), "%s in %s", when,
                 text_function_name(held->freed_in, view, TEXT_COLUMNS / 2).text);
        put_part(sentence, text);
    } else {
        put_part(sentence, when);
    }
}

static void write_held_at_once(const struct process *process, const struct view *view, FILE *stream)
{
    const struct held_at_once *held = process->held;
    const char *verb = process->how == END_RUNNING ? "are" : "were";
    bool overall = (double)held->blocks >= OVERALL_LEAST * (double)held->of;
    struct term_text name = text_function_name(held->frame, view, TEXT_COLUMNS / 2);
    struct sentence sentence = {.stream = stream};
    char text[TERM_TEXT_MAX + 32];

    if (overall) {
        put_share(&sentence, held->blocks, held->of, "blocks ever allocated");
        snprintf(text, sizeof(text), " %s alive at once: %s", verb, name.text);
        put_part(&sentence, text);
    } else {
        put_share(&sentence, held->own_blocks, held->own_of, "blocks from ");
        put_part(&sentence, name.text);
        snprintf(text, sizeof(text), " %s alive at once (%s)", verb,
                 term_size(held->own_bytes).text);
        put_part(&sentence, text);
    }
    if (held->until != HELD_UNKNOWN || (held->freed_in && process->how != END_RUNNING)) {
        putc(',', stream);
        sentence.used++;
        put_until(&sentence, held, view);
    }
    fputs(".\n", stream);
}

/* ---- The root that owns most ----------------------------------------------------------------- */

/* Returns the record at the end of the owner's path. */
static const struct record *record_of_owner(const struct process *process,
                                            const struct owner *owner)
{
    for (size_t i = 0; i < process->record_count; i++)
        if (process->records[i].path == owner->path)
            return &process->records[i];
    return NULL;
}

/* Shortens a path to its first and its last block, if it has more than three. */
static struct path shorten_path(const struct path *path, struct path_step ends[2])
{
    struct path shorter = *path;

    if (path->count <= 3)
        return shorter;
    ends[0] = path->steps[0];
    ends[1] = path->steps[path->count - 1];
    shorter.steps = ends;
    shorter.skipped += path->count - 2;
    shorter.count = 2;
    shorter.skipped_at = 1;
    shorter.named = path->named == path->count ? 2 : path->named > 1 ? 1 : path->named;
    return shorter;
}

static void write_largest_owner(const struct process *process, const struct view *view,
                                FILE *stream)
{
    const struct verdict_total *reachable = &process->totals.of[VERDICT_REACHABLE];
    const struct owner *owner = process->owner_count ? &process->owners[0] : NULL;
    struct path_step ends[2];
    const struct record *record;
    struct view brief = *view;
    struct path path;
    char lead[128];
    bool typical;

    if (!owner || !owner->path || !owner->path->count || reachable->bytes < REACHABLE_LEAST ||
        (double)owner->bytes < OWNER_SHARE * (double)reachable->bytes)
        return;
    snprintf(lead, sizeof(lead), "Largest owner, %.32s in %.32s:", term_size(owner->bytes).text,
             term_count(owner->blocks, "block").text);
    record = record_of_owner(process, owner);
    typical = record && (double)record->bytes >= RECORD_SHARE * (double)owner->bytes;
    path = shorten_path(owner->path, ends);
    path.count = typical ? path.count : 0;
    text_path_after(lead, &path, 0, view, stream);
    brief.terse = TEXT_TERSEST;
    if (typical)
        text_freed_elsewhere(record, &brief, stream);
}

bool text_has_memory_findings(const struct process *process, const struct view *view)
{
    return process_has_leaks(process) || process->totals.growing || process->crash ||
           process->totals.errors || text_list_count(process, view);
}

void text_held(const struct process *process, const struct view *view, FILE *stream)
{
    if (text_has_memory_findings(process, view))
        return;
    if (process->held)
        write_held_at_once(process, view, stream);
    write_largest_owner(process, view, stream);
}
