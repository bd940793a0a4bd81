// CWE-773 and CWE-775 in C++: a class without a destructor that closes, a container of descriptors, a
// stream of <fstream> that is never deleted, an exception on the way to the close; their right twins are
// not told. What a static object closes in its destructor is closed.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// JSON: opened("bad_class") == {"fd": 1} and opened("bad_container") == {"fd": 10} and opened("bad_throw") == {"fd": 1} and opened("bad_unique") == {"file": 1}
// JSON: opened("bad_fstream") in ({"file": 1}, {"fd": 1})
// JSON: [f.function for r in p.resources for f in r.frames if "good" in (f.function or "")] == []
// JSON: sum(r.count for r in p.resources) == 14

#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#define FAR __attribute__((noinline))

struct forgets {
    int fd;
    FAR explicit forgets(const char *path) : fd(open(path, O_RDWR)) {}
    ~forgets() {}
};

struct closes {
    int fd;
    FAR explicit closes(const char *path) : fd(open(path, O_RDWR)) {}
    ~closes() { close(fd); }
};

static volatile bool yes = true;

FAR void bad_class() { forgets f("/dev/null"); write(f.fd, "x", 1); }
FAR void good_class() { closes f("/dev/null"); write(f.fd, "x", 1); }

FAR void bad_container()
{
    std::map<int, int> open_files;
    for (int i = 0; i < 10; i++)
        open_files[i] = open("/dev/null", O_RDWR);
}
FAR void good_container()
{
    std::vector<std::unique_ptr<closes>> open_files;
    for (int i = 0; i < 10; i++)
        open_files.push_back(std::make_unique<closes>("/dev/null"));
}

FAR void may_throw() { if (yes) throw std::runtime_error("no"); }
FAR void bad_throw()
{
    int fd = open("/dev/null", O_RDWR);
    may_throw();
    close(fd);
}
FAR void good_throw() { closes f("/dev/null"); may_throw(); }

FAR void bad_fstream() { auto *file = new std::ifstream("/etc/passwd"); file->get(); }
FAR void good_fstream() { std::ifstream file("/etc/passwd"); file.get(); }

FAR void bad_unique() { std::unique_ptr<FILE, int (*)(FILE *)> file(fopen("/dev/null", "r"), fclose); file.release(); }
FAR void good_unique() { std::unique_ptr<FILE, int (*)(FILE *)> file(fopen("/dev/null", "r"), fclose); }

static closes global_good("/dev/null");

template <class F> void calm(F f) { try { f(); } catch (const std::exception &) {} }

int main()
{
    bad_class(); good_class();
    bad_container(); good_container();
    calm(bad_throw); calm(good_throw);
    bad_fstream(); good_fstream();
    bad_unique(); good_unique();
    return 0;
}
