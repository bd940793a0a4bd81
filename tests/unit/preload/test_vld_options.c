/* test_vld_options.c - vld.ini: how its settings are translated, and what is reported as unsupported. */
#include "tests/unit/preload/unit.h"
#include "preload/options/options.h"
#include "preload/options/vld_options.h"

static const struct {
    const char *ini, *options, *passed;
} rows[] = {
    {"", "", ""},
    {"[Options]\nVLD = on\n", "enabled=on\n", ""},
    {"vld=OFF", "enabled=off\n", ""},
    {"\r\n  VLD  =  off \r\n", "enabled=off\n", ""},
    {"; VLD = off\n  ;VLD=off\n", "", ""},
    {"StartDisabled = yes\n", "start=off\n", ""},
    {"StartDisabled = no\n", "start=on\n", ""},
    {"MaxDataDump = 64\nMaxTraceFrames=9\n", "content=64\ndepth=9\n", ""},
    {"MaxDataDump =\n", "", ""},
    {"ForceIncludeModules = foo.dll, Bar.EXE baz\n", "modules=foo,libfoo.so*,Bar,libBar.so*,baz,libbaz.so*\n", ""},
    {"ReportTo = debugger\n", "report=exit\nreport_to=stderr\n", ""},
    {"ReportTo = stdout\n", "report=exit\nreport_to=stdout\n", ""},
    {"ReportTo = printer\n", "", "ReportTo=printer"},
    {"ReportTo = file\n", "report=exit\nreport_to=file\nreport_file=memory_leak_report.txt\n", ""},
    {"ReportFile = .\\logs\\leaks.txt\nReportTo = FILE\n", "report=exit\nreport_to=file\nreport_file=./logs/leaks.txt\n", ""},
    {"ReportFile = leaks.txt\n", "", ""},
    {"ReportTo = both\nReportFile = a.txt\n",
     "report=exit\nreport_to=stderr,file\nreport_file=memory_leak_report.txt\n"
     "report=exit\nreport_to=stderr,file\nreport_file=a.txt\n", ""},
    {"AggregateDuplicates = yes\nSkipCrtStartupLeaks = yes\n", "", ""},
    {"AggregateDuplicates = no\nSkipCrtStartupLeaks=0\n", "", "AggregateDuplicates=no, SkipCrtStartupLeaks=0"},
    {"SelfTest = off\nTraceInternalFrames = no\n", "", ""},
    {"StackWalkMethod = safe\nReportEncoding = unicode\n", "", "StackWalkMethod=safe, ReportEncoding=unicode"},
    {"VLD = perhaps\nNonsense = 1\n", "", "VLD=perhaps, Nonsense=1"},
    {"= 5\nVLD\nVLD =\n", "", ""},
};

START_TEST(words_become_options_or_are_passed_over)
{
    char options[1000], passed[300];
    struct strbuf out = STRBUF_ON(options), over = STRBUF_ON(passed);
    vld_options_translate(rows[_i].ini, strlen(rows[_i].ini), &out, &over);
    ck_assert_str_eq(options, rows[_i].options);
    ck_assert_str_eq(passed, rows[_i].passed);
}
END_TEST

static unsigned complaints;

static void complain(const char *what UNUSED, const char *item UNUSED, const char *where UNUSED)
{
    complaints++;
}

START_TEST(options_of_the_names_exist)
{
    static const char all[] = "VLD=on\nStartDisabled=yes\nMaxDataDump=64\nMaxTraceFrames=9\n"
                              "ForceIncludeModules=a.dll\nReportTo=file\nReportFile=x.txt\n";
    char lines[1000], passed[300];
    struct strbuf out = STRBUF_ON(lines), over = STRBUF_ON(passed);
    struct options options;
    options_defaults(&options);
    vld_options_translate(all, strlen(all), &out, &over);
    options_parse(&options, lines, out.length, true, SOURCE_VLD, complain);
    ck_assert_uint_eq(complaints, 0);
    ck_assert(options.enabled && !options.start);
    ck_assert_uint_eq(options.content, 64);
    ck_assert_uint_eq(options.depth, 9);
    ck_assert_uint_eq(options.report, REPORT_EXIT);
    ck_assert_str_eq(options.report_file, "x.txt");
    ck_assert_str_eq(options.modules, "a,liba.so*");
    ck_assert_uint_eq(options.source[OPTION_depth], SOURCE_VLD);
}
END_TEST

/* LIBLEAK_OPTIONS; wanted: as options_describe has it. */
static const struct {
    const char *given, *wanted, *passed;
    unsigned complaints;
} mixed[] = {
    {"MaxTraceFrames=20:StartDisabled=yes", "depth=20 (LIBLEAK_OPTIONS)\nstart=off (LIBLEAK_OPTIONS)\n", "", 0},
    {"maxtraceframes=20:depth=30", "depth=30 (LIBLEAK_OPTIONS)\n", "", 0},
    {"depth=30:MaxTraceFrames=20", "depth=20 (LIBLEAK_OPTIONS)\n", "", 0},
    {"ReportTo=both:ReportFile=x",
     "report=exit (LIBLEAK_OPTIONS)\nreport_file=x (LIBLEAK_OPTIONS)\n"
     "report_to=stderr,file (LIBLEAK_OPTIONS)\n", "", 0},
    {"ReportFile='a:b':ReportTo=file",
     "report=exit (LIBLEAK_OPTIONS)\nreport_file=a:b (LIBLEAK_OPTIONS)\n"
     "report_to=file (LIBLEAK_OPTIONS)\n", "", 0},
    {"ReportTo=file:report_to=stdout",
     "report=exit (LIBLEAK_OPTIONS)\nreport_file=memory_leak_report.txt (LIBLEAK_OPTIONS)\n"
     "report_to=stdout (LIBLEAK_OPTIONS)\n", "", 0},
    {"ReportFile=x", "", "", 0},
    {"StackWalkMethod=safe:VLD=on:SelfTest=1", "enabled=on (LIBLEAK_OPTIONS)\n", "StackWalkMethod=safe, SelfTest=1", 0},
    {"MaxTraceFrames=many", "", "", 1},
    {"MaxTraceFrames", "", "", 1},
    {"MaxTraceFrame=3", "", "", 1},
};

START_TEST(words_stand_among_libleak_s_own)
{
    struct options options;
    char told[2000];
    struct strbuf text = STRBUF_ON(told);
    options_defaults(&options);
    options_parse(&options, mixed[_i].given, strlen(mixed[_i].given), false, SOURCE_ENVIRONMENT, complain);
    options_describe(&options, &text);
    ck_assert_str_eq(told, mixed[_i].wanted);
    ck_assert_str_eq(options_unsupported(SOURCE_ENVIRONMENT), mixed[_i].passed);
    ck_assert_str_eq(options_unsupported(SOURCE_VLD), "");
    ck_assert_uint_eq(complaints, mixed[_i].complaints);
}
END_TEST

START_TEST(any_bytes_are_survived)
{
    uint64_t state = unit_seed;
    char options[200], passed[40];
    for (int n = 0; n < 20000; n++) {
        char ini[120];
        static const char letters[] = "VLDvld=;\n\r \\,.Reporto[]on\0file";
        size_t length = unit_random(&state) % sizeof ini;
        for (size_t i = 0; i < length; i++)
            ini[i] = letters[unit_random(&state) % (sizeof letters - 1)];
        struct strbuf out = STRBUF_ON(options), over = STRBUF_ON(passed);
        vld_options_translate(ini, length, &out, &over);
        ck_assert(out.length < sizeof options && over.length < sizeof passed);
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("vld");
    TCase *all = tcase_create("vld");
    tcase_add_loop_test(all, words_become_options_or_are_passed_over, 0, ARRAY_LENGTH(rows));
    tcase_add_test(all, options_of_the_names_exist);
    tcase_add_loop_test(all, words_stand_among_libleak_s_own, 0, ARRAY_LENGTH(mixed));
    tcase_add_test(all, any_bytes_are_survived);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
