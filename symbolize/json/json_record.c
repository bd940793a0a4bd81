/* json_record.c - writes records and resources; described in json.h. */
#include "symbolize/json/json.h"

#include "leak_store.h"
#include "common/view/json_parts.h"
#include "common/view/text_frame.h"

bool json_is_sampled(const struct json_writer *json, const void *object)
{
    (void)object;
    return json_context_of(json)->process->sample != 0;
}

static const struct json_field estimate_fields[] = {
    JSON_COUNT(error, "bytes", bytes),
    JSON_COUNT(error, "blocks", blocks),
    JSON_COUNT(error, "samples", samples),
};

const struct json_table json_estimate = JSON_TABLE(
    "estimate", estimate_fields,
    JSON_ABOUT(
        "The error of the bytes and blocks beside it: half widths of 95 % intervals, and the "
        "number of live samples. 0: exact. null: the process was not sampled, so all numbers "
        "are exact"));

/* ---- Fields: where other blocks of the stack are freed --------------------------------------- */

static void put_freed(struct json_writer *json, const char *key, const void *object)
{
    const struct freed *freed = object;
    size_t user = 0;

    while (user < freed->frame_count && freed->frames[user] != freed->place[0].frame)
        user++;
    json_frames(json, key, freed->frames, freed->frame_count, user);
}

static bool has_share(const struct json_writer *json, const void *object)
{
    const struct freed *freed = object;

    (void)json;
    return freed->places && freed->enough;
}

static bool was_freed_at_exit(const struct json_writer *json, const void *object)
{
    const struct freed *freed = object;

    (void)json;
    return freed->places && freed->late > 0;
}

static void put_common(struct json_writer *json, const char *key, const void *common)
{
    json_frames(json, key, common, 1, 0);
}

static void put_same_path(struct json_writer *json, const char *key, const void *other_path)
{
    json_put_bool(json, key, !*(const bool *)other_path);
}

#define FROM_0_TO_1 JSON_LIMITS("'minimum': 0, 'maximum': 1")

static const struct json_field freed_fields[] = {
    JSON_FRAMES("freed_elsewhere", put_freed, JSON_KNOWN_BY(freed, places),
                JSON_ABOUT("Where the other blocks of this record's stacks are freed: the stack "
                           "that agrees best with the record's own, innermost first. Stacks are "
                           "grouped by place: the function and line "
                           "marked user, the first of the user's code that does not free all kinds "
                           "of blocks. Blocks that realloc moved, and blocks that the allocating "
                           "line itself freed, are left out. Where this record's stacks freed "
                           "nothing: where blocks were freed that the same place allocated on "
                           "another path (freed_same_path is false). null: unknown, or nothing to "
                           "report")),
    JSON_NUMBER(freed, "freed_share", place[0].share, JSON_KNOWN_IF(has_share), FROM_0_TO_1,
                JSON_ABOUT("Share of the blocks freed elsewhere that this place freed. Exact with "
                           "free_stacks=all; else an estimate from a sample of frees or, with "
                           "sample=, of blocks, and null where fewer than 16 frees were sampled")),
    JSON_PUT(freed, "freed_same_path", BOOLEAN, other_path, put_same_path,
             JSON_KNOWN_BY(freed, places),
             JSON_ABOUT("true: freed_elsewhere is about this record's own stacks; false: these "
                        "never free, other stacks of the same place do; null: freed_elsewhere is "
                        "null")),
    JSON_NUMBER(freed, "freed_at_exit", late, JSON_KNOWN_IF(was_freed_at_exit), JSON_OPTIONAL,
                FROM_0_TO_1,
                JSON_ABOUT("Share of the blocks freed elsewhere that were freed while the program "
                           "exited. Left out: none")),
    JSON_PUT(freed, "freed_common", LIST, place[0].common, put_common,
             .table = &json_frame_or_index, JSON_KNOWN_BY(freed, place[0].common), JSON_OPTIONAL,
             JSON_LIMITS("'minItems': 1, 'maxItems': 1"),
             JSON_ABOUT("The frame of freed_elsewhere whose function is also in this record's "
                        "stack, the innermost one, with the line of its call: most likely the "
                        "function that should have freed these blocks, too. Left out: there is "
                        "none")),
    JSON_COUNT(freed, "freed_blocks", blocks,
               JSON_ABOUT("Blocks of this record's stacks that were freed, anywhere and by any "
                          "call, including realloc. Exact unless the process is sampled")),
    JSON_COUNT(freed, "allocated_blocks", allocated, JSON_NULL_IF_0,
               JSON_ABOUT("Blocks that this record's stacks ever allocated, so blocks of "
                          "allocated_blocks have the record's verdict; one that realloc moved "
                          "counts where it went. Exact unless the process is sampled. null: "
                          "unknown, as in children of fork, or some may have been moved")),
};

static const struct json_table freed_table = JSON_TABLE(NULL, freed_fields);

static const struct json_field beside_fields[] = {
    JSON_FRAMES("freed_beside", put_freed, JSON_KNOWN_BY(freed, places),
                JSON_ABOUT("Where freed_elsewhere is null because no such block was freed, and of "
                           "open resources: the stack that freed most of what other lines of the "
                           "same function allocated, or else functions that it calls, innermost "
                           "first. null: unknown")),
};

static const struct json_table beside_table = JSON_TABLE(NULL, beside_fields);

static void put_holder(struct json_writer *json, const char *key, const void *holder)
{
    json_frames(json, key, holder, 1, 0);
}

static void put_holder_frames(struct json_writer *json, const char *key, const void *object)
{
    const struct orphaned *orphaned = object;

    json_frames(json, key, orphaned->frames, orphaned->frame_count, orphaned->user);
}

static const struct json_field orphaned_fields[] = {
    JSON_COUNT(orphaned, "blocks", blocks),
    JSON_PUT(orphaned, "holder", LIST, holder, put_holder, .table = &json_frame_or_index,
             JSON_KNOWN_BY(orphaned, holder), JSON_LIMITS("'minItems': 1, 'maxItems': 1"),
             JSON_ABOUT("the function that allocated the holders")),
    JSON_FRAMES("frames", put_holder_frames,
                JSON_ABOUT("the stack that freed them, innermost first")),
};

/* ---- Fields: when and where the block was lost ----------------------------------------------- */

static void put_lost_file(struct json_writer *json, const char *key, const void *object)
{
    const struct lost_place *place = object;

    json_put_text(json, key, place->from ? place->from->file : NULL);
}

static void put_lost_function(struct json_writer *json, const char *key, const void *object)
{
    const struct lost_place *place = object;

    json_put_text(json, key, place->from ? place->from->function : NULL);
}

/* Writes "+56 in a block of 72 bytes from item_new()". */
static void put_lost_holder(struct json_writer *json, const char *key, const void *object)
{
    const struct lost_place *place = object;
    const struct frame *maker = place->holder_maker;
    char text[TERM_TEXT_MAX + 100];

    if (maker)
        snprintf(text, sizeof(text), "%.80s from %s%s", place->holder,
                 text_bare_name(maker, 0).text, maker->function ? "()" : "");
    json_put_text(json, key, maker ? text : place->holder);
}

static const struct json_field lost_first_line_fields[] = {
    JSON_COUNT(frame, "line", line, JSON_NULL_IF_0,
               JSON_ABOUT("the only line, or the first one that is possible")),
};

static const struct json_table lost_line_table = JSON_TABLE(NULL, lost_first_line_fields);

static const struct json_field lost_last_line_fields[] = {
    JSON_COUNT(frame, "last_line", line, JSON_NULL_IF_0),
};

static const struct json_table lost_last_line_table = JSON_TABLE(NULL, lost_last_line_fields);

static const struct json_field lost_place_fields[] = {
    JSON_COMPUTED("function", TEXT, put_lost_function, JSON_MAY_BE_NULL,
                  JSON_ABOUT("in which the last pointer was overwritten or left")),
    JSON_COMPUTED("file", TEXT, put_lost_file, JSON_MAY_BE_NULL),
    JSON_INCLUDE_POINTER(lost_place, from, lost_line_table),
    JSON_INCLUDE_POINTER(lost_place, to, lost_last_line_table),
    JSON_COMPUTED("holder", TEXT, put_lost_holder, JSON_MAY_BE_NULL,
                  JSON_ABOUT("the word that held the last pointer; null: none was seen in memory")),
    JSON_BOOLEAN(lost_place, "returned", returned,
                 JSON_ABOUT("the pointer was on the stack of the function, which returned")),
    JSON_BOOLEAN(lost_place, "holder_freed", holder_freed,
                 JSON_ABOUT("the block that contained the pointer was freed")),
    JSON_STACK(
        lost_place, "frees", frees, JSON_KNOWN_BY(lost_place, frees.count),
        JSON_ABOUT("if holder_freed: frames of the same function, or of a destructor that it "
                   "called, at the lines where other blocks were freed before; null: there "
                   "are none, or more than 16")),
    JSON_STACK(lost_place, "at", at, JSON_KNOWN_BY(lost_place, at.count),
               JSON_ABOUT("the instruction, innermost frame first; null: it is between before "
                          "and after")),
    JSON_PUT(lost_place, "jumped_from", LIST, jumped_from, put_holder,
             .table = &json_frame_or_index, JSON_KNOWN_BY(lost_place, jumped_from),
             JSON_LIMITS("'minItems': 1, 'maxItems': 1"),
             JSON_ABOUT("the line of the last jump before that instruction")),
    JSON_STACK(lost_place, "before", before,
               JSON_ABOUT("the last allocation or free at which the pointer was there")),
    JSON_STACK(lost_place, "after", after, JSON_ABOUT("the next one, at which it was not")),
};

static const struct json_table lost_place_table = JSON_TABLE("lost_place", lost_place_fields);

static const struct json_field check_span_fields[] = {
    JSON_TIME(check_span, "after", after_ns,
              JSON_ABOUT("the leak check before, which did not find it; null: there was none")),
    JSON_TIME(check_span, "by", by_ns, JSON_ABOUT("the leak check that found it")),
};

static const struct json_table check_span_table = JSON_TABLE("check_span", check_span_fields);

static const struct json_field lost_between_fields[] = {
    JSON_PART(record, "first", first_lost, check_span_table),
    JSON_PART(record, "last", last_lost, check_span_table),
};

static const struct json_table lost_between_table = JSON_TABLE(
    "lost_between", lost_between_fields,
    JSON_ABOUT("Between which leak checks of this run the first of these blocks was lost, "
               "and the last. Left out: there was one leak check only, or they are "
               "not lost"));

static const struct json_field counting_fields[] = {
    JSON_INTEGER(counting, "by", by, JSON_ABOUT("1 or -1; 0: gave it its first value")),
    JSON_COUNT(counting, "times", times),
    JSON_STACK(counting, "stack", stack, JSON_ABOUT("innermost frames")),
};

static const struct json_table counting_table = JSON_TABLE("counting", counting_fields);

static const struct json_field counter_fields[] = {
    JSON_COUNT(counter, "offset", offset, JSON_ABOUT("of the word in the block")),
    JSON_INTEGER(counter, "first", first, JSON_ABOUT("its first value")),
    JSON_INTEGER(counter, "value", value, JSON_ABOUT("its last value")),
    JSON_LIST(counter, "countings", countings, counting_count, counting_table),
};

static const struct json_table counter_table =
    JSON_TABLE("counter", counter_fields,
               JSON_ABOUT("A word of the block that changed by one alone and is not 0 at the end: "
                          "most likely its reference count"));

static const struct json_field way_fields[] = {
    JSON_STACK(way, "stack", stack, JSON_ABOUT("the function and its callers, innermost first")),
    JSON_PUT(way, "end", LIST, end, put_holder, .table = &json_frame_or_index,
             JSON_KNOWN_BY(way, end), JSON_LIMITS("'minItems': 1, 'maxItems': 1"),
             JSON_ABOUT("its line from which it ended; null: unknown")),
    JSON_PUT(way, "jumped_from", LIST, jumped_from, put_holder, .table = &json_frame_or_index,
             JSON_KNOWN_BY(way, jumped_from), JSON_LIMITS("'minItems': 1, 'maxItems': 1"),
             JSON_ABOUT("its line from which it jumped to that end, over other lines")),
    JSON_BOOLEAN(way, "thrown", thrown, JSON_ABOUT("an exception or longjmp has left it")),
    JSON_BOOLEAN(way, "returned", returned, JSON_ABOUT("its result was the block")),
    JSON_BOOLEAN(way, "variable", variable,
                 JSON_ABOUT("the variable with the pointer was passed, and not the block")),
};

static const struct json_table way_table =
    JSON_TABLE("way", way_fields, JSON_ABOUT("A function that had the block before it was lost"));

static const struct json_field when_lost_fields[] = {
    JSON_COUNT(when_lost, "followed", followed),
    JSON_COUNT(when_lost, "lost", lost),
    JSON_COUNT(when_lost, "freed", freed),
    JSON_COUNT(when_lost, "lost_below", below,
               JSON_ABOUT("of those followed: the block that held it was lost itself")),
    JSON_COUNT(when_lost, "agreed", agreed,
               JSON_ABOUT("of those lost: in the same function as the first one")),
    JSON_PART(when_lost, "place", place, lost_place_table, JSON_KNOWN_BY(when_lost, place.known)),
    JSON_PART(when_lost, "then", then, lost_place_table, JSON_KNOWN_BY(when_lost, then.known),
              JSON_ABOUT("from place to here only a stack held the pointer")),
    JSON_STACK(when_lost, "used", used, JSON_KNOWN_BY(when_lost, used.count),
               JSON_ABOUT("the instruction that used the block last, innermost frame first")),
    JSON_COUNT(when_lost, "used_bytes", used_bytes,
               JSON_ABOUT("used is known of so many first bytes only; 0: of the whole block")),
    JSON_PART(when_lost, "counter", counter, counter_table,
              JSON_KNOWN_BY(when_lost, counter.counting_count)),
    JSON_LIST(when_lost, "ways", ways, way_count, way_table,
              JSON_ABOUT("functions that allocated it and ended from another line than the one "
                         "that did")),
    JSON_PART(when_lost, "passed", passed, way_table, JSON_KNOWN_BY(when_lost, passed.function),
              JSON_ABOUT("the function that was called last with the block")),
    JSON_PUT(when_lost, "allocates", LIST, allocates, put_holder, .table = &json_frame_or_index,
             JSON_KNOWN_BY(when_lost, loses), JSON_LIMITS("'minItems': 1, 'maxItems': 1"),
             JSON_ABOUT("the line of the function `loses` that led to the allocation")),
    JSON_PUT(when_lost, "loses", LIST, loses, put_holder, .table = &json_frame_or_index,
             JSON_KNOWN_BY(when_lost, loses), JSON_LIMITS("'minItems': 1, 'maxItems': 1"),
             JSON_ABOUT("the line that led to the loss, in a function that is not the one of "
                        "place")),
};

static const struct json_table when_lost_table =
    JSON_TABLE("when_lost", when_lost_fields,
               JSON_ABOUT("When blocks of this record were lost in another run of the program "
                          "(leakrun --when-lost): how many were followed, and where the last "
                          "pointer to the first one was lost"));

static const struct json_table orphaned_table = JSON_TABLE(
    "holder_freed", orphaned_fields,
    JSON_ABOUT("Blocks of this record to which another block pointed when this stack "
               "freed that block: most likely they should have been freed there, too. "
               "blocks: the number of blocks of which this is known; only a part of all "
               "frees is examined. Of lost and indirect records, and of open streams and "
               "directories; null: unknown"));

static const struct json_table earlier_table = JSON_TABLE(
    "earlier_holder_freed", orphaned_fields,
    JSON_ABOUT("The same of the holder before that one, where it pointed to as many of the blocks "
               "and another function freed it: shared blocks, of which one holder did not give up "
               "its share"));

/* Members that both records and resources have, in this order. */
#define OTHER_FREES(s, of)                                                                         \
    JSON_INCLUDE(s, of beside, beside_table),                                                      \
        JSON_PART(s, "holder_freed", of orphaned, orphaned_table,                                  \
                  JSON_KNOWN_BY(s, of orphaned.blocks)),                                           \
        JSON_PART(s, "earlier_holder_freed", of earlier, earlier_table,                            \
                  JSON_KNOWN_BY(s, of earlier.blocks))

/* ---- Types ----------------------------------------------------------------------------------- */

static const char *const layout_word[TYPE_LAYOUT_MAX] = {"one", "array", "flexible", "head",
                                                         "part"};

static const struct json_field block_type_fields[] = {
    JSON_TEXT(block_type, "name", name, JSON_ABOUT("of an array, that of an element")),
    JSON_WORD(block_type, "source", source, type_source_word, TYPE_SOURCE_MAX,
              JSON_ABOUT("how it is known: docs/TYPES.md")),
    JSON_TEXT(block_type, "via", via, JSON_MAY_BE_NULL,
              JSON_ABOUT("the variable, member, parameter or function")),
    JSON_NUMBER(block_type, "confidence", confidence, FROM_0_TO_1),
    JSON_COUNT(block_type, "size", size, JSON_NULL_IF_0, JSON_ABOUT("of one object")),
    JSON_WORD(
        block_type, "layout", layout, layout_word, TYPE_LAYOUT_MAX,
        JSON_ABOUT("a block is one object, an array of them, one that ends with an array, begins "
                   "with one that other data follow, or has one inside")),
    JSON_COUNT(block_type, "at", at, JSON_ABOUT("where the object begins in a block")),
};

static const struct json_table type_table = JSON_TABLE(
    "type", block_type_fields,
    JSON_ABOUT("The type of most of the record's bytes, from debug information and virtual tables; "
               "null: unknown"));

static const struct json_field sum_type_fields[] = {
    JSON_TEXT(block_type, "name", name),
    JSON_WORD(block_type, "layout", layout, layout_word, TYPE_LAYOUT_MAX),
};

static const struct json_table sum_type_table = JSON_TABLE(NULL, sum_type_fields);

static const struct json_field type_sum_fields[] = {
    JSON_INCLUDE_POINTER(type_sum, type, sum_type_table),
    JSON_COUNT(type_sum, "bytes", bytes),
    JSON_COUNT(type_sum, "blocks", blocks),
};

static const struct json_table type_sum_table = JSON_TABLE("type_sum", type_sum_fields);

static void put_type(struct json_writer *json, const char *key, const void *object)
{
    const struct record *record = object;

    if (record->type_count)
        json_write_object(json, key, &type_table, record->types[0].type);
    else
        json_put_text(json, key, NULL);
}

/* ---- Records --------------------------------------------------------------------------------- */

static const struct json_field retained_fields[] = {
    JSON_COUNT(verdict_total, "bytes", bytes),
    JSON_COUNT(verdict_total, "blocks", blocks),
};

const struct json_table json_retained = JSON_TABLE("retained", retained_fields);

static const struct json_field tag_fields[] = {
    JSON_TEXT(tag_sum, "name", name),
    JSON_COUNT(tag_sum, "bytes", bytes),
    JSON_COUNT(tag_sum, "blocks", blocks),
};

const struct json_table json_tag = JSON_TABLE("tag", tag_fields);

static const struct json_field place_fields[] = {
    JSON_TEXT(frame, "function", function, JSON_MAY_BE_NULL),
    JSON_TEXT(frame, "file", file, JSON_MAY_BE_NULL),
    JSON_COUNT(frame, "line", line),
};

static const struct json_table place_table = JSON_TABLE(NULL, place_fields);

static const struct json_field undone_fields[] = {
    JSON_TEXT(frame, "undoes", function, JSON_MAY_BE_NULL),
};

static const struct json_table undone_table = JSON_TABLE(NULL, undone_fields);

static const struct json_field line_fields[] = {
    JSON_INCLUDE_POINTER(record_line, frame, place_table),
    JSON_COUNT(record_line, "bytes", bytes),
    JSON_COUNT(record_line, "blocks", blocks),
};

static const struct json_table line_table = JSON_TABLE("line", line_fields);

static const struct json_field counterpart_fields[] = {
    JSON_INCLUDE_POINTER(counterpart, frame, place_table),
    JSON_INCLUDE_POINTER(counterpart, of, undone_table),
};

static const struct json_table counterpart_table = JSON_TABLE("counterpart", counterpart_fields);

static const struct json_field caller_fields[] = {
    JSON_TEXT(frame, "caller", function, JSON_MAY_BE_NULL),
};

static const struct json_table caller_table = JSON_TABLE(NULL, caller_fields);

static const struct json_field returning_fields[] = {
    JSON_TEXT(frame, "result_of", function, JSON_MAY_BE_NULL),
};

static const struct json_table returning_table = JSON_TABLE(NULL, returning_fields);

static const struct json_field handover_fields[] = {
    JSON_INCLUDE_POINTER(handover, frame, place_table),
    JSON_INCLUDE_POINTER(handover, in, caller_table),
    JSON_INCLUDE_POINTER(handover, of, returning_table),
};

static const struct json_table handover_table = JSON_TABLE("handover", handover_fields);

static const struct json_field interior_fields[] = {
    JSON_COUNT(interior, "offset", offset,
               JSON_ABOUT("of the pointers from the start of the blocks; 0: possibly lost blocks "
                          "point to their start")),
    JSON_COUNT(interior, "blocks", blocks),
    JSON_BOOLEAN(interior, "root", root, JSON_ABOUT("the pointers are variables, or on stacks")),
    JSON_PUT(interior, "holder", LIST, holder, put_holder, .table = &json_frame_or_index,
             JSON_KNOWN_BY(interior, holder), JSON_LIMITS("'minItems': 1, 'maxItems': 1"),
             JSON_ABOUT("the function that allocated the blocks with the pointers")),
};

static const struct json_table interior_table = JSON_TABLE("interior", interior_fields);

static void put_threads(struct json_writer *json, const char *key, const void *object)
{
    const struct record *record = object;

    json_open(json, key, '[');
    for (size_t i = 0; i < record->thread_count; i++)
        json_write_object(json, NULL, &json_thread, &record->threads[i]);
    if (record->more_threads) /* more threads exist than were recorded; how many is unknown */
        json_write_object(json, NULL, &json_thread, NULL);
    json_close(json, ']');
}

void json_put_record_frames(struct json_writer *json, const char *key, const void *object)
{
    const struct record *record = object;

    json_frames(json, key, record->frames, record->frame_count, record->user);
}

/* Writes the signature of another record. index: points to the index + 1 of that record. */
static void put_signature_of(struct json_writer *json, const char *key, const void *index)
{
    json_put_id(json, key,
                json_context_of(json)->process->records[*(const size_t *)index - 1].signature);
}

static void put_rule_text(struct json_writer *json, const char *key, const void *rule)
{
    json_put_text(json, key, (*(const struct rule *const *)rule)->text);
}

static const struct json_field record_fields[] = {
    JSON_ID(
        record, "signature", signature,
        JSON_ABOUT("name of the record that is the same in every run: it depends on modules and "
                   "functions, not on addresses or lines")),
    JSON_WORD(record, "verdict", verdict, verdict_word, VERDICT_MAX),
    JSON_KIND(record, "kind", kind,
              JSON_ABOUT("before attach: allocated before libleak was loaded; the only frame says "
                         "of which size the blocks are")),
    JSON_COUNT(record, "bytes", bytes),
    JSON_COUNT(record, "blocks", blocks),
    JSON_ESTIMATE(record, error),
    JSON_TIME(record, "first", first_ns),
    JSON_TIME(record, "last", last_ns),
    JSON_COMPUTED("threads", LIST, put_threads, .table = &json_thread),
    JSON_FRAMES("frames", json_put_record_frames, JSON_INNERMOST_FIRST),
    JSON_RETAINED(record, retained),
    JSON_BOOLEAN(record, "cycle", cycle,
                 JSON_ABOUT("Each of these blocks is one of a reference cycle; the other blocks of "
                            "the cycle are indirect, below it")),
    JSON_BOOLEAN(record, "dropped", dropped,
                 JSON_ABOUT("reachable when the exit handlers began, unreachable when they ended")),
    JSON_BOOLEAN(record, "ignored", ignored,
                 JSON_ABOUT("reachable because the program asked to ignore it")),
    JSON_BOOLEAN(record, "shared", shared,
                 JSON_ABOUT("indirect: part of it belongs to other records, too")),
    JSON_BOOLEAN(record, "tagged", tagged,
                 JSON_ABOUT("possible: reached by unaligned pointers to the first bytes, whose low "
                            "bits may be a tag")),
    JSON_BOOLEAN(record, "header", header,
                 JSON_ABOUT("reachable: some of it by pointers behind a header that all such "
                            "blocks have (header_idiom=off: possible)")),
    JSON_LIST(record, "interior", interiors, interior_count, interior_table,
              JSON_ABOUT("possible, and header: where the pointers point, and what holds them; the "
                         "most blocks first, three at most")),
    JSON_PUT(record, "owner", ID, owner, put_signature_of, JSON_KNOWN_BY(record, owner),
             JSON_ABOUT("signature of another record; indirect: of the lost one that owns it; "
                        "possible: of the possible one that holds it, and is itself held inside")),
    JSON_PUT(record, "part_of", ID, lead, put_signature_of, JSON_KNOWN_BY(record, lead),
             JSON_ABOUT("signature of the first record that probably has the same cause: the text "
                        "report shows them as one")),
    JSON_LIST(record, "lines", lines, line_count, line_table,
              JSON_ABOUT("by the line of the innermost function, from the user frame outwards, "
                         "that has several lines in their stacks, the largest first; empty: all "
                         "stacks have the same lines")),
    JSON_LIST(
        record, "counterparts", counterparts, counterpart_count, counterpart_table,
        JSON_ABOUT("lost: the function that by its name undoes what the function that allocates "
                   "does, as node_free undoes node_new; searched in the source file of the latter, "
                   "and only if no function is marked as the one to fix")),
    JSON_LIST(
        record, "handovers", handovers, handover_count, handover_table,
        JSON_ABOUT("lost: functions to which a caller passes the block, or what holds it: the "
                   "result of a call that leads to the allocation; three at most, and only "
                   "if no function is marked as the one to fix")),
    JSON_PUT(record, "path", OBJECT, path, json_put_path, .table = &json_path,
             JSON_KNOWN_BY(record, path)),
    JSON_PUT(record, "path_words", TEXT, path, json_put_path_words, JSON_KNOWN_BY(record, path),
             JSON_ABOUT("the path in words of the source, when all its words have names: "
                        "cache.buckets[12]->next (cache.c:9); {n}: n times")),
    JSON_LIST(record, "samples", samples, sample_count, json_sample),
    JSON_GROWTH(
        record, "growth", growth,
        JSON_ABOUT("Growth of the stacks of this record; null: unknown, too small, observed "
                   "for too short a time, or given at the largest record of the same "
                   "stacks. A record that grew and was freed comes last, with verdict "
                   "unfreed and no blocks, and is in no sum but growing")),
    JSON_INCLUDE(record, freed, freed_table),
    OTHER_FREES(record, ),
    JSON_GROUP("lost_between", lost_between_table, JSON_KNOWN_BY(record, first_lost.by_ns),
               JSON_OPTIONAL),
    JSON_POINTER(record, "when_lost", when_lost, when_lost_table, JSON_KNOWN_BY(record, when_lost),
                 JSON_OPTIONAL),
    JSON_TAGS(record, tags, tag_count),
    JSON_COMPUTED("type", OBJECT, put_type, .table = &type_table, JSON_MAY_BE_NULL),
    JSON_LIST(record, "types", types, type_count, type_sum_table,
              JSON_ABOUT("all known types of its blocks, the largest first")),
    JSON_COUNT(record, "type_conflicts", type_conflicts,
               JSON_ABOUT("blocks without a type because the evidence contradicts itself")),
    JSON_PUT(record, "suppressed_by", TEXT, suppressed_by, put_rule_text,
             JSON_KNOWN_BY(record, suppressed_by),
             JSON_ABOUT("The rule that suppresses this leak: leak:PATTERN, or the name of a "
                        "suppression of Valgrind or libleak. Then the record counts in suppressed, "
                        "and in no sum of the summary")),
};

const struct json_table json_record = JSON_TABLE("record", record_fields);

/* ---- Resources ------------------------------------------------------------------------------- */

static void put_released(struct json_writer *json, const char *key, const void *object)
{
    const struct frame *const *at = object;

    json_frames(json, key, at, *at != NULL, 0);
}

#define TYPES                                                                                      \
    "'enum': ['fd', 'file', 'dir', 'mmap', 'dl', 'thread', 'pair', 'double-close', 'bad-close']"

static const struct json_field resource_fields[] = {
    JSON_TEXT(
        resource, "type", type, JSON_LIMITS(TYPES),
        JSON_ABOUT("what is open; or a close of a descriptor that was closed before, or never "
                   "open")),
    JSON_TEXT(resource, "name", names[0], JSON_KNOWN_BY(resource, name_count),
              JSON_ABOUT("path, peer or kind of the first one")),
    JSON_TEXTS(resource, "names", names, name_count, .inside = true,
               JSON_ABOUT("different ones, eight at most")),
    JSON_COUNT(resource, "count", record.blocks),
    JSON_COUNT(resource, "bytes", record.bytes, JSON_KNOWN_BY(resource, has_bytes),
               JSON_ABOUT("of mappings")),
    JSON_BOOLEAN(resource, "once", once,
                 JSON_ABOUT("opened by a single call and left open, as many correct programs do")),
    JSON_ID(resource, "signature", record.signature),
    JSON_TIME(resource, "first", record.first_ns,
              JSON_ABOUT("when the first one was opened; of a bad close, when it was made")),
    JSON_TIME(resource, "last", record.last_ns),
    JSON_PUT(resource, "threads", LIST, record, put_threads, .table = &json_thread),
    JSON_PUT(resource, "frames", LIST, record, json_put_record_frames,
             .table = &json_frame_or_index,
             JSON_ABOUT("innermost first: the call that opened it; of a bad close, that close")),
    JSON_STACK(resource, "opened", opened, JSON_KNOWN_BY(resource, opened.count),
               JSON_ABOUT("of a bad close: the call that opened it")),
    JSON_STACK(resource, "closed", closed, JSON_KNOWN_BY(resource, closed.count),
               JSON_ABOUT("of a bad close: the call that closed it first")),
    JSON_PART(resource, "closed_by", closed_by, json_thread, JSON_KNOWN_BY(resource, closed.count),
              JSON_ABOUT("the thread of that call")),
    JSON_BOOLEAN(
        resource, "taken", taken,
        JSON_ABOUT("of a bad close: another resource had the number by then, and is closed "
                   "now")),
    JSON_PUT(resource, "others_released_in", LIST, released_at, put_released,
             .table = &json_frame_or_index,
             JSON_ABOUT("where others of its type are released that the same function has opened, "
                        "or a caller; empty: nowhere")),
    OTHER_FREES(resource, record.),
};

const struct json_table json_resource = JSON_TABLE("resource", resource_fields);
