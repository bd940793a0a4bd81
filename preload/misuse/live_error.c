#include "preload/misuse/live_error.h"
#include "preload/base/arena.h"
#include "preload/base/log.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/sites.h"
#include "preload/base/sys.h"
#include "preload/misuse/error_text.h"
#include "preload/base/strbuf.h"
#include "preload/base/run_leakreport.h"
#include "preload/unwind/context_tree.h"

#include <limits.h>
#include <sys/resource.h>

#define FRAMES 12 /* asked for of each stack: the user's is among them, or nothing is certain */
#define ROOM (64u << 10)

/* ---- Questions ------------------------------------------------------------------------------ */

/* A frame as leakreport names it. */
struct named {
    const char *function, *file, *line;
    size_t function_length, file_length, line_length;
};

/* A stack of the line, and what is known of it. */
struct asked {
    uintptr_t pc[FRAMES];
    uint32_t frames;
    bool runtime[FRAMES];      /* this one is in the C or C++ library */
    struct named inner, title; /* no function: not known */
};

static const char *tool; /* NULL: no names */

/* The frames from a node outwards that are the program's. */
static uint32_t read_frames(uint32_t node, uintptr_t *pc, uint32_t most)
{
    uint32_t frames = 0;
    while (node >= LEAK_NODE_FIRST && frames < most) {
        struct leak_node frame = tree_node(node);
        if (frame.pc >= LEAK_KIND_PCS && !modules_own(frame.pc))
            pc[frames++] = frame.pc;
        node = frame.parent;
    }
    return frames;
}

static void take_frames(struct asked *asked, uint32_t node, uintptr_t pc)
{
    asked->frames = read_frames(node, asked->pc, FRAMES);
    if (!asked->frames && node < LEAK_NODE_FIRST && pc)
        asked->pc[asked->frames++] = pc;
}

static void add_digits(struct text *out, const uint8_t *bytes, uint32_t length)
{
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0; i < length; i++)
        text_add_bytes(out, (char[]){digits[bytes[i] >> 4], digits[bytes[i] & 15]}, 2);
}

void tell_escaped(struct text *out, const char *path)
{
    for (;; path++) {
        size_t plain = strcspn(path, "\\\n\t");
        text_add_bytes(out, path, plain);
        path += plain;
        if (!*path)
            return;
        text_add(out, *path == '\n' ? "\\n" : *path == '\t' ? "\\t" : "\\\\");
    }
}

static bool is_runtime(const char *path)
{
    static const char *const names[] = {"libc.so", "libc-2",   "libstdc++",
                                        "libc++",  "ld-linux", "libpthread"};
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (text_starts(slash ? slash + 1 : path, names[i]))
            return true;
    return false;
}

/* "BUILD-ID OFFSET PATH", and for a pc without an object a question that nobody can answer. True:
 * it is the runtime's. */
static bool add_question(struct text *out, uintptr_t pc, char *path_bytes)
{
    struct module_place place = {0};
    struct text path = text_on(path_bytes, PATH_MAX);
    if (!modules_place(pc - 1, &place, &path))
        place.offset = pc - 1;
    if (place.build_id_length)
        add_digits(out, place.build_id, place.build_id_length);
    else
        text_add(out, "-");
    char hex[24];
    struct text offset = TEXT_ON(hex);
    text_add_hex(&offset, place.offset);
    text_add(out, " ");
    text_add(out, hex + 2);
    text_add(out, " ");
    tell_escaped(out, path.length ? path_bytes : "/");
    text_add(out, "\n");
    return is_runtime(path_bytes);
}

/* Has leakreport answer; false: it cannot. What it says ends with a NUL. */
static bool ask(const char *questions, size_t length, char *answers)
{
    static char *nothing[] = {NULL}; /* its own, or the program's, is no matter here */
    char *arguments[] = {"leakreport", "--serve-fd", "0,1", NULL};
    ssize_t got = -1;
    if (!tool || sys_limit(RLIMIT_FSIZE) < ROOM) /* SIGXFSZ, even for memory */
        return false;
    int in = sys_memory_file_kept("questions"), out = sys_memory_file_kept("answers");
    if (in >= 0 && out >= 0 && sys_write(in, questions, length) == (ssize_t)length) {
        sys_rewind(in);
        if (tool_run(tool, arguments, nothing, &(struct sys_streams){in, out, -1, NULL}) == 0)
            got = sys_read_at(out, answers, ROOM - 1, 0);
    }
    if (in >= 0)
        sys_close(in);
    if (out >= 0)
        sys_close(out);
    answers[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* ---- Answers -------------------------------------------------------------------------------- */

/* "FUNCTION\tFILE\tLINE\n" at *at, which moves behind it; false: "\n", or the end. */
static bool take_named(const char **at, struct named *out)
{
    const char *end = strchr(*at, '\n');
    if (!end)
        return false;
    const char *line = *at, *tab = memchr(line, '\t', end - line);
    *at = end + 1;
    const char *second = tab ? memchr(tab + 1, '\t', end - tab - 1) : NULL;
    if (!second)
        return false;
    *out =
        (struct named){line, tab + 1, second + 1, tab - line, second - tab - 1, end - second - 1};
    return true;
}

/* How well a frame serves as title: headers and libraries of the system are nobody's mistake. */
static unsigned rank(const struct named *named, bool runtime)
{
    if (!named->function_length)
        return 0;
    if (runtime)
        return 1;
    if (!named->file_length)
        return 3;
    return strncmp(named->file, "/usr/", 5) == 0 ? 2 : 4;
}

/* The answers for one stack, and *at behind them. */
static void hear(const char **at, struct asked *asked)
{
    struct named named;
    unsigned best = 0;
    for (uint32_t i = 0; i < asked->frames; i++)
        while (take_named(at, &named)) {
            unsigned now = rank(&named, asked->runtime[i]);
            if (!asked->inner.function && named.function_length)
                asked->inner = named;
            if (now > best) {
                asked->title = named;
                best = now;
            }
        }
}

/* As the offline side has it (mistakes.h): operators of the program's stand on others, and are no
 * pair. */
static bool is_in(const struct asked *asked, const char *operator)
{
    const char *function = asked->inner.function;
    return function && strncmp(function, operator, strlen(operator)) == 0;
}

static void add_raw(struct text *out, uintptr_t pc, char *path_bytes)
{
    struct module_place place;
    struct text path = text_on(path_bytes, PATH_MAX);
    if (!pc || !modules_place(pc - 1, &place, &path)) {
        text_add_hex(out, pc);
        return;
    }
    const char *slash = strrchr(path_bytes, '/');
    text_add(out, slash ? slash + 1 : path_bytes);
    text_add(out, "+");
    text_add_hex(out, place.offset);
}

static void add_named(struct text *out, const struct named *named)
{
    text_add_bytes(out, named->function, named->function_length);
    if (!named->file_length)
        return;
    text_add(out, " at ");
    text_add_bytes(out, named->file, named->file_length);
    text_add(out, ":");
    text_add_bytes(out, named->line, named->line_length);
}

static void add_place(struct text *out, const char *lead, const struct asked *asked,
                      uint32_t thread, char *scratch)
{
    const struct named *title = &asked->title;
    if (!asked->frames)
        return;
    text_add(out, lead);
    if (title->function) {
        add_named(out, title);
    } else {
        add_raw(out, asked->pc[0], scratch);
    }
    if (!thread)
        return;
    text_add(out, " (T");
    text_add_number(out, thread);
    text_add(out, ")");
}

/* ---- The line ------------------------------------------------------------------------------- */

enum { CALL, ALLOCATED, BEFORE, STACKS };

static void ask_all(struct asked *asked, char *memory, char *answers, char *scratch)
{
    struct text questions = text_on(memory, ROOM);
    const char *at = answers;
    for (unsigned i = 0; i < STACKS; i++)
        for (uint32_t k = 0; k < asked[i].frames; k++)
            asked[i].runtime[k] = add_question(&questions, asked[i].pc[k], scratch);
    if (!questions.cut && ask(memory, questions.length, answers))
        for (unsigned i = 0; i < STACKS; i++)
            hear(&at, &asked[i]);
}

void tell_start(void)
{
    tool = tool_find();
}

void tell(struct guard *guard UNUSED, const struct leak_event *event)
{
    struct asked asked[STACKS] = {0};
    char *memory = arena_map(2 * ROOM + PATH_MAX + 1024);
    if (!memory)
        return;
    char *answers = memory + ROOM, *scratch = answers + ROOM, *line = scratch + PATH_MAX;
    struct text out = text_on(line, 1024);
    take_frames(&asked[CALL], event->node, event->pc);
    take_frames(&asked[ALLOCATED], event->site ? sites_node(event->site) : 0, 0);
    take_frames(&asked[BEFORE], event->freed_node, event->freed_pc);
    ask_all(asked, memory, answers, scratch);
    tell_words(event, &out);
    add_place(&out, ", in ", &asked[CALL], event->thread, scratch);
    add_place(&out, "; allocated in ", &asked[ALLOCATED], 0, scratch);
    add_place(&out, "; freed before in ", &asked[BEFORE], event->freed_thread, scratch);
    if (!is_in(&asked[ALLOCATED], "operator new") && !is_in(&asked[CALL], "operator delete"))
        log_line(line, NULL);
    arena_unmap(memory, 2 * ROOM + PATH_MAX + 1024);
}

/* ---- A whole stack -------------------------------------------------------------------------- */

#define STACK_MOST 64

/* One line for each function at a frame (it may be inlined), or object+offset. */
static void tell_frame(uint32_t number, uintptr_t pc, const char **answers, char *scratch)
{
    char line[600];
    struct named named;
    bool known = false;
    while (take_named(answers, &named)) {
        struct text out = TEXT_ON(line);
        add_named(&out, &named);
        known |= named.function_length != 0;
        log_line(number ? "    called by " : "    in ", line, NULL);
    }
    if (known)
        return;
    struct text out = TEXT_ON(line);
    add_raw(&out, pc, scratch);
    log_line(number ? "    called by " : "    in ", line, NULL);
}

void tell_stack(struct guard *guard UNUSED, const char *words, uint32_t node)
{
    size_t size = 2 * ROOM + PATH_MAX + STACK_MOST * sizeof(uintptr_t);
    uintptr_t *pc = arena_map(size);
    if (!pc)
        return;
    char *memory = (char *)(pc + STACK_MOST), *answers = memory + ROOM, *scratch = answers + ROOM;
    const char *at = answers;
    struct text questions = text_on(memory, ROOM);
    uint32_t frames = read_frames(node, pc, STACK_MOST);
    for (uint32_t i = 0; i < frames; i++)
        add_question(&questions, pc[i], scratch);
    if (questions.cut || !ask(memory, questions.length, answers))
        answers[0] = '\0';
    log_line(words, NULL);
    for (uint32_t i = 0; i < frames; i++)
        tell_frame(i, pc[i], &at, scratch);
    if (frames == STACK_MOST)
        log_line("    and further callers", NULL);
    arena_unmap(pc, size);
}
