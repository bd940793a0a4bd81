#include "preload/golang.h"
#include "preload/modules.h"
#include "preload/symbols.h"
#include "preload/sys.h"

#define NOTE_BUILD_ID 4 /* "Go": what the go command calls a build */

bool golang_is_noted(const char *notes, size_t length)
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

static bool has_note(const struct dl_phdr_info *object)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE &&
            golang_is_noted((const char *)(object->dlpi_addr + segment->p_vaddr),
                            segment->p_memsz))
            return true;
    }
    return false;
}

/* What C code comes into Go by. Whoever links Go code exports it, unless they take care not to: an
 * archive of Go's in a C program has the note alone, a build with -buildid= this alone. */
static bool has_entry(const struct dl_phdr_info *object)
{
    struct symbols symbols;
    return symbols_read(object, &symbols) && symbols_exported(&symbols, "crosscall2");
}

bool golang_is_around(uintptr_t address)
{
    struct dl_phdr_info object;
    return modules_headers(address, &object) && (has_note(&object) || has_entry(&object));
}
