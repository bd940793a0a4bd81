/* registers.c - reads stack pointer, thread pointer and words from sets of registers. */
#include "scan/image/registers.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>

#ifdef __x86_64__
#include <asm/ldt.h>
#endif

#include "common/processes/traced_thread.h"

void registers_take_more(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                         size_t size)
{
    size_t more = size / image->word;
    uint64_t *words = arena_alloc_array(image->mem, thread->word_count + more, sizeof(*words));

    if (thread->word_count)
        memcpy(words, thread->words, thread->word_count * sizeof(*words));
    for (size_t i = 0; i < more; i++)
        words[thread->word_count + i] = image_word(bytes + i * image->word, image->word);
    thread->words = words;
    thread->word_count += more;
}

#if defined(__x86_64__)

/* Limit of the numbers of system calls. A thread that is in none has -1, or another number
 * above. */
#define CALLS_MOST 1024

static bool is_call_of_malloc(uint64_t call)
{
    return call == SYS_futex || call == SYS_brk || call == SYS_mmap || call == SYS_munmap ||
           call == SYS_mremap || call == SYS_mprotect || call == SYS_madvise;
}

static bool is_call_of_malloc_32(uint64_t call)
{
    /* brk, mmap, munmap, mprotect, mremap, mmap2, madvise, futex, futex_time64 of a 32-bit
     * program */
    static const unsigned calls[] = {45, 90, 91, 125, 163, 192, 219, 240, 422};

    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (calls[i] == call)
            return true;
    return false;
}

static void take_general_32(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                            size_t size)
{
    if (size < REGISTERS_32 * image->word)
        return;
    registers_take_more(image, thread, bytes, REGISTERS_32 * image->word);
    thread->sp = thread->words[REGISTER_32_SP];
    thread->waits = thread->words[REGISTER_32_CALL] < CALLS_MOST &&
                    !is_call_of_malloc_32(thread->words[REGISTER_32_CALL]);
}

void registers_take_general(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                            size_t size)
{
    struct user_regs_struct registers;

    if (image->word == 4) {
        take_general_32(image, thread, bytes, size);
        return;
    }
    if (size < sizeof(registers))
        return;
    memcpy(&registers, bytes, sizeof(registers));
    thread->sp = registers.rsp;
    thread->tls = registers.fs_base;
    thread->waits = registers.orig_rax < CALLS_MOST && !is_call_of_malloc(registers.orig_rax);
    registers_take_more(image, thread, bytes, sizeof(registers));
}

/* Takes the thread pointer of a 32-bit program: the note NT_386_TLS lists the thread's TLS
 * segments; the register GS selects one, whose base is the thread pointer. */
void registers_take_tls(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                        size_t size)
{
    struct user_desc segment;

    if (image->word != 4 || thread->word_count < REGISTERS_32)
        return;
    for (; size >= sizeof(segment); bytes += sizeof(segment), size -= sizeof(segment)) {
        memcpy(&segment, bytes, sizeof(segment));
        if (segment.entry_number == thread->words[REGISTER_32_GS] >> 3)
            thread->tls = segment.base_addr;
    }
}

unsigned registers_tls(unsigned word)
{
    return word == 4 ? NT_386_TLS : REGISTERS_TLS;
}

int registers_dtv(unsigned word)
{
    return word == 4 ? 4 : REGISTERS_DTV;
}

unsigned registers_guard(unsigned word)
{
    return word == 4 ? 0x18 : REGISTERS_GUARD;
}

#else

unsigned registers_tls(unsigned word)
{
    (void)word;
    return REGISTERS_TLS;
}

int registers_dtv(unsigned word)
{
    (void)word;
    return REGISTERS_DTV;
}

unsigned registers_guard(unsigned word)
{
    (void)word;
    return REGISTERS_GUARD;
}

#endif

#if defined(__aarch64__)

void registers_take_general(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                            size_t size)
{
    struct user_regs_struct registers;

    if (size < sizeof(registers))
        return;
    memcpy(&registers, bytes, sizeof(registers));
    thread->sp = registers.sp;
    registers_take_more(image, thread, bytes, sizeof(registers));
}

void registers_take_tls(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                        size_t size)
{
    (void)image;
    if (size >= 8)
        memcpy(&thread->tls, bytes, 8);
}

#elif defined(__riscv)

void registers_take_general(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                            size_t size)
{
    uint64_t registers[32]; /* pc, x1 to x31 */

    if (size < sizeof(registers))
        return;
    memcpy(registers, bytes, sizeof(registers));
    thread->sp = registers[2];
    thread->tls = registers[4];
    registers_take_more(image, thread, bytes, sizeof(registers));
}

void registers_take_tls(struct image *image, struct image_thread *thread, const uint8_t *bytes,
                        size_t size)
{
    (void)thread;
    (void)bytes;
    (void)size;
}

#endif

bool registers_repeat_call(uint8_t *bytes, size_t size)
{
    struct user_regs_struct registers;
    uint32_t narrow[REGISTERS_32];

    if (size == sizeof(narrow)) {
        memcpy(narrow, bytes, sizeof(narrow));
        if (!traced_thread_repeat_call_32(narrow))
            return false;
        memcpy(bytes, narrow, sizeof(narrow));
        return true;
    }
    if (size < sizeof(registers))
        return false;
    memcpy(&registers, bytes, sizeof(registers));
    if (!traced_thread_repeat_call(&registers))
        return false;
    memcpy(bytes, &registers, sizeof(registers));
    return true;
}
