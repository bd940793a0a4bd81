// operator new of a class, an allocator of the program, and a private implementation behind a pointer.
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>
#include "keep.h"

class Pooled {
public:
    static void *operator new(size_t size);
    static void operator delete(void *block) { std::free(block); }
    int numbers[6] = {1};
};

__attribute__((noinline)) void *Pooled::operator new(size_t size)
{
    void *block = std::malloc(size); // TYPE Pooled

    if (!block)
        throw std::bad_alloc();
    return block;
}

template <class T> struct Counting {
    using value_type = T;
    Counting() = default;
    template <class U> Counting(const Counting<U> &) {}
    T *allocate(size_t count)
    {
        return static_cast<T *>(std::malloc(count * sizeof(T))); // TYPE Record
    }
    void deallocate(T *block, size_t) { std::free(block); }
    bool operator==(const Counting &) const { return true; }
    bool operator!=(const Counting &) const { return false; }
};

struct Record {
    long key, value, more;
};

class Facade {
    struct Details {
        char buffer[40];
        long state = 0;
    };
    std::unique_ptr<Details> details;

public:
    Facade();
};

Facade::Facade() : details(new Details) {} // TYPE Facade::Details

__attribute__((noinline)) static void pooled()
{
    Pooled *made = new Pooled;

    keep(made);
}

int main()
{
    auto *records = new std::vector<Record, Counting<Record>>; // TYPE std::vector<Record, Counting<Record> >

    for (int i = 0; i < 20; i++) {
        records->push_back(Record{1, 2, 3});
        pooled();
        keep(new Facade); // TYPE Facade
    }
    keep(records);
}
