#include "preload/process/process.h"
#include "preload/interpose/modules.h"
#include "preload/store/store.h"
#include "preload/options/options.h"
#include "preload/misuse/errors.h"
#include "preload/process/reports.h"
#include "preload/roots/roots.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/base/strbuf.h"

#include "leak_targets.h"

bool runtime_options_get(const char *name, char *buffer, size_t size)
{
    if (!size)
        return false;
    struct strbuf text = strbuf_on(buffer, size);
    bool written = options_get_value(&options_current, name, &text) && !text.cut;
    if (!written)
        buffer[0] = '\0';
    return written;
}

/* Checks values of options that the table of options does not check. on_error_parse applies the
 * value while it parses it, so the old value is restored if the new one is wrong. */
static bool is_valid(const struct options *options, const char *name)
{
    unsigned classes;
    if (strcmp(name, "report_to") == 0)
        return leak_targets_good(options->report_to);
    if (strcmp(name, "roots") == 0)
        return roots_parse_classes(options->roots, strlen(options->roots), &classes);
    if (strcmp(name, "on_error") != 0 ||
        on_error_parse(options->on_error, strlen(options->on_error)))
        return true;
    on_error_parse(options_current.on_error, strlen(options_current.on_error));
    return false;
}

bool runtime_options_set(struct guard *guard UNUSED, const char *name, const char *value)
{
    struct options changed = options_current;
    if (!options_change(&changed, name, value) || !is_valid(&changed, name))
        return false;
    options_change(&options_current, name, value);
    /* Empty the caches of call stacks: the stacks in them were truncated at the old depth. */
    if (strcmp(name, "depth") == 0)
        modules_note_change();
    if (strcmp(name, "roots") == 0)
        snapshot_set_roots();
    /* A relative file is relative to the working directory at the time of this call. */
    if (strcmp(name, "report_file") == 0 || strcmp(name, "report_to") == 0)
        reports_start();
    process_info_write_options();
    return true;
}
