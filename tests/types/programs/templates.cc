// Class and function templates, with types of the user as arguments.
#include <utility>
#include "keep.h"

template <class T> struct Node {
    Node *next;
    T value;
};

template <class T> class Stack {
public:
    void push(T value)
    {
        top = new Node<T>{top, std::move(value)}; // TYPE Node<int>|Node<Point>
    }
    Node<T> *top = nullptr;
};

struct Point {
    double x, y, z;
};

template <class T> __attribute__((noinline)) T *make()
{
    return new T(); // TYPE Stack<int>|Stack<Point>
}

int main()
{
    Stack<int> *numbers = make<Stack<int>>();
    Stack<Point> *points = make<Stack<Point>>();

    for (int i = 0; i < 10; i++) {
        numbers->push(i);
        points->push(Point{1, 2, 3});
    }
    keep(numbers);
    keep(points);
}
