// Hard case 29d, without leakrun: a program built with a sanitizer, its runtime linked in or (ThreadSanitizer's) a library,
// runs with libleak.so preloaded as it does alone, threads, exceptions, handlers and children included; one line says that it is
// untracked. What it starts is tracked. (AddressSanitizer's library refuses whatever is preloaded, and says so.)
// CFLAGS: -std=c++17 -O1 -g -pthread
// BUILD: mkdir %d/with; for how in "g++ -fsanitize=address -static-libasan" "g++ -fsanitize=thread" "g++ -fsanitize=thread -static-libtsan" "clang++ -fsanitize=address" "clang++ -fsanitize=thread" "clang++ -fsanitize=memory"; do n=$((n + 1)); $how -w -std=c++17 -O1 -g -pthread -o %d/with/$n %s || exit 1; done; strip -o %d/with/7 %d/with/1; strip -o %d/with/8 %d/with/3; g++ -w -std=c++17 -O1 -g -pthread -o %d/plain %s
// RUN: export ASAN_OPTIONS=detect_leaks=0; for p in %d/with/*; do $p >%d/alone 2>&1; alone=$?; LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/store $p >%d/out 2>%d/err; echo "$alone $? $(cmp %d/alone %d/out) $(wc -l <%d/err) $(grep -c 'libleak: .*sanitizer.*untracked' %d/err)"; done | sort | uniq -c
// RUN: LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/store %d/with/1 %d/plain 2>/dev/null; echo "and $?"
// EXPECT: ^ *8 4 4  1 1$
// EXPECT: ^and 4$
// JSON: all(q.totals.allocations >= 1 for q in procs) and any(q.exe.endswith("/plain") and q.end.value == 4 for q in procs)
// JSON: not any("/with/" in q.exe for q in procs)

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static volatile sig_atomic_t handled;

static void work(int n)
{
    for (int i = 0; i < 500; i++) {
        std::vector<std::string> all;
        for (int k = 0; k < n; k++)
            all.push_back(std::string(100, 'x'));
        try {
            throw std::runtime_error("thrown");
        } catch (const std::exception &) {
        }
    }
}

static int wait_for(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    signal(SIGUSR1, [](int) { handled = 1; });
    raise(SIGUSR1);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, 8);
    for (auto &thread : threads)
        thread.join();
    pid_t child = fork();
    if (!child) {
        work(3);
        _exit(5);
    }
    printf("handled %d, child %d\n", (int)handled, wait_for(child));
    fflush(stdout);
    if (argc > 1)
        execl(argv[1], argv[1], (char *)nullptr);
    return 4;
}
