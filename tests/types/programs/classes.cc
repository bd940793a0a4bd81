// Single objects: plain classes, constructors with arguments, members that are allocated, new in a factory.
#include <cstdlib>
#include "keep.h"

namespace shop {
class Item {
public:
    Item(int number, double price) : number(number), price(price) {}
    int number;
    double price;
};

struct Plain {
    long a, b, c;
};

class Basket {
public:
    Basket()
    {
        first = new Item(1, 2.5); // TYPE shop::Item
        plain = new Plain();      // TYPE shop::Plain
    }
    Item *first;
    Plain *plain;
    int count = 1;
};
} // namespace shop

__attribute__((noinline)) shop::Basket *basket_new()
{
    return new shop::Basket; // TYPE shop::Basket
}

__attribute__((noinline)) static void plain_new()
{
    shop::Plain *plain = new shop::Plain; // TYPE shop::Plain

    plain->a = 1;
    keep(plain);
}

__attribute__((noinline)) static void number_new(int number)
{
    int *made = new int(number); // TYPE int

    keep(made);
}

int main()
{
    for (int i = 0; i < 10; i++) {
        keep(basket_new());
        plain_new();
        number_new(i);
    }
}
