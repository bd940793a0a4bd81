// std::string, std::wstring, and containers of strings.
#include <string>
#include <vector>
#include "keep.h"

struct Person {
    std::string name;
    std::vector<std::string> titles;
};

__attribute__((noinline)) static Person *person_new()
{
    return new Person; // TYPE Person
}

__attribute__((noinline)) static void set_name(Person *person)
{
    person->name = "a name that is longer than what fits into the object"; // TYPE char
}

__attribute__((noinline)) static void add_title(Person *person)
{
    person->titles.emplace_back(); // TYPE std::string|std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >
}

__attribute__((noinline)) static void append(Person *person)
{
    person->titles.back().append(70, 'x'); // TYPE char
}

int main()
{
    for (int i = 0; i < 10; i++) {
        Person *person = person_new();

        set_name(person);
        add_title(person);
        append(person);
        keep(person);
    }
}
