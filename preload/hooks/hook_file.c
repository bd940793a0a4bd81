/* hook_file.c - streams and directories: told once, with the descriptor that is theirs.
 *
 * libc opens and closes that one without passing by us, so it is noted here. Streams on
 * descriptors 0 to 2 are noted like others; whoever reads the account leaves them out.
 */
#include "preload/process/resource_hooks.h"
#include "preload/interpose/real_functions.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

/* ---- Streams -------------------------------------------------------------------------------- */

/* With the descriptor it has; like: one that the program had before. */
#define STREAM(call, sort, name, has_fd, like)                                                     \
    ({                                                                                             \
        real_find();                                                                               \
        FILE *stream_ = call;                                                                      \
        if (resource_is_tracked(LEAK_RESOURCE_FILE) && stream_) {                                        \
            struct frame caller_ = CALLER_FRAME();                                                 \
            resource_hook_stream_opened(&caller_, LEAK_RESOURCE_FILE, sort, stream_,                               \
                        has_fd ? stream_->_fileno : -1, name, like);                               \
        }                                                                                          \
        stream_;                                                                                   \
    })

EXPORT FILE *fopen(const char *path, const char *mode)
{
    return STREAM(real.fopen(path, mode), LEAK_SORT_STREAM, path, true, false);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
    return STREAM(real.fopen64(path, mode), LEAK_SORT_STREAM, path, true, false);
}

EXPORT FILE *fdopen(int fd, const char *mode)
{
    return STREAM(real.fdopen(fd, mode), LEAK_SORT_STREAM, NULL, true, true);
}

EXPORT FILE *tmpfile(void)
{
    return STREAM(real.tmpfile(), LEAK_SORT_STREAM, "temporary file", true, false);
}

EXPORT FILE *tmpfile64(void)
{
    return STREAM(real.tmpfile64(), LEAK_SORT_STREAM, "temporary file", true, false);
}

EXPORT FILE *popen(const char *command, const char *mode)
{
    return STREAM(real.popen(command, mode), LEAK_SORT_POPEN, command, true, false);
}

EXPORT FILE *fmemopen(void *buffer, size_t size, const char *mode)
{
    return STREAM(real.fmemopen(buffer, size, mode), LEAK_SORT_MEMORY_STREAM, NULL, false, false);
}

EXPORT FILE *open_memstream(char **buffer, size_t *size)
{
    return STREAM(real.open_memstream(buffer, size), LEAK_SORT_MEMORY_STREAM, NULL, false, false);
}

EXPORT FILE *open_wmemstream(wchar_t **buffer, size_t *size);
EXPORT FILE *open_wmemstream(wchar_t **buffer, size_t *size)
{
    return STREAM(real.open_wmemstream(buffer, size), LEAK_SORT_MEMORY_STREAM, NULL, false, false);
}

/* The same stream with another file, or closed when that cannot be opened. One that was not known
 * (stdin, and what is older than us) stays so; without a path only the mode changes. */
#define AGAIN(call)                                                                                \
    ({                                                                                             \
        real_find();                                                                               \
        FILE *again_;                                                                              \
        if (resource_is_tracked(LEAK_RESOURCE_FILE) && path) {                                           \
            struct frame caller_ = CALLER_FRAME();                                                 \
            struct resource_hook_closing leaving_ = resource_hook_closing(&caller_, LEAK_RESOURCE_FILE, stream);     \
            again_ = call;                                                                         \
            resource_hook_stream_closed(&caller_, &leaving_);                                                        \
            if (again_ && leaving_.stream.number)                                                  \
                resource_hook_stream_opened(&caller_, LEAK_RESOURCE_FILE, LEAK_SORT_STREAM, again_,                \
                            again_->_fileno, path, false);                                         \
        } else {                                                                                   \
            again_ = call;                                                                         \
        }                                                                                          \
        again_;                                                                                    \
    })

EXPORT FILE *freopen(const char *path, const char *mode, FILE *stream)
{
    return AGAIN(real.freopen(path, mode, stream));
}

EXPORT FILE *freopen64(const char *path, const char *mode, FILE *stream)
{
    return AGAIN(real.freopen64(path, mode, stream));
}

/* ---- Directories ----------------------------------------------------------------------------- */

EXPORT DIR *opendir(const char *path)
{
    real_find();
    DIR *folder = real.opendir(path);
    if (resource_is_tracked(LEAK_RESOURCE_DIR) && folder) {
        struct frame caller = CALLER_FRAME();
        resource_hook_stream_opened(&caller, LEAK_RESOURCE_DIR, LEAK_SORT_DIRECTORY, folder, dirfd(folder), path,
                    false);
    }
    return folder;
}

EXPORT DIR *fdopendir(int fd)
{
    real_find();
    DIR *folder = real.fdopendir(fd);
    if (resource_is_tracked(LEAK_RESOURCE_DIR) && folder) {
        struct frame caller = CALLER_FRAME();
        resource_hook_stream_opened(&caller, LEAK_RESOURCE_DIR, LEAK_SORT_DIRECTORY, folder, fd, NULL, true);
    }
    return folder;
}

/* ---- Closing -------------------------------------------------------------------------------- */

/* Also one that fails has closed. */
#define CLOSED(which, object, call)                                                                \
    ({                                                                                             \
        real_find();                                                                               \
        int result_;                                                                               \
        if (resource_is_tracked(which)) {                                                                \
            struct frame caller_ = CALLER_FRAME();                                                 \
            struct resource_hook_closing leaving_ = resource_hook_closing(&caller_, which, object);                  \
            result_ = call;                                                                        \
            resource_hook_stream_closed(&caller_, &leaving_);                                                        \
        } else {                                                                                   \
            result_ = call;                                                                        \
        }                                                                                          \
        result_;                                                                                   \
    })

EXPORT int fclose(FILE *stream)
{
    return CLOSED(LEAK_RESOURCE_FILE, stream, real.fclose(stream));
}

EXPORT int pclose(FILE *stream)
{
    return CLOSED(LEAK_RESOURCE_FILE, stream, real.pclose(stream));
}

EXPORT int closedir(DIR *folder)
{
    return CLOSED(LEAK_RESOURCE_DIR, folder, real.closedir(folder));
}
