/* allocator_names.c - names the function that allocated or released a block; described in
 * view.h. */
#include "symbolize/view/view.h"

#include "leak_store.h"

const char *allocator_name(uint32_t kind)
{
    static const char *const names[LEAK_KIND_MAX] = {
        [LEAK_KIND_MALLOC] = "malloc",
        [LEAK_KIND_NEW] = "operator new(unsigned long)",
        [LEAK_KIND_NEW_ARRAY] = "operator new[](unsigned long)",
        [LEAK_KIND_ALIGNED_NEW] = "operator new(unsigned long, std::align_val_t)",
        [LEAK_KIND_ALIGNED_NEW_ARRAY] = "operator new[](unsigned long, std::align_val_t)",
        [LEAK_KIND_MEMALIGN] = "memalign",
        [LEAK_KIND_CUSTOM] = "libleak_block_new",
        [LEAK_KIND_POOL] = "libleak_pool_alloc",
    };

    return kind < LEAK_KIND_MAX ? names[kind] : NULL;
}

const char *deallocator_name(uint32_t form)
{
    static const char *const names[LEAK_FORM_MAX] = {
        [LEAK_FORM_FREE] = "free",
        [LEAK_FORM_FREE_SIZED] = "free_sized",
        [LEAK_FORM_FREE_ALIGNED_SIZED] = "free_aligned_sized",
        [LEAK_FORM_REALLOC] = "realloc",
        [LEAK_FORM_DELETE] = "operator delete(void*)",
        [LEAK_FORM_DELETE_SIZED] = "operator delete(void*, unsigned long)",
        [LEAK_FORM_DELETE_ARRAY] = "operator delete[](void*)",
        [LEAK_FORM_DELETE_ARRAY_SIZED] = "operator delete[](void*, unsigned long)",
        [LEAK_FORM_ALIGNED_DELETE] = "operator delete(void*, std::align_val_t)",
        [LEAK_FORM_ALIGNED_DELETE_SIZED] =
            "operator delete(void*, unsigned long, std::align_val_t)",
        [LEAK_FORM_ALIGNED_DELETE_ARRAY] = "operator delete[](void*, std::align_val_t)",
        [LEAK_FORM_ALIGNED_DELETE_ARRAY_SIZED] =
            "operator delete[](void*, unsigned long, std::align_val_t)",
        [LEAK_FORM_BLOCK_GONE] = "libleak_block_gone",
        [LEAK_FORM_BLOCK_RESIZE] = "libleak_block_resize",
        [LEAK_FORM_POOL_FREE] = "libleak_pool_free",
        [LEAK_FORM_POOL_DESTROY] = "libleak_pool_destroy",
    };

    return form < LEAK_FORM_MAX ? names[form] : NULL;
}
