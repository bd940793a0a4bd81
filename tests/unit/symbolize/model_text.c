/* model_text.c - see model_text.h. */
#include "tests/unit/symbolize/model_text.h"
#include "symbolize/records/leak_groups.h"

#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "common/base/hashmap.h"

#define FIELDS 12
#define SOME 64 /* of anything */

struct reading {
    struct arena *mem;
    struct report report;
    struct process *process;
    struct record *record;
    struct stack *stack; /* frames go there instead of to the record */
    struct owner *owner; /* a path goes there instead of to the record */
    struct path *path;
    char *field[FIELDS];
    size_t count;
};

static void unescape(char *text)
{
    char *to = text;

    for (; *text; text++) {
        if (text[0] != '\\') {
            *to++ = *text;
        } else if (text[1] == 'x') {
            *to++ = (char)strtoul((char[]){text[2], text[3], 0}, NULL, 16);
            text += 3;
        } else {
            text++;
            *to++ = *text == 'n' ? '\n' : *text == 't' ? '\t' : *text;
        }
    }
    *to = 0;
}

static void split(struct reading *reading, const char *line)
{
    char *at = arena_copy(reading->mem, line, strcspn(line, "\n"));

    for (reading->count = 0; at && reading->count < FIELDS; reading->count++) {
        char *bar = strstr(at, " | ");

        if (bar)
            *bar = 0;
        reading->field[reading->count] = at;
        at = bar ? bar + 3 : NULL;
    }
    for (size_t i = 0; i < reading->count; i++)
        unescape(reading->field[i]);
}

static const char *text(const struct reading *reading, size_t i)
{
    if (i >= reading->count || strcmp(reading->field[i], "-") == 0)
        return NULL;
    return reading->field[i];
}

static uint64_t number(const struct reading *reading, size_t i, int base)
{
    return text(reading, i) ? strtoull(reading->field[i], NULL, base) : 0;
}

static int word_index(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    fprintf(stderr, "model_text: no such word: %s\n", word);
    exit(1);
}

static void add_process(struct reading *reading)
{
    struct process *process = &reading->report.processes[reading->report.process_count];

    *process = (struct process){
        .exe = text(reading, 1),
        .pid = (int32_t)number(reading, 2, 10),
        .how = (enum end_how)word_index(end_word, 5, reading->field[3]),
        .has_end_value = text(reading, 4) != NULL,
        .end_value = (int32_t)number(reading, 4, 10),
        .allocations = number(reading, 5, 10),
        .frees = number(reading, 6, 10),
        .peak_bytes = number(reading, 7, 10),
        .alike = reading->report.process_count++,
        .argv = arena_alloc_array(reading->mem, SOME, sizeof(char *)),
        .notes = arena_alloc_array(reading->mem, SOME, sizeof(char *)),
        .untracked = arena_alloc_array(reading->mem, SOME, sizeof(struct untracked)),
        .blind = arena_alloc_array(reading->mem, SOME, sizeof(struct blind_module)),
        .records = arena_alloc_array(reading->mem, SOME, sizeof(struct record)),
        .mistakes = arena_alloc_array(reading->mem, SOME, sizeof(struct bad_free)),
        .recent = arena_alloc_array(reading->mem, SOME, sizeof(struct recent_free)),
        .owners = arena_alloc_array(reading->mem, SOME, sizeof(struct owner)),
        .threads = arena_alloc_array(reading->mem, SOME, sizeof(struct seen_thread)),
        .resources = arena_alloc_array(reading->mem, SOME, sizeof(struct resource)),
        .inherited = arena_alloc_array(reading->mem, SOME, sizeof(struct inherited)),
        .resource_totals = arena_alloc_array(reading->mem, SOME, sizeof(struct resource_total)),
        .rules = arena_alloc_array(reading->mem, SOME, sizeof(struct rule_use)),
    };
    reading->process = process;
}

static void add_record(struct reading *reading)
{
    struct process *process = reading->process;
    struct record *record = &process->records[process->record_count++];
    struct verdict_total *total;

    *record = (struct record){
        .verdict = (enum verdict)word_index(verdict_word, VERDICT_MAX, reading->field[1]),
        .kind = (uint32_t)word_index(kind_word, LEAK_KIND_MAX, reading->field[2]),
        .bytes = number(reading, 3, 10),
        .blocks = number(reading, 4, 10),
        .signature = number(reading, 5, 16),
        .ending = LEAK_ROOT_COMPLETE,
        .stacks = 1,
        .threads = arena_alloc_array(reading->mem, SOME, sizeof(struct thread_ref)),
        .frames = arena_alloc_array(reading->mem, SOME, sizeof(struct frame *)),
        .samples = arena_alloc_array(reading->mem, SOME, sizeof(struct sample)),
    };
    total = &process->totals.of[record->verdict];
    total->bytes = add_saturating(total->bytes, record->bytes);
    total->blocks += record->blocks;
    total->records++;
    process->live_bytes = add_saturating(process->live_bytes, record->bytes);
    process->live_blocks += record->blocks;
    reading->record = record;
    reading->stack = NULL;
    reading->owner = NULL;
}

static void add_to(struct error *sum, const struct error *one)
{
    sum->bytes += one->bytes;
    sum->blocks += one->blocks;
    sum->samples += one->samples;
}

static void add_error(struct reading *reading)
{
    struct record *record = reading->record;

    record->error = (struct error){.bytes = number(reading, 1, 10),
                                   .blocks = number(reading, 2, 10),
                                   .samples = number(reading, 3, 10)};
    add_to(&reading->process->errors[record->verdict], &record->error);
    add_to(&reading->process->live_error, &record->error);
}

static struct frame *read_frame(struct reading *reading)
{
    struct frame *frame = arena_alloc(reading->mem, sizeof(*frame));
    const char *flags = text(reading, 7) ? text(reading, 7) : "";

    *frame = (struct frame){
        .function = text(reading, 1),
        .file = text(reading, 2),
        .line = (uint32_t)number(reading, 3, 10),
        .module = text(reading, 4),
        .build_id = text(reading, 5),
        .has_offset = text(reading, 6) != NULL,
        .offset = number(reading, 6, 16),
        .inlined = strstr(flags, "inlined") != NULL,
        .role = strstr(flags, "runtime")     ? FRAME_RUNTIME
                : strstr(flags, "allocator") ? FRAME_ALLOCATOR
                : strstr(flags, "wrapper")   ? FRAME_WRAPPER
                                             : FRAME_USER,
    };
    frame->name_hash = hash_text(1, frame->function ? frame->function : "",
                                 frame->function ? strlen(frame->function) : 0);
    return frame;
}

static void add_frame(struct reading *reading)
{
    const char *flags = text(reading, 7) ? text(reading, 7) : "";
    struct record *record = reading->record;
    struct frame *frame = read_frame(reading);

    if (reading->stack) {
        ((const struct frame **)reading->stack->frames)[reading->stack->count++] = frame;
        return;
    }
    ((const struct frame **)record->frames)[record->frame_count++] = frame;
    if (!strstr(flags, "user") && record->user + 1 == record->frame_count)
        record->user = record->frame_count; /* none so far */
}

/* A place, which is its whole stack. */
static void add_freed(struct reading *reading)
{
    struct freed *freed = &reading->record->freed;
    const struct frame **frames = arena_alloc_array(reading->mem, 1, sizeof(*frames));
    struct frame *frame = arena_alloc(reading->mem, sizeof(*frame));

    *frame = (struct frame){.function = text(reading, 4),
                            .file = text(reading, 5),
                            .line = (uint32_t)number(reading, 6, 10),
                            .module = text(reading, 7)};
    freed->place[freed->places] =
        (struct freed_place){.frame = frame, .share = strtod(reading->field[1], NULL)};
    freed->of = number(reading, 2, 10);
    freed->exact = strstr(reading->field[3], "exact") != NULL;
    freed->enough = !strstr(reading->field[3], "some");
    freed->other_path = strstr(reading->field[3], "other") != NULL;
    freed->sampled = reading->process->sample > 1;
    freed->blocks = freed->other_path ? 0 : freed->of;
    if (freed->places++)
        return;
    *frames = frame;
    freed->frames = frames;
    freed->frame_count = 1;
}

static void set_freed_common(struct reading *reading)
{
    struct freed *freed = &reading->record->freed;
    struct freed_place *place = &freed->place[freed->places - 1];
    struct frame *below = arena_alloc(reading->mem, sizeof(*below));
    struct frame *common = arena_alloc(reading->mem, sizeof(*common));

    *below = (struct frame){.function = text(reading, 1), .module = text(reading, 5)};
    *common = (struct frame){.function = text(reading, 2),
                             .file = text(reading, 3),
                             .line = (uint32_t)number(reading, 4, 10),
                             .module = text(reading, 5)};
    place->below = below->function ? below : NULL;
    place->common = common;
    place->close = text(reading, 6) != NULL;
    if (place->share > freed->place[freed->most].share)
        freed->most = freed->places - 1;
}

/* The holder's frame, and that of the free, which is its whole stack. */
static struct orphaned read_orphaned(struct reading *reading)
{
    const struct frame **frames = arena_alloc_array(reading->mem, 1, sizeof(*frames));
    struct frame *holder = arena_alloc(reading->mem, sizeof(*holder));
    struct frame *frame = arena_alloc(reading->mem, sizeof(*frame));

    *holder = (struct frame){.function = text(reading, 2), .module = text(reading, 6)};
    *frame = (struct frame){.function = text(reading, 3),
                            .file = text(reading, 4),
                            .line = (uint32_t)number(reading, 5, 10),
                            .module = text(reading, 6)};
    *frames = frame;
    return (struct orphaned){.blocks = number(reading, 1, 10),
                             .holder = holder->function ? holder : NULL,
                             .frames = frames,
                             .frame_count = 1};
}

static void begin_stack(struct reading *reading, struct stack *stack)
{
    stack->frames = arena_alloc_array(reading->mem, SOME, sizeof(struct frame *));
    stack->ending = LEAK_ROOT_COMPLETE;
    reading->stack = stack;
}

static void add_recent(struct reading *reading)
{
    struct recent_free *recent = &reading->process->recent[reading->process->recent_count++];

    *recent = (struct recent_free){
        .address = number(reading, 1, 16),
        .kind = (uint32_t)word_index(kind_word, LEAK_KIND_MAX, reading->field[2]),
        .thread = {(uint32_t)number(reading, 3, 10), text(reading, 4)},
        .whole = text(reading, 5) != NULL};
    reading->process->recent_known++;
    begin_stack(reading, &recent->freed);
}

/* ---- Wrong releases ------------------------------------------------------------------------- */

static void add_mistake(struct reading *reading)
{
    struct process *process = reading->process;
    struct bad_free *mistake = &process->mistakes[process->mistake_count++];

    *mistake = (struct bad_free){
        .type = 1 + (uint32_t)word_index(bad_free_word + 1, LEAK_EVENT_MAX - 1, reading->field[1]),
        .form = 1 + (uint32_t)word_index(form_word + 1, LEAK_FORM_MAX - 1, reading->field[2]),
        .kind = (uint32_t)word_index(kind_word, LEAK_KIND_MAX, reading->field[3]),
        .size = number(reading, 4, 10),
        .has_block = text(reading, 4) != NULL,
        .offset = (int64_t)strtoll(reading->field[5], NULL, 10),
        .said = number(reading, 6, 10),
        .right = number(reading, 7, 10),
        .count = number(reading, 8, 10),
        .thread.serial = (uint32_t)number(reading, 9, 10),
        .address = number(reading, 10, 16),
        .where = text(reading, 11)};
    mistake->signature = hash_mix(mistake->type, process->mistake_count);
    process->totals.errors++;
    begin_stack(reading, &mistake->released);
}

static void add_to_mistake(struct reading *reading)
{
    struct bad_free *mistake = &reading->process->mistakes[reading->process->mistake_count - 1];

    if (strcmp(reading->field[0], "made") == 0) {
        mistake->block_thread.serial = (uint32_t)number(reading, 1, 10);
        mistake->block_count = (uint32_t)number(reading, 2, 10);
        begin_stack(reading, &mistake->allocated);
        return;
    }
    mistake->first_form =
        1 + (uint32_t)word_index(form_word + 1, LEAK_FORM_MAX - 1, reading->field[1]);
    mistake->first_thread = (struct thread_ref){(uint32_t)number(reading, 2, 10), text(reading, 3)};
    mistake->first_whole = text(reading, 4) != NULL;
    begin_stack(reading, &mistake->first);
}

/* ---- What a look says ----------------------------------------------------------------------- */

static void add_look(struct reading *reading)
{
    struct leak_check *look = arena_alloc(reading->mem, sizeof(*look));

    *look = (struct leak_check){.rung = text(reading, 1),
                                .occasion = text(reading, 2),
                                .pause_ns = number(reading, 3, 10),
                                .check_ns = number(reading, 4, 10),
                                .timed = true,
                                .threads_parked = number(reading, 5, 10),
                                .threads_missed = number(reading, 6, 10),
                                .skipped = number(reading, 7, 10),
                                .last = text(reading, 8) != NULL};
    look->made = strcmp(look->rung, "none") != 0;
    look->stopped = strcmp(look->rung, "parked") == 0;
    reading->process->look = look;
}

static void add_flags(struct reading *reading)
{
    struct record *record = reading->record;
    const char *flags = reading->field[1];

    record->cycle = strstr(flags, "cycle") != NULL;
    record->dropped = strstr(flags, "dropped") != NULL;
    record->ignored = strstr(flags, "ignored") != NULL;
    record->shared = strstr(flags, "shared") != NULL;
    record->tagged = strstr(flags, "tagged") != NULL;
    record->header = strstr(flags, "header") != NULL;
}

static void add_interior(struct reading *reading)
{
    struct record *record = reading->record;
    struct interior *interiors = (struct interior *)record->interiors;
    struct frame *holder = arena_alloc(reading->mem, sizeof(*holder));

    if (!interiors)
        record->interiors = interiors =
            arena_alloc_array(reading->mem, INTERIORS_SHOWN, sizeof(*interiors));
    *holder = (struct frame){.function = text(reading, 3),
                             .file = text(reading, 4),
                             .line = (uint32_t)number(reading, 5, 10)};
    interiors[record->interior_count++] =
        (struct interior){.offset = number(reading, 1, 10),
                          .blocks = number(reading, 2, 10),
                          .root = !holder->function,
                          .holder = holder->function ? holder : NULL};
}

/* The record is no part of the totals any more. */
static void add_suppressed(struct reading *reading)
{
    struct process *process = reading->process;
    struct record *record = reading->record;
    struct verdict_total *total = &process->totals.of[record->verdict];
    struct rule *rule = arena_alloc(reading->mem, sizeof(*rule));
    struct rule_use *use;
    size_t i = 0;

    *rule = (struct rule){
        .text = text(reading, 1), .where = text(reading, 2), .reason = text(reading, 3)};
    while (i < process->rule_count && strcmp(process->rules[i].rule->where, rule->where) != 0)
        i++;
    use = &process->rules[i];
    if (i == process->rule_count) {
        process->rule_count++;
        use->rule = rule;
    }
    record->suppressed_by = use->rule;
    total->bytes -= record->bytes;
    total->blocks -= record->blocks;
    total->records--;
    use->total.bytes += record->bytes;
    use->total.blocks += record->blocks;
    use->total.records++;
    process->suppressed.bytes += record->bytes;
    process->suppressed.blocks += record->blocks;
    process->suppressed.records++;
}

static void add_unused(struct reading *reading)
{
    struct report *report = &reading->report;
    struct rule *rule = arena_alloc(reading->mem, sizeof(*rule));

    *rule = (struct rule){.text = text(reading, 1), .where = text(reading, 2)};
    if (!report->unused)
        report->unused = arena_alloc_array(reading->mem, SOME, sizeof(*report->unused));
    report->unused[report->unused_count++] = rule;
}

static void add_expired(struct reading *reading)
{
    struct report *report = &reading->report;
    struct rule *rule = arena_alloc(reading->mem, sizeof(*rule));

    *rule = (struct rule){
        .text = text(reading, 1), .where = text(reading, 2), .expires = text(reading, 3)};
    if (!report->expired)
        report->expired = arena_alloc_array(reading->mem, SOME, sizeof(*report->expired));
    report->expired[report->expired_count++] = rule;
}

static void add_tag(struct reading *reading)
{
    struct record *record = reading->record;

    if (!record->tags)
        record->tags = arena_alloc_array(reading->mem, SOME, sizeof(*record->tags));
    ((struct tag_sum *)record->tags)[record->tag_count++] =
        (struct tag_sum){text(reading, 1), number(reading, 2, 10), number(reading, 3, 10)};
}

/* type | name | source | via | size of one | bytes | blocks | size of each block */
static void add_type(struct reading *reading)
{
    struct record *record = reading->record;
    struct block_type *type = arena_alloc(reading->mem, sizeof(*type));
    uint64_t size = number(reading, 4, 10), each = number(reading, 7, 10);

    *type = (struct block_type){.name = text(reading, 1),
                                .source = (enum type_source)word_index(
                                    type_source_word, TYPE_SOURCE_MAX, reading->field[2]),
                                .via = text(reading, 3),
                                .layout = each == size ? TYPE_ONE : TYPE_ARRAY,
                                .confidence = 0.95,
                                .size = size};
    if (!record->types)
        record->types = arena_alloc_array(reading->mem, SOME, sizeof(*record->types));
    ((struct type_sum *)record->types)[record->type_count++] =
        (struct type_sum){type, number(reading, 5, 10), number(reading, 6, 10), each};
}

/* field | name | value: of the last sample */
static void add_field(struct reading *reading)
{
    struct sample *sample =
        (struct sample *)&reading->record->samples[reading->record->sample_count - 1];

    if (!sample->fields)
        sample->fields = arena_alloc_array(reading->mem, SOME, sizeof(*sample->fields));
    ((struct field_value *)sample->fields)[sample->field_count++] =
        (struct field_value){.name = text(reading, 1), .type = "int", .value = text(reading, 2)};
}

static void add_sample(struct reading *reading)
{
    struct record *record = reading->record;
    const char *content = text(reading, 6);

    ((struct sample *)record->samples)[record->sample_count++] =
        (struct sample){.address = number(reading, 1, 16),
                        .size = number(reading, 2, 10),
                        .thread = {(uint32_t)number(reading, 3, 10), text(reading, 4)},
                        .count = (uint32_t)number(reading, 5, 10),
                        .content = (const uint8_t *)content,
                        .length = content ? strlen(content) : 0};
}

static void add_root(struct reading *reading)
{
    struct root *root = arena_alloc(reading->mem, sizeof(*root));
    struct path *path = arena_alloc(reading->mem, sizeof(*path));

    *root =
        (struct root){.class = 1 + (uint32_t)word_index(root_class_word + 1,
                                                        LEAK_ROOT_CLASS_MAX - 1, reading->field[1]),
                      .words = text(reading, 2),
                      .variable = text(reading, 3),
                      .function = text(reading, 4),
                      .file = text(reading, 5),
                      .line = (uint32_t)number(reading, 6, 10),
                      .module = text(reading, 7),
                      .thread = {(uint32_t)number(reading, 8, 10), NULL},
                      .offset = number(reading, 9, 16),
                      .has_offset = text(reading, 9) != NULL};
    path->root = root;
    path->steps = arena_alloc_array(reading->mem, SOME, sizeof(struct path_step));
    reading->path = path;
    if (reading->owner) {
        reading->owner->root = root;
        reading->owner->path = path;
    } else {
        reading->record->path = path;
    }
}

static void add_step(struct reading *reading)
{
    struct frame *frame = arena_alloc(reading->mem, sizeof(*frame));

    *frame = (struct frame){.function = text(reading, 4),
                            .file = text(reading, 5),
                            .line = (uint32_t)number(reading, 6, 10)};
    ((struct path_step *)reading->path->steps)[reading->path->count++] =
        (struct path_step){.offset = number(reading, 1, 16),
                           .into = number(reading, 2, 16),
                           .size = number(reading, 3, 10),
                           .frame = frame->function ? frame : NULL,
                           .known = text(reading, 7) != NULL,
                           .signature = number(reading, 7, 16),
                           .word = text(reading, 8),
                           .type = text(reading, 9)};
}

static void add_running(struct reading *reading)
{
    struct seen_thread *thread = &reading->process->threads[reading->process->thread_count++];

    *thread = (struct seen_thread){.thread = {(uint32_t)number(reading, 1, 10), text(reading, 3)},
                                   .tid = (int32_t)number(reading, 2, 10)};
    begin_stack(reading, &thread->stack);
}

static void add_ever(struct reading *reading)
{
    struct process *process = reading->process;
    struct allocated *made;

    if (!process->allocated)
        process->allocated = arena_alloc_array(reading->mem, SOME, sizeof(*process->allocated));
    made = &process->allocated[process->allocated_count++];
    *made = (struct allocated){
        .kind = (uint32_t)word_index(kind_word, LEAK_KIND_MAX, reading->field[1]),
        .bytes = number(reading, 2, 10),
        .blocks = number(reading, 3, 10)};
    begin_stack(reading, &made->stack);
}

static void add_brief(struct reading *reading)
{
    struct process *process = reading->process;
    struct temporary_part *made;

    if (!process->temporary)
        process->temporary = arena_alloc_array(reading->mem, SOME, sizeof(*process->temporary));
    made = &process->temporary[process->temporary_count++];
    *made = (struct temporary_part){
        .kind = (uint32_t)word_index(kind_word, LEAK_KIND_MAX, reading->field[1]),
        .bytes = number(reading, 2, 10),
        .blocks = number(reading, 3, 10),
        .of = number(reading, 4, 10),
        .grown = number(reading, 5, 10),
        .signature = number(reading, 6, 16)};
    process->temporary_bytes += made->bytes;
    process->temporary_blocks += made->blocks;
    begin_stack(reading, &made->stack);
}

static void add_keeps(struct reading *reading)
{
    reading->owner = &reading->process->owners[reading->process->owner_count++];
    reading->owner->bytes = number(reading, 1, 10);
    reading->owner->blocks = number(reading, 2, 10);
}

/* ---- What is open besides memory ------------------------------------------------------------ */

static void add_resource(struct reading *reading)
{
    struct process *process = reading->process;
    struct resource *resource = &process->resources[process->resource_count++];
    const char *flags = text(reading, 4) ? text(reading, 4) : "";

    *resource = (struct resource){
        .type = text(reading, 1),
        .has_bytes = text(reading, 3) != NULL,
        .once = strstr(flags, "once") != NULL,
        .taken = strstr(flags, "taken") != NULL,
        .bad_close = strstr(reading->field[1], "close") != NULL,
        .record = {.blocks = number(reading, 2, 10),
                   .bytes = number(reading, 3, 10),
                   .signature = process->resource_count,
                   .ending = LEAK_ROOT_COMPLETE,
                   .stacks = 1,
                   .threads = arena_alloc_array(reading->mem, SOME, sizeof(struct thread_ref)),
                   .frames = arena_alloc_array(reading->mem, SOME, sizeof(struct frame *))}};
    process->totals.resources++;
    reading->record = &resource->record;
    reading->stack = NULL;
}

static void add_opened(struct reading *reading)
{
    const char *what = reading->field[0];
    struct process *process = reading->process;
    struct resource *last =
        process->resource_count ? &process->resources[process->resource_count - 1] : NULL;

    if (strcmp(what, "resource") == 0)
        add_resource(reading);
    else if (strcmp(what, "name") == 0)
        last->names[last->name_count++] = text(reading, 1);
    else if (strcmp(what, "opened") == 0)
        begin_stack(reading, &last->opened);
    else if (strcmp(what, "closed") == 0) {
        last->closed_by = (struct thread_ref){(uint32_t)number(reading, 1, 10), text(reading, 2)};
        begin_stack(reading, &last->closed);
    } else if (strcmp(what, "inherited") == 0)
        process->inherited[process->inherited_count++] =
            (struct inherited){number(reading, 1, 10), text(reading, 2)};
    else if (strcmp(what, "total") == 0)
        process->resource_totals[process->resource_total_count++] = (struct resource_total){
            text(reading, 1), number(reading, 2, 10), number(reading, 3, 10)};
    else if (strcmp(what, "missed") == 0)
        process->resources_missed = number(reading, 1, 10);
}

/* growth | verdict | bytes a second | peak | per mille | reason: of the last record or owner.
 * grown | kind | signature: a record of which nothing is left. moment | ms | bytes | blocks.
 * peak | bytes | blocks, then part | kind | bytes | blocks | signature with frames. */
static bool add_history(struct reading *reading)
{
    const char *what = reading->field[0];
    struct process *process = reading->process;

    if (strcmp(what, "growth") == 0) {
        struct growth *growth = arena_alloc(reading->mem, sizeof(*growth));

        *growth =
            (struct growth){.verdict = 1 + (enum growth_verdict)word_index(
                                               growth_word + 1, GROWTH_MAX - 1, reading->field[1]),
                            .bytes_per_second = number(reading, 2, 10),
                            .peak_bytes = number(reading, 3, 10),
                            .confidence = (double)number(reading, 4, 10) / 1000,
                            .reason = text(reading, 5)};
        if (reading->owner) {
            reading->owner->growth = growth;
        } else {
            reading->record->growth = growth;
            process->totals.growing += growth_is_growing(growth->verdict);
        }
    } else if (strcmp(what, "grown") == 0) {
        if (!process->grown)
            process->grown = arena_alloc_array(reading->mem, SOME, sizeof(struct record));
        reading->record = &process->grown[process->grown_count++];
        *reading->record = (struct record){
            .verdict = VERDICT_UNFREED,
            .kind = (uint32_t)word_index(kind_word, LEAK_KIND_MAX, reading->field[1]),
            .signature = number(reading, 2, 16),
            .ending = LEAK_ROOT_COMPLETE,
            .stacks = 1,
            .threads = arena_alloc_array(reading->mem, SOME, sizeof(struct thread_ref)),
            .frames = arena_alloc_array(reading->mem, SOME, sizeof(struct frame *))};
        reading->stack = NULL;
    } else if (strcmp(what, "moment") == 0) {
        if (!process->history)
            process->history = arena_alloc_array(reading->mem, SOME, sizeof(struct moment));
        process->history[process->history_count++] =
            (struct moment){1700000000000000000u + number(reading, 1, 10) * 1000000,
                            number(reading, 2, 10), number(reading, 3, 10)};
    } else if (strcmp(what, "peak") == 0) {
        process->peak =
            (struct moment){1700000005000000000u, number(reading, 1, 10), number(reading, 2, 10)};
        process->peak_parts = arena_alloc_array(reading->mem, SOME, sizeof(struct peak_part));
    } else if (strcmp(what, "part") == 0) {
        struct peak_part *part = &process->peak_parts[process->peak_part_count++];

        *part = (struct peak_part){
            .kind = (uint32_t)word_index(kind_word, LEAK_KIND_MAX, reading->field[1]),
            .bytes = number(reading, 2, 10),
            .blocks = number(reading, 3, 10),
            .signature = number(reading, 4, 16)};
        begin_stack(reading, &part->stack);
    } else {
        return false;
    }
    return true;
}

static void add_looked(struct reading *reading)
{
    const char *what = reading->field[0];

    if (add_history(reading))
        ;
    else if (strcmp(what, "look") == 0)
        add_look(reading);
    else if (strcmp(what, "retained") == 0)
        reading->record->retained = (struct verdict_total){.bytes = number(reading, 1, 10),
                                                           .blocks = number(reading, 2, 10)};
    else if (strcmp(what, "suppressed") == 0)
        add_suppressed(reading);
    else if (strcmp(what, "unused") == 0)
        add_unused(reading);
    else if (strcmp(what, "expired") == 0)
        add_expired(reading);
    else if (strcmp(what, "is") == 0)
        add_flags(reading);
    else if (strcmp(what, "owner") == 0)
        reading->record->owner = number(reading, 1, 10);
    else if (strcmp(what, "tag") == 0)
        add_tag(reading);
    else if (strcmp(what, "type") == 0)
        add_type(reading);
    else if (strcmp(what, "field") == 0)
        add_field(reading);
    else if (strcmp(what, "sample") == 0)
        add_sample(reading);
    else if (strcmp(what, "root") == 0)
        add_root(reading);
    else if (strcmp(what, "step") == 0)
        add_step(reading);
    else if (strcmp(what, "words") == 0) {
        reading->path->words = text(reading, 1);
        reading->path->named = number(reading, 2, 10);
    } else if (strcmp(what, "interior") == 0)
        add_interior(reading);
    else if (strcmp(what, "skipped") == 0) {
        reading->path->skipped = number(reading, 1, 10);
        reading->path->skipped_at = reading->path->count;
    } else if (strcmp(what, "running") == 0)
        add_running(reading);
    else if (strcmp(what, "ever") == 0)
        add_ever(reading);
    else if (strcmp(what, "brief") == 0)
        add_brief(reading);
    else if (strcmp(what, "keeps") == 0)
        add_keeps(reading);
    else
        add_opened(reading);
}

static void add(struct reading *reading)
{
    const char *what = reading->field[0];
    struct process *process = reading->process;

    if (strcmp(what, "process") == 0)
        add_process(reading);
    else if (strcmp(what, "forked") == 0)
        process->forked = true;
    else if (strcmp(what, "sampled") == 0)
        process->sample = number(reading, 1, 10);
    else if (strcmp(what, "argv") == 0)
        process->argv[process->argc++] = text(reading, 1);
    else if (strcmp(what, "note") == 0)
        process->notes[process->note_count++] = text(reading, 1);
    else if (strcmp(what, "compared") == 0) {
        process->unwind_checks = number(reading, 1, 10);
        process->unwind_mismatches = number(reading, 2, 10);
        process->unwind_stops = number(reading, 3, 10);
    } else if (strcmp(what, "untracked") == 0)
        process->untracked[process->untracked_count++] =
            (struct untracked){text(reading, 1), text(reading, 2), number(reading, 3, 10), false};
    else if (strcmp(what, "blind") == 0)
        process->blind[process->blind_count++] = (struct blind_module){.path = text(reading, 1),
                                                                       .build_id = text(reading, 2),
                                                                       .why = text(reading, 3),
                                                                       .remedy = text(reading, 4)};
    else if (strcmp(what, "record") == 0)
        add_record(reading);
    else if (strcmp(what, "error") == 0)
        add_error(reading);
    else if (strcmp(what, "thread") == 0)
        reading->record->threads[reading->record->thread_count++] =
            (struct thread_ref){(uint32_t)number(reading, 1, 10), text(reading, 2)};
    else if (strcmp(what, "others") == 0)
        reading->record->more_threads = true;
    else if (strcmp(what, "frame") == 0)
        add_frame(reading);
    else if (strcmp(what, "orphaned") == 0)
        reading->record->orphaned = read_orphaned(reading);
    else if (strcmp(what, "earlier") == 0)
        reading->record->earlier = read_orphaned(reading);
    else if (strcmp(what, "of") == 0)
        reading->record->freed.allocated = number(reading, 1, 10);
    else if (strcmp(what, "freed") == 0)
        add_freed(reading);
    else if (strcmp(what, "freed_common") == 0)
        set_freed_common(reading);
    else if (strcmp(what, "recent") == 0)
        add_recent(reading);
    else if (strcmp(what, "mistake") == 0)
        add_mistake(reading);
    else if (strcmp(what, "made") == 0 || strcmp(what, "before") == 0)
        add_to_mistake(reading);
    else if (strcmp(what, "allocated") == 0)
        begin_stack(reading, &process->recent[process->recent_count - 1].allocated);
    else if (strcmp(what, "stacks") == 0)
        process->stacks =
            (struct stacks){number(reading, 1, 10), number(reading, 2, 10), number(reading, 3, 10),
                            number(reading, 4, 10), number(reading, 5, 10)};
    else
        add_looked(reading);
}

struct report model_read(struct arena *mem, FILE *stream)
{
    struct reading reading = {.mem = mem};
    char line[1 << 18];

    reading.report.processes = arena_alloc_array(mem, SOME, sizeof(struct process));
    while (fgets(line, sizeof(line), stream)) {
        if (*line == '#' || *line == '\n')
            continue;
        split(&reading, line);
        add(&reading);
    }
    for (size_t i = 0; i < reading.report.process_count; i++) {
        process_link_owned(&reading.report.processes[i]);
        leak_groups_fill(mem, SORT_RETAINED, &reading.report.processes[i]);
    }
    return reading.report;
}
