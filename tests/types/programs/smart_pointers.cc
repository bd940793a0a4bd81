// unique_ptr, make_shared, shared_ptr of a new object, and what these keep besides.
#include <memory>
#include "keep.h"

struct Widget {
    explicit Widget(int id) : id(id) {}
    int id;
    char text[20] = "widget";
};

struct Holder {
    std::shared_ptr<Widget> shared;
    std::unique_ptr<Widget> owned;
};

__attribute__((noinline)) static std::shared_ptr<Widget> shared_new(int id)
{
    return std::make_shared<Widget>(id); // TYPE std::_Sp_counted_ptr_inplace<Widget, std::allocator<Widget>, (__gnu_cxx::_Lock_policy)2>|std::_Sp_counted_ptr_inplace<Widget, std::allocator<void>, __gnu_cxx::_S_atomic>|std::_Sp_counted_ptr_inplace<Widget, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>
}

__attribute__((noinline)) static std::unique_ptr<Widget> unique_new(int id)
{
    return std::make_unique<Widget>(id); // TYPE Widget
}

__attribute__((noinline)) static Holder *holder_new()
{
    return new Holder; // TYPE Holder
}

int main()
{
    for (int i = 0; i < 10; i++) {
        Holder *holder = holder_new();

        holder->shared = shared_new(i);
        holder->owned = unique_new(i);
        keep(holder);
    }
}
