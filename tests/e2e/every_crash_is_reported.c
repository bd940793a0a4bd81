// NEEDS: /lib64/ld-linux-x86-64.so.2
// RUN: ulimit -c unlimited 2>/dev/null
// RUN: for m in null jump unmapped readonly guard odd fpe ill bus abort assert raise trap sys kill outside; do
// RUN:   a=$(%t status %t $m 2>/dev/null); b=$(%t status %leak %t $m 2>/dev/null)
// RUN:   echo "$m $a $b"; [ "$a" = "$b" ] || echo "differs: $m"; done
// RUN: %report -v store/*.leak
// EXPECT: ^null 8?8?[a-f0-9]+ 8?[a-f0-9]+$
// REFUSE: differs
// EXPECT: CRASH: SIGSEGV, write to a null pointer, 0x0,
// EXPECT: CRASH: SIGSEGV, jump to a null pointer, 0x0,
// EXPECT: CRASH: SIGSEGV, read from an unmapped address, 0x
// EXPECT: CRASH: SIGSEGV, write to read-only memory, 0x
// EXPECT: The address is read-only data of .*/t
// EXPECT: CRASH: SIGSEGV, read from memory without access
// EXPECT: CRASH: SIGSEGV, access to a non-canonical address
// EXPECT: CRASH: SIGFPE, integer divided by zero,
// EXPECT: CRASH: SIGILL, illegal
// EXPECT: CRASH: SIGBUS, read past the end of a mapped file,
// EXPECT: CRASH: SIGABRT, abort: raised by the program itself,
// EXPECT: CRASH: SIGSEGV, raised by the program itself,
// EXPECT: CRASH: SIGTRAP, breakpoint,
// EXPECT: CRASH: SIGSYS, forbidden system call
// EXPECT: CRASH: SIGABRT, sent by process [0-9]+,
// EXPECT: Loaded: .*/t$
// JSON: {q.argv[1]: len(q.errors) for q in procs if q.errors} == dict.fromkeys("null jump unmapped readonly guard odd fpe ill bus abort assert raise trap sys kill outside".split(), 1)
// JSON: all(e.type == "crash" and any(f.function == "crash_here" for f in e.frames) for q in procs for e in q.errors)
// JSON: all(f.line for q in procs for e in q.errors for f in e.frames if f.function == "crash_here")
// JSON: all(q.end.how == "signal" and q.end.value == q.errors[0].crash.signal for q in procs if q.errors)
// JSON: [q.errors[0].crash.fault_address for q in procs if q.argv[1] in ("null", "jump")] == ["0x0", "0x0"]
// JSON: all("pc" in q.errors[0].crash.registers for q in procs if q.errors)
// JSON: all(q.errors[0].thread == "T1" and q.errors[0].count == 1 and q.errors[0].time for q in procs if q.errors)

#include "../filter.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int zero;
static const int constant[4] = {1, 2, 3, 4};

/* The wait status, with the flag that says whether there is a core. */
static int status_of(char **command)
{
    int status;
    if (fork() == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    wait(&status);
    printf("%x\n", status);
    return 0;
}

static void *page(int protection)
{
    return mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int beyond_a_file(void)
{
    int fd = open("short", O_RDWR | O_CREAT, 0600);
    volatile char *view = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
    return view[5000];
}

/* getsid() raises SIGSYS. */
static void forbid(void)
{
    FILTER_SET(FILTER_UNLESS(SYS_getsid, 1), FILTER_RETURN(SECCOMP_RET_TRAP));
    syscall(SYS_getsid, 0);
}

static void from_outside(void)
{
    pid_t victim = getpid();
    if (fork() == 0) {
        usleep(100000);
        kill(victim, SIGABRT);
        _exit(0);
    }
    for (;;)
        pause();
}

__attribute__((noinline)) static int crash_here(const char *how)
{
    int result = 0;
    if (!strcmp(how, "null"))
        *(volatile int *)(long)zero = 1;
    else if (!strcmp(how, "jump"))
        ((void (*volatile)(void))(long)zero)();
    else if (!strcmp(how, "unmapped")) {
        volatile int *gone = page(PROT_READ | PROT_WRITE);
        munmap((void *)gone, 4096);
        result = gone[5];
    } else if (!strcmp(how, "readonly"))
        *(volatile int *)&constant[1] = 5;
    else if (!strcmp(how, "guard"))
        result = *(volatile int *)page(PROT_NONE);
    else if (!strcmp(how, "odd"))
        result = *(volatile int *)0x4141414141414141;
    else if (!strcmp(how, "fpe"))
        result = (int)strlen(how) / zero;
    else if (!strcmp(how, "ill"))
        __builtin_trap();
    else if (!strcmp(how, "bus"))
        result = beyond_a_file();
    else if (!strcmp(how, "abort"))
        abort();
    else if (!strcmp(how, "assert"))
        assert(!"true");
    else if (!strcmp(how, "raise"))
        raise(SIGSEGV);
    else if (!strcmp(how, "trap"))
        __asm__("int3");
    else if (!strcmp(how, "sys"))
        forbid();
    else if (!strcmp(how, "kill"))
        kill(getpid(), SIGFPE);
    else
        from_outside();
    return result + 1;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "status"))
        return status_of(argv + 2);
    volatile char *block = malloc(24);
    block[0] = crash_here(argv[1]);
    return block[0];
}
