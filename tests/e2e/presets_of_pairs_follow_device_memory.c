// The option pair=@cuda: five buffers of device memory that are not given back are reported with their bytes and the
// line that asked for them, whichever way the program gets at the driver: by a runtime that is a library, by one that is
// linked into the program and asks the driver by dlsym or by cuGetProcAddress, or directly. Buffers given back, calls that
// fail, and the driver's calls below a runtime's call that is known are not. Without the option nothing is reported; a preset none of
// whose functions is called says so, and one that does not exist is an error.
// NOBUILD:
// BUILD: gcc -w -O1 -g -DDRIVER -shared -fPIC -o %d/libstandin.so %S/lib/device.c
// BUILD: gcc -w -O1 -g -DRUNTIME -shared -fPIC -o %d/librun.so %S/lib/device.c
// BUILD: gcc -w -O1 -g -fno-optimize-sibling-calls -o %d/shared %s -L%d -lrun -Wl,-rpath,%d
// BUILD: gcc -w -O1 -g -fno-optimize-sibling-calls -DRUNTIME -o %d/asks %s %S/lib/device.c
// BUILD: gcc -w -O1 -g -fno-optimize-sibling-calls -DRUNTIME -DBY_DLSYM -o %d/looks %s %S/lib/device.c
// BUILD: gcc -w -O1 -g -fno-optimize-sibling-calls -DcudaMalloc=cuMemAlloc_v2 -DcudaFree=cuMemFree_v2 -o %d/direct %s -L%d -lstandin -Wl,-rpath,%d
// RUN: export LIBLEAK_OPTIONS LD_LIBRARY_PATH=%d; for p in pair=@cuda ''; do LIBLEAK_OPTIONS=$p; for t in shared asks looks direct; do %leak %d/$t || exit; done; done
// RUN: export LD_LIBRARY_PATH=%d; LIBLEAK_OPTIONS=pair=@cuba; %leak ./shared; LIBLEAK_OPTIONS=pair=@sqlite; %leak ./shared
// EXPECT: living 6
// EXPECT: bad value in 'pair=@cuba'
// REFUSE: living ([0-57-9]|6.)
// JSON: len(procs) == 10 and all(q.end.value == 0 and not q.errors for q in procs)
// JSON: [opened("", q) for q in procs] == [{"pair": 6}] * 4 + [{}] * 6
// JSON: [any("no call of its functions was seen" in n for n in q.notes) for q in procs] == [False] * 8 + [True] * 2
// JSON: all(opened("forget", q) == {"pair": 5} and opened("replace", q) == {"pair": 1} for q in procs[:4])
// JSON: all(sum(r.bytes for r in resources("forget", q)) == 5 * 3000 for q in procs[:4])
// JSON: all(res("replace", q).bytes == 700 for q in procs[:4])
// JSON: [set(names("", q)) for q in procs[:4]] == [{"cudaMalloc"}] + [{"cuMemAlloc_v2"}] * 3

#include <dlfcn.h>
#include <stdio.h>

#define FAR __attribute__((noinline))
int cudaMalloc(size_t *, size_t), cudaFree(size_t), (*living)(void);
static size_t buffer;

FAR void forget(void) { cudaMalloc(&buffer, 3000); }
FAR void replace(void) { cudaMalloc(&buffer, 700); }

int main(void)
{
    for (int i = 0; i < 5; i++) {
        forget();
        cudaMalloc(&buffer, 4000);
        cudaMalloc(&buffer, (size_t)1 << 40); /* fails, and leaves what was there */
        cudaFree(buffer);
    }
    replace();
    living = (int (*)(void))dlsym(dlopen("libstandin.so", RTLD_NOW), "cuLiving");
    printf("living %d\n", living());
    return 0;
}
