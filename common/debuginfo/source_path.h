/* source_path.h - makes the whole path of a source file that debug information names.
 *
 * A line table has names relative to the directory in which the compiler ran (DW_AT_comp_dir),
 * such as "src/x.c" or "../src/x.c", and libdw returns most of them unchanged.
 */
#ifndef COMMON_DEBUGINFO_SOURCE_PATH_H
#define COMMON_DEBUGINFO_SOURCE_PATH_H

#include <elfutils/libdw.h>

#include "common/base/arena.h"
#include "common/base/hashmap.h"

/* The paths made so far, one for each directory and name. All fields but mem start as 0. */
struct source_paths {
    struct arena *mem;
    struct hashmap made; /* hash of directory and name -> path */
};

void source_paths_end(struct source_paths *paths);

/* The directory in which a unit was compiled (of a split unit: of its skeleton), NULL = unknown.
 * Belongs to libdw. */
const char *source_directory(Dwarf_Die *unit);

/* The path of a source file, without "." and ".." if the shorter path leads to the same file. It is
 * relative only if the directory is unknown or relative itself, as -fdebug-prefix-map may make it.
 * Returns NULL if `file` is NULL. */
const char *source_path_find(struct source_paths *paths, const char *directory, const char *file);

/* Removes "", "." and "x/.." from a path, in place, without access to any file. */
void source_path_clean(char *path);

#endif
