/* A stand-in for a driver of a device (-DDRIVER) and for the runtime on it (-DRUNTIME), which finds the driver's functions
 * by its own lookup, or by dlsym (-DBY_DLSYM). Device memory is no memory: handles count upwards. */
#include <dlfcn.h>
#include <string.h>

#ifdef DRIVER
static size_t next = 0x7000000000;
static int living;

int cuMemAlloc_v2(size_t *out, size_t size)
{
    if (size > 1 << 30)
        return 2; /* out of memory: *out stays */
    *out = next += 4096;
    living++;
    return 0;
}

int cuMemFree_v2(size_t handle) { return handle ? living--, 0 : 1; }
int cuLiving(void) { return living; }

int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long flags, int *status)
{
    *out = strcmp(name, "cuMemAlloc") == 0 ? (void *)cuMemAlloc_v2 :
           strcmp(name, "cuMemFree") == 0  ? (void *)cuMemFree_v2 :
                                             NULL;
    return *out ? *status = 0 : 500;
}
#endif

#ifdef RUNTIME
static int (*allocate)(size_t *, size_t), (*release)(size_t);

static void find_driver(void)
{
    void *driver = dlopen("libstandin.so", RTLD_NOW | RTLD_LOCAL);
#ifdef BY_DLSYM
    allocate = (int (*)(size_t *, size_t))dlsym(driver, "cuMemAlloc_v2");
    release = (int (*)(size_t))dlsym(driver, "cuMemFree_v2");
#else
    int status;
    int (*lookup)(const char *, void **, int, unsigned long, int *) =
        (int (*)(const char *, void **, int, unsigned long, int *))dlsym(driver, "cuGetProcAddress_v2");
    lookup("cuMemAlloc", (void **)&allocate, 12000, 0, &status);
    lookup("cuMemFree", (void **)&release, 12000, 0, &status);
#endif
}

__attribute__((noinline)) int cudaMalloc(size_t *out, size_t size)
{
    if (!allocate)
        find_driver();
    int status = allocate(out, size);
    __asm__ volatile("");
    return status;
}

__attribute__((noinline)) int cudaFree(size_t handle)
{
    int status = release(handle);
    __asm__ volatile("");
    return status;
}
#endif
