#include "preload/base/proc_task.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

ssize_t task_read(int pid, int tid, const char *name, char *buffer, size_t size)
{
    char path[64];
    struct text text = TEXT_ON(path);
    text_add(&text, "/proc/");
    if (pid)
        text_add_number(&text, pid);
    else
        text_add(&text, "self");
    text_add(&text, "/task/");
    text_add_number(&text, tid);
    text_add(&text, "/");
    text_add(&text, name);
    return sys_read_file(path, buffer, size);
}
