/* time_window.c - restricts a recording to the blocks allocated between two milestones. */
#include "common/store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"

static const struct store_milestone *find_named(const struct store *store, const char *name)
{
    char *end;
    unsigned long number = *name == '#' ? strtoul(name + 1, &end, 10) : 0;
    bool numbered = number && !*end;

    for (size_t i = store->milestone_count; i > 0; i--) {
        const struct store_milestone *milestone = &store->milestones[i - 1];

        if (numbered ? milestone->number == number
                     : !milestone->is_look && strcmp(milestone->name, name) == 0)
            return milestone;
    }
    return NULL;
}

/* ---- Error messages -------------------------------------------------------------------------- */

/* Writes the names of the user's marks, the newest first, as many as fit into `words`. */
static void list_marks(const struct store *store, char *words, size_t size)
{
    const char *before = "";
    size_t used = 0;

    *words = 0;
    for (size_t i = store->milestone_count; i > 0 && used < size; i--) {
        const struct store_milestone *milestone = &store->milestones[i - 1];

        if (milestone->is_look)
            continue;
        used += (size_t)snprintf(words + used, size - used, "%s%s", before,
                                 term_text(milestone->name, strlen(milestone->name), 0).text);
        before = ", ";
    }
    if (!*words)
        snprintf(words, size, "none");
}

static const struct store_milestone *find_or_explain(const struct store *store, const char *name,
                                                     char *words, size_t size)
{
    const struct store_milestone *found = find_named(store, name);
    char marks[512];

    if (found)
        return found;
    list_marks(store, marks, sizeof(marks));
    snprintf(words, size, "has no mark called '%s'; marks: %s",
             term_text(name, strlen(name), 0).text, marks);
    return NULL;
}

static bool has_check_after(const struct store *store, const struct store_milestone *from)
{
    return store->look && store->look->head.rung != LEAK_RUNG_NONE &&
           store->look->head.tick >= from->tick;
}

static bool require_check_after(const struct store *store, const struct store_milestone *from,
                                char *words, size_t size)
{
    bool has = has_check_after(store, from);

    if (!has)
        snprintf(words, size,
                 "has no look at the heap after '%s', so nothing can be told apart by it; ask for "
                 "one while it runs: leakctl snapshot %" PRId32,
                 term_text(from->name, strlen(from->name), 0).text, store->header.pid);
    return has;
}

/* ---- Applying a window ----------------------------------------------------------------------- */

/* Returns the tick of a milestone. If its record was overwritten, the tick of the last older
 * milestone that is known; 0 = no older one is known. */
static uint32_t milestone_tick(const struct store *store, uint32_t number)
{
    uint32_t tick = 0;

    for (size_t i = 0; i < store->milestone_count; i++) {
        if (store->milestones[i].number == number)
            return store->milestones[i].tick;
        if (store->milestones[i].number < number)
            tick = store->milestones[i].tick;
    }
    return tick;
}

/* Moves the sample blocks of a result that were allocated in the window to the front, and drops the
 * others. */
static void keep_samples(struct store_leak_check *look, struct store_found *found, uint32_t from,
                         uint32_t until)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < found->sample_count; i++) {
        struct leak_sample *sample = &look->samples[found->sample + i];

        if (sample->tick >= from && sample->tick < until)
            look->samples[found->sample + kept++] = *sample;
    }
    found->sample_count = kept;
}

/* Counts for each result of the leak check the blocks in the window. struct leak_age counts only
 * blocks since the first milestone. So without `from`, the blocks since `until` are subtracted from
 * all. */
static void count_window(struct store *store, uint32_t from, uint32_t until)
{
    struct store_leak_check *look = store->look;

    for (size_t i = 0; i < look->found_count && !from; i++) {
        look->found[i].window_blocks = look->found[i].blocks;
        look->found[i].window_bytes = look->found[i].bytes;
    }
    for (size_t i = 0; i < look->age_count; i++) {
        const struct leak_age *age = &look->ages[i];
        struct store_found *found = &look->found[age->found];
        uint32_t tick = milestone_tick(store, age->milestone);

        if (age->milestone && from && tick >= from && tick < until) {
            found->window_blocks += age->blocks;
            found->window_bytes += age->bytes;
        } else if (age->milestone && !from && tick >= until) {
            found->window_blocks -=
                age->blocks < found->window_blocks ? age->blocks : found->window_blocks;
            found->window_bytes -=
                age->bytes < found->window_bytes ? age->bytes : found->window_bytes;
        }
    }
}

static void apply_window(struct store *store, uint32_t from, uint32_t until)
{
    struct store_leak_check *look = store->look;

    count_window(store, from, until);
    for (size_t i = 0; i < look->found_count; i++) {
        struct store_found *found = &look->found[i];

        found->first = found->first > from ? found->first : from;
        found->last = found->last < until ? found->last : until;
        keep_samples(look, found, from, until);
    }
}

static void describe(const struct store_milestone *milestone, char *text, size_t size)
{
    char when[TIME_TEXT_SIZE];
    const char *iso = time_format_iso(milestone->when_ns, when);

    if (milestone->is_look)
        snprintf(text, size, "look #%" PRIu32 " (%s)", milestone->number, iso ? iso : "?");
    else
        snprintf(text, size, "the mark '%.64s' (%s)",
                 term_text(milestone->name, strlen(milestone->name), 0).text, iso ? iso : "?");
}

static void note_window(struct store *store, const struct store_milestone *from,
                        const struct store_milestone *until)
{
    char since[128] = "", before[128] = "";

    if (from)
        describe(from, since, sizeof(since));
    if (until)
        describe(until, before, sizeof(before));
    store_add_note(store, "only what came%s%s%s%s and still lives is told", from ? " since " : "",
                   since, until ? from ? ", before " : " before " : "", before);
}

static const struct store_milestone *newest_known(const struct store *store)
{
    for (size_t i = store->milestone_count; i > 0; i--)
        if (store->milestones[i - 1].is_known)
            return &store->milestones[i - 1];
    return NULL;
}

/* Leaves out the blocks that were live when the program called libleak_mark_reported(). */
static void leave_out_known(struct store *store)
{
    const struct store_milestone *known = newest_known(store);

    if (!known)
        return;
    if (!has_check_after(store, known)) {
        store_add_note(
            store, "what libleak_mark_reported() said to be known is reported nevertheless: there "
                   "was no look at the heap after it");
        return;
    }
    store->window = WINDOW_SINCE;
    apply_window(store, known->tick, UINT32_MAX);
    store_add_note(
        store, "what lived when libleak_mark_reported() was called is left out: --reported tells "
               "of it, too");
}

bool time_window_apply(struct store *store, const struct time_window *since, char *words,
                       size_t size)
{
    const struct store_milestone *from = NULL, *until = NULL;

    if (!since->from && !since->until) {
        if (!since->known)
            leave_out_known(store);
        return true;
    }
    if ((since->from && !(from = find_or_explain(store, since->from, words, size))) ||
        (since->until && !(until = find_or_explain(store, since->until, words, size))))
        return false;
    if (from && until && from->tick >= until->tick) {
        snprintf(words, size,
                 "has these two marks the other way round: --since is to be the older");
        return false;
    }
    if (!require_check_after(store, until ? until : from, words, size))
        return false;
    store->window = until ? WINDOW_UNTIL : WINDOW_SINCE;
    apply_window(store, from ? from->tick : 0, until ? until->tick : UINT32_MAX);
    note_window(store, from, until);
    return true;
}
