// Hard case 27: code made at run time has no unwind rules: the trace stops there, says so, no crash.
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: jit ran
// JSON: of("called_from_jit").blocks == 100 and at("called_from_jit").line == line("jit")
// JSON: p.coverage.truncated_stacks == 100 or p.coverage.truncated_stacks == 1 or "main" in [f.function for f in hits("called_from_jit")[0].frames]
// JSON: of("ordinary").blocks == 100 and all("main" in [f.function for f in r.frames] for r in hits("ordinary"))
// NEEDS: gcc

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FAR __attribute__((noinline))
void *volatile sink;

FAR void called_from_jit(void)
{
    sink = malloc(24); // jit
    sink = NULL;
}

FAR void ordinary(void)
{
    sink = malloc(25);
    sink = NULL;
}

int main(void)
{
#ifdef __aarch64__
    /* stp x29, x30, [sp, -64]!; mov x29, x19 (no frame); ldr x16, f; blr x16; ldp x29, x30, [sp], 64; ret; f: */
    unsigned code[] = { 0xa9bc7bfd, 0xaa1303fd, 0x58000090, 0xd63f0200, 0xa8c47bfd, 0xd65f03c0, 0, 0 };
    enum { F = 24 };
#else
    /* push rbp; mov rbp, r12 (no frame); sub rsp, 0x40; mov rax, f; call rax; add rsp, 0x40; pop rbp; ret */
    unsigned char code[] = { 0x55, 0x4c, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40, 0x48, 0xb8, 0, 0, 0, 0, 0,
                             0, 0, 0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x40, 0x5d, 0xc3 };
    enum { F = 10 };
#endif
    void (*f)(void) = called_from_jit;
    unsigned char *jit = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy((char *)code + F, &f, 8);
    memcpy(jit, code, sizeof code);
    __builtin___clear_cache((char *)jit, (char *)jit + sizeof code);
    for (int i = 0; i < 100; i++) {
        ((void (*)(void))jit)();
        ordinary();
    }
    puts("jit ran");
    return 0;
}
