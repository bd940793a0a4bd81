#include "preload/process/runtime_options.h"
#include "preload/store/process_info.h"
#include "preload/options/options.h"
#include "preload/misuse/on_error.h"
#include "preload/process/reports.h"
#include "preload/roots/roots.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/base/strbuf.h"

#include "leak_targets.h"

bool settings_get(const char *name, char *buffer, size_t size)
{
    if (!size)
        return false;
    struct text text = text_on(buffer, size);
    bool told = options_tell(&track_options, name, &text) && !text.cut;
    if (!told)
        buffer[0] = '\0';
    return told;
}

/* What the table cannot judge, of the option that is set. The words of on_error are in force as
 * soon as they are read. */
static bool makes_sense(const struct options *options, const char *name)
{
    unsigned classes;
    if (strcmp(name, "report_to") == 0)
        return leak_targets_good(options->report_to);
    if (strcmp(name, "roots") == 0)
        return roots_read_classes(options->roots, strlen(options->roots), &classes);
    if (strcmp(name, "on_error") != 0 ||
        reactions_read(options->on_error, strlen(options->on_error)))
        return true;
    reactions_read(track_options.on_error, strlen(track_options.on_error));
    return false;
}

bool settings_set(struct guard *guard UNUSED, const char *name, const char *value)
{
    struct options changed = track_options;
    if (!options_change(&changed, name, value) || !makes_sense(&changed, name))
        return false;
    options_change(&track_options, name, value);
    if (strcmp(name, "roots") == 0)
        snapshot_choose_roots();
    if (strcmp(name, "report_file") == 0 || strcmp(name, "report_to") == 0)
        reports_start(); /* a relative one is where the program is now */
    about_put_options();
    return true;
}
