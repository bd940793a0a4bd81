/* inject.c - makes a thread of another process call functions, and restores its state
 * afterwards. */
#include "attach/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "common/base/term_text.h"

/* The area is memory that leakctl maps in the process: a page of code, a page with struct landing,
 * texts, and a stack with the signal frame at its end. */
#define AREA_SIZE (1u << 20)
#define PAGE 4096u
#define TEXT (2 * PAGE)
/* Seconds that the thread waits for leakctl after its last call. Then it returns to the program by
 * itself, because leakctl has most likely died. */
#define LANDING_TIMEOUT 5
#define NAP_NS 50000
#define PATH_SIZE 64      /* most bytes of injection.opened_path, NUL included */
#define CALL_TIMEOUT 5000 /* milliseconds that one system call may take */

/* Layout of a signal frame for the kernel (asm/sigcontext.h, asm/ucontext.h). */
#define XSTATE_SOFTWARE 464 /* offset of struct _fpx_sw_bytes in the XSAVE area */
#define XSTATE_MAGIC1 0x46505853u
#define XSTATE_MAGIC2 0x46505845u
#define FRAME_HAS_XSTATE 1
#define FRAME_HAS_SS 6 /* UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS */

#define SYSCALL_LENGTH 2
#define RED_ZONE 128 /* bytes below its stack pointer that a function may use */
/* bytes for all of a signal frame but the vector registers, and for its alignment */
#define RESCUE_REST 2048
_Static_assert(sizeof(ucontext_t) + sizeof(siginfo_t) + 256 <= RESCUE_REST, "the frame fits");
#define BLOCKABLE                                                                                  \
    (~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) |                       \
       1ull << (SIGFPE - 1) | 1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1)))

struct software_bytes {
    uint32_t magic1, extended_size;
    uint64_t features;
    uint32_t size, padding[7];
};

/* ---- System calls ---------------------------------------------------------------------------- */

bool inject_prepare(struct injection *injection, const struct objects *objects,
                    struct tracee *tracee)
{
    static const unsigned char call[] = {0x0f, 0x05, 0xc3};
    /* mov $15, %rax; syscall */
    static const unsigned char back[] = {0x48, 0xc7, 0xc0, SYS_rt_sigreturn, 0, 0, 0, 0x0f, 0x05};

    *injection = (struct injection){.tracee = tracee, .objects = objects};
    injection->syscall = object_find_code(objects->libc, tracee, call, sizeof(call));
    if (injection->syscall)
        injection->sigreturn = object_find_code(objects->libc, tracee, back, sizeof(back));
    else
        injection->syscall = object_find_code(objects->libc, tracee, call, sizeof(call) - 1);
    return injection->syscall;
}

/* Lets the thread run to the beginning of a system call, or from there to its end. These stops are
 * no signals: the SIGTRAP of a single step would kill the process if leakctl died. Signals wait,
 * because all are blocked except those that a fault raises. */
static enum inject_result run_call(struct injection *injection, uint64_t milliseconds)
{
    struct tracee *tracee = injection->tracee;
    uint64_t end = time_steady_ns() + milliseconds * 1000000;

    tracee_continue(tracee, 0);
    injection->running = false;
    for (;;) {
        uint64_t now = time_steady_ns();
        int number = 0;

        switch (tracee_wait(tracee, now < end ? (end - now) / 1000000 + 1 : 0, &number)) {
        case TRACEE_SYSCALL:
            return INJECT_DONE;
        case TRACEE_TIMEOUT:
            injection->running = true;
            return INJECT_TIMEOUT;
        case TRACEE_GONE:
            return INJECT_GONE;
        case TRACEE_SIGNAL:
            if (!(BLOCKABLE >> (number - 1) & 1)) {
                injection->fault = number;
                return INJECT_FAULT;
            }
            break;
        case TRACEE_INTERRUPTED:
            break;
        }
        tracee_continue(tracee, 0);
    }
}

/* Lets the thread make a system call at a time when the area has no signal frame: before the area
 * is mapped, or to unmap it. Returns the call's result, -errno for an error. If leakctl dies
 * meanwhile, the thread returns to the program from the frame on its own stack. */
static int64_t call_kernel(struct injection *injection, uint64_t number, const uint64_t argument[6])
{
    struct tracee *tracee = injection->tracee;
    struct user_regs_struct now = tracee->before;

    now.rip = injection->syscall;
    now.rax = number;
    now.orig_rax = (uint64_t)-1; /* the kernel must not restart an interrupted call */
    now.rdi = argument[0];
    now.rsi = argument[1];
    now.rdx = argument[2];
    now.r10 = argument[3];
    now.r8 = argument[4];
    now.r9 = argument[5];
    if (injection->rescue)
        now.rsp = injection->rescue;
    if (!tracee_set_registers(tracee, &now))
        return -ESRCH;
    for (int stops = 2; stops; stops--) /* at the beginning of the call and at its end */
        if (run_call(injection, CALL_TIMEOUT) != INJECT_DONE)
            return -EINTR;
    return tracee_get_registers(tracee, &now) ? (int64_t)now.rax : -ESRCH;
}

/* ---- The signal frame: how the thread goes back if leakctl dies ------------------------------ */

/* Fills in the registers that the thread gets when it returns through the signal frame. If the
 * stop interrupted a system call, the thread repeats the call. */
static void fill_registers(greg_t *to, const struct user_regs_struct *from)
{
    bool again = (int64_t)from->orig_rax >= 0 &&
                 (-(int64_t)from->rax == EINTR || -(int64_t)from->rax - 512 <= 4u);

    to[REG_R8] = (greg_t)from->r8;
    to[REG_R9] = (greg_t)from->r9;
    to[REG_R10] = (greg_t)from->r10;
    to[REG_R11] = (greg_t)from->r11;
    to[REG_R12] = (greg_t)from->r12;
    to[REG_R13] = (greg_t)from->r13;
    to[REG_R14] = (greg_t)from->r14;
    to[REG_R15] = (greg_t)from->r15;
    to[REG_RDI] = (greg_t)from->rdi;
    to[REG_RSI] = (greg_t)from->rsi;
    to[REG_RBP] = (greg_t)from->rbp;
    to[REG_RBX] = (greg_t)from->rbx;
    to[REG_RDX] = (greg_t)from->rdx;
    to[REG_RAX] = (greg_t)(again ? from->orig_rax : from->rax);
    to[REG_RCX] = (greg_t)from->rcx;
    to[REG_RSP] = (greg_t)from->rsp;
    to[REG_RIP] = (greg_t)(again ? from->rip - SYSCALL_LENGTH : from->rip);
    to[REG_EFL] = (greg_t)from->eflags;
    to[REG_CSGSFS] = (greg_t)(from->cs | from->ss << 48);
}

/* Writes the XSAVE area of a signal frame, with the fields that the kernel adds to it, below the
 * address `below`. Returns the area's address, 0: failed. */
static uint64_t write_vectors(struct injection *injection, uint64_t below)
{
    size_t size = injection->vectors_size;
    uint64_t at = (below - size - sizeof(uint32_t)) & ~63ull;
    unsigned char copy[TRACEE_VECTOR_SIZE];
    struct software_bytes software = {XSTATE_MAGIC1, (uint32_t)size + 4, 0, (uint32_t)size, {0}};
    uint32_t magic = XSTATE_MAGIC2;

    memcpy(copy, injection->vectors, size);
    memcpy(&software.features, copy + XSTATE_SOFTWARE, sizeof(software.features));
    memcpy(copy + XSTATE_SOFTWARE, &software, sizeof(software));
    return tracee_write(injection->tracee, at, copy, size) &&
                   tracee_write(injection->tracee, at + size, &magic, sizeof(magic))
               ? at
               : 0;
}

/* The code at the start of the area. It calls the functions of a list of struct inject_step, whose
 * address is in %rbx, sets landing.done, and waits until leakctl restores the thread's state. It
 * waits in a call that keeps the kernel's data about an interrupted call (restart_syscall). After
 * LANDING_TIMEOUT it returns through the signal frame.
 *
 *     next: mov %rbx, landing.at; mov (%rbx), %rax; test %rax, %rax; jz done
 *           mov 8(%rbx), %rdi; mov 16(%rbx), %rsi; mov 24(%rbx), %rdx; call *%rax
 *           mov %rax, 32(%rbx); add $40, %rbx; jmp next
 *     done: movl $1, landing.done; ppoll(NULL, 0, &landing.timeout, NULL); rt_sigreturn() */
_Static_assert(SYS_ppoll == 0x10f && SYS_rt_sigreturn == 15, "the code has these numbers");
_Static_assert(sizeof(struct inject_step) == 40, "the code has the offsets");
static const char steps_code[] = "\x48\x89\x1d\x11\x10\0\0\x48\x8b\x03\x48\x85\xc0\x74\x18"
                                 "\x48\x8b\x7b\x08\x48\x8b\x73\x10\x48\x8b\x53\x18\xff\xd0"
                                 "\x48\x89\x43\x20\x48\x83\xc3\x28\xeb\xd9"
                                 "\xc7\x05\xcf\x0f\0\0\1\0\0\0"
                                 "\x31\xff\x31\xf6\x48\x8d\x15\xcc\x0f\0\0\x45\x31\xd2"
                                 "\xb8\x0f\x01\0\0\x0f\x05\xb8\x0f\0\0\0\x0f\x05";
_Static_assert(sizeof(steps_code) <= INJECT_SYSCALL, "the helpers stand behind it");

bool inject_is_own_code(const struct tracee *tracee, uint64_t address)
{
    char code[sizeof(steps_code)];

    return tracee_read(tracee, address / PAGE * PAGE, code, sizeof(code)) &&
           memcmp(code, steps_code, sizeof(code)) == 0;
}

/* Code of the functions that a step may call by an enum inject_helper. %rbx points to the step,
 * and the previous step's result is at -8(%rbx). */
static const struct {
    enum inject_helper at;
    unsigned size;
    const char *code;
} helpers[] = {
#define CODE(text) sizeof(text) - 1, text
    /* The code is: mov %rdi, %rax; mov %rsi, %rdi; mov %rdx, %rsi; syscall; ret */
    {INJECT_SYSCALL, CODE("\x48\x89\xf8\x48\x89\xf7\x48\x89\xd6\x0f\x05\xc3")},
    /* The code is: mov -8(%rbx), %rax; mov (%rax), %eax; ret */
    {INJECT_READ_INT, CODE("\x48\x8b\x43\xf8\x8b\x00\xc3")},
    /* The code is: mov %rdi, %rax; mov -8(%rbx), %rdi; jmp *%rax */
    {INJECT_PASS, CODE("\x48\x89\xf8\x48\x8b\x7b\xf8\xff\xe0")},
    /* The code is: mov -8(%rbx), %rax; test %rax, %rax; jz end; jmp *%rax; end: ret */
    {INJECT_CALL, CODE("\x48\x8b\x43\xf8\x48\x85\xc0\x74\x02\xff\xe0\xc3")},
    /* A child of the process tries system calls, because a seccomp filter that is older than the
     * program may kill a process that makes them. The child dumps no core, sends no signal when it
     * ends, and makes each call with -1 for all arguments:
     *
     *     push %rdi; %rax = clone(0, 0, 0, 0, 0); if (0) goto child; if (negative) goto refused
     *     %rax = wait4(%rax, %rsp, __WALL, 0); if (negative) goto refused
     *     mov (%rsp), %eax; test %eax, %eax; jnz refused; pop %rdi; ret
     *     refused: mov %rax, 32(%rbx); movl $1, landing.done
     *              for (%ecx = 1 << 30; %ecx; %ecx--) pause;  (leakctl stops it here)
     *              add $16, %rsp; rt_sigreturn()
     *     child: prctl(PR_SET_DUMPABLE, 0); pop %r12
     *            while (%rax = *%r12++) syscall(-1, -1, -1, -1, -1, -1)
     *            exit_group(0) */
    {INJECT_TRY, CODE("\x57\x31\xff\x31\xf6\x31\xd2\x45\x31\xd2\x45\x31\xc0\xb8\x38\0\0\0\x0f\x05"
                      "\x48\x85\xc0\x74\x44\x78\x1f"
                      "\x89\xc7\x48\x89\xe6\xba\0\0\0\x40\xb8\x3d\0\0\0\x0f\x05\x48\x85\xc0\x78\x09"
                      "\x8b\x04\x24\x85\xc0\x75\x02\x5f\xc3"
                      "\x48\x89\x43\x20\xc7\x05\xf8\x0e\0\0\1\0\0\0"
                      "\xb9\0\0\0\x40\xf3\x90\xe2\xfc"
                      "\x48\x8d\x64\x24\x10\xb8\x0f\0\0\0\x0f\x05"
                      "\xbf\4\0\0\0\xb8\x9d\0\0\0\x0f\x05\x41\x5c\x49\x83\xcd\xff"
                      "\x49\x8b\x04\x24\x49\x83\xc4\x08\x48\x85\xc0\x74\x16"
                      "\x4c\x89\xef\x4c\x89\xee\x4c\x89\xea\x4d\x89\xea\x4d\x89\xe8\x4d\x89\xe9"
                      "\x0f\x05\xeb\xdd\x31\xff\xb8\xe7\0\0\0\x0f\x05")},
#undef CODE
};
_Static_assert(SYS_clone == 0x38 && SYS_wait4 == 0x3d && SYS_prctl == 0x9d &&
                   SYS_exit_group == 0xe7,
               "the code has these numbers");

struct landing { /* content of the area's second page, behind the page of code */
    uint64_t done;
    struct timespec timeout;
    uint64_t at; /* address of the step that runs */
    struct inject_step steps[INJECT_STEPS + 1];
};
_Static_assert(offsetof(struct landing, timeout) == 8 && offsetof(struct landing, at) == 24,
               "the code has the offsets");

static bool write_code(struct injection *injection)
{
    struct landing landing = {.timeout = {LANDING_TIMEOUT, 0}};

    for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++)
        if (!tracee_write(injection->tracee, injection->area + helpers[i].at, helpers[i].code,
                          helpers[i].size))
            return false;
    return tracee_write(injection->tracee, injection->area, steps_code, sizeof(steps_code)) &&
           tracee_write(injection->tracee, injection->area + PAGE, &landing, sizeof(landing));
}

/* ---- Steps ----------------------------------------------------------------------------------- */

uint64_t inject_text(struct injection *injection, size_t at, const char *text)
{
    return inject_bytes(injection, at, text, strlen(text) + 1);
}

uint64_t inject_bytes(struct injection *injection, size_t at, const void *bytes, size_t size)
{
    at += TEXT;
    return at + size <= TEXT + INJECT_TEXT_SIZE &&
                   tracee_write(injection->tracee, injection->area + at, bytes, size)
               ? injection->area + at
               : 0;
}

/* Stops the thread after it has made all calls. INJECT_GONE: the thread has returned to the program
 * by itself, or has ended. */
static enum inject_result take_results(struct injection *injection)
{
    struct tracee *tracee = injection->tracee;
    struct user_regs_struct now;

    injection->running = false;
    if (!tracee_stop(tracee, false, CALL_TIMEOUT) || !tracee_get_registers(tracee, &now))
        return INJECT_GONE;
    injection->returned = now.rip - injection->area >= PAGE;
    return injection->returned ? INJECT_GONE : INJECT_DONE;
}

/* Replaces the loader's open() of the library's path by a copy of a descriptor that the process
 * already has, because a program without /proc cannot open the path. Called at the beginning of
 * a system call and at its end. */
static void substitute_open(struct injection *injection)
{
    struct tracee *tracee = injection->tracee;
    struct user_regs_struct now, *before = &injection->at_openat;
    size_t size = strlen(injection->opened_path) + 1;
    char path[PATH_SIZE];

    if (!tracee_get_registers(tracee, &now))
        return;
    if (injection->substituted) {
        now.rdi = before->rdi;
        now.rsi = before->rsi;
        now.rdx = before->rdx;
        injection->substituted = false;
    } else {
        if (now.orig_rax != SYS_openat || !tracee_read(tracee, now.rsi, path, size) ||
            memcmp(path, injection->opened_path, size) != 0)
            return;
        *before = now;
        now.orig_rax = SYS_fcntl;
        now.rdi = (uint64_t)injection->opened_fd;
        now.rsi = F_DUPFD_CLOEXEC;
        now.rdx = 0;
        injection->substituted = true;
    }
    tracee_set_registers(tracee, &now);
}

static void run_on(struct injection *injection)
{
    if (injection->opened_path)
        tracee_continue(injection->tracee, 0);
    else
        tracee_go_on(injection->tracee, 0);
}

static void read_progress(struct injection *injection)
{
    uint64_t landing = injection->area + PAGE, at = 0;
    uint64_t first = landing + offsetof(struct landing, steps);

    tracee_read(injection->tracee, landing + offsetof(struct landing, at), &at, sizeof(at));
    injection->at = at > first ? (at - first) / sizeof(struct inject_step) : 0;
}

/* Stops the thread because the time for the first `loose` steps (struct inject_limits) is over.
 * True: it is stopped in one of these steps. False: it is already in a later step, and runs on. */
static bool stop_loose(struct injection *injection, size_t loose)
{
    if (!tracee_stop(injection->tracee, false, CALL_TIMEOUT))
        return true;
    read_progress(injection);
    injection->running = injection->at >= loose;
    if (injection->running)
        run_on(injection);
    return !injection->running;
}

static enum inject_result wait_for_steps(struct injection *injection, struct inject_limits limits)
{
    struct tracee *tracee = injection->tracee;
    uint64_t begun = time_steady_ns(), done = 0;
    uint64_t end = begun + limits.time * 1000000, loose_end = begun + limits.loose_time * 1000000;
    int number;

    injection->running = true;
    while (time_steady_ns() < end) {
        if (limits.loose && time_steady_ns() >= loose_end) {
            if (stop_loose(injection, limits.loose))
                return INJECT_TIMEOUT;
            limits.loose = 0;
        }
        switch (tracee_wait(tracee, 0, &number)) {
        case TRACEE_GONE:
            return INJECT_GONE;
        case TRACEE_SIGNAL:
            if (!(BLOCKABLE >> (number - 1) & 1)) {
                injection->running = false;
                injection->fault = number;
                return INJECT_FAULT;
            }
            run_on(injection);
            break;
        case TRACEE_SYSCALL:
            if (injection->opened_path)
                substitute_open(injection);
            run_on(injection);
            break;
        case TRACEE_INTERRUPTED:
            run_on(injection);
            break;
        case TRACEE_TIMEOUT:
            break;
        }
        if (tracee_read(tracee, injection->area + PAGE, &done, sizeof(done)) && done)
            return take_results(injection);
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return INJECT_TIMEOUT;
}

enum inject_result inject_steps(struct injection *injection, struct inject_step *steps,
                                size_t count, struct inject_limits limits)
{
    struct tracee *tracee = injection->tracee;
    struct user_regs_struct now = tracee->before;
    struct landing landing = {.timeout = {LANDING_TIMEOUT, 0}};
    uint64_t steps_at = injection->area + PAGE + offsetof(struct landing, steps);
    enum inject_result result;

    for (size_t i = 0; i < count && i < INJECT_STEPS; i++) {
        landing.steps[i] = steps[i];
        if (landing.steps[i].function < PAGE) /* a helper, given by its offset in the area */
            landing.steps[i].function += injection->area;
    }
    now.rsp = injection->frame + sizeof(uint64_t);
    now.rip = injection->area;
    now.rbx = steps_at;
    now.rbp = 0;
    now.orig_rax = (uint64_t)-1;
    now.eflags &= ~0x400ull; /* clears the direction flag */
    if (!tracee_write(tracee, injection->area + PAGE, &landing, sizeof(landing)) ||
        !tracee_set_registers(tracee, &now))
        return INJECT_GONE;
    run_on(injection);
    result = wait_for_steps(injection, limits);
    read_progress(injection);
    tracee_read(tracee, steps_at, steps, count * sizeof(*steps));
    return result;
}

/* ---- The signal frames ----------------------------------------------------------------------- */

/* Writes a signal frame below an address. Returns the address of the frame's first word, the return
 * address of the handler, which the caller writes if it is needed; 0: failed. */
static uint64_t write_frame(struct injection *injection, uint64_t below)
{
    struct tracee *tracee = injection->tracee;
    uint64_t vectors = write_vectors(injection, below);
    uint64_t at = ((vectors - sizeof(ucontext_t) - sizeof(siginfo_t)) & ~15ull) - 8;
    ucontext_t context = {.uc_flags = FRAME_HAS_XSTATE | FRAME_HAS_SS};

    fill_registers(context.uc_mcontext.gregs, &tracee->before);
    context.uc_mcontext.fpregs = (void *)vectors;
    memcpy(&context.uc_sigmask, &injection->mask, sizeof(injection->mask));
    return vectors && tracee_write(tracee, at + sizeof(uint64_t), &context, sizeof(context)) ? at
                                                                                             : 0;
}

/* Writes the signal frame at the end of the area. The frame's alternate signal stack is filled in
 * later, by the step inject_altstack(). */
static bool write_area_frame(struct injection *injection)
{
    injection->frame = write_frame(injection, injection->area + AREA_SIZE);
    return injection->frame;
}

/* ---- The frame on the thread's own stack ----------------------------------------------------- */

/* Returns how many bytes below an address of the thread's own stack may be used; 0: the address is
 * on another stack. A stack that libc has mapped for a thread ends with the thread's control
 * block. */
static size_t room_on_stack(const struct injection *injection, uint64_t top)
{
    const struct mapping *stack = loaded_objects_find_mapping(injection->objects, top);
    uint64_t block = injection->tracee->before.fs_base;

    if (!stack || !(stack->is_stack || (block > top && block < stack->end)))
        return 0;
    return top - stack->start;
}

/* Writes a signal frame below the red zone of the thread's own stack, and saves the bytes that it
 * overwrites. The frame has no alternate signal stack, so the thread's is left as it is. */
static void write_rescue(struct injection *injection)
{
    struct tracee *tracee = injection->tracee;
    uint64_t top = (tracee->before.rsp - RED_ZONE) & ~63ull, at;
    size_t size = injection->vectors_size + RESCUE_REST;

    if (!injection->sigreturn || room_on_stack(injection, top) < size + PAGE ||
        !tracee_read(tracee, top - size, injection->saved, size))
        return;
    injection->saved_size = size;
    at = write_frame(injection, top);
    if (at && tracee_write(tracee, at, &injection->sigreturn, sizeof(injection->sigreturn)))
        injection->rescue = at;
}

static void remove_rescue(struct injection *injection)
{
    struct tracee *tracee = injection->tracee;
    uint64_t top = (tracee->before.rsp - RED_ZONE) & ~63ull;

    if (injection->saved_size)
        tracee_write(tracee, top - injection->saved_size, injection->saved, injection->saved_size);
}

/* Sets the thread's registers to those of a return from a signal handler through the frame on its
 * own stack: if leakctl dies before the first system call, the thread goes on as before. */
static bool enter_rescue(struct injection *injection)
{
    struct user_regs_struct now = injection->tracee->before;

    if (!injection->rescue)
        return true;
    now.rsp = injection->rescue + sizeof(uint64_t);
    now.rip = injection->sigreturn;
    now.orig_rax = (uint64_t)-1;
    return tracee_set_registers(injection->tracee, &now);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

struct inject_step inject_altstack(const struct injection *injection)
{
    uint64_t context = injection->frame + sizeof(uint64_t);

    return (struct inject_step){
        INJECT_SYSCALL, {SYS_sigaltstack, 0, context + offsetof(ucontext_t, uc_stack)}, 0};
}

static int64_t map_memory(struct injection *injection, uint64_t at, size_t size, int access)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    uint64_t map[6] = {at, size, (uint64_t)access, (uint64_t)flags, (uint64_t)-1, 0};

    return call_kernel(injection, SYS_mmap, map);
}

/* Maps the area. Returns its address, or -errno. If the process may not have memory that is both
 * writable and executable, the code gets a page that the process cannot write; leakctl writes to it
 * through /proc/PID/mem. */
static int64_t map_area(struct injection *injection)
{
    int64_t area = map_memory(injection, 0, AREA_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);

    if (area > 0 || area == -EINTR)
        return area;
    area = map_memory(injection, 0, AREA_SIZE, PROT_READ | PROT_WRITE);
    injection->area = area > 0 ? (uint64_t)area : 0;
    return area > 0 ? map_memory(injection, (uint64_t)area, PAGE, PROT_READ | PROT_EXEC) : area;
}

bool inject_begin(struct injection *injection)
{
    struct tracee *tracee = injection->tracee;
    int64_t area;

    injection->area = 0;
    injection->fault = 0;
    injection->rescue = injection->saved_size = 0;
    injection->vectors_size = tracee_get_vectors(tracee, injection->vectors);
    if (!injection->vectors_size || !tracee_get_mask(tracee, &injection->mask))
        return false;
    write_rescue(injection);
    if (!enter_rescue(injection) || !tracee_set_mask(tracee, BLOCKABLE))
        return false;
    area = map_area(injection);
    if (area <= 0)
        return false;
    injection->area = (uint64_t)area;
    return write_code(injection) && write_area_frame(injection);
}

void inject_end(struct injection *injection)
{
    struct tracee *tracee = injection->tracee;
    uint64_t unmap[6] = {injection->area, AREA_SIZE};

    if (injection->running)
        tracee_stop(tracee, false, CALL_TIMEOUT);
    if (injection->returned) /* leakctl was too slow: the thread has returned to the program by
                              * itself */
        return;
    if (injection->area)
        call_kernel(injection, SYS_munmap, unmap);
    /* The kernel restarts an interrupted call only after a stop as for a signal, not after a stop
     * at a system call. */
    if (tracee->at_syscall)
        tracee_stop(tracee, true, CALL_TIMEOUT);
    if (injection->vectors_size)
        tracee_set_vectors(tracee, injection->vectors, injection->vectors_size);
    tracee_set_mask(tracee, injection->mask);
    tracee_set_registers(tracee, &tracee->before);
    remove_rescue(injection);
}
