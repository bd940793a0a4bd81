#include "preload/misuse/errors.h"
#include "leak_escape.h"
#include "preload/memory/arena.h"
#include "preload/base/log.h"
#include "preload/base/children.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"
#include "preload/heap/suballoc.h"
#include "preload/interpose/modules.h"
#include "preload/contexts/context_tree.h"
#include "preload/contexts/sites.h"

#include <limits.h>
#include <stdarg.h>
#include <sys/resource.h>

/* ---- The description of an error, without names of functions --------------------------------- */

static const char *const kind_words[] = {[LEAK_KIND_NONE] = "unknown",
#define X(name, word) [LEAK_KIND_##name] = word,
                                         LEAK_KIND_TABLE(X)
#undef X
};
static const char *const form_words[] = {[LEAK_FORM_NONE] = "unknown",
#define F(name, word) [LEAK_FORM_##name] = word,
                                         LEAK_FORM_TABLE(F)
#undef F
};
static const char *const type_words[] = {[LEAK_EVENT_NONE] = "unknown",
#define T(name, word) [LEAK_EVENT_##name] = word,
                                         LEAK_EVENT_TABLE(T)
#undef T
};
static const char *const place_words[] = {[LEAK_PLACE_NONE] = "of no block",
#define W(name, words) [LEAK_PLACE_##name] = words,
                                          LEAK_PLACE_TABLE(W)
#undef W
};

/* Appends all strings; NULL ends the list. */
static __attribute__((sentinel)) void add_strings(struct strbuf *out, ...)
{
    va_list strings;
    va_start(strings, out);
    for (const char *string; (string = va_arg(strings, const char *));)
        strbuf_add(out, string);
    va_end(strings);
}

static void add_bytes(struct strbuf *out, uint64_t bytes)
{
    strbuf_add_number(out, bytes);
    strbuf_add(out, bytes == 1 ? " byte" : " bytes");
}

const char *error_text_kind(enum leak_kind kind)
{
    return kind_words[kind];
}

const char *error_text_form(enum leak_form form)
{
    return form_words[form];
}

void error_text_add_block(struct strbuf *out, uint64_t size, enum leak_kind kind)
{
    add_bytes(out, size);
    add_strings(out, " of ", kind_words[kind], NULL);
}

static void add_pool(struct strbuf *out, uint32_t number, const char *if_unnamed)
{
    const char *name = pools_stored_name(number);
    if (name)
        add_strings(out, "pool '", name, "'", NULL);
    else
        strbuf_add(out, if_unnamed);
}

/* Describes a mismatch with an allocator of the program: names the allocators, and the pools if
 * there are some. */
static void add_suballoc_mismatch(struct strbuf *out, const struct leak_event *event,
                                  enum leak_kind kind)
{
    add_bytes(out, event->size);
    strbuf_add(out, " allocated ");
    if (kind == LEAK_KIND_POOL) {
        strbuf_add(out, "from ");
        add_pool(out, event->block_pool, "a pool");
    } else {
        add_strings(out, "by ", kind == LEAK_KIND_CUSTOM ? "a custom allocator" : kind_words[kind],
                    NULL);
    }
    strbuf_add(out, ", released ");
    if (event->form == LEAK_FORM_POOL_FREE) {
        strbuf_add(out, "to ");
        add_pool(out, event->call_pool, kind == LEAK_KIND_POOL ? "another pool" : "a pool");
    } else {
        add_strings(out, "by ", form_words[event->form], NULL);
    }
}

static enum leak_kind block_kind(const struct leak_event *event)
{
    return event->site ? sites_kind(event->site) : LEAK_KIND_NONE;
}

static void add_event_block(struct strbuf *out, const struct leak_event *event)
{
    enum leak_kind kind = block_kind(event);
    if (event->size)
        error_text_add_block(out, event->size, kind);
    else
        add_strings(out, "a block of ", kind_words[kind], NULL);
    if (event->block_pool)
        add_strings(out, " '", pools_stored_name(event->block_pool), "'", NULL);
}

static void add_stated_value(struct strbuf *out, const struct leak_event *event)
{
    strbuf_add(out, " says ");
    if (event->type == LEAK_EVENT_SIZE_MISMATCH) {
        add_bytes(out, event->said);
    } else {
        strbuf_add(out, "an alignment of ");
        strbuf_add_number(out, event->said);
    }
    strbuf_add(out, " of ");
    add_event_block(out, event);
}

void error_text_describe(const struct leak_event *event, struct strbuf *out)
{
    const char *form = form_words[event->form];
    add_strings(out, type_words[event->type], ": ", NULL);
    switch (event->type) {
    case LEAK_EVENT_DOUBLE_FREE:
        add_event_block(out, event);
        add_strings(out, " freed a second time, by ", form, NULL);
        break;
    case LEAK_EVENT_INVALID_FREE:
        add_strings(out, form, " of an address ", place_words[event->place], NULL);
        break;
    case LEAK_EVENT_INTERIOR_FREE:
        add_strings(out, form, " at ", NULL);
        add_bytes(out, event->offset);
        strbuf_add(out, " inside of ");
        add_event_block(out, event);
        break;
    case LEAK_EVENT_SIZE_MISMATCH:
    case LEAK_EVENT_ALIGNMENT_MISMATCH:
        strbuf_add(out, form);
        add_stated_value(out, event);
        break;
    case LEAK_EVENT_POOL_LEAK:
        add_event_block(out, event);
        strbuf_add(out, " alive when it was destroyed");
        break;
    default:
        if (block_kind(event) >= LEAK_KIND_CUSTOM || event->form >= LEAK_FORM_BLOCK_GONE) {
            add_suballoc_mismatch(out, event, block_kind(event));
            break;
        }
        add_event_block(out, event);
        add_strings(out, " released by ", form, NULL);
    }
}

/* ---- Asking leakreport for names ------------------------------------------------------------- */

/* Number of innermost frames of each call stack for which a name is requested: nearly always one of
 * them is a user frame. */
#define FRAMES_ASKED 12
/* The largest number of frames when a whole call stack is written; those further out are left
 * out. */
#define FRAMES_MAX 64
#define BUFFER_SIZE (64u << 10)

/* A function as leakreport names it, with its source file and line. */
struct named {
    const char *function, *file, *line;
    size_t function_length, file_length, line_length;
};

/* A call stack of the error, and what leakreport knows of it. */
struct error_stack {
    uintptr_t pc[FRAMES_ASKED];
    uint32_t frames;
    bool runtime[FRAMES_ASKED]; /* the frame is in the C or C++ library */
    /* The innermost function with a name, and the one that names the place best (rank_title); if
     * there is none, the member `function` is NULL. */
    struct named inner, title;
};

static const char *leakreport; /* path of leakreport; NULL: not found, so frames have no names */

/* Reads the frames of a call stack from its innermost node outwards, without those of libleak.
 * Returns their number. */
static uint32_t read_frames(uint32_t node, uintptr_t *pc, uint32_t most)
{
    uint32_t frames = 0;
    for (struct leak_node frame; frames < most && context_tree_next(&node, &frame);)
        if (frame.pc >= LEAK_KIND_PCS && !modules_is_own(frame.pc))
            pc[frames++] = frame.pc;
    return frames;
}

static void fill_stack(struct error_stack *stack, uint32_t node, uintptr_t pc)
{
    stack->frames = read_frames(node, stack->pc, FRAMES_ASKED);
    if (!stack->frames && node < LEAK_NODE_FIRST && pc)
        stack->pc[stack->frames++] = pc;
}

static void add_hex_digits(struct strbuf *out, const uint8_t *bytes, uint32_t length)
{
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0; i < length; i++)
        strbuf_add_bytes(out, (char[]){digits[bytes[i] >> 4], digits[bytes[i] & 15]}, 2);
}

void live_error_add_escaped(struct strbuf *out, const char *path)
{
    char shown[LEAK_ESCAPE_SIZE];
    for (size_t length; (length = leak_escape(path, shown)); path += length)
        strbuf_add(out, *path == '\n'   ? "\\n"
                        : *path == '\t' ? "\\t"
                        : *path == '\\' ? "\\\\"
                                        : shown);
}

static bool is_runtime_library(const char *path)
{
    static const char *const names[] = {"libc.so", "libc-2",   "libstdc++",
                                        "libc++",  "ld-linux", "libpthread"};
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (starts_with(slash ? slash + 1 : path, names[i]))
            return true;
    return false;
}

/* Adds the line "BUILD-ID OFFSET PATH" that asks leakreport for the name of a frame. A pc outside
 * every object gets a line, too, which leakreport cannot answer: it keeps the number of answers
 * right. True: the pc is in the C or C++ library. */
static bool add_question(struct strbuf *out, uintptr_t pc, char *path_bytes)
{
    struct module_location place = {0};
    struct strbuf path = strbuf_on(path_bytes, PATH_MAX);
    if (!modules_locate(pc - 1, &place, &path))
        place.offset = pc - 1;
    if (place.build_id_length)
        add_hex_digits(out, place.build_id, place.build_id_length);
    else
        strbuf_add(out, "-");
    char hex[24];
    struct strbuf offset = STRBUF_ON(hex);
    strbuf_add_hex(&offset, place.offset);
    add_strings(out, " ", hex + 2, " ", NULL);
    live_error_add_escaped(out, path.length ? path_bytes : "/");
    strbuf_add(out, "\n");
    return is_runtime_library(path_bytes);
}

/* Runs leakreport on the questions and reads its answers, which a NUL ends. Without leakreport they
 * are empty. */
static void run_questions(const char *questions, size_t length, char *answers)
{
    /* empty: leakreport must not see the variables of the program or of libleak. */
    static char *environment[] = {NULL};
    char *arguments[] = {"leakreport", "--serve-fd", "0,1", NULL};
    ssize_t got = -1;
    answers[0] = '\0';
    /* A write beyond the limit of file sizes raises SIGXFSZ, even in a memfd. */
    if (!leakreport || sys_rlimit(RLIMIT_FSIZE) < BUFFER_SIZE)
        return;
    int in = sys_memfd_cloexec("questions"), out = sys_memfd_cloexec("answers");
    if (in >= 0 && out >= 0 && sys_write(in, questions, length) == (ssize_t)length) {
        sys_rewind(in);
        if (leakreport_run(leakreport, arguments, environment,
                           &(struct sys_streams){in, out, -1, NULL}) == 0)
            got = sys_read_at(out, answers, BUFFER_SIZE - 1, 0);
    }
    if (in >= 0)
        sys_close(in);
    if (out >= 0)
        sys_close(out);
    answers[got > 0 ? got : 0] = '\0';
}

/* ---- Reading the answers --------------------------------------------------------------------- */

/* Reads "FUNCTION\tFILE\tLINE\n" at *at and advances *at. False: the line was "\n", which ends the
 * answer of one frame, or the answers end. */
static bool read_answer(const char **at, struct named *out)
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

/* Rates how well a function names the place of the error, 0 is worst: worst if it has no name, best
 * if its source is not in /usr and it is not in the C or C++ library. */
static unsigned rank_title(const struct named *named, bool runtime)
{
    if (!named->function_length)
        return 0;
    if (runtime)
        return 1;
    if (!named->file_length)
        return 3;
    return strncmp(named->file, "/usr/", 5) == 0 ? 2 : 4;
}

/* Reads the answers for one call stack and advances *at behind them. */
static void read_stack_answers(const char **at, struct error_stack *stack)
{
    struct named named;
    unsigned best = 0;
    for (uint32_t i = 0; i < stack->frames; i++)
        while (read_answer(at, &named)) {
            unsigned now = rank_title(&named, stack->runtime[i]);
            if (!stack->inner.function && named.function_length)
                stack->inner = named;
            if (now > best) {
                stack->title = named;
                best = now;
            }
        }
}

static bool is_inner_function(const struct error_stack *stack, const char *operator)
{
    const char *function = stack->inner.function;
    return function && strncmp(function, operator, strlen(operator)) == 0;
}

static void add_unnamed(struct strbuf *out, uintptr_t pc, char *path_bytes)
{
    struct module_location place;
    struct strbuf path = strbuf_on(path_bytes, PATH_MAX);
    if (!pc || !modules_locate(pc - 1, &place, &path)) {
        strbuf_add_hex(out, pc);
        return;
    }
    const char *slash = strrchr(path_bytes, '/');
    add_strings(out, slash ? slash + 1 : path_bytes, "+", NULL);
    strbuf_add_hex(out, place.offset);
}

static void add_named(struct strbuf *out, const struct named *named)
{
    strbuf_add_bytes(out, named->function, named->function_length);
    if (!named->file_length)
        return;
    strbuf_add(out, " at ");
    strbuf_add_bytes(out, named->file, named->file_length);
    strbuf_add(out, ":");
    strbuf_add_bytes(out, named->line, named->line_length);
}

static void add_stack_title(struct strbuf *out, const char *lead, const struct error_stack *stack,
                            uint32_t thread, char *path_bytes)
{
    if (!stack->frames)
        return;
    strbuf_add(out, lead);
    if (stack->title.function)
        add_named(out, &stack->title);
    else
        add_unnamed(out, stack->pc[0], path_bytes);
    if (!thread)
        return;
    strbuf_add(out, " (T");
    strbuf_add_number(out, thread);
    strbuf_add(out, ")");
}

/* ---- The line about an error ----------------------------------------------------------------- */

/* Scratch memory to describe one error or to write one call stack. */
struct buffers {
    char questions[BUFFER_SIZE], answers[BUFFER_SIZE], path[PATH_MAX], line[1024];
    uintptr_t pc[FRAMES_MAX];
};

enum { CALL, ALLOCATED, FREED_BEFORE, STACKS };

static void name_stacks(struct error_stack *stacks, struct buffers *buffers)
{
    struct strbuf questions = STRBUF_ON(buffers->questions);
    const char *at = buffers->answers;
    for (unsigned i = 0; i < STACKS; i++)
        for (uint32_t k = 0; k < stacks[i].frames; k++)
            stacks[i].runtime[k] = add_question(&questions, stacks[i].pc[k], buffers->path);
    if (!questions.cut)
        run_questions(buffers->questions, questions.length, buffers->answers);
    for (unsigned i = 0; i < STACKS; i++)
        read_stack_answers(&at, &stacks[i]);
}

void live_error_start(void)
{
    leakreport = leakreport_find();
}

/* Writes no line about a pair of operators new and delete that the program has replaced: one may
 * call the other, so the two are no mismatch. leakreport writes no record of it either. */
void live_error_write(struct guard *guard UNUSED, const struct leak_event *event)
{
    struct error_stack stacks[STACKS] = {0};
    struct buffers *buffers = arena_map(sizeof *buffers);
    if (!buffers)
        return;
    struct strbuf out = STRBUF_ON(buffers->line);
    fill_stack(&stacks[CALL], event->node, event->pc);
    fill_stack(&stacks[ALLOCATED], event->site ? sites_node(event->site) : 0, 0);
    fill_stack(&stacks[FREED_BEFORE], event->freed_node, event->freed_pc);
    name_stacks(stacks, buffers);
    error_text_describe(event, &out);
    add_stack_title(&out, ", in ", &stacks[CALL], event->thread, buffers->path);
    add_stack_title(&out, "; allocated in ", &stacks[ALLOCATED], 0, buffers->path);
    add_stack_title(&out, "; freed before in ", &stacks[FREED_BEFORE], event->freed_thread,
                    buffers->path);
    if (!is_inner_function(&stacks[ALLOCATED], "operator new") &&
        !is_inner_function(&stacks[CALL], "operator delete"))
        log_line(buffers->line, NULL);
    arena_unmap(buffers, sizeof *buffers);
}

/* ---- A whole call stack ---------------------------------------------------------------------- */

/* Writes one line for each function of a frame (some may be inlined), or object+offset. */
static void write_frame(const char *lead, uintptr_t pc, const char **answers, char *path_bytes)
{
    char line[600];
    struct named named;
    bool known = false;
    while (read_answer(answers, &named)) {
        struct strbuf out = STRBUF_ON(line);
        add_named(&out, &named);
        known |= named.function_length != 0;
        log_line(lead, line, NULL);
    }
    if (known)
        return;
    struct strbuf out = STRBUF_ON(line);
    add_unnamed(&out, pc, path_bytes);
    log_line(lead, line, NULL);
}

void live_error_write_stack(struct guard *guard UNUSED, const char *words, uint32_t node)
{
    struct buffers *buffers = arena_map(sizeof *buffers);
    if (!buffers)
        return;
    const char *at = buffers->answers;
    struct strbuf questions = STRBUF_ON(buffers->questions);
    uint32_t frames = read_frames(node, buffers->pc, FRAMES_MAX);
    for (uint32_t i = 0; i < frames; i++)
        add_question(&questions, buffers->pc[i], buffers->path);
    if (!questions.cut)
        run_questions(buffers->questions, questions.length, buffers->answers);
    log_line(words, NULL);
    for (uint32_t i = 0; i < frames; i++)
        write_frame(i ? "    called by " : "    in ", buffers->pc[i], &at, buffers->path);
    if (frames == FRAMES_MAX)
        log_line("    and further callers", NULL);
    arena_unmap(buffers, sizeof *buffers);
}
