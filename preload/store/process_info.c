#include "preload/store/process_info.h"
#include "preload/base/arena.h"
#include "preload/options/options.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <limits.h>

/* Scratch for texts and paths; not on the stack, which may be a small thread's. */
#define SCRATCH 65536

void about_put_options(void)
{
    char *scratch = arena_map(SCRATCH);
    if (!scratch)
        return;
    struct text text = text_on(scratch, SCRATCH);
    options_describe(&track_options, &text);
    store_put(LEAK_CHUNK_OPTIONS, scratch, text.length);
    arena_unmap(scratch, SCRATCH);
}

static void put_process(void)
{
    char *scratch = arena_map(SCRATCH);
    if (!scratch)
        return;
    struct leak_process *process = (struct leak_process *)scratch;
    struct text text = text_on(scratch + sizeof *process, SCRATCH - sizeof *process);
    ssize_t length = sys_readlink("/proc/self/exe", text.bytes, PATH_MAX);
    process->exe_length = text.length = length > 0 ? length : 0;
    text_add_bytes(&text, "", 1);
    length = sys_getcwd(text.bytes + text.length, PATH_MAX);
    process->cwd_length = length > 0 ? length - 1 : 0;
    text.length += process->cwd_length;
    text_add_bytes(&text, "", 1);
    char *arguments = text.bytes + text.length;
    length = sys_read_file("/proc/self/cmdline", arguments, SCRATCH / 2);
    process->argv_length = length > 0 ? length : 0;
    for (ssize_t i = 0; i < length; i++)
        process->argc += !arguments[i];
    store_put(LEAK_CHUNK_PROCESS, scratch, arguments + process->argv_length - scratch);
    arena_unmap(scratch, SCRATCH);
}

void about_put(void)
{
    put_process();
    about_put_options();
}

const char *about_name(char *buffer, size_t size)
{
    ssize_t length = sys_readlink("/proc/self/exe", buffer, size - 1);
    buffer[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(buffer, '/');
    return slash ? slash + 1 : buffer;
}
