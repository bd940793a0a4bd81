// Each function leaves open one resource of a kind of its own and is reported with name and line; its twin
// closes the resource and is not reported. With track=none no resource is reported, and nothing else changes.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// CFLAGS: -O2 -g -D_FORTIFY_SOURCE=2 -fno-optimize-sibling-calls
// RUN: LIBLEAK_OPTIONS=track=fd,file,dir,mmap,dl,thread; %leak %t
// RUN: rm -rf none; mkdir none; LIBLEAK_OPTIONS=track=none:dir=%d/none; %leak %t && %report none/*.leak | sed 's/^/none: /'
// REFUSE: ^none: Resources
// EXPECT: ^none: libleak: .* resources=0$
// JSON: all(opened("leaks_" + n) == {"fd": k} for n, k in [("open", 1), ("open64", 1), ("creat", 1), ("openat", 1), ("openat64", 1), ("creat64", 1), ("socket", 1), ("socketpair", 2), ("pipe", 2), ("pipe2", 2), ("dup", 1), ("dup2", 1), ("dup3", 1), ("fcntl", 1), ("cloexec", 1), ("eventfd", 1), ("epoll_create", 1), ("epoll_create1", 1), ("timerfd", 1), ("signalfd", 1), ("inotify", 1), ("inotify1", 1), ("memfd", 1), ("mkstemp", 1), ("mkostemp", 1), ("mkstemps", 1), ("openpt", 1)])
// JSON: all(opened("leaks_" + n) == {"file": 1} for n in ("fopen", "fopen64", "fdopen", "freopen", "tmpfile", "popen", "fmemopen", "memstream", "wmemstream"))
// JSON: opened("leaks_opendir") == {"dir": 1} and opened("leaks_fdopendir") == {"dir": 1}
// JSON: opened("leaks_mmap") == {"mmap": 1} and res("leaks_mmap").bytes == 12288
// JSON: opened("leaks_thread") == {"thread": 1} and opened("leaks_dlopen") == {"dl": 1}
// JSON: [f.function for r in p.resources for f in r.frames if (f.function or "").startswith("closes_")] == []
// JSON: sum(r.count for r in p.resources) == 44 and p.resources_missed == 0
// JSON: res("leaks_open").name == "/etc/passwd" and res("leaks_fopen").name == "/etc/passwd" and res("leaks_opendir").name == "/etc"
// JSON: res("leaks_socket").name == "ipv4 datagram socket" and names("leaks_pipe") == ["pipe (read end)", "pipe (write end)"]
// JSON: res("leaks_dup").name == "dup of /dev/null" and res("leaks_memfd").name == "memfd: mem" and res("leaks_popen").name == "popen: true"
// JSON: res("leaks_mkstemp").name[:5] == "temp-" and res("leaks_eventfd").name == "eventfd" and res("leaks_fdopendir").name == "/etc"
// JSON: res("leaks_open").once and line("OPEN") in [f.line for f in res("leaks_open").frames]

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <wchar.h>

#define FAR __attribute__((noinline))

static volatile int zero; /* an unknown mode: __open_2 and its kin */
static int null;
static void *volatile kept[64];
static int keeps;

/* The same twice: left open, and closed. */
#define FD(name, call)                                                                             \
    FAR int leaks_##name(void) { return call; }                                                    \
    FAR int closes_##name(void) { int fd = call; return fd < 0 || close(fd); }

FAR int leaks_open(void) { return open("/etc/passwd", O_RDONLY | zero); } // OPEN
FAR int closes_open(void) { return close(open("/etc/passwd", O_RDONLY | zero)); }
FD(open64, open64("/etc/passwd", O_RDONLY | zero))
FD(creat, creat("created", 0600))
FD(creat64, creat64("created64", 0600))
FD(openat, openat(AT_FDCWD, "at", O_RDWR | O_CREAT, 0640))
FD(openat64, openat64(AT_FDCWD, "/etc/passwd", O_RDONLY | zero))
FD(socket, socket(AF_INET, SOCK_DGRAM, 0))
FD(dup, dup(null))
FD(dup2, dup2(null, 200))
FD(dup3, dup3(null, 201, O_CLOEXEC))
FD(fcntl, fcntl(null, F_DUPFD, 100))
FD(cloexec, fcntl(null, F_DUPFD_CLOEXEC, 100))
FD(eventfd, eventfd(0, 0))
FD(epoll_create, epoll_create(1))
FD(epoll_create1, epoll_create1(0))
FD(timerfd, timerfd_create(CLOCK_MONOTONIC, 0))
FD(inotify, inotify_init())
FD(inotify1, inotify_init1(0))
FD(memfd, memfd_create("mem", 0))
FD(openpt, posix_openpt(O_RDWR | O_NOCTTY))
FD(mkstemp, mkstemp((char[]){"temp-XXXXXX"}))
FD(mkostemp, mkostemp((char[]){"temp-XXXXXX"}, O_CLOEXEC))
FD(mkstemps, mkstemps((char[]){"temp-XXXXXX.c"}, 2))

static int signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return signalfd(-1, &set, 0);
}
FD(signalfd, signals())

#define PAIR(name, call)                                                                           \
    FAR int leaks_##name(void) { int p[2]; return call; }                                          \
    FAR int closes_##name(void) { int p[2]; return call || close(p[0]) || close(p[1]); }
PAIR(pipe, pipe(p))
PAIR(pipe2, pipe2(p, O_CLOEXEC))
PAIR(socketpair, socketpair(AF_UNIX, SOCK_STREAM, 0, p))

#define STREAM(name, call, closing)                                                                \
    FAR int leaks_##name(void) { kept[keeps++] = call; return !kept[keeps - 1]; }                  \
    FAR int closes_##name(void) { return closing(call); }

static char buffer[64], *out;
static wchar_t *wide;
static size_t size;
STREAM(fopen, fopen("/etc/passwd", "r"), fclose)
STREAM(fopen64, fopen64("/etc/passwd", "r"), fclose)
STREAM(fdopen, fdopen(open("/etc/passwd", O_RDONLY), "r"), fclose)
STREAM(freopen, freopen("/etc/group", "r", fopen("/etc/passwd", "r")), fclose)
STREAM(tmpfile, tmpfile(), fclose)
STREAM(popen, popen("true", "r"), pclose)
STREAM(fmemopen, fmemopen(buffer, sizeof buffer, "r"), fclose)
STREAM(memstream, open_memstream(&out, &size), fclose)
STREAM(wmemstream, open_wmemstream(&wide, &size), fclose)
STREAM(opendir, opendir("/etc"), closedir)
STREAM(fdopendir, fdopendir(open("/etc", O_RDONLY)), closedir)

FAR int leaks_mmap(void) { return mmap(0, 12288, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED; }
FAR int closes_mmap(void) { return munmap(mmap(0, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 8192); }
FAR int leaks_dlopen(void) { return !dlopen("libm.so.6", RTLD_NOW); }
FAR int closes_dlopen(void) { return dlclose(dlopen("libm.so.6", RTLD_NOW)); }

static void *work(void *unused) { return unused; }
FAR int leaks_thread(void) { pthread_t t; return pthread_create(&t, NULL, work, NULL); }
FAR int closes_thread(void) { pthread_t t; return pthread_create(&t, NULL, work, NULL) || pthread_join(t, NULL); }

#define BOTH(name) bad += leaks_##name() < 0 || closes_##name() != 0;

int main(void)
{
    int bad = 0;
    null = open("/dev/null", O_RDWR);
    BOTH(open) BOTH(open64) BOTH(creat) BOTH(creat64) BOTH(openat) BOTH(openat64) BOTH(socket)
    BOTH(dup) BOTH(fcntl) BOTH(cloexec) BOTH(eventfd) BOTH(epoll_create) BOTH(epoll_create1)
    BOTH(timerfd) BOTH(inotify) BOTH(inotify1) BOTH(memfd) BOTH(openpt) BOTH(mkstemp) BOTH(mkostemp)
    BOTH(mkstemps) BOTH(signalfd) BOTH(pipe) BOTH(pipe2) BOTH(socketpair)
    BOTH(fopen) BOTH(fopen64) BOTH(fdopen) BOTH(freopen) BOTH(tmpfile) BOTH(popen) BOTH(fmemopen)
    BOTH(memstream) BOTH(wmemstream) BOTH(opendir) BOTH(fdopendir) BOTH(mmap) BOTH(dlopen) BOTH(thread)
    closes_dup2();
    closes_dup3();
    leaks_dup2();
    leaks_dup3();
    close(null);
    usleep(50000); /* the thread ends */
    return bad;
}
