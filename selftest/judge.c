/* judge.c - leakselftest: checks that libleak finds the mistakes of leakplant on this system.
 *
 *     leakselftest LEAKWATCH LIBRARY LEAKREPORT PLANT
 *
 * leakrun --self-test executes it. It runs PLANT under libleak twice (a double free ends a
 * program) and compares the report of leakreport with the list that PLANT prints: one line for
 * each check, PASS, or FAIL and why. The user's options and files are ignored, so that a failure
 * is a fault of libleak or of this system. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* One mistake, in the words that PLANT prints. */
struct plant {
    char what[32], hook[32], function[64];
    int line;
    long bytes;
};

static const char *watch, *library, *reporter, *planter;
static char folder[] = "/tmp/libleak-self-test-XXXXXX";
static unsigned passed, failed;

static __attribute__((format(printf, 2, 3))) void print_verdict(bool good, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    fputs(good ? "PASS  " : "FAIL  ", stdout);
    vprintf(format, list);
    putchar('\n');
    va_end(list);
    *(good ? &passed : &failed) += 1;
}

/* ---- Running programs ------------------------------------------------------------------------ */

/* Redirects a descriptor to a file in the folder; name NULL: to /dev/null. */
static void redirect_to_file(const char *name, int fd)
{
    int file = open(name ? name : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (file < 0 || dup2(file, fd) < 0)
        _exit(125);
}

/* Runs a command with its output in the file `out`. Returns the wait status; -1: it could not be
 * run. */
static int run_command(const char *out, const char *const *argv)
{
    pid_t pid;
    int status;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        /* A core file of the expected abort is not wanted. */
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        redirect_to_file(out, 1);
        redirect_to_file("errors", 2);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return pid > 0 ? status : -1;
}

static void print_errors(void)
{
    char line[512];
    FILE *file = fopen("errors", "r");

    while (file && fgets(line, sizeof line, file))
        printf("      %s", line);
    if (file)
        fclose(file);
}

/* Runs PLANT under libleak, then leakreport twice, for JSON and for text. NULL: it failed, and a
 * message says why. */
static json_t *run_plant(const char *mode)
{
    char with_library[4200], with_report[4200];
    json_t *report;
    int status;

    snprintf(with_library, sizeof with_library, "--with-library=%s", library);
    snprintf(with_report, sizeof with_report, "--with-report=%s", reporter);
    status = run_command("plants", (const char *const[]){watch, with_library, with_report,
                                                         "--no-report", "--force",
                                                         "--keep=plant.leak", planter, mode, NULL});
    if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) != 0) ||
        (WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT)) {
        print_verdict(false, "run: %s ended with %s %d under leakrun", planter,
                      WIFSIGNALED(status) ? "signal" : "status",
                      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        print_errors();
        return NULL;
    }
    status =
        run_command(NULL, (const char *const[]){reporter, "--format=json", "--show=all", "--force",
                                                "-oreport.json", "plant.leak", NULL});
    report = status == 0 ? json_load_file("report.json", 0, NULL) : NULL;
    if (!report ||
        run_command("words", (const char *const[]){reporter, "-v", "plant.leak", NULL}) != 0) {
        print_verdict(false, "report: leakreport wrote no readable report");
        print_errors();
        json_decref(report);
        return NULL;
    }
    return report;
}

/* ---- Reading the report ---------------------------------------------------------------------- */

static json_t *process_of(json_t *report)
{
    return json_array_get(json_object_get(report, "processes"), 0);
}

static long number_at(const json_t *object, const char *key)
{
    return (long)json_integer_value(json_object_get(object, key));
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* The first frame of the user in a stack, if it is in this function; else NULL. */
static json_t *frame_in(json_t *frames, const char *function)
{
    json_t *frame;
    size_t i;

    json_array_foreach(frames, i, frame)
    {
        if (json_is_true(json_object_get(frame, "user")))
            return strcmp(text_at(frame, "function"), function) == 0 ? frame : NULL;
    }
    return NULL;
}

/* The first record of the report, or part of the peak, whose first frame of the user is in the
 * plant's function; NULL: there is none. */
static json_t *find_record(json_t *list, const struct plant *plant, json_t **frame)
{
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if ((*frame = frame_in(json_object_get(item, "frames"), plant->function)))
            return item;
    }
    return NULL;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Says whether a frame has the right line, and prints a message if not. A frame without line
 * information counts as right. */
static bool line_is_right(const struct plant *plant, const json_t *frame)
{
    long line = number_at(frame, "line");

    if (!line || line == plant->line)
        return true;
    print_verdict(false, "%s: found in %s(), but at line %ld, not %d", plant->hook, plant->function,
                  line, plant->line);
    return false;
}

static void pass_plant(const struct plant *plant, const json_t *frame)
{
    if (number_at(frame, "line"))
        print_verdict(true, "%s: %s, in %s() at %s:%d", plant->hook, plant->what, plant->function,
                      text_at(frame, "file"), plant->line);
    else
        print_verdict(true, "%s: %s, in %s() (leakplant has no line information)", plant->hook,
                      plant->what, plant->function);
}

/* Judges a plant whose block must be lost, indirect or reachable. */
static void judge_block(json_t *process, const struct plant *plant)
{
    json_t *frame, *record = find_record(json_object_get(process, "records"), plant, &frame);
    const char *called = record ? text_at(record, "verdict") : "";

    if (!record)
        print_verdict(
            false,
            "%s: no record of the %ld bytes of %s(), which are %s: does the library hook %s?",
            plant->hook, plant->bytes, plant->function, plant->what, plant->hook);
    else if (number_at(record, "bytes") != plant->bytes || number_at(record, "blocks") != 1)
        print_verdict(
            false,
            "%s: found %ld bytes in %ld blocks of %s(), not %ld bytes in one: does the library "
            "hook %s?",
            plant->hook, number_at(record, "bytes"), number_at(record, "blocks"), plant->function,
            plant->bytes, plant->hook);
    else if (strcmp(called, "unfreed") == 0)
        print_verdict(false,
                      "%s: found in %s(), but no leak check was made: see the note of leakreport",
                      plant->hook, plant->function);
    else if (strcmp(called, plant->what) != 0)
        print_verdict(false, "%s: found in %s(), but reported as %s, not %s", plant->hook,
                      plant->function, called, plant->what);
    else if (line_is_right(plant, frame))
        pass_plant(plant, frame);
}

static void judge_freed(json_t *process, const struct plant *plant)
{
    json_t *frame;

    if (find_record(json_object_get(process, "records"), plant, &frame))
        print_verdict(
            false,
            "%s: the block that %s() freed is reported as not freed: does the library hook %s?",
            plant->hook, plant->function, plant->hook);
    else
        print_verdict(true, "%s: the block that %s() freed is not reported", plant->hook,
                      plant->function);
}

static void judge_error(json_t *process, const struct plant *plant)
{
    json_t *error, *frame = NULL;
    size_t i;

    json_array_foreach(json_object_get(process, "errors"), i, error)
    {
        if (strcmp(text_at(error, "type"), plant->what) == 0 &&
            (frame = frame_in(json_object_get(error, "frames"), plant->function)))
            break;
    }
    if (!frame)
        print_verdict(false, "%s: the one in %s() was not found: does the library hook %s?",
                      plant->what, plant->function, plant->hook);
    else if (line_is_right(plant, frame))
        pass_plant(plant, frame);
}

/* Judges whether a growing site is reported as growing, and a site that frees as much as it
 * allocates is not. */
static void judge_trend(json_t *process, const struct plant *plant)
{
    json_t *frame, *record = find_record(json_object_get(process, "records"), plant, &frame);
    const char *called = text_at(json_object_get(record, "growth"), "verdict");
    bool grows = strcmp(called, "growing") == 0 || strcmp(called, "slow-consumer") == 0;

    if (!*called)
        print_verdict(false, "%s: %s() allocates all the time, and its growth is not reported",
                      plant->hook, plant->function);
    else if (grows != (strcmp(plant->what, "growing") == 0))
        print_verdict(false, "%s: the blocks of %s() are %s, but reported as %s", plant->hook,
                      plant->function, plant->what, called);
    else if (line_is_right(plant, frame))
        pass_plant(plant, frame);
}

/* Judges the history of the heap: it must rise, and the plant's function must have its part of the
 * peak. */
static void judge_growth(json_t *process, const struct plant *plant)
{
    json_t *history = json_object_get(process, "history"), *peak = json_object_get(process, "peak");
    size_t count = json_array_size(history);
    long first = number_at(json_array_get(history, 0), "live_bytes");
    long last = number_at(json_array_get(history, count ? count - 1 : 0), "live_bytes");
    json_t *frame;
    const json_t *part = find_record(json_object_get(peak, "parts"), plant, &frame);

    if (count < 3 || last - first < plant->bytes / 3)
        print_verdict(
            false, "history: the heap grows by %ld bytes, but by %ld in the history of %zu moments",
            plant->bytes, last - first, count);
    else if (!part || number_at(part, "bytes") < plant->bytes / 2)
        print_verdict(false, "history: of the %ld bytes of %s(), %ld are reported at the peak",
                      plant->bytes, plant->function, part ? number_at(part, "bytes") : 0);
    else
        print_verdict(true, "history: the heap grows in %zu moments, by %s()", count,
                      plant->function);
}

static void judge_plant(json_t *process, const struct plant *plant)
{
    if (strcmp(plant->what, "skip") == 0)
        printf("SKIP  %s: %s\n", plant->hook, plant->function);
    else if (strcmp(plant->what, "freed") == 0)
        judge_freed(process, plant);
    else if (strcmp(plant->what, "grown") == 0)
        judge_growth(process, plant);
    else if (strcmp(plant->what, "growing") == 0 || strcmp(plant->what, "steady") == 0)
        judge_trend(process, plant);
    else if (strstr(plant->what, "free"))
        judge_error(process, plant);
    else
        judge_block(process, plant);
}

/* Judges all plants. False: PLANT printed nothing. */
static bool judge_plants(json_t *process)
{
    struct plant plant;
    bool some = false;
    FILE *plants = fopen("plants", "r");

    while (plants && fscanf(plants, "%31s %31s %63s %d %ld", plant.what, plant.hook, plant.function,
                            &plant.line, &plant.bytes) == 5) {
        judge_plant(process, &plant);
        some = true;
    }
    if (plants)
        fclose(plants);
    return some;
}

/* Judges the memory of the runtime itself, which only the text report shows. */
static void judge_own_memory(void)
{
    char line[512], *found = NULL;
    FILE *words = fopen("words", "r");

    while (words && !found && fgets(line, sizeof line, words))
        if (strstr(line, "libleak's own memory"))
            found = line;
    if (words)
        fclose(words);
    if (found)
        found[strcspn(found, "\n")] = '\0';
    print_verdict(found && strstr(found, "all accounted for"), "own memory: %s",
                  found ? found : "it is not in the report");
}

static void test_run(const char *mode)
{
    json_t *report = run_plant(mode), *process = process_of(report);

    if (!report)
        return;
    if (!process || !number_at(json_object_get(process, "totals"), "allocations"))
        print_verdict(false, "tracking: no allocation was recorded: is %s loaded?", library);
    else if (!judge_plants(process))
        print_verdict(false, "planting: %s printed nothing", planter);
    if (strcmp(mode, "all") == 0)
        judge_own_memory();
    json_decref(report);
}

/* ---- Running leakselftest -------------------------------------------------------------------- */

static void clean_up(void)
{
    static const char *const made[] = {"plants", "errors", "plant.leak", "report.json", "words"};

    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(made[i]);
    if (chdir("/") == 0)
        rmdir(folder);
}

static void clean_up_and_die(int sig)
{
    clean_up();
    signal(sig, SIG_DFL);
    raise(sig);
}

/* Makes signals that end this program remove its folder first. */
static void catch_signals(void)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (signal(ends[i], clean_up_and_die) == SIG_IGN)
            signal(ends[i], SIG_IGN);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fputs("usage: leakrun --self-test\n", stderr);
        return 125;
    }
    watch = argv[1], library = argv[2], reporter = argv[3], planter = argv[4];
    unsetenv("LIBLEAK_OPTIONS");
    unsetenv("LIBLEAK_DIR");
    unsetenv("LSAN_OPTIONS");
    if (!mkdtemp(folder) || chdir(folder) < 0) {
        print_verdict(false, "folder: %s: %s", folder, strerror(errno));
        return 1;
    }
    catch_signals();
    setenv("HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    test_run("all");
    test_run("double-free");
    clean_up();
    printf("self-test: %u passed, %u failed (%s)\n", passed, failed, library);
    return failed != 0;
}
