/* test_suppress.c - known leaks: how rules are written, what they fit, what becomes of the sums. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbolize/build/build.h"
#include "common/store/reader.h"
#include "common/suppress/rules.h"
#include "common/suppress/suppress.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"

static struct arena *mem;

static void setup(void)
{
    mem = arena_begin();
}

static void teardown(void)
{
    arena_end(mem);
}

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static struct rules read_rules(const char *text)
{
    return rules_parse(mem, "known.supp", text, strlen(text));
}

/* ---- Patterns ------------------------------------------------------------------------------- */

/* A rule of LeakSanitizer's against the one name a frame has. */
static const struct {
    const char *pattern, *name;
    bool fits;
} patterns[] = {
    {"foo", "foo", true},
    {"foo", "a_foo_b", true},
    {"foo", "fo", false},
    {"foo", "FOO", false},
    {"foo", "", false},
    {"^foo", "foobar", true},
    {"^foo", "a_foo", false},
    {"foo$", "a_foo", true},
    {"foo$", "foobar", false},
    {"foo$", "foofoo", true},
    {"^foo$", "foo", true},
    {"^foo$", "foofoo", false},
    {"f*o", "fxxo", true},
    {"f*o", "fo", true},
    {"f*o", "of", false},
    {"^f*o$", "fooo", true},
    {"^f*o$", "foox", false},
    {"a*b*c", "xaxbxcx", true},
    {"a*b*c", "xaxcxbx", false},
    {"known_l*k", "known_leak", true},
    {"*", "x", true},
    {"*", "", false},
    {"^", "x", true},
    {"f?o", "foo", false},
    {"f?o", "f?o", true},
    {"a^b", "a^b", true},
    {"a$b", "xa$bx", true},
    {"std::vector<int>", "std::vector<int>::push_back(int&&)", true},
    {"/lib/libx.so", "/usr/lib/libx.so.1", true},
    {"a b", "a b", true},
};

START_TEST(a_pattern_fits_or_does_not)
{
    const char *text = arena_format(mem, "leak:%s", patterns[_i].pattern);
    struct rules rules = read_rules(text);
    struct frame function = {.function = patterns[_i].name};
    struct frame file = {.file = patterns[_i].name}, module = {.module = patterns[_i].name};
    struct frame symbol = {.function = "-", .symbol = patterns[_i].name};

    ck_assert_msg(rules.count == 1 && !rules.trouble, "%s: %s", text, rules.trouble);
    ck_assert_str_eq(rules.made[0]->rule.text, text);
#define FITS(frame)                                                                                \
    ck_assert_msg(rules_match_frame(rules.made[0], &(frame)) == patterns[_i].fits,                 \
                  "%s: " #frame " %s", text, patterns[_i].name)
    FITS(function);
    FITS(file);
    FITS(module);
    ck_assert_msg(!rules_match_frame(rules.made[0], &symbol) ||
                      strcmp(patterns[_i].pattern, "*") == 0 ||
                      strcmp(patterns[_i].pattern, "^") == 0,
                  "%s: its people know functions by the names they gave them", text);
}
END_TEST

START_TEST(wildcards_of_one_character_are_valgrinds)
{
    ck_assert(glob_match("f?o", "fxo", true));
    ck_assert(!glob_match("f?o", "fo", true));
    ck_assert(!glob_match("f?o", "fxo", false));
    ck_assert(glob_match("", "", true) && !glob_match("", "x", true) && !glob_match("x", "", true));
    ck_assert(glob_match("**a**", "xxaxx", true));
}
END_TEST

/* ---- Valgrind's blocks ---------------------------------------------------------------------- */

/* mangled::add(int) <- cache_fill <- main, in /opt/app/app; add is inlined in no one. */
static const struct frame add_frame = {.function = "cache::add(int)",
                                       .symbol = "_ZN5cache3addEi",
                                       .file = "/src/cache.cc",
                                       .line = 12,
                                       .module = "/opt/app/libcache.so.2"};
static const struct frame fill_frame = {.function = "cache_fill", .module = "/opt/app/app"};
static const struct frame nameless_frame = {.module = NULL};
static const struct frame main_frame = {.function = "main", .module = "/opt/app/app"};
static const struct frame new_frame = {.function = "operator new(unsigned long)",
                                       .symbol = "_Znwm",
                                       .module = "/lib/libown.so",
                                       .role = FRAME_ALLOCATOR};
static const struct frame *const stack[] = {&add_frame, &fill_frame, &nameless_frame, &main_frame};
static const struct frame *const allocated[] = {&new_frame, &add_frame, &main_frame};

static struct record record_of(enum verdict verdict)
{
    return (struct record){.verdict = verdict,
                           .kind = LEAK_KIND_MALLOC,
                           .bytes = 10,
                           .blocks = 1,
                           .frames = stack,
                           .frame_count = COUNT(stack)};
}

#define LEAK(lines) "{\n  a name\n  Memcheck:Leak\n" lines "}\n"

static const struct {
    const char *text;
    bool fits;
} blocks[] = {
    {LEAK("fun:malloc\n"), true},
    {LEAK("fun:calloc\n"), true},
    {LEAK("fun:*alloc\n"), true},
    {LEAK("fun:_Znwm\n"), false}, /* the record is malloc's */
    {LEAK("fun:malloc\nfun:_ZN5cache3addEi\n"), true},
    {LEAK("fun:malloc\nfun:cache::add*\n"), true},
    {LEAK("fun:malloc\nfun:_ZN5cache3addE?\nfun:cache_fill\n"), true},
    {LEAK("fun:malloc\nfun:_ZN5cache\n"), false}, /* whole names */
    {LEAK("fun:malloc\nfun:cache_fill\n"), false},
    {LEAK("fun:malloc\n...\nfun:cache_fill\n"), true},
    {LEAK("...\nfun:main\n"), true},
    {LEAK("...\nfun:main\n...\n"), true},
    {LEAK("...\nfun:main\nfun:main\n"), false},
    {LEAK("...\nfun:cache_fill\nfun:main\n"), false},
    {LEAK("...\nfun:cache_fill\n...\nfun:main\n"), true},
    {LEAK("...\nfun:cache_fill\nfun:*\nfun:main\n"), true},
    {LEAK("...\nfun:cache_fill\nobj:???\n"), true},
    {LEAK("fun:malloc\nobj:/opt/app/libcache.so*\n"), true},
    {LEAK("fun:malloc\nobj:libcache.so*\n"), false},
    {LEAK("fun:malloc\nobj:*/libcache.so.?\nobj:*/app\n"), true},
    {LEAK("obj:*vgpreload_memcheck*\nfun:cache::add(int)\n"), true},
    {LEAK("fun:malloc\nsrc:cache.cc:12\n"), true},
    {LEAK("fun:malloc\nsrc:cache.cc\n"), true},
    {LEAK("fun:malloc\nsrc:*/cache.cc:12\n"), true},
    {LEAK("fun:malloc\nsrc:cache.cc:13\n"), false},
    {LEAK("fun:main\n"), false},
    {LEAK("fun:malloc\nfun:*\nfun:*\nfun:*\nfun:*\nfun:*\n"), false}, /* deeper than it is */
    {LEAK("match-leak-kinds: definite\nfun:malloc\n"), true},
    {LEAK("match-leak-kinds: possible,definite\nfun:malloc\n"), true},
    {LEAK("match-leak-kinds:all\nfun:malloc\n"), true},
    {LEAK("match-leak-kinds: none\nfun:malloc\n"), false},
    {LEAK("match-leak-kinds: possible, reachable\nfun:malloc\n"), false},
    {"{\n  a name\n  Addrcheck,Memcheck:Leak\n  fun:malloc\n}\n", true},
    {"# c\n\n{\n  # c\n  a name\n\n  Memcheck:Leak\r\n  # c\n  fun:malloc\n }\n", true},
};

START_TEST(a_block_fits_or_does_not)
{
    struct rules rules = read_rules(blocks[_i].text);
    struct record record = record_of(VERDICT_LOST);

    ck_assert_msg(rules.count == 1 && !rules.trouble, "%s%s", blocks[_i].text, rules.trouble);
    ck_assert_str_eq(rules.made[0]->rule.text, "a name");
    ck_assert_msg(rules_match_record(rules.made[0], &record) == blocks[_i].fits, "%s",
                  blocks[_i].text);
}
END_TEST

START_TEST(an_allocator_in_the_stack_is_where_it_begins)
{
    struct rules rules = read_rules(LEAK("fun:_Znwm\nfun:_ZN5cache3addEi\n"));
    struct record record = record_of(VERDICT_LOST);

    ck_assert(!rules_match_record(rules.made[0], &record));
    record.frames = allocated;
    record.frame_count = COUNT(allocated);
    ck_assert(rules_match_record(rules.made[0], &record));
}
END_TEST

START_TEST(leak_kinds_are_verdicts)
{
    static const struct {
        const char *kind;
        const char *fits; /* a letter for each verdict, in their order: lost, indirect … */
    } kinds[] = {{"definite", "L..H..U"},  {"indirect", ".I....U"}, {"possible", "..P...U"},
                 {"reachable", "....R.U"}, {"all", "LIPHR.U"},      {"none", "......."}};

    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *text =
            arena_format(mem, LEAK("match-leak-kinds: %s\nfun:malloc\n"), kinds[i].kind);
        struct rules rules = read_rules(text);

        for (int v = 0; v < VERDICT_MAX; v++) {
            struct record record = record_of((enum verdict)v);

            ck_assert_msg(rules_match_record(rules.made[0], &record) == (kinds[i].fits[v] != '.'),
                          "%s: %s", kinds[i].kind, verdict_word[v]);
        }
    }
}
END_TEST

START_TEST(what_is_about_other_errors_is_passed_over)
{
    struct rules rules = read_rules("{\n x\n Memcheck:Param\n write(buf)\n fun:malloc\n}\n"
                                    "{\n y\n Helgrind:Race\n fun:malloc\n}\n"
                                    "{\n z\n Memcheck:Cond\n anything at all\n}\n"
                                    "leak:foo\n");

    ck_assert_msg(!rules.trouble, "%s", rules.trouble);
    ck_assert_uint_eq(rules.count, 1);
    ck_assert_str_eq(rules.made[0]->rule.where, "known.supp:17");
}
END_TEST

/* ---- Mistakes ------------------------------------------------------------------------------- */

static const struct {
    const char *text, *trouble;
    size_t rules; /* that hold nevertheless */
} mistakes[] = {
    {"", NULL, 0},
    {"\n\n# only words\n  \t\n", NULL, 0},
    {"leak:a\r\n  leak:b  \n#leak:c\nleak:d", NULL, 3},
    {"leak:a\nlaek:b\nleak:c\n",
     "known.supp:2: neither leak:PATTERN nor a { of Valgrind's: 'laek:b'", 2},
    {"leak:\n", "known.supp:1: leak: without a pattern", 0},
    {"race:foo\nleak:c\n", "known.supp:1: neither leak:PATTERN nor a { of Valgrind's: 'race:foo'",
     1},
    {"{\n", "known.supp:1: a suppression without a name", 0},
    {"{\n}\n", "known.supp:1: a suppression without a name", 0},
    {"{\nx\n}\nleak:a\n", "known.supp:1: a suppression that does not say of what (Memcheck:Leak)",
     1},
    {"{\nx\nLeak\nfun:a\n}\n", "known.supp:3: not TOOL:KIND: 'Leak'", 0},
    {"{\nx\nMemcheck:Leak\nfun:a\n", "known.supp:1: this { has no }", 0},
    {"\n{\nx\nMemcheck:Leak\n}\n", "known.supp:2: a suppression that names no frame", 0},
    {"{\nx\nMemcheck:Leak\n...\n}\n", "known.supp:1: a suppression that names no frame", 0},
    {"{\nx\nMemcheck:Leak\nfan:a\n}\nleak:a\n", "known.supp:4: no line of a suppression: 'fan:a'",
     1},
    {"{\nx\nMemcheck:Leak\nfun:\n}\n", "known.supp:4: no line of a suppression: 'fun:'", 0},
    {"{\nx\nMemcheck:Leak\nmatch-leak-kinds: some\nfun:a\n}\n",
     "known.supp:4: no line of a suppression: 'match-leak-kinds: some'", 0},
    {"{\nx\nMemcheck:Leak\nfun:a\nmatch-leak-kinds: all\n}\n",
     "known.supp:5: no line of a suppression: 'match-leak-kinds: all'", 0},
    {LEAK("fun:a\n") "leak\n", "known.supp:6: neither leak:PATTERN nor a { of Valgrind's: 'leak'",
     1},
};

START_TEST(a_mistake_is_one_line_with_its_place)
{
    struct rules rules = read_rules(mistakes[_i].text);

    if (mistakes[_i].trouble)
        ck_assert_str_eq(rules.trouble, mistakes[_i].trouble);
    else
        ck_assert_ptr_null(rules.trouble);
    ck_assert_uint_eq(rules.count, mistakes[_i].rules);
}
END_TEST

START_TEST(lines_that_are_no_text_are_a_mistake)
{
    char *longer = calloc(1, RULES_LINE_MAX + 10);
    struct rules rules = rules_parse(mem, "x", "leak:a\0b\nleak:c\n", 16);

    ck_assert_str_eq(rules.trouble, "x:1: this line is too long, or no text");
    ck_assert_uint_eq(rules.count, 1);
    memset(longer, 'a', RULES_LINE_MAX + 1);
    memcpy(longer, "leak:", 5);
    ck_assert_uint_eq(rules_parse(mem, "x", longer, RULES_LINE_MAX).count, 1);
    ck_assert_uint_eq(rules_parse(mem, "x", longer, RULES_LINE_MAX + 1).count, 0);
    free(longer);
}
END_TEST

static uint64_t random_state;

static unsigned next_random(unsigned limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state % limit);
}

/* Bytes, and pieces that mean something. */
static size_t make_noise(char *text, size_t room)
{
    static const char *const pieces[] = {"{\n",       "}\n",   "leak:", "Memcheck:Leak\n",
                                         "fun:",      "obj:",  "src:",  "...\n",
                                         "malloc\n",  "*",     "?",     "^",
                                         "$",         "\n",    "#",     "match-leak-kinds:",
                                         "definite,", "all\n", ":",     "name\n"};
    size_t length = 0;

    for (unsigned count = next_random(40); count; count--) {
        const char *piece = pieces[next_random(COUNT(pieces))];

        if (length + 20 > room)
            break;
        if (next_random(6) == 0) {
            text[length++] = (char)next_random(256);
            continue;
        }
        memcpy(text + length, piece, strlen(piece));
        length += strlen(piece);
    }
    return length;
}

START_TEST(random_bytes_never_crash)
{
    const char *seed = getenv("SEED");
    uint64_t chosen = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) * 2 + 1;
    struct record record = record_of(VERDICT_LOST);
    char text[1024];
    size_t made = 0;

    random_state = chosen | 1;
    for (int i = 0; i < 20000; i++) {
        struct arena *own = arena_begin();
        size_t length = make_noise(text, sizeof(text));
        char *copy = malloc(length ? length : 1); /* one byte too many is seen */
        struct rules rules;

        memcpy(copy, text, length);
        rules = rules_parse(own, "noise", copy, length);
        for (size_t k = 0; k < rules.count; k++) {
            rules_match_frame(rules.made[k], &add_frame);
            rules_match_record(rules.made[k], &record);
        }
        made += rules.count;
        free(copy);
        arena_end(own);
    }
    ck_assert_msg(made > 1000, "SEED=%llu: only %zu rules", (unsigned long long)chosen, made);
}
END_TEST

/* ---- Whole processes ------------------------------------------------------------------------ */

/* Two leaks of /opt/libknown.so with a block of /opt/app under them, and one of /opt/app with one.
 */
static struct store_builder looked_at(void)
{
    static const struct leak_found found[] = {
        {.site = 1, .verdict = LEAK_VERDICT_LOST, .blocks = 2, .bytes = 80},
        {.site = 2, .verdict = LEAK_VERDICT_INDIRECT, .owner = 1, .blocks = 1, .bytes = 24},
        {.site = 3, .verdict = LEAK_VERDICT_LOST, .blocks = 1, .bytes = 56},
        {.site = 4, .verdict = LEAK_VERDICT_INDIRECT, .owner = 3, .blocks = 1, .bytes = 8},
        {.site = 5, .verdict = LEAK_VERDICT_REACHABLE, .blocks = 1, .bytes = 5},
    };
    struct store_builder builder = builder_begin();
    uint32_t main_node;
    struct builder_look look = {
        .head = {.rung = LEAK_RUNG_PARKED, .occasion = LEAK_OCCASION_EARLY, .sites = 5},
        .found = found,
        .found_count = COUNT(found)};

    builder_process(&builder, "/opt/app", "/opt", 0, NULL);
    builder_module(&builder, "/opt/app", 0x1000, 0x9000, 0, 1, 0, "\x11\x22");
    builder_module(&builder, "/opt/libknown.so", 0x10000, 0x20000, 0x10000, 1, 0, "\x55\x66");
    main_node = builder_node(&builder, 0x1100, LEAK_ROOT_COMPLETE, 0);
#define SITE(pc, blocks, bytes)                                                                    \
    builder_site(&builder, builder_node(&builder, pc, main_node, 0), LEAK_KIND_MALLOC,             \
                 (struct leak_counts){blocks, bytes, 0, 0})
    SITE(0x10100, 2, 80);
    SITE(0x1200, 1, 24);
    SITE(0x1300, 1, 56);
    SITE(0x1400, 1, 8);
    SITE(0x10200, 1, 5);
    builder_look(&builder, &look);
    return builder;
}

static struct suppressions *suppressions;

static struct process process_of(struct store_builder *builder)
{
    struct binary_search_path search = {.never_open = true};
    struct resolver *resolver = resolve_begin(mem, &search);
    struct build_options options = {.group = {.suppressions = suppressions}};
    struct extent extent;
    struct store_image image = store_image_borrow(builder->data, builder->size, &extent);
    struct store store;
    struct read_error trouble;
    struct process process;

    ck_assert(reader_parse(mem, &image, &store, &trouble));
    build_process(mem, resolver, &store, &options, &process);
    store_end(&store);
    builder_end(builder);
    resolve_end(resolver);
    return process;
}

static void begin(void)
{
    setup();
    suppressions = suppress_begin();
}

static void end(void)
{
    suppress_end(suppressions);
    teardown();
}

static const struct record *find(const struct process *process, uint64_t bytes)
{
    for (size_t i = 0; i < process->record_count; i++)
        if (process->records[i].bytes == bytes)
            return &process->records[i];
    ck_abort_msg("no record of %llu bytes", (unsigned long long)bytes);
    return NULL;
}

START_TEST(what_is_suppressed_takes_along_what_hangs_under_it)
{
    struct store_builder builder = looked_at();
    struct process process;

    builder_suppressions(&builder, "its own", "leak:libknown\nleak:nothing\n");
    process = process_of(&builder);
    ck_assert_uint_eq(process.totals.of[VERDICT_LOST].bytes, 56);
    ck_assert_uint_eq(process.totals.of[VERDICT_LOST].records, 1);
    ck_assert_uint_eq(process.totals.of[VERDICT_INDIRECT].bytes, 8);
    ck_assert_uint_eq(process.suppressed.bytes, 104);
    ck_assert_uint_eq(process.suppressed.blocks, 3);
    ck_assert_uint_eq(process.suppressed.records, 2);
    ck_assert_uint_eq(process.rule_count, 1);
    ck_assert_str_eq(process.rules[0].rule->where, "its own:1");
    ck_assert_str_eq(find(&process, 80)->suppressed_by->text, "leak:libknown");
    ck_assert_str_eq(find(&process, 24)->suppressed_by->text, "leak:libknown");
    ck_assert_ptr_null(find(&process, 56)->suppressed_by);
    ck_assert_ptr_null(find(&process, 8)->suppressed_by);
    ck_assert_ptr_null(find(&process, 5)->suppressed_by); /* reachable: no leak */
    ck_assert_uint_eq(process.totals.of[VERDICT_REACHABLE].bytes, 5);
}
END_TEST

START_TEST(without_rules_nothing_is_suppressed)
{
    struct store_builder builder = looked_at();
    struct process process = process_of(&builder);

    ck_assert_uint_eq(process.totals.of[VERDICT_LOST].bytes, 136);
    ck_assert_uint_eq(process.totals.of[VERDICT_INDIRECT].bytes, 32);
    ck_assert_uint_eq(process.suppressed.records, 0);
    ck_assert_uint_eq(process.rule_count, 0);
}
END_TEST

#define NAMELESS "" /* a static function of a stripped library */

/* A stack of functions in a module, innermost first; does a built-in rule keep it quiet? */
static const struct {
    const char *functions[4];
    const char *module;
    enum verdict verdict;
    bool fits;
} known[] = {
    {{"os::malloc(unsigned long, MEMFLAGS)", "AllocateHeap", "Thread::allocate"}, "/j/libjvm.so", VERDICT_LOST, true},
    {{"os::malloc", "AllocateHeap", "Thread::allocate"}, "/j/libjvm.so", VERDICT_REACHABLE, false},
    {{"os::malloc", "AllocateHeap", "Thread::allocate"}, "/j/libother.so", VERDICT_LOST, false},
    {{"decode", "Java_Decoder_run", "AllocateHeap"}, "/j/libjvm.so", VERDICT_LOST, false},
    {{"JLI_MemAlloc", "JLI_List_new", "main"}, "/j/libjli.so", VERDICT_LOST, true},
    {{"JLI_MemAlloc", "parse", "main"}, "/j/libjli.so", VERDICT_LOST, false},
    {{"os::malloc", "ChunkPool::allocate", "Arena::grow"}, "/j/libjvm.so", VERDICT_POSSIBLE, true},
    {{"os::malloc", "Unsafe_AllocateMemory0", "jit"}, "/j/libjvm.so", VERDICT_LOST, false},
    {{"FcPatternObjectInsertElt", "FcPatternAdd"}, "/l/libfontconfig.so.1.12.0", VERDICT_LOST, true},
    {{NAMELESS, NAMELESS, "FcDefaultSubstitute"}, "/l/libfontconfig.so.1.12.0", VERDICT_LOST, true},
    {{NAMELESS, NAMELESS, "FcDefaultSubstitute"}, "/l/libother.so.1", VERDICT_LOST, false},
    {{"FcFontSetCreate", "FcFontList", "main"}, "/l/libfontconfig.so.1.12.0", VERDICT_LOST, false},
    {{"FcPatternCreate", "main"}, "/l/libfontconfig.so.1.12.0", VERDICT_LOST, false},
    {{"g_malloc", NAMELESS, NAMELESS, "call_init"}, "/l/libglib-2.0.so.0.7400.6", VERDICT_LOST, true},
    {{"g_malloc", "g_strdup", "main", "call_init"}, "/l/app", VERDICT_LOST, false},
    {{"sys_thread_init_signal_stack", "thr_wrapper"}, "/e/beam.smp", VERDICT_LOST, true},
    {{"sys_alloc", "thr_wrapper"}, "/e/beam.smp", VERDICT_LOST, false},
    {{NAMELESS, "rb_enc_str_new", "rb_str_new"}, "/l/libruby-3.1.so.3.1.7", VERDICT_LOST, true},
    {{"rb_st_init_table_with_size", NAMELESS}, "/l/libruby-3.1.so.3.1.7", VERDICT_POSSIBLE, true},
    {{NAMELESS, "rb_enc_str_new", "rb_str_new"}, "/l/libruby-3.1.so.3.1.7", VERDICT_REACHABLE, false},
    {{NAMELESS, "Init_ext"}, "/l/ext.so", VERDICT_LOST, false},
    {{"Perl_safesysmalloc", "Perl_more_sv", "Perl_newSV"}, "/usr/bin/perl", VERDICT_POSSIBLE, true},
    {{"Perl_safesysmalloc", "XS_Storable_new"}, "/l/Storable.so", VERDICT_LOST, false},
    {{"monoeg_g_calloc", NAMELESS, NAMELESS}, "/usr/bin/mono-sgen", VERDICT_LOST, true},
    {{"monoeg_g_calloc", "native", "native"}, "/l/libnative.so", VERDICT_LOST, false},
    {{"PL_malloc", NAMELESS, NAMELESS}, "/l/libswipl.so.9", VERDICT_LOST, true},
    {{"PL_malloc", "install", "load"}, "/l/foreign.so", VERDICT_LOST, false},
};

START_TEST(leaks_of_runtimes_are_known_from_the_start)
{
    struct store_builder builder = looked_at();
    struct process process = process_of(&builder); /* of some process, then: */
    struct frame frames[5] = {{.function = "malloc", .role = FRAME_ALLOCATOR}};
    const struct frame *met[5] = {&frames[0]};
    struct record record = {.verdict = known[_i].verdict, .frames = met, .frame_count = 1};
    struct report report = {.processes = &process, .process_count = 1};

    for (size_t i = 0; i < 4 && known[_i].functions[i]; i++) {
        frames[i + 1] = (struct frame){.module = known[_i].module};
        if (*known[_i].functions[i])
            frames[i + 1].function = known[_i].functions[i];
        met[record.frame_count++] = &frames[i + 1];
    }
    ck_assert(!suppress_record(suppressions, &record, NULL));
    suppress_add_defaults(suppressions);
    builder = looked_at();
    process = process_of(&builder);
    ck_assert_uint_eq(process.suppressed.records, 0);
    ck_assert_int_eq(suppress_record(suppressions, &record, NULL), known[_i].fits);
    ck_assert_ptr_null(suppress_store_error(suppressions, 0));
    suppress_fill_unused(suppressions, &report);
    ck_assert_uint_eq(report.unused_count, 0); /* not requested */
}
END_TEST

START_TEST(rules_of_a_store_are_for_its_process_alone)
{
    struct store_builder first = looked_at(), second = looked_at();
    struct process process;
    struct report report = {0};

    ck_assert_ptr_null(
        suppress_add(suppressions, "all", "{\nx\nMemcheck:Leak\nfun:malloc\nobj:/opt/app\n}", 43));
    builder_suppressions(&first, "its own", "leak:libknown\nleak:nothing\n");
    process = process_of(&first);
    ck_assert_uint_eq(process.totals.of[VERDICT_LOST].bytes, 0);
    ck_assert_uint_eq(process.rule_count, 2);
    process = process_of(&second);
    ck_assert_uint_eq(process.totals.of[VERDICT_LOST].bytes, 80);
    ck_assert_uint_eq(process.rule_count, 1);
    ck_assert_str_eq(find(&process, 56)->suppressed_by->text, "x");
    suppress_fill_unused(suppressions, &report);
    ck_assert_uint_eq(report.unused_count, 1);
    ck_assert_str_eq(report.unused[0]->text, "leak:nothing");
    ck_assert_str_eq(report.unused[0]->where, "its own:2");
}
END_TEST

START_TEST(a_mistake_in_a_store_is_a_note_and_the_rest_holds)
{
    struct store_builder builder = looked_at();
    struct process process;

    builder_suppressions(&builder, "its own", "laek:x\nleak:libknown\n");
    process = process_of(&builder);
    ck_assert_uint_eq(process.note_count, 1);
    ck_assert_str_eq(process.notes[0], "its own:1: neither leak:PATTERN nor a { of Valgrind's: "
                                       "'laek:x'; this suppresses nothing");
    ck_assert_uint_eq(process.totals.of[VERDICT_LOST].bytes, 56);
}
END_TEST

START_TEST(a_text_without_its_origin_is_damage)
{
    struct store_builder builder = looked_at();
    size_t at = builder_chunk(&builder, LEAK_CHUNK_SUPPRESSIONS, 0, 8);
    struct process process;

    ((struct leak_chunk *)(builder.data + at))->length = 8;
    memcpy(builder.data + at + sizeof(struct leak_chunk), "leak:opt", 8);
    process = process_of(&builder);
    ck_assert_uint_eq(process.note_count, 1);
    ck_assert_uint_eq(process.suppressed.records, 0);
}
END_TEST

START_TEST(a_text_that_no_runtime_writes_is_damage)
{
    struct store_builder builder = looked_at();
    char *text = calloc(1, LEAK_SUPPRESSIONS_MAX + 1 + (size_t)_i);
    struct process process;

    memset(text, '\n', LEAK_SUPPRESSIONS_MAX + (size_t)_i);
    memcpy(text, "leak:opt", 8);
    builder_suppressions(&builder, "its own", text);
    process = process_of(&builder);
    ck_assert_uint_eq(process.note_count, _i);
    ck_assert_uint_eq(process.suppressed.records, _i ? 0 : 4);
    free(text);
}
END_TEST

START_TEST(files_are_read_whole_or_said)
{
    char path[] = "/tmp/libleak-test-XXXXXX";
    FILE *stream = fdopen(mkstemp(path), "w");
    struct store_builder builder = looked_at();
    char *wanted = arena_format(mem, "%s: cannot be read: No such file or directory", path);

    for (int i = 0; i < 20000; i++)
        fprintf(stream, "# line %d\n", i);
    fputs("leak:libknown", stream);
    fclose(stream);
    ck_assert_ptr_null(suppress_add_file(suppressions, path));
    ck_assert_uint_eq(process_of(&builder).suppressed.bytes, 104);
    remove(path);
    ck_assert_str_eq(suppress_add_file(suppressions, path), wanted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("suppress");
    TCase *rules = tcase_create("rules"), *whole = tcase_create("processes");

    tcase_add_checked_fixture(rules, setup, teardown);
    tcase_set_timeout(rules, 60);
    tcase_add_loop_test(rules, a_pattern_fits_or_does_not, 0, COUNT(patterns));
    tcase_add_test(rules, wildcards_of_one_character_are_valgrinds);
    tcase_add_loop_test(rules, a_block_fits_or_does_not, 0, COUNT(blocks));
    tcase_add_test(rules, an_allocator_in_the_stack_is_where_it_begins);
    tcase_add_test(rules, leak_kinds_are_verdicts);
    tcase_add_test(rules, what_is_about_other_errors_is_passed_over);
    tcase_add_loop_test(rules, a_mistake_is_one_line_with_its_place, 0, COUNT(mistakes));
    tcase_add_test(rules, lines_that_are_no_text_are_a_mistake);
    tcase_add_test(rules, random_bytes_never_crash);
    suite_add_tcase(suite, rules);
    tcase_add_checked_fixture(whole, begin, end);
    tcase_add_test(whole, what_is_suppressed_takes_along_what_hangs_under_it);
    tcase_add_test(whole, without_rules_nothing_is_suppressed);
    tcase_add_loop_test(whole, leaks_of_runtimes_are_known_from_the_start, 0, (int)COUNT(known));
    tcase_add_test(whole, rules_of_a_store_are_for_its_process_alone);
    tcase_add_test(whole, a_mistake_in_a_store_is_a_note_and_the_rest_holds);
    tcase_add_test(whole, a_text_without_its_origin_is_damage);
    tcase_add_loop_test(whole, a_text_that_no_runtime_writes_is_damage, 0, 2);
    tcase_add_test(whole, files_are_read_whole_or_said);
    suite_add_tcase(suite, whole);
    return suite_run(suite);
}
