/* golang.c - recognises the Go runtime in an object by a note or by an exported symbol. */
#include "preload/interpose/golang.h"
#include "preload/base/lock.h"
#include "preload/interpose/modules.h"
#include "preload/elf/symbols.h"
#include "preload/base/sys.h"

/* Type of the note with the name "Go": the build id that the go command writes. */
#define NOTE_BUILD_ID 4

/* The objects with the Go runtime; a fifth one in a process is ignored. The array is filled from
 * the front, and entries never change. */
#define GOLANG_OBJECTS 4
static struct golang_object {
    uintptr_t start, size; /* of the object; size is written last, with a release store */
} golang_objects[GOLANG_OBJECTS];
static struct lock lock; /* writers of golang_objects hold it */

bool golang_contains(uintptr_t pc)
{
    for (unsigned i = 0; i < GOLANG_OBJECTS; i++) {
        uintptr_t size = load_acquire(&golang_objects[i].size);
        if (!size)
            return false;
        if (pc - golang_objects[i].start < size)
            return true;
    }
    return false;
}

bool golang_has_note(const char *notes, size_t length)
{
    const ElfW(Nhdr) * note;
    for (size_t at = 0; at + sizeof *note <= length;) {
        note = (const void *)(notes + at);
        size_t name = at + sizeof *note;
        at = name + round_up((size_t)note->n_namesz, 4) + round_up((size_t)note->n_descsz, 4);
        if (at > length)
            return false;
        if (note->n_type == NOTE_BUILD_ID && note->n_namesz == 4 &&
            memcmp(notes + name, "Go\0", 4) == 0)
            return true;
    }
    return false;
}

static bool object_has_go_note(const struct dl_phdr_info *object)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE &&
            golang_has_note((const char *)(object->dlpi_addr + segment->p_vaddr), segment->p_memsz))
            return true;
    }
    return false;
}

/* Says whether an object exports crosscall2, the entry from C into Go. A C program linked with a Go
 * archive may have only the note; a Go program built with -buildid= may have only this export. */
static bool object_exports_go_entry(const struct dl_phdr_info *object)
{
    struct symbols symbols;
    return symbols_read(object, &symbols) && symbols_find_export(&symbols, "crosscall2");
}

static void add_golang_object(const struct dl_phdr_info *object)
{
    uintptr_t start = UINTPTR_MAX, end = 0;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        start = from < start ? from : start;
        end = from + segment->p_memsz > end ? from + segment->p_memsz : end;
    }
    struct locked locked = lock_take(&lock);
    unsigned i = 0;
    while (i < GOLANG_OBJECTS && golang_objects[i].size)
        i++;
    if (i < GOLANG_OBJECTS && end && !golang_contains(start)) {
        golang_objects[i].start = start;
        /* Release, so that golang_contains, which reads the size first, sees the start that was
         * written before. */
        store_release(&golang_objects[i].size, end - start);
    }
    lock_give(&locked);
}

bool golang_detect(uintptr_t address)
{
    struct dl_phdr_info object;
    if (golang_contains(address))
        return true;
    if (!modules_get_headers(address, &object) ||
        !(object_has_go_note(&object) || object_exports_go_entry(&object)))
        return false;
    add_golang_object(&object);
    return true;
}
