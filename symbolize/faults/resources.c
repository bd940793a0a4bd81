/* resources.c - describes resources other than memory that a process left open; described in
 * faults.h.
 */
#include "symbolize/faults/faults.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/sites/signature.h"
#include "common/sites/sites.h"

static const char *const sort_words[] = {NULL,
#define X(name, words) words,
                                         LEAK_SORT_TABLE(X)
#undef X
};

struct resource_draft {
    struct resource resource;
    /* of the resources of this record, the one that was opened first */
    const struct store_resource *first;
    /* number of calls that opened the resources of this record */
    uint64_t calls;
};

struct resource_builder {
    struct arena *mem;
    const struct store *store;
    struct signatures signatures;
    struct resource_draft *drafts;
    size_t count, capacity;
    /* hash of kind and stack's node (by_node), hash of kind and place (by_place) -> index in
     * `drafts` + 1 */
    struct hashmap by_node, by_place;
    /* address of a lost stream -> index of its row in the leak check's orphans + 1 */
    struct hashmap orphans;
};

/* ---- Names of resources ---------------------------------------------------------------------- */

static const char *address_words(struct arena *mem, const struct store_resource *from)
{
    char text[INET6_ADDRSTRLEN];
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
        struct sockaddr_un local;
        char bytes[LEAK_RESOURCE_NAME + 1];
    } address;
    size_t begin = offsetof(struct sockaddr_un, sun_path);

    memset(&address, 0, sizeof(address));
    memcpy(&address, from->name, from->name_length);
    if (address.any.sa_family == AF_INET && from->name_length >= sizeof(address.four))
        return arena_format(mem, "%s:%u",
                            inet_ntop(AF_INET, &address.four.sin_addr, text, sizeof(text)),
                            ntohs(address.four.sin_port));
    if (address.any.sa_family == AF_INET6 && from->name_length >= sizeof(address.six))
        return arena_format(mem, "[%s]:%u",
                            inet_ntop(AF_INET6, &address.six.sin6_addr, text, sizeof(text)),
                            ntohs(address.six.sin6_port));
    if (address.any.sa_family == AF_UNIX && from->name_length > begin && address.bytes[begin])
        return arena_copy(mem, address.bytes + begin,
                          strnlen(address.bytes + begin, from->name_length - begin));
    if (address.any.sa_family == AF_UNIX && from->name_length > begin + 1)
        /* an abstract socket has a NUL as its first byte */
        return arena_format(mem, "@%s", address.bytes + begin + 1);
    return NULL;
}

static const char *resource_name(struct arena *mem, const struct store_resource *from)
{
    const char *name = from->name_length ? from->name : NULL;
    const char *sort = sort_words[from->sort];

    if (from->name_form != LEAK_NAME_TEXT) {
        name = address_words(mem, from);
        if (name)
            name = arena_format(mem, "socket %s %s",
                                from->name_form == LEAK_NAME_PEER ? "to" : "at", name);
        sort = "socket";
    } else if (name && from->flags & LEAK_RESOURCE_CUT) {
        name = arena_format(mem, "...%s", name);
    }
    if (!name)
        return sort;
    if (from->sort == LEAK_SORT_DUP)
        return arena_format(mem, "dup of %s", name);
    if (from->sort == LEAK_SORT_MEMFD || from->sort == LEAK_SORT_POPEN)
        return arena_format(mem, "%s: %s", sort, name);
    /* copied, because the store is freed before the report is written */
    return arena_copy(mem, name, strlen(name));
}

/* Returns the name of a closed descriptor, and says so if the process inherited it. */
static const char *closed_name(struct arena *mem, const struct store_resource *from)
{
    static const char *const standard[] = {"standard input", "standard output", "standard error"};
    const char *name = resource_name(mem, from);

    if (!(from->flags & LEAK_RESOURCE_INHERITED))
        return name;
    if (from->id < sizeof(standard) / sizeof(*standard))
        return standard[from->id];
    return arena_format(mem, "inherited: %s", name ? name : "unknown");
}

/* Returns the name of a thread, like "T3 (worker)". */
static const char *thread_name(struct arena *mem, const struct store *store, uint64_t serial)
{
    const struct store_thread *thread =
        serial <= UINT32_MAX ? store_find_thread(store, (uint32_t)serial) : NULL;

    if (thread && *thread->name)
        return arena_format(mem, "T%u (%s)", thread->serial, thread->name);
    return arena_format(mem, "T%llu", (unsigned long long)serial);
}

static void add_name(struct resource *resource, const char *name)
{
    if (!name)
        return;
    for (size_t i = 0; i < resource->name_count; i++)
        if (strcmp(resource->names[i], name) == 0)
            return;
    if (resource->name_count < RESOURCE_NAMES)
        resource->names[resource->name_count++] = name;
    else
        resource->more_names = true;
}

/* ---- Which resources are reported ------------------------------------------------------------ */

static bool is_stream(const struct store_resource *from)
{
    return from->type == LEAK_RESOURCE_FILE || from->type == LEAK_RESOURCE_DIR;
}

static bool is_standard(const struct store_resource *from)
{
    return from->fd >= 0 && from->fd <= 2 && (is_stream(from) || from->type == LEAK_RESOURCE_FD);
}

/* Says whether the resource is a thread that ran until the process ended: that is no leak. A thread
 * without a record had not begun yet. */
static bool still_runs(const struct store *store, const struct store_resource *from)
{
    const struct store_thread *thread;

    if (from->type != LEAK_RESOURCE_THREAD || from->bytes > UINT32_MAX)
        return false;
    thread = store_find_thread(store, (uint32_t)from->bytes);
    return !thread || !thread->ended;
}

static bool is_reported(const struct resource_builder *filling, const struct store_resource *from)
{
    if (from->released)
        return false;
    if (from->bad_close)
        return !(from->flags & LEAK_RESOURCE_SWEEP);
    if (from->flags & (LEAK_RESOURCE_INHERITED | LEAK_RESOURCE_PENDING) || is_standard(from))
        return false;
    return !still_runs(filling->store, from);
}

static const struct store_resource_use *reported_use(const struct store_resource *from)
{
    return from->bad_close ? &from->again : &from->opened;
}

static const char *resource_type(const struct store_resource *from)
{
    if (!from->bad_close)
        return resource_word[from->type];
    return from->flags & LEAK_RESOURCE_NEVER ? "bad-close" : "double-close";
}

/* ---- Records -------------------------------------------------------------------------------- */

/* Makes a record for a resource. Resources with equal signature, title line and type share one
 * record. */
static struct resource_draft *make_resource_draft(struct resource_builder *filling,
                                                  const struct store_resource *from)
{
    struct stack stack =
        stack_from_node(filling->mem, &filling->signatures, reported_use(from)->node);
    const char *type = resource_type(from);
    struct resource_draft draft = {.resource = {.type = type, .bad_close = from->bad_close},
                                   .first = from};
    struct record *record = &draft.resource.record;
    const struct frame *title;
    uint64_t key, *slot;

    *record = (struct record){
        .signature = signatures_of_node(&filling->signatures, reported_use(from)->node),
        .verdict = VERDICT_LOST, /* lets suppressions of leaks apply to resources */
        .first_ns = UINT64_MAX,
        .frames = stack.frames,
        .frame_count = stack.count,
        .user = frame_first_user(stack.frames, stack.count),
        .ending = stack.ending,
        .stacks = 1};
    title = record_title_frame(record);
    key = hash_mix(record->signature, hash_text(title ? title->line : 0, type, strlen(type)));
    slot = hashmap_put(&filling->by_place, key, NULL);
    if (!*slot) {
        filling->drafts = array_grow(filling->drafts, &filling->capacity, filling->count + 1,
                                     sizeof(*filling->drafts));
        filling->drafts[filling->count++] = draft;
        *slot = filling->count;
    }
    return &filling->drafts[*slot - 1];
}

static struct resource_draft *find_resource_draft(struct resource_builder *filling,
                                                  const struct store_resource *from)
{
    const char *type = resource_type(from);
    uint64_t key = hash_text(reported_use(from)->node, type, strlen(type)), *slot;
    struct resource_draft *draft;
    uint64_t known = hashmap_get(&filling->by_node, key);

    if (known)
        return &filling->drafts[known - 1];
    draft = make_resource_draft(filling, from);
    slot = hashmap_put(&filling->by_node, key, NULL);
    *slot = (uint64_t)(draft - filling->drafts) + 1;
    return draft;
}

static void add_thread(struct resource_builder *filling, struct record *record, uint32_t serial)
{
    for (size_t i = 0; i < record->thread_count; i++)
        if (record->threads[i].serial == serial)
            return;
    if (!record->threads)
        record->threads =
            arena_alloc_array(filling->mem, LEAK_SITE_THREADS, sizeof(*record->threads));
    if (record->thread_count == LEAK_SITE_THREADS)
        record->more_threads = true;
    else
        record->threads[record->thread_count++] =
            stack_thread(filling->mem, filling->store, serial);
}

/* A stream is a heap block, too: if its owner was freed, fills in the stack that freed the
 * owner. */
static void add_orphaned(struct resource_builder *filling, struct record *record,
                         const struct store_resource *from)
{
    bool is_block = from->type == LEAK_RESOURCE_FILE || from->type == LEAK_RESOURCE_DIR;
    uint64_t at = is_block ? hashmap_get(&filling->orphans, from->id) : 0;
    const struct store_orphan *orphan = at ? &filling->store->look->orphans[at - 1] : NULL;
    struct stack freed, holder = {0};

    if (!orphan)
        return;
    freed = stack_from_node(filling->mem, &filling->signatures, orphan->node);
    if (orphan->holder != STORE_NO_SITE)
        holder = stack_from_node(filling->mem, &filling->signatures,
                                 filling->store->sites[orphan->holder].node);
    if (!freed.count)
        return;
    record->orphaned = (struct orphaned){.blocks = 1,
                                         .frames = freed.frames,
                                         .frame_count = freed.count,
                                         .user = frame_first_user(freed.frames, freed.count)};
    record->orphaned.user = record->orphaned.user < freed.count ? record->orphaned.user : 0;
    if (holder.count)
        record->orphaned.holder =
            holder.frames[frame_first_user(holder.frames, holder.count) % holder.count];
}

static void add_resource(struct resource_builder *filling, const struct store_resource *from)
{
    struct resource_draft *draft = find_resource_draft(filling, from);
    struct resource *resource = &draft->resource;
    struct record *record = &resource->record;
    const struct store_resource_use *mark = reported_use(from);
    uint64_t when = store_time_of_tick(filling->store, mark->tick);

    record->blocks = add_saturating(record->blocks, from->count);
    draft->calls += from->flags & LEAK_RESOURCE_SECOND ? 0 : from->count;
    if (from->type == LEAK_RESOURCE_MMAP || (from->type == LEAK_RESOURCE_PAIR && from->bytes)) {
        resource->has_bytes = true;
        record->bytes = add_saturating(record->bytes, from->bytes);
    }
    if (when < record->first_ns) {
        record->first_ns = when;
        draft->first = from;
    }
    if (when > record->last_ns)
        record->last_ns = when;
    add_thread(filling, record, mark->thread);
    if (!from->bad_close && !record->orphaned.blocks)
        add_orphaned(filling, record, from);
    if (from->type == LEAK_RESOURCE_THREAD)
        add_name(resource, thread_name(filling->mem, filling->store, from->bytes));
    else if (from->bad_close && from->flags & LEAK_RESOURCE_NEVER)
        add_name(resource, arena_format(filling->mem, "descriptor %d", from->fd));
    else if (from->bad_close)
        add_name(resource, closed_name(filling->mem, from));
    else
        add_name(resource, resource_name(filling->mem, from));
}

/* ---- Where other resources are released ------------------------------------------------------ */

/* Finds in a stack the frame with the function of `function`; NULL = there is none. */
static const struct frame *find_function(const struct stack *stack, const struct frame *function)
{
    for (size_t i = 0; i < stack->count; i++)
        if (stack->frames[i]->role == FRAME_USER &&
            stack->frames[i]->name_hash == function->name_hash)
            return stack->frames[i];
    return NULL;
}

/* Finds the place that releases most of the resources of this type that `function`, or a function
 * called by it, opens. NULL: none is known. */
static const struct frame *released_by_most(struct resource_builder *filling, unsigned type,
                                            const struct frame *function)
{
    const struct frame *found = NULL;
    uint32_t most = 0;

    for (size_t i = 0; i < filling->store->resource_count; i++) {
        const struct store_resource *other = &filling->store->resources[i];
        struct stack opened, closed;
        size_t user;

        if (!other->released || other->type != type || other->count <= most)
            continue;
        opened = stack_from_node(filling->mem, &filling->signatures, other->opened.node);
        closed = stack_from_node(filling->mem, &filling->signatures, other->closed.node);
        user = frame_first_user(closed.frames, closed.count);
        if (user == closed.count || !find_function(&opened, function))
            continue;
        found = closed.frames[user];
        most = other->count;
    }
    return found;
}

/* Finds the place where other resources are released that a function of this stack opens. Tries a
 * few user frames, from the innermost outwards. main is tried only if it is the innermost one:
 * every stack contains main, so it says nothing, and neither do frames far out, like that of a main
 * loop. */
static void find_release(struct resource_builder *filling, struct resource_draft *draft)
{
    struct resource *resource = &draft->resource;
    const struct record *record = &resource->record;
    size_t asked = 0;

    for (size_t i = record->user; i < record->frame_count && !resource->released_at; i++) {
        const struct frame *frame = record->frames[i];

        if (frame->role != FRAME_USER ||
            (i > record->user && frame->function && strcmp(frame->function, "main") == 0))
            continue;
        if (asked++ > COMMON_CLOSE)
            return;
        resource->released_at = released_by_most(filling, draft->first->type, frame);
        resource->released_of = i > record->user ? frame : NULL;
    }
}

static void finish_resource(struct resource_builder *filling, struct resource_draft *draft)
{
    struct resource *resource = &draft->resource;
    const struct store_resource *from = draft->first;

    resource->once =
        !resource->bad_close && draft->calls <= 1 && from->type != LEAK_RESOURCE_THREAD;
    if (!resource->bad_close) {
        find_release(filling, draft);
        return;
    }
    resource->opened = stack_from_node(filling->mem, &filling->signatures, from->opened.node);
    resource->closed = stack_from_node(filling->mem, &filling->signatures, from->closed.node);
    resource->closed_by = stack_thread(filling->mem, filling->store, from->closed.thread);
    resource->taken = (from->flags & LEAK_RESOURCE_TAKEN) != 0;
}

/* ---- Filling in the resources of the process ------------------------------------------------- */

/* Ranks a resource for the order of the list: closes of a descriptor that other code had opened in
 * the meantime; resources left open many times; closes of a number that was not open; resources
 * opened once. */
static int resource_rank(const struct resource *resource)
{
    if (resource->bad_close)
        return resource->taken ? 0 : 2;
    return resource->once ? 3 : 1;
}

static int compare_drafts(const void *left, const void *right)
{
    const struct resource_draft *a = left, *b = right;
    const struct record *x = &a->resource.record, *y = &b->resource.record;

    int order = resource_rank(&a->resource) - resource_rank(&b->resource);

    if (order)
        return order;
    if (x->blocks != y->blocks)
        return x->blocks > y->blocks ? -1 : 1;
    if (a->first->type != b->first->type)
        return a->first->type < b->first->type ? -1 : 1;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return a->first->id < b->first->id ? -1 : a->first->id > b->first->id;
}

static void fill_inherited(struct resource_builder *filling, struct process *process)
{
    const struct store *store = filling->store;

    process->inherited =
        arena_alloc_array(filling->mem, store->resource_count, sizeof(*process->inherited));
    for (size_t i = 0; i < store->resource_count; i++) {
        const struct store_resource *from = &store->resources[i];

        if (from->bad_close || from->released || from->type != LEAK_RESOURCE_FD ||
            is_standard(from) || !(from->flags & LEAK_RESOURCE_INHERITED))
            continue;
        process->inherited[process->inherited_count++] =
            (struct inherited){from->id, resource_name(filling->mem, from)};
    }
}

static void fill_totals(struct resource_builder *filling, struct process *process)
{
    const struct store *store = filling->store;
    uint64_t open[LEAK_RESOURCE_MAX] = {0};

    for (size_t i = 0; i < store->resource_count; i++)
        if (!store->resources[i].bad_close && is_reported(filling, &store->resources[i]))
            open[store->resources[i].type] += store->resources[i].count;
    process->resources_missed = store->resources_missed;
    process->resource_totals =
        arena_alloc_array(filling->mem, LEAK_RESOURCE_MAX, sizeof(*process->resource_totals));
    for (int i = LEAK_RESOURCE_NONE + 1; i < LEAK_RESOURCE_MAX; i++)
        if (store->resources_opened[i] || open[i])
            process->resource_totals[process->resource_total_count++] =
                (struct resource_total){resource_word[i], store->resources_opened[i], open[i]};
}

static void want_orphans(struct resource_builder *filling)
{
    const struct store_leak_check *look = filling->store->look;

    for (size_t i = 0; look && i < look->orphan_count; i++)
        *hashmap_put(&filling->orphans, look->orphans[i].address, NULL) = i + 1;
    for (size_t i = 0; i < filling->store->resource_count; i++) {
        uint64_t at = hashmap_get(&filling->orphans, filling->store->resources[i].id);

        if (!at)
            continue;
        signatures_request(&filling->signatures, look->orphans[at - 1].node);
        if (look->orphans[at - 1].holder != STORE_NO_SITE)
            signatures_request(&filling->signatures,
                               filling->store->sites[look->orphans[at - 1].holder].node);
    }
}

static void make_drafts(struct resource_builder *filling, struct resolver *resolver)
{
    const struct store *store = filling->store;

    filling->signatures = signatures_begin(resolver, store);
    want_orphans(filling);
    for (size_t i = 0; i < store->resource_count; i++)
        if (store->resources[i].released || is_reported(filling, &store->resources[i])) {
            signatures_request(&filling->signatures, reported_use(&store->resources[i])->node);
            signatures_request(&filling->signatures, store->resources[i].opened.node);
            signatures_request(&filling->signatures, store->resources[i].closed.node);
        }
    signatures_resolve(&filling->signatures);
    for (size_t i = 0; i < store->resource_count; i++)
        if (is_reported(filling, &store->resources[i]))
            add_resource(filling, &store->resources[i]);
    for (size_t i = 0; i < filling->count; i++)
        finish_resource(filling, &filling->drafts[i]);
    if (filling->count)
        qsort(filling->drafts, filling->count, sizeof(*filling->drafts), compare_drafts);
}

void resources_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                    struct suppressions *suppressions, struct process *process)
{
    struct resource_builder filling = {.mem = mem, .store = store};

    if (process->how == END_EXEC)
        return;
    make_drafts(&filling, resolver);
    process->resources = arena_alloc_array(mem, filling.count, sizeof(*process->resources));
    for (size_t i = 0; i < filling.count; i++)
        if (!suppress_record(suppressions, &filling.drafts[i].resource.record, NULL))
            process->resources[process->resource_count++] = filling.drafts[i].resource;
    process->totals.resources = process->resource_count;
    fill_inherited(&filling, process);
    fill_totals(&filling, process);
    signatures_end(&filling.signatures);
    hashmap_end(&filling.by_node);
    hashmap_end(&filling.by_place);
    hashmap_end(&filling.orphans);
    free(filling.drafts);
}
