// Hash tables, deques of strings, bits, heaps, forward lists, streams.
#include <deque>
#include <forward_list>
#include <map>
#include <queue>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#include "keep.h"

struct Person {
    std::string name;
    int age;
};

struct Register {
    std::unordered_map<std::string, Person> by_name;
    std::unordered_set<long> numbers;
    std::multimap<int, std::string> by_age;
    std::deque<std::string> titles;
    std::vector<bool> present;
    std::priority_queue<double> weights;
    std::forward_list<Person> queue;
};

__attribute__((noinline)) static void add_name(Register *all, const std::string &name)
{
    all->by_name[name].age = 3; // TYPE std::__detail::_Hash_node<std::pair<const std::__cxx11::basic_string<char>, Person>, true>|std::__detail::_Hash_node<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, Person>, true>|std::__detail::_Hash_node<std::pair<const std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, Person>, true>|std::__detail::_Hash_node<std::pair<const std::basic_string<char>, Person>, true>|std::__detail::_Hash_node_base *
}

__attribute__((noinline)) static void add_weight(Register *all, double weight)
{
    all->weights.push(weight); // TYPE double
}

__attribute__((noinline)) static void add_bits(Register *all)
{
    all->present.resize(300); // TYPE unsigned long|long unsigned int
}

__attribute__((noinline)) static void add_queue(Register *all)
{
    all->queue.emplace_front(); // TYPE std::_Fwd_list_node<Person>
}

__attribute__((noinline)) static Register *register_new()
{
    return new Register; // TYPE Register|std::string|std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >|std::string *|std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > *
}

int main()
{
    for (int i = 0; i < 4; i++) {
        Register *all = register_new();

        for (int k = 0; k < 9; k++) {
            add_name(all, "n" + std::to_string(k));
            add_weight(all, k);
            add_queue(all);
        }
        add_bits(all);
        keep(all);
    }
}
