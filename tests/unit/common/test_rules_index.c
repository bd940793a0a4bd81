/* test_rules_index.c - the index answers what all rules, asked one after the other, would answer:
 * for random rules and stacks made of a few names, so that much fits, and for generated ones. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "common/suppress/rules.h"
#include "tests/unit/suite.h"
#include "tests/unit/size.h"

static uint64_t state;

static unsigned pick(unsigned count)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % count;
}

#define PICK(table) (table)[pick(sizeof(table) / sizeof(*(table)))]

static const char *const names[] = {"a", "b", "ab", "ba", "aa", "malloc", "operator new", "???"};
static const char *const symbols[] = {NULL, NULL, "_Za", "_Zb"};
static const char *const files[] = {NULL, "a.c", "/x/a.c", "b.c", ""};
static const char *const modules[] = {NULL, "/lib/a.so", "/lib/b.so"};

/* ---- As text --------------------------------------------------------------------------------- */

static void add_frame_line(FILE *stream)
{
    static const char *const functions[] = {"a",  "b",  "ab",     "ba",     "aa",    "_Za",   "_Zb",
                                            "a*", "*b", "?",      "*",      "???",   "*a*",   "a?",
                                            "b",  "a",  "malloc", "*alloc", "_Znwm", "calloc"};
    static const char *const objects[] = {"/lib/a.so", "*b.so", "???", "*", "/lib/b.so"};
    static const char *const sources[] = {"a.c", "/x/a.c", "a.c:1", "b.c:2", "*.c:1", "???"};

    switch (pick(8)) {
    case 0:
        fputs("...\n", stream);
        break;
    case 1:
        fprintf(stream, "obj:%s\n", PICK(objects));
        break;
    case 2:
        fprintf(stream, "src:%s\n", PICK(sources));
        break;
    default:
        fprintf(stream, "fun:%s\n", PICK(functions));
    }
}

static void add_block(FILE *stream)
{
    static const char *const kinds[] = {"definite", "all", "possible,definite", "reachable"};
    static const char *const starts[] = {"fun:malloc", "fun:*alloc", "fun:*", "...", "obj:*"};
    bool ours = pick(3) == 0;

    fprintf(stream, "{\n name\n %s\n match-leak-kinds: %s\n",
            ours ? "libleak:Leak" : "Memcheck:Leak", PICK(kinds));
    if (ours && pick(2))
        fprintf(stream, "signature=%016x\n", pick(6));
    if (ours && pick(2))
        fprintf(stream, "count<=%u\n", pick(4));
    if (ours && pick(8) == 0)
        fputs("expires=2001-01-01\n", stream);
    if (pick(3))
        fprintf(stream, "%s\n", PICK(starts));
    for (unsigned n = 1 + pick(5); n; n--)
        add_frame_line(stream);
    fputs("}\n", stream);
}

static void add_pattern(FILE *stream)
{
    static const char *const patterns[] = {"^zz$", "^ab$",        "ba",   "^a*b$",
                                           "/x/",  "^/lib/b.so$", "^a.c$"};

    if (pick(3) == 0)
        fprintf(stream, "leak:%s\n", PICK(patterns));
}

static struct rules make_rules(struct arena *mem, unsigned count)
{
    char *text, *kept;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    while (count--)
        if (pick(6))
            add_block(stream);
        else
            add_pattern(stream);
    fclose(stream);
    kept = arena_copy(mem, text, size);
    free(text);
    return rules_parse(mem, "random.supp", kept, size); /* blocks of "..." alone are left out */
}

/* ---- Records --------------------------------------------------------------------------------- */

#define FRAMES 40
#define DEEPEST 8

struct scene {
    struct frame frames[FRAMES];
    const struct frame *stack[DEEPEST];
};

static void make_frames(struct scene *scene)
{
    for (size_t i = 0; i < FRAMES; i++)
        scene->frames[i] = (struct frame){.function = pick(9) ? PICK(names) : NULL,
                                          .symbol = PICK(symbols),
                                          .file = PICK(files),
                                          .line = pick(3),
                                          .module = PICK(modules),
                                          .role = pick(4) ? FRAME_USER : FRAME_ALLOCATOR};
}

static struct record make_record(struct scene *scene)
{
    static const enum verdict verdicts[] = {VERDICT_LOST, VERDICT_LOST, VERDICT_POSSIBLE,
                                            VERDICT_REACHABLE};
    struct record record = {.signature = pick(6),
                            .verdict = PICK(verdicts),
                            .kind = pick(LEAK_KIND_MAX),
                            .blocks = pick(4),
                            .frames = scene->stack,
                            .frame_count = pick(DEEPEST + 1)};

    for (size_t i = 0; i < record.frame_count; i++)
        scene->stack[i] = &scene->frames[pick(FRAMES)];
    return record;
}

/* One after the other. */
static struct loaded_rule *find_plainly(const struct rules *rules, const struct record *record)
{
    for (size_t k = 0; k < record->frame_count && verdict_is_leak(record->verdict); k++)
        for (size_t i = 0; i < rules->count; i++)
            if (rules_match_frame(rules->made[i], record->frames[k]))
                return rules->made[i];
    for (size_t i = 0; i < rules->count; i++)
        if (rules_match_record(rules->made[i], record))
            return rules->made[i];
    return NULL;
}

START_TEST(the_first_rule_that_fits_is_found)
{
    size_t fitted = 0, asked = 0;

    state = (uint64_t)_i;
    for (int round = 0; round < (int)unit_size(400); round++) {
        struct arena *mem = arena_begin();
        struct rules rules = make_rules(mem, 1 + pick(30));
        struct rules_index *index = rules_index_begin(mem, &rules);
        struct scene scene;

        make_frames(&scene);
        for (int i = 0; i < 60; i++) {
            struct record record = make_record(&scene);
            const struct loaded_rule *wanted = find_plainly(&rules, &record);
            const struct loaded_rule *got = rules_index_find(index, &record);

            ck_assert_msg(got == wanted, "seed %d round %d record %d: wanted %s, got %s", _i, round,
                          i, wanted ? wanted->rule.where : "none", got ? got->rule.where : "none");
            asked++;
            fitted += wanted != NULL;
        }
        rules_index_end(index);
        arena_end(mem);
    }
    ck_assert_msg(fitted > asked / 10 && fitted < asked - asked / 10,
                  "%zu of %zu fit: too few or many", fitted, asked);
}
END_TEST

/* ---- As many as there are records ------------------------------------------------------------ */

#define LEVELS 13

/* Each way through a tree of calls is a rule, and a stack: no name tells them apart. */
static void add_way(FILE *stream, unsigned way, const char *first)
{
    fprintf(stream, "{\n way %u\n Memcheck:Leak\n %s\n", way, first);
    for (unsigned level = 0; level < LEVELS; level++)
        fprintf(stream, " fun:f%u_%u\n", level, way >> level & 1);
    fputs("}\n", stream);
}

static const char *const firsts[] = {"fun:malloc", "fun:*alloc*", "...", "fun:*alloc*\n ..."};

START_TEST(rules_for_every_way_through_a_program_are_distinguished)
{
    struct arena *mem = arena_begin();
    char *text, function[2 * LEVELS][16];
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    struct rules rules;
    struct rules_index *index;
    struct frame frames[2 * LEVELS];
    const struct frame *stack[LEVELS];
    struct record record = {
        .kind = LEAK_KIND_MALLOC, .blocks = 1, .frames = stack, .frame_count = LEVELS};

    for (unsigned way = 0; way < 1u << LEVELS; way++)
        if (way % 16) /* one in so many has no rule */
            add_way(stream, way, firsts[_i]);
    fclose(stream);
    rules = rules_parse(mem, "ways.supp", text, size);
    index = rules_index_begin(mem, &rules);
    for (unsigned i = 0; i < 2 * LEVELS; i++) {
        snprintf(function[i], sizeof(function[i]), "f%u_%u", i / 2, i % 2);
        frames[i] = (struct frame){.function = function[i]};
    }
    for (unsigned way = 0; way < 1u << LEVELS; way += unit_step()) {
        const struct loaded_rule *got;
        char name[32];

        for (unsigned level = 0; level < LEVELS; level++)
            stack[level] = &frames[2 * level + (way >> level & 1)];
        got = rules_index_find(index, &record);
        snprintf(name, sizeof(name), "way %u", way);
        ck_assert(!got == !(way % 16));
        ck_assert_str_eq(got ? got->rule.text : name, name);
    }
    rules_index_end(index);
    arena_end(mem);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rules_index");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, the_first_rule_that_fits_is_found, 0, 8);
    tcase_add_loop_test(all, rules_for_every_way_through_a_program_are_distinguished, 0,
                        ROWS(firsts));
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
