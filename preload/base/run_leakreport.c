#include "preload/base/run_leakreport.h"
#include "preload/base/children.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <limits.h>
#include <sys/stat.h>

static const char *library_path = "";
/* Not on the stack, which may be a signal stack of 8 KiB. */
static char found[PATH_MAX], home[PATH_MAX];

void tool_start(const char *library)
{
    library_path = library;
}

static bool is_there(const struct text *path)
{
    struct stat info;
    return !path->cut && sys_lstat(path->bytes, &info) == 0;
}

const char *tool_find(void)
{
    static const char *const places[] = {"/leakreport", "/../../bin/leakreport"};
    struct text name = TEXT_ON(home);
    ssize_t length = sys_readlink(library_path, home, sizeof home - 1);
    if (length > 0)
        home[length] = '\0';
    else
        text_add(&name, library_path);
    char *slash = strrchr(home, '/');
    for (size_t i = 0; slash && i < ARRAY_LENGTH(places); i++) {
        struct text path = TEXT_ON(found);
        text_add_bytes(&path, home, slash - home);
        text_add(&path, places[i]);
        if (is_there(&path))
            return found;
    }
    struct text path = TEXT_ON(found);
    text_add(&path, TOOL_BINDIR "/leakreport");
    return is_there(&path) ? found : NULL;
}

int tool_run(const char *path, char *const argv[], char *const envp[],
             const struct sys_streams *streams)
{
    int pid = sys_run(path, argv, envp, streams);
    if (pid < 0)
        return pid;
    children_add(pid);
    int status = sys_wait(pid);
    children_remove(pid);
    return status;
}
