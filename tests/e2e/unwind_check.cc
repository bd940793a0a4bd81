// unwind_check=1: each stack is walked again by another unwinder, and not one differs, over exceptions,
// longjmp, fibres, handlers on sigaltstack, frames of variable size, vfork, fork, libraries at a reused
// address, their destructors, recursion, threads.
// BUILD: for n in first_plugin second_plugin; do gcc -w -O1 -g -shared -fPIC -DNAME=leak_of_$n -DSIZE=${#n}00 -o %d/$n.so %S/lib/named.c; done
// BUILD: for n in 300 500; do gcc -w -O1 -g -fno-stack-protector -shared -fPIC -DFRAME=$n -o %d/frame$n.so %S/lib/framed.c; done
// CFLAGS: -O2 -g -fno-builtin -fomit-frame-pointer
// CFLAGS: -O0 -g
// RUN: LIBLEAK_OPTIONS=verbosity=1:unwind_check=1; export LIBLEAK_OPTIONS; %leak %t %d/first_plugin.so %d/second_plugin.so %d/frame300.so %d/frame500.so
// RUN: LIBLEAK_OPTIONS=verbosity=1:unwind_check=1:unwind_oracle=libgcc; export LIBLEAK_OPTIONS; %leak %t %d/first_plugin.so %d/second_plugin.so %d/frame300.so %d/frame500.so
// RUN: %report -v %d/store/t.*.leak
// NEEDS: /usr/lib/x86_64-linux-gnu/libunwind.so.8
// EXPECT: ^everything ran, same address [1-9]
// EXPECT: ^Compared with another unwinder: [0-9,]+ stacks, 0 different
// REFUSE: unwind_check: |unwind_check is off
// JSON: all(q.coverage.unwind_mismatches == 0 and q.coverage.unwind_stops == 0 for q in procs)
// JSON: all(q.coverage.unwind_checks == q.totals.allocations > 0 for q in procs)
// JSON: sum(q.coverage.unwind_checks > 2000 for q in procs) == 2 and len(procs) == 4
// JSON: of("thrower").blocks > 0 and of("jumper").blocks > 0 and of("fibre").blocks > 0 and of("handler").blocks > 0
// JSON: of("after_vfork").blocks > 0 and of("deep").blocks > 0 and of("in_thread").blocks > 0
// JSON: of("in_frame").blocks == 20
// JSON: of("leak_of_first_plugin").blocks > 0 and of("leak_of_second_plugin").blocks > 0

#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#define FAR __attribute__((noinline))
static void *volatile sink;
static jmp_buf back;

FAR int thrower(int n)
{
    std::string held(40 + n, 'x');
    if (n == 0)
        throw std::runtime_error("far");
    sink = malloc(n);
    return thrower(n - 1) + (int)held.size();
}

FAR int jumper(int n)
{
    sink = malloc(20 + n);
    if (n == 0)
        longjmp(back, 1);
    int r = jumper(n - 1);
    sink = nullptr;
    return r + 1;
}

static ucontext_t home, other;

FAR void fibre()
{
    for (;;) {
        sink = malloc(30);
        try { thrower(3); } catch (std::exception &) { sink = malloc(31); }
        swapcontext(&other, &home);
    }
}

static void fibres()
{
    getcontext(&other);
    other.uc_stack.ss_sp = mmap(nullptr, 65536, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    other.uc_stack.ss_size = 65536;
    makecontext(&other, fibre, 0);
    for (int i = 0; i < 20; i++) {
        swapcontext(&home, &other);
        sink = malloc(32);
    }
}

FAR void handler(int)
{
    sink = malloc(40);
    sink = nullptr;
}

FAR void interrupted(int n)
{
    if (n)
        interrupted(n - 1);
    else
        syscall(SYS_kill, getpid(), SIGUSR1); /* touches no frame pointer: it is the caller's */
    sink = nullptr;
}

FAR void variable_frame(int n)
{
    volatile char *room = (char *)alloca(100 + n);
    room[n] = 1;
    interrupted(0);
    room[n] = 2;
}

FAR void innermost() { sink = malloc(55); sink = nullptr; }
FAR void inner_of_both() { innermost(); sink = nullptr; }

/* Only a word in the middle of the stack tells the two calls apart. */
FAR void outer_of_both(int n)
{
    if (n % 2)
        inner_of_both();
    else {
        inner_of_both();
        __asm__ volatile("nop" ::: "memory");
    }
}

static void two_places()
{
    for (int i = 0; i < 40; i++)
        outer_of_both(i);
}

static void signals(bool on_a_stack_of_its_own)
{
    static char room[16384];
    stack_t stack = {};
    struct sigaction action = {};
    action.sa_handler = handler;
    if (on_a_stack_of_its_own) {
        stack.ss_sp = room;
        stack.ss_size = sizeof room;
        sigaltstack(&stack, nullptr);
        action.sa_flags = SA_ONSTACK;
    }
    sigaction(SIGUSR1, &action, nullptr);
    for (int i = 0; i < 20; i++)
        variable_frame(i), interrupted(i % 5);
}

FAR void after_vfork()
{
    sink = malloc(50);
    sink = nullptr;
}

static void children()
{
    pid_t pid = vfork();
    if (pid == 0) {
        sink = malloc(51);
        _exit(0);
    }
    waitpid(pid, nullptr, 0);
    after_vfork();
    pid = fork();
    if (pid == 0) {
        try { thrower(5); } catch (std::exception &) { }
        exit(0);
    }
    waitpid(pid, nullptr, 0);
}

FAR int deep(int n)
{
    if (n % 10 == 0)
        sink = malloc(60);
    return n ? deep(n - 1) + 1 : 0;
}

static int compare(const void *a, const void *b)
{
    sink = malloc(61);
    return *(const int *)a - *(const int *)b;
}

FAR void in_thread()
{
    for (int i = 0; i < 50; i++) {
        try { thrower(i % 7); } catch (std::exception &) { sink = malloc(70); }
        deep(20);
    }
}

int main(int argc, char **argv)
{
    void *last = nullptr;
    int same = 0, list[] = { 3, 1, 2, 9, 5, 4 };

    (void)argc;
    for (int i = 0; i < 20; i++) {
        try { thrower(i); } catch (std::exception &) { sink = malloc(1); }
        if (!setjmp(back))
            jumper(i);
    }
    two_places();
    fibres();
    signals(false);
    signals(true);
    children();
    deep(100); /* fits into the default depth; deeper ones are compared up to the cut */
    deep(3000);
    qsort(list, 6, sizeof *list, compare);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(in_thread);
    for (auto &thread : threads)
        thread.join();
    for (int i = 0; i < 40; i++) {
        void *h = dlopen(argv[1 + i / 20 * 2 + i % 2], RTLD_NOW | RTLD_LOCAL);
        void (*f)(void) = (void (*)(void))dlsym(h, "run");
        same += (void *)f == last;
        last = (void *)f;
        f();
        dlclose(h);
    }
    printf("everything ran, same address %d times\n", same);
}
