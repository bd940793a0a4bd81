/* golden.c - see golden.h. */
#include "tests/unit/symbolize/golden.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/symbolize/model_text.h"
#include "tests/unit/symbolize/profile_text.h"

const char *const golden_models[GOLDEN_MODELS] = {
    "small",   "odd",   "tree",   "sampled", "frees",  "looked",  "clean",  "quiet",
    "running", "known", "hushed", "wrong",   "opened", "growing", "tagged", "typed"};

bool golden_lists(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

struct report golden_model(struct arena *mem, const char *name)
{
    char path[256];
    struct report report;
    FILE *stream;

    snprintf(path, sizeof(path), "tests/golden/%s.model", name);
    stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s: run from the root of the tree", path);
    report = model_read(mem, stream);
    fclose(stream);
    return report;
}

struct view golden_view(const char *format, bool all)
{
    struct view view = {.top = format_find(format)->top, .freed_address = 0xa0010};

    view.show[VERDICT_LOST] = view.show[VERDICT_POSSIBLE] = true;
    view.show[VERDICT_HIDDEN] = view.show[VERDICT_UNFREED] = true;
    if (all) {
        memset(view.show, true, sizeof(view.show));
        view.top = 0;
    }
    return view;
}

char *golden_report(const char *model, const char *format_name, const struct view *view)
{
    const struct format *format = format_find(format_name);
    struct arena *mem = arena_begin();
    struct report report = golden_model(mem, model);
    char *text, *decoded;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    format->write(&report, view, stream);
    fclose(stream);
    arena_end(mem);
    if (!(format->traits & FORMAT_BINARY))
        return text;
    decoded = profile_text(text, size);
    free(text);
    return decoded;
}

static char *slurp(const char *path)
{
    FILE *stream = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    if (stream) {
        text[fread(text, 1, (1 << 20) - 1, stream)] = 0;
        fclose(stream);
    }
    return text;
}

void golden_check(const char *model, const char *suffix, const char *got)
{
    const char *rewrite = getenv("GOLDEN");
    char path[256], *wanted;

    snprintf(path, sizeof(path), "tests/golden/%s.%s", model, suffix);
    if (rewrite && strcmp(rewrite, "rewrite") == 0) {
        FILE *stream = fopen(path, "w");

        fputs(got, stream);
        fclose(stream);
    }
    wanted = slurp(path);
    ck_assert_msg(strcmp(got, wanted) == 0, "%s differs; got:\n%.4000s", path, got);
    free(wanted);
}
