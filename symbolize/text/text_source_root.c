/* text_source_root.c - see text_source_root.h. */
#include "symbolize/text/text_source_root.h"

#include <string.h>

#define RECORDS 100 /* of each process that are looked at */
#define LEAST 12    /* bytes that a path must lose */

struct common {
    char *path; /* up to and without its last '/' */
    size_t places;
    bool near;
};

static void cut_at_slash(char *path, size_t length)
{
    while (length && path[length] != '/')
        length--;
    path[length] = 0;
}

static void add_path(struct common *common, const char *path)
{
    size_t same = 0;

    if (!common->places++) {
        snprintf(common->path, PATH_MAX, "%s", path);
        cut_at_slash(common->path, strlen(common->path));
        return;
    }
    while (common->path[same] && common->path[same] == path[same])
        same++;
    if (common->path[same] || path[same] != '/')
        cut_at_slash(common->path, same);
}

static void add_record(struct common *common, const struct record *record, const struct view *view)
{
    char buffer[PATH_MAX];

    for (size_t i = record->user; i < record->frame_count; i++) {
        const struct frame *frame = record->frames[i];
        const char *path;

        if (frame->role != FRAME_USER || !frame->file)
            continue;
        path = report_display_path(view, frame->file, buffer, sizeof(buffer));
        if (*path == '/')
            add_path(common, path);
        else
            common->near = true;
    }
}

const char *text_base(const struct report *report, const struct view *view, char buffer[PATH_MAX])
{
    struct common common = {.path = buffer};

    *buffer = 0;
    if (!view->relative || view->full_names || view->verbose)
        return NULL;
    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];

        for (size_t k = 0; k < process->record_count && k < RECORDS && !common.near; k++)
            if (report_lists_record(&process->records[k], view))
                add_record(&common, &process->records[k], view);
    }
    return !common.near && common.places > 1 && strlen(buffer) >= LEAST ? buffer : NULL;
}
