/* process_info.c - writes program, arguments, directory and options to the recording file
 * (store.h). */
#include "preload/store/store.h"
#include "preload/memory/arena.h"
#include "preload/options/options.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/store/fork_chain.h"

#include <limits.h>

/* The size of a buffer for strings and paths; from the arena, because the thread may have a small
 * stack. */
#define SCRATCH 65536

void process_info_write_options(void)
{
    char *scratch = arena_map(SCRATCH);
    if (!scratch)
        return;
    struct strbuf text = strbuf_on(scratch, SCRATCH);
    options_describe(&options_current, &text);
    store_write_chunk(LEAK_CHUNK_OPTIONS, scratch, text.length);
    arena_unmap(scratch, SCRATCH);
}

static void write_process(void)
{
    char *scratch = arena_map(SCRATCH);
    if (!scratch)
        return;
    struct leak_process *process = (struct leak_process *)scratch;
    struct strbuf text = strbuf_on(scratch + sizeof *process, SCRATCH - sizeof *process);
    process->exe_length = text.length = sys_program_path(text.bytes, PATH_MAX);
    strbuf_add_bytes(&text, "", 1);
    ssize_t length = sys_getcwd(text.bytes + text.length, PATH_MAX);
    process->cwd_length = length > 0 ? length - 1 : 0;
    text.length += process->cwd_length;
    strbuf_add_bytes(&text, "", 1);
    char *arguments = text.bytes + text.length;
    length = sys_read_file("/proc/self/cmdline", arguments, SCRATCH / 2);
    process->argv_length = length > 0 ? length : 0;
    for (ssize_t i = 0; i < length; i++)
        process->argc += !arguments[i];
    store_write_chunk(LEAK_CHUNK_PROCESS, scratch, arguments + process->argv_length - scratch);
    arena_unmap(scratch, SCRATCH);
}

void process_info_write(void)
{
    write_process();
    fork_chain_write();
    process_info_write_options();
}

const char *process_info_program_name(char *buffer, size_t size)
{
    sys_program_path(buffer, size);
    return path_file_name(buffer);
}
