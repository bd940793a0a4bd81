/* source_path.c - joins directory and name of a source file, and removes "." and "..". */
#include "common/debuginfo/source_path.h"

#include <dwarf.h>
#include <string.h>
#include <sys/stat.h>

void source_paths_end(struct source_paths *paths)
{
    hashmap_end(&paths->made);
}

const char *source_directory(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

static bool is_parent(const char *part, size_t length)
{
    return length == 2 && part[0] == '.' && part[1] == '.';
}

/* The offset of the last component of the path path[0..length). */
static size_t last_part(const char *path, size_t length)
{
    while (length && path[length - 1] != '/')
        length--;
    return length;
}

void source_path_clean(char *path)
{
    size_t root = path[0] == '/', length = root;

    for (const char *at = path; *at;) {
        size_t size = strcspn(at, "/"), last = last_part(path, length);
        bool none = length == root;

        if (is_parent(at, size) && (none ? root : !is_parent(path + last, length - last))) {
            length = last > root ? last - 1 : root; /* "/.." is "/" */
        } else if (size && !(size == 1 && *at == '.')) {
            if (!none)
                path[length++] = '/';
            memmove(path + length, at, size);
            length += size;
        }
        at += size + (at[size] == '/');
    }
    path[length] = 0;
}

static bool has_parent_part(const char *path)
{
    for (const char *at = path; *at;) {
        size_t size = strcspn(at, "/");

        if (is_parent(at, size))
            return true;
        at += size + (at[size] == '/');
    }
    return false;
}

/* Says whether the cleaned path leads to another file than the path: "link/.." is not the
 * directory that contains the link. */
static bool leads_elsewhere(const char *path, const char *clean)
{
    struct stat a, b;

    return stat(path, &a) == 0 &&
           (stat(clean, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

static const char *make_path(struct arena *mem, const char *directory, const char *file)
{
    size_t length = directory ? strlen(directory) : 0;
    char *path, *clean;

    if (*file == '/' || !length)
        path = arena_copy(mem, file, strlen(file));
    else if (*directory != '/' && strncmp(file, directory, length) == 0 && file[length] == '/')
        /* libdw has already joined the directory and the name. */
        path = arena_copy(mem, file, strlen(file));
    else
        path = arena_format(mem, "%s/%s", directory, file);
    clean = arena_copy(mem, path, strlen(path));
    source_path_clean(clean);
    return !*clean || (has_parent_part(path) && leads_elsewhere(path, clean)) ? path : clean;
}

const char *source_path_find(struct source_paths *paths, const char *directory, const char *file)
{
    const char *folder = directory ? directory : "";
    bool fresh;
    uint64_t *slot;

    if (!file)
        return NULL;
    slot = hashmap_put(&paths->made,
                       hash_text(hash_text(1, folder, strlen(folder)), file, strlen(file)), &fresh);
    if (fresh)
        *slot = (uintptr_t)make_path(paths->mem, directory, file);
    return (const char *)(uintptr_t)*slot;
}
