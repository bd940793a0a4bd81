// Objects with virtual functions behind base pointers, exceptions, lambdas, tasks of threads.
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>
#include "keep.h"

struct Task {
    virtual ~Task() = default;
    virtual int run() = 0;
    int priority = 1;
};

template <typename F> struct Bound final : Task {
    explicit Bound(F f) : f(std::move(f)) {}
    int run() override { return f(); }
    F f;
};

struct Named {
    virtual ~Named() = default;
    char name[16] = "task";
};

struct Timer : Named, Task {
    int run() override { return 1; }
    long due = 0;
};

template <typename Derived> struct Counted {
    static Derived *make() { return new Derived; } // TYPE Ticket
    int references = 1;
};

struct Ticket : Counted<Ticket> {
    long number = 7;
};

__attribute__((noinline)) static Task *bind_two(long a, long b)
{
    auto f = [a, b] { return static_cast<int>(a + b); };
    return new Bound<decltype(f)>(f); // TYPE Bound<bind_two(long, long)::<lambda()> >|Bound<bind_two(long, long)::{lambda()#1}>|Bound<(lambda at *)>|Bound<bind_two(long, long)::$_0>
}

__attribute__((noinline)) static Task *timer_new()
{
    return new Timer; // TYPE Timer
}

__attribute__((noinline)) static Ticket *ticket_new()
{
    return Counted<Ticket>::make();
}

__attribute__((noinline)) static std::vector<std::unique_ptr<Task>> *list_new()
{
    auto list = std::make_unique<std::vector<std::unique_ptr<Task>>>(); // TYPE std::vector<std::unique_ptr<Task, std::default_delete<Task> >, std::allocator<std::unique_ptr<Task, std::default_delete<Task> > > >|std::vector<std::unique_ptr<Task>, std::allocator<std::unique_ptr<Task> > >
    return list.release();
}

int main()
{
    for (int i = 0; i < 10; i++) {
        keep(bind_two(i, i));
        keep(timer_new());
        keep(ticket_new());
        keep(list_new());
    }
}
