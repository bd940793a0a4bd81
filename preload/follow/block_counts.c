#include "preload/follow/block_counts.h"
#include "preload/base/sys.h"
#include "preload/store/store.h"

static struct counts_table records;
static unsigned word_count;
static int32_t values[LEAK_WAY_COUNTERS];
/* Element i: the program has changed the 32-bit word at byte 4 * i of the block since the watch
 * began. */
static bool has_value[LEAK_WAY_COUNTERS];

void block_counts_start(void)
{
    struct leak_counters *made = store_new_chunk(LEAK_CHUNK_COUNTERS, sizeof *made, 0);
    records = (struct counts_table){.words = NULL};
    if (made)
        records = (struct counts_table){made->words, LEAK_COUNTERS, made->countings};
}

void block_counts_start_in(struct counts_table table)
{
    records = table;
}

void block_counts_begin(uintptr_t block, uint64_t bytes)
{
    word_count = bytes / sizeof *values;
    if (word_count > records.word_count)
        word_count = records.word_count;
    if (!word_count || !sys_peek(block, values, word_count * sizeof *values))
        word_count = 0;
}

/* Finds the record for a word, a difference and the call stack that changes the word by that
 * difference, or makes one. NULL: the table of records is full. */
static struct leak_counting *find_counting(unsigned word, int by, const uint64_t *frames,
                                           unsigned count)
{
    for (unsigned i = 0; i < LEAK_COUNTINGS_MOST; i++) {
        struct leak_counting *at = &records.countings[i];
        if (!at->frame_count) {
            at->word = word;
            at->by = by;
            memcpy(at->frames, frames, count * sizeof *frames);
            store_release(&at->frame_count, count);
            return at;
        }
        if (at->word == word && at->by == by && at->frame_count == count &&
            memcmp(at->frames, frames, count * sizeof *frames) == 0)
            return at;
    }
    return NULL;
}

/* Records that the code at a call stack has changed a word. by: new value minus old value; 0 for
 * the first change, because the value before it may be left over from the block's earlier use. A
 * change by more than 1 shows that the word is not a reference counter. */
static void note_change(unsigned word, int64_t by, const uint64_t *frames, unsigned count)
{
    struct leak_counter *counter = &records.words[word];
    struct leak_counting *counting = NULL;
    if (count > LEAK_COUNTING_FRAMES)
        count = LEAK_COUNTING_FRAMES;
    if (count && !counter->is_none && by >= -1 && by <= 1)
        counting = find_counting(word, by, frames, count);
    if (counting)
        bump(&counting->times, 1);
    else
        store_relaxed(&counter->is_none, 1);
}

static void note_value(unsigned word, int32_t now, const uint64_t *frames, unsigned count)
{
    struct leak_counter *counter = &records.words[word];
    if (now == values[word])
        return;
    if (has_value[word]) {
        bump(&counter->changes, 1);
        note_change(word, (int64_t)now - values[word], frames, count);
    } else {
        store_relaxed(&counter->first, now);
        note_change(word, 0, frames, count);
    }
    if (!has_value[word] || now > counter->most)
        store_relaxed(&counter->most, now);
    store_relaxed(&counter->value, now);
    values[word] = now;
    has_value[word] = true;
}

void block_counts_note(uintptr_t block, const uint64_t *frames, unsigned count)
{
    int32_t now[LEAK_WAY_COUNTERS];
    if (!word_count || !sys_peek(block, now, word_count * sizeof *now))
        return;
    for (unsigned i = 0; i < word_count; i++)
        note_value(i, now[i], frames, count);
}
