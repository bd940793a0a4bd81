// std::pmr, allocators with state, shared_ptr in all its ways, weak_ptr cycles.
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>
#include "keep.h"

struct Packet {
    int number;
    double load[4];
};

struct Peer : std::enable_shared_from_this<Peer> {
    std::shared_ptr<Peer> other;
    std::string name;
};

template <typename T> struct Arena {
    using value_type = T;
    Arena() = default;
    template <typename U> Arena(const Arena<U> &) {}
    T *allocate(size_t count) { return static_cast<T *>(::operator new(count * sizeof(T))); } // TYPE Packet|std::_List_node<Packet>
    void deallocate(T *at, size_t) { ::operator delete(at); }
    bool operator==(const Arena &) const { return true; }
    bool operator!=(const Arena &) const { return false; }
};

__attribute__((noinline)) static void add(std::pmr::vector<Packet> *packets, int i)
{
    packets->push_back(Packet{i, {}}); // TYPE Packet
}

__attribute__((noinline)) static void add(std::vector<Packet, Arena<Packet>> *packets, int i)
{
    packets->push_back(Packet{i, {}});
}

__attribute__((noinline)) static void add(std::list<Packet, Arena<Packet>> *packets, int i)
{
    packets->push_back(Packet{i, {}});
}

__attribute__((noinline)) static std::shared_ptr<Packet> adopted(int i)
{
    auto *packet = new Packet{i, {}};       // TYPE Packet
    return std::shared_ptr<Packet>(packet); // TYPE std::_Sp_counted_ptr<Packet*, (__gnu_cxx::_Lock_policy)2>|std::_Sp_counted_ptr<Packet *, (__gnu_cxx::_Lock_policy)2>|std::_Sp_counted_ptr<Packet*, __gnu_cxx::_S_atomic>|std::_Sp_counted_ptr<Packet *, __gnu_cxx::_S_atomic>
}

__attribute__((noinline)) static void cycle()
{
    auto left = std::make_shared<Peer>();  // TYPE std::_Sp_counted_ptr_inplace<Peer, std::allocator<Peer>, (__gnu_cxx::_Lock_policy)2>|std::_Sp_counted_ptr_inplace<Peer, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>|std::_Sp_counted_ptr_inplace<Peer, std::allocator<void>, __gnu_cxx::_S_atomic>
    auto right = std::make_shared<Peer>(); // TYPE std::_Sp_counted_ptr_inplace<Peer, std::allocator<Peer>, (__gnu_cxx::_Lock_policy)2>|std::_Sp_counted_ptr_inplace<Peer, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>|std::_Sp_counted_ptr_inplace<Peer, std::allocator<void>, __gnu_cxx::_S_atomic>
    left->other = right;
    right->other = left;
}

int main()
{
    auto *packets = new std::pmr::vector<Packet>;             // TYPE std::vector<Packet, std::pmr::polymorphic_allocator<Packet> >
    auto *others = new std::vector<Packet, Arena<Packet>>;    // TYPE std::vector<Packet, Arena<Packet> >
    auto *linked = new std::list<Packet, Arena<Packet>>;      // TYPE std::__cxx11::list<Packet, Arena<Packet> >|std::list<Packet, Arena<Packet> >

    for (int i = 0; i < 20; i++) {
        add(packets, i);
        add(others, i);
        add(linked, i);
        keep(new std::shared_ptr<Packet>(adopted(i))); // TYPE std::shared_ptr<Packet>
        cycle();
    }
    keep(packets);
    keep(others);
    keep(linked);
}
