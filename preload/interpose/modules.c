#include "preload/interpose/modules.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <time.h>

/* Largest number of modules that are loaded at one time; more are not recorded. The number of
 * records in the file is not limited. */
#define MODULES_MAX 16384
#define RETIRED_MAX 256

/* The struct dl_find_object of glibc 2.35, declared here because older headers lack it. */
struct found_object {
    unsigned long long flags;
    void *start, *end;
    struct link_map *map;
    void *eh_frame;
    unsigned long long reserved[7];
};

struct module {
    uintptr_t start, end;
    const void *eh_frame_hdr;
    const struct link_map *map;
    struct leak_module *record; /* the record in the recording file; NULL: there was no room */
    uintptr_t build_id;         /* address in memory of the bytes of the build-id */
    /* In an unloaded module: serial number of the last unload of another module at some of its
     * addresses that was noticed before its own unload; 0: none. */
    uint32_t retired_before;
    bool permanent; /* loaded together with the program, so the loader never unloads it */
    bool unloaded;
};

struct retired {
    uintptr_t start, end;
    uint32_t serial;
};

struct modules_state modules_state;

static struct lock lock;
/* The table of modules, guarded by "lock". Code that must not wait for the lock uses the recording
 * file or _dl_find_object. */
static struct module *table;
static uint32_t count;
/* Serial number of the last event that libleak has noticed: a module found for the first time, or
 * unloaded. */
static uint32_t serial;
/* Address ranges of unloaded objects, each with the serial number of the last unload in it. They
 * are read without a lock: ranges are only appended, serial numbers only grow, and
 * modules_state.retired_count is written last. */
static struct retired retired[RETIRED_MAX];
static uintptr_t own_start, own_end;
/* The last object that was loaded with the program; the loader appends objects that are loaded
 * later. */
static const struct link_map *last_at_start;
static int (*find_object)(void *, struct found_object *);
static void (*forget_range)(uintptr_t start, uintptr_t end);

/* ---- Finding loaded objects ------------------------------------------------------------------ */

struct search {
    uintptr_t pc;
    struct found_object *out;
};

static int match_object(struct dl_phdr_info *info, size_t size UNUSED, void *data)
{
    struct search *search = data;
    uintptr_t start = UINTPTR_MAX, end = 0;
    void *eh_frame = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_EH_FRAME)
            eh_frame = (void *)from;
        if (segment->p_type != PT_LOAD)
            continue;
        start = from < start ? from : start;
        end = from + segment->p_memsz > end ? from + segment->p_memsz : end;
    }
    if (search->pc < start || search->pc >= end)
        return 0;
    search->out->start = (void *)(start & ~(uintptr_t)(LEAK_PAGE - 1));
    search->out->end = (void *)end;
    search->out->eh_frame = eh_frame;
    for (struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (map->l_addr == info->dlpi_addr)
            search->out->map = map;
    return search->out->map != NULL;
}

/* Finds the object at an address in glibc before 2.35, which has no lock-free function for it. It
 * takes the loader's lock, but is called only for new addresses. */
static int find_by_walk(void *pc, struct found_object *out)
{
    struct search search = {(uintptr_t)pc, out};
    return dl_iterate_phdr(match_object, &search) ? 0 : -1;
}

static bool find_object_at(uintptr_t pc, struct found_object *out)
{
    memset(out, 0, sizeof *out);
    return find_object((void *)pc, out) == 0;
}

void modules_start(void (*forget)(uintptr_t start, uintptr_t end))
{
    struct found_object own;
    forget_range = forget;
    find_object = (int (*)(void *, struct found_object *))dlsym(RTLD_DEFAULT, "_dl_find_object");
    if (!find_object)
        find_object = find_by_walk;
    /* Memory pages are provided by the kernel only when they are first used, so a large table costs
     * little. */
    table = arena_map(MODULES_MAX * sizeof *table);
    for (struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        last_at_start = map;
    if (find_object_at((uintptr_t)modules_start, &own)) {
        own_start = (uintptr_t)own.start;
        own_end = (uintptr_t)own.end;
    }
}

bool modules_is_own(uintptr_t pc)
{
    return pc - own_start < own_end - own_start;
}

bool modules_has_object(uintptr_t address)
{
    struct found_object found;
    return find_object_at(address, &found);
}

bool modules_same_object(uintptr_t address, uintptr_t other)
{
    struct found_object found;
    return find_object_at(address, &found) &&
           other - (uintptr_t)found.start < (uintptr_t)found.end - (uintptr_t)found.start;
}

bool modules_get_headers(uintptr_t address, struct dl_phdr_info *out)
{
    struct found_object found;
    const ElfW(Ehdr) * header;
    if (!find_object || !find_object_at(address, &found))
        return false;
    header = found.start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    *out = (struct dl_phdr_info){
        .dlpi_addr = found.map->l_addr,
        .dlpi_name = found.map->l_name,
        .dlpi_phdr = (const void *)((const char *)header + header->e_phoff),
        .dlpi_phnum = header->e_phnum,
    };
    return true;
}

/* ---- Address ranges of unloaded modules (retired ranges) ------------------------------------- */

uint32_t modules_find_retired(uintptr_t pc)
{
    uint32_t newest = 0, used = load_acquire(&modules_state.retired_count);
    for (uint32_t i = 0; i < used; i++)
        if (pc - retired[i].start < retired[i].end - retired[i].start) {
            uint32_t at = load_relaxed(&retired[i].serial);
            newest = at > newest ? at : newest;
        }
    return newest;
}

static uint32_t newest_retired_in(uintptr_t start, uintptr_t end)
{
    uint32_t newest = 0;
    for (uint32_t i = 0; i < modules_state.retired_count; i++)
        if (retired[i].start < end && start < retired[i].end && retired[i].serial > newest)
            newest = retired[i].serial;
    return newest;
}

/* Retires a range of addresses: new call stacks with addresses in it belong to modules loaded after
 * the unload with serial number "newest". */
static void retire_until(uintptr_t start, uintptr_t end, uint32_t newest)
{
    uint32_t used = modules_state.retired_count;
    for (uint32_t i = 0; i < used; i++)
        if (retired[i].start == start && retired[i].end == end) {
            store_relaxed(&retired[i].serial, newest);
            return;
        }
    if (used == RETIRED_MAX) {
        /* There are too many different ranges: from now on the last element of "retired" covers all
         * addresses. Then stacks in modules that are still loaded look as if they came after a
         * later unload; readers of the recording then use the last module at these addresses. */
        store_relaxed(&retired[used - 1].start, 0);
        store_relaxed(&retired[used - 1].end, UINTPTR_MAX);
        store_relaxed(&retired[used - 1].serial, newest);
        return;
    }
    retired[used] = (struct retired){start, end, newest};
    /* Release, so that modules_find_retired sees the new range before it sees the count. */
    store_release(&modules_state.retired_count, used + 1);
}

/* ---- Records of modules in the recording file ------------------------------------------------ */

struct build_id {
    uintptr_t address; /* address of the bytes of the build-id */
    uint32_t length;   /* number of these bytes; 0: there is no build-id */
};

uint32_t modules_parse_build_id(const char *notes, size_t length, uint8_t *out, size_t *offset)
{
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= length;) {
        const ElfW(Nhdr) *note = (const void *)(notes + at);
        size_t name = at + sizeof *note, content = name + round_up(note->n_namesz, 4);
        size_t next = content + round_up(note->n_descsz, 4);
        if (next > length)
            break;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            memcmp(notes + name, "GNU", 4) == 0 && note->n_descsz <= LEAK_BUILD_ID_MAX) {
            memcpy(out, notes + content, note->n_descsz);
            *offset = content;
            return note->n_descsz;
        }
        at = next;
    }
    return 0;
}

/* Reads the build-id from an object's headers in memory; the first page of an object is its ELF
 * header. It reads only by sys_peek, because another thread may unmap the object meanwhile. */
static struct build_id find_build_id(uintptr_t start, uintptr_t bias, uint8_t *out)
{
    struct build_id none = {0};
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    _Alignas(8) char notes[512];
    if (!sys_peek(start, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return none;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (!sys_peek(start + header.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return none;
        if (segment.p_type != PT_NOTE)
            continue;
        size_t length = segment.p_memsz < sizeof notes ? segment.p_memsz : sizeof notes;
        if (!sys_peek(bias + segment.p_vaddr, notes, length))
            continue;
        size_t offset;
        uint32_t found = modules_parse_build_id(notes, length, out, &offset);
        if (found)
            return (struct build_id){bias + segment.p_vaddr + offset, found};
    }
    return none;
}

uint32_t modules_read_build_id(uintptr_t start, uintptr_t bias, uint8_t *out)
{
    return find_build_id(start, bias, out).length;
}

/* Memory for paths, guarded by lock. It is static because the stack may be a signal stack of
 * 2 KiB. */
static char path_bytes[2 * PATH_MAX], part[PATH_MAX];

static void append_path(const struct link_map *map, struct strbuf *path)
{
    if (!map->l_name[0]) { /* an empty name means the program itself */
        strbuf_add_bytes(path, part, sys_program_path(part, sizeof part));
        return;
    }
    if (map->l_name[0] != '/' && strchr(map->l_name, '/') && sys_getcwd(part, sizeof part) > 0) {
        strbuf_add(path, part);
        strbuf_add(path, "/");
    }
    strbuf_add(path, map->l_name);
}

/* The chunk of the recording file to which records of modules are appended: its memory and its size
 * in bytes. Guarded by "lock". */
static struct {
    char *payload;
    uint64_t used, size;
    /* The recording file that contains the chunk. A fork child has another recording file, so it
     * starts a new chunk there. */
    struct leak_header *home;
} records;

static void *record_room(uint32_t length)
{
    if (records.home != store_header || records.used + length > records.size) {
        records.size = 4 * LEAK_PAGE - sizeof(struct leak_chunk);
        if (records.size < length)
            records.size = length;
        records.payload = store_new_chunk(LEAK_CHUNK_MODULES, records.size, 0);
        records.used = 0;
        records.home = store_header;
    }
    return records.payload ? records.payload + records.used : NULL;
}

/* Makes a record, whose memory record_room has returned, visible to readers of the recording
 * file. */
static void record_publish(const struct leak_module *record)
{
    records.used += record->length;
    store_publish(records.payload, records.used);
}

static bool recording_stopped;
static int without_locks; /* number of threads that must not wait for a lock */

void modules_forbid_waiting(int change)
{
    add_relaxed(&without_locks, change);
}

bool modules_may_wait(void)
{
    return !load_relaxed(&without_locks);
}

void modules_stop_recording(void)
{
    lock.word = 0;
    recording_stopped = true;
}

static void record_module(struct module *module, const struct link_map *map)
{
    if (recording_stopped)
        return;
    struct strbuf path = STRBUF_ON(path_bytes);
    append_path(map, &path);
    uint32_t length = round_up(sizeof(struct leak_module) + path.length + 1, 8);
    struct leak_module *record = record_room(length);
    module->record = record;
    if (!record)
        return;
    record->length = length;
    record->start = module->start;
    record->end = module->end;
    record->bias = map->l_addr;
    record->loaded = serial;
    record->loaded_ns = sys_clock_ns(CLOCK_REALTIME_COARSE);
    struct build_id id = find_build_id(module->start, map->l_addr, record->build_id);
    module->build_id = id.address;
    record->build_id_length = id.length;
    record->path_length = path.length;
    memcpy(record->path, path_bytes, path.length);
    record_publish(record);
    add_relaxed(&store_header->modules, 1);
}

/* Takes the lock, if waiting for it cannot cause a deadlock. Under this lock find_by_walk takes the
 * loader's lock, and a thread that holds the loader's lock may call lock_modules. So with
 * find_by_walk no thread waits for the lock. False: another thread holds the lock. */
static bool lock_modules(struct locked *locked)
{
    if (find_object == find_by_walk)
        return lock_try(&lock, locked);
    *locked = lock_take(&lock);
    return true;
}

/* ---- Rechecking known modules ---------------------------------------------------------------- */

/* Says whether the object that is now at a module's address is still that module. Another object
 * may have the same addresses and the same struct link_map, but then its build-id differs. It makes
 * only one system call, because every capture of a stack rechecks while the loader is active. */
static bool is_same_object(const struct module *module, const struct found_object *now)
{
    uint8_t id[LEAK_BUILD_ID_MAX];
    if (module->start != (uintptr_t)now->start || module->end != (uintptr_t)now->end ||
        module->eh_frame_hdr != now->eh_frame || module->map != now->map)
        return false;
    const struct leak_module *record = module->record;
    if (!record || sys_peek_may_fault())
        return true;
    if (!module->build_id)
        return !find_build_id(module->start, record->bias, id).length;
    return sys_peek(module->build_id, id, record->build_id_length) &&
           memcmp(id, record->build_id, record->build_id_length) == 0;
}

static void retire(struct module *module)
{
    module->unloaded = true;
    module->retired_before = newest_retired_in(module->start, module->end);
    serial++;
    if (module->record) {
        module->record->unloaded_ns = sys_clock_ns(CLOCK_REALTIME_COARSE);
        store_release(&module->record->unloaded, serial);
    }
    forget_range(module->start, module->end);
    retire_until(module->start, module->end, serial);
}

void modules_recheck(struct guard *guard UNUSED)
{
    struct locked locked;
    if (!lock_modules(&locked))
        return;
    /* Read the number of changes first, so that the next recheck finds changes that come later. */
    uint32_t changes = load_acquire(&modules_state.changes);
    for (uint32_t i = 0; i < count && changes != modules_state.checked; i++) {
        struct found_object now;
        if (!table[i].unloaded && !table[i].permanent &&
            !(find_object_at(table[i].start, &now) && is_same_object(&table[i], &now)))
            retire(&table[i]);
    }
    store_release(&modules_state.checked, changes); /* pairs with the acquire in modules_refresh */
    lock_give(&locked);
}

/* Says whether an unloaded module is loaded again at the same addresses, with no other object there
 * in between. */
static bool has_come_back(const struct module *module, const struct found_object *now)
{
    uint8_t id[LEAK_BUILD_ID_MAX];
    const struct leak_module *record = module->record;
    return record && record->build_id_length && module->start == (uintptr_t)now->start &&
           module->end == (uintptr_t)now->end && record->bias == now->map->l_addr &&
           modules_state.retired_count < RETIRED_MAX &&
           newest_retired_in(module->start, module->end) == record->unloaded &&
           find_build_id(module->start, record->bias, id).length == record->build_id_length &&
           memcmp(id, record->build_id, record->build_id_length) == 0;
}

/* Takes an unloaded module into use again, so that a plugin that is loaded again and again is one
 * module, and its call stacks stay the same. */
static bool revive(struct module *module, const struct found_object *now)
{
    if (!module->unloaded || !has_come_back(module, now))
        return false;
    module->unloaded = false;
    module->map = now->map;
    module->eh_frame_hdr = now->eh_frame;
    retire_until(module->start, module->end, module->retired_before);
    module->record->unloaded_ns = 0;
    store_release(&module->record->unloaded, 0);
    return true;
}

/* Returns an unused row of the table, or the row of an unloaded module; NULL: all rows are those of
 * loaded modules. The caller holds the lock. */
static struct module *allocate_module(void)
{
    if (count < MODULES_MAX)
        return table ? &table[count++] : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (table[i].unloaded)
            return &table[i]; /* the recording file keeps the record of the unloaded module */
    return NULL;
}

static bool was_loaded_at_start(const struct link_map *searched)
{
    const struct link_map *map = _r_debug.r_map;
    while (map && map != searched && map != last_at_start)
        map = map->l_next;
    return map == searched;
}

static bool is_known(const struct found_object *found)
{
    for (uint32_t i = 0; i < count; i++)
        if (!table[i].unloaded && table[i].start == (uintptr_t)found->start)
            return true;
    for (uint32_t i = 0; i < count; i++)
        if (revive(&table[i], found))
            return true;
    return false;
}

bool modules_find(struct guard *guard UNUSED, uintptr_t pc, struct module_view *out)
{
    struct found_object found;
    struct locked locked;
    if (unlikely(load_relaxed(&without_locks) && find_object == find_by_walk) ||
        !find_object_at(pc, &found))
        return false;
    *out = (struct module_view){(uintptr_t)found.start, (uintptr_t)found.end, found.eh_frame,
                                found.map};
    if (unlikely(load_relaxed(&without_locks)) || !lock_modules(&locked))
        return true; /* another thread holds the lock: a later call records the module */
    struct module *module = is_known(&found) ? NULL : allocate_module();
    if (module) {
        *module = (struct module){.start = out->start,
                                  .end = out->end,
                                  .eh_frame_hdr = found.eh_frame,
                                  .map = found.map,
                                  .permanent = was_loaded_at_start(found.map)};
        serial++;
        record_module(module, found.map);
        if (modules_state.on_object)
            modules_state.on_object(found.map);
    }
    lock_give(&locked);
    return true;
}

bool modules_locate(uintptr_t pc, struct module_location *out, struct strbuf *path)
{
    struct locked locked;
    const struct leak_module *record = NULL;
    if (!lock_modules(&locked))
        return false;
    for (uint32_t i = 0; i < count && !record; i++)
        if (!table[i].unloaded && pc - table[i].start < table[i].end - table[i].start)
            record = table[i].record;
    if (record) {
        out->offset = pc - record->bias;
        memcpy(out->build_id, record->build_id, sizeof out->build_id);
        out->build_id_length = record->build_id_length;
        strbuf_add_bytes(path, record->path, record->path_length);
    }
    lock_give(&locked);
    return record != NULL;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(modules, &lock)

void modules_fork_child(void)
{
    lock.word = 0;
    records.home = NULL; /* the child's recording file may be mapped where its parent's was */
    for (uint32_t i = 0; i < count; i++) {
        const struct leak_module *old = table[i].record;
        if (!old)
            continue;
        struct leak_module *record = record_room(old->length);
        table[i].record = record;
        if (!record)
            continue;
        memcpy(record, old, old->length);
        record_publish(record);
    }
    store_header->modules = count;
}
