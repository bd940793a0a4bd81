/* hook_file.c - hooks of functions that open and close streams and directories.
 *
 * A stream or directory is recorded once, together with its descriptor, because libc opens and
 * closes the descriptor without calling a hook. Streams on descriptors 0 to 2 are recorded like
 * others, but leakreport does not report them.
 */
#include "preload/hooks/hooks.h"
#include "preload/process/resource_hooks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

/* ---- Opening streams ------------------------------------------------------------------------- */

/* Defines the hook of a function that opens a stream. fd: the descriptor of the stream; -1: it has
 * none. like: true if the program had opened the descriptor itself before (fdopen). */
#define STREAM(name, parameters, arguments, sort, title, fd, like)                                 \
    EXPORT FILE *name parameters;                                                                  \
    EXPORT FILE *name parameters                                                                   \
    {                                                                                              \
        real_functions_find();                                                                     \
        FILE *stream = real.name arguments;                                                        \
        if (resource_is_tracked(LEAK_RESOURCE_FILE) && stream) {                                   \
            struct frame caller = CALLER_FRAME();                                                  \
            resource_hook_stream_opened(&caller, LEAK_RESOURCE_FILE, sort, stream, fd, title,      \
                                        like);                                                     \
        }                                                                                          \
        return stream;                                                                             \
    }
#define FILE_STREAM(name, parameters, arguments, sort, title)                                      \
    STREAM(name, parameters, arguments, sort, title, stream->_fileno, false)
#define MEMORY_STREAM(name, parameters, arguments)                                                 \
    STREAM(name, parameters, arguments, LEAK_SORT_MEMORY_STREAM, NULL, -1, false)

FILE_STREAM(fopen, (const char *path, const char *mode), (path, mode), LEAK_SORT_STREAM, path)
FILE_STREAM(fopen64, (const char *path, const char *mode), (path, mode), LEAK_SORT_STREAM, path)
FILE_STREAM(tmpfile, (void), (), LEAK_SORT_STREAM, "temporary file")
FILE_STREAM(tmpfile64, (void), (), LEAK_SORT_STREAM, "temporary file")
FILE_STREAM(popen, (const char *command, const char *mode), (command, mode), LEAK_SORT_POPEN,
            command)
STREAM(fdopen, (int fd, const char *mode), (fd, mode), LEAK_SORT_STREAM, NULL, stream->_fileno,
       true)
MEMORY_STREAM(fmemopen, (void *buffer, size_t size, const char *mode), (buffer, size, mode))
MEMORY_STREAM(open_memstream, (char **buffer, size_t *size), (buffer, size))
MEMORY_STREAM(open_wmemstream, (wchar_t * *buffer, size_t *size), (buffer, size))

/* Defines the hook of freopen. libc gives the stream another file, or closes it if that file cannot
 * be opened. A stream that libleak has not recorded (stdin, or one opened before recording began)
 * stays unrecorded. Without a path only the mode of the stream changes. */
#define REOPEN(name)                                                                               \
    EXPORT FILE *name(const char *path, const char *mode, FILE *stream)                            \
    {                                                                                              \
        real_functions_find();                                                                     \
        if (!resource_is_tracked(LEAK_RESOURCE_FILE) || !path)                                     \
            return real.name(path, mode, stream);                                                  \
        struct frame caller = CALLER_FRAME();                                                      \
        struct resource_hook_closing leaving =                                                     \
            resource_hook_closing(&caller, LEAK_RESOURCE_FILE, stream);                            \
        FILE *again = real.name(path, mode, stream);                                               \
        resource_hook_stream_closed(&caller, &leaving);                                            \
        if (again && leaving.stream.number)                                                        \
            resource_hook_stream_opened(&caller, LEAK_RESOURCE_FILE, LEAK_SORT_STREAM, again,      \
                                        again->_fileno, path, false);                              \
        return again;                                                                              \
    }

REOPEN(freopen)
REOPEN(freopen64)

/* ---- Opening directories --------------------------------------------------------------------- */

#define DIRECTORY(name, parameters, arguments, fd, title, like)                                    \
    EXPORT DIR *name parameters                                                                    \
    {                                                                                              \
        real_functions_find();                                                                     \
        DIR *folder = real.name arguments;                                                         \
        if (resource_is_tracked(LEAK_RESOURCE_DIR) && folder) {                                    \
            struct frame caller = CALLER_FRAME();                                                  \
            resource_hook_stream_opened(&caller, LEAK_RESOURCE_DIR, LEAK_SORT_DIRECTORY, folder,   \
                                        fd, title, like);                                          \
        }                                                                                          \
        return folder;                                                                             \
    }

DIRECTORY(opendir, (const char *path), (path), dirfd(folder), path, false)
DIRECTORY(fdopendir, (int fd), (fd), fd, NULL, true)

/* ---- Closing streams and directories --------------------------------------------------------- */

/* Defines the hook of a function that closes a stream or directory. A call that fails has also
 * closed it. */
#define CLOSE(name, type, resource)                                                                \
    EXPORT int name(type *object)                                                                  \
    {                                                                                              \
        real_functions_find();                                                                     \
        if (!resource_is_tracked(resource))                                                        \
            return real.name(object);                                                              \
        struct frame caller = CALLER_FRAME();                                                      \
        struct resource_hook_closing leaving = resource_hook_closing(&caller, resource, object);   \
        int result = real.name(object);                                                            \
        resource_hook_stream_closed(&caller, &leaving);                                            \
        return result;                                                                             \
    }

CLOSE(fclose, FILE, LEAK_RESOURCE_FILE)
CLOSE(pclose, FILE, LEAK_RESOURCE_FILE)
CLOSE(closedir, DIR, LEAK_RESOURCE_DIR)
