#include "preload/unwind/frame_record.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/base/sys.h"
#include "arch.h"

#define ANSWERS 1024 /* number of cached answers; a power of two */

/* Holds an answer at the hash of an address: the address if it can be a return address, its
 * complement if not; 0: no answer. */
static uintptr_t answers[ANSWERS];

static bool examine(struct guard *guard, uintptr_t pc)
{
    uint8_t code[ARCH_CALL_MOST];
    uintptr_t target;
    if (!sys_peek(pc - sizeof code, code, sizeof code) ||
        !arch_find_call(code + sizeof code, pc, &target))
        return false;
    /* Rows are looked up by return address, so 1 is added to the address of the function. */
    return !target || cfi_cache_find(guard, target + 1).rule == CFI_NONE;
}

bool frame_record_returns_to(struct guard *guard, uintptr_t pc)
{
    uintptr_t *place = &answers[hash_u64(pc) % ANSWERS], known = load_relaxed(place);
    if (likely(known == pc || known == ~pc))
        return known == pc;
    bool yes = examine(guard, pc);
    store_relaxed(place, yes ? pc : ~pc);
    return yes;
}

void frame_record_forget(uintptr_t start, uintptr_t end)
{
    for (unsigned i = 0; i < ANSWERS; i++) {
        uintptr_t known = load_relaxed(&answers[i]);
        if (known - start - 1 < end - start || ~known - start - 1 < end - start)
            store_relaxed(&answers[i], 0);
    }
}
